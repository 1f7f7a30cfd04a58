"""How many tokens are decoded at once when many are to be: measured, and never too long."""

from __future__ import annotations

SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Tokens: the sizes that are tried."""

_ENOUGH = 0.8
"""The share of the best speed that's good enough: a larger batch keeps a request waiting longer."""

_LONGER = 1.5
"""A batch of twice the size takes at least so many times as long where it's worth trying."""

_WEIGHT = 0.3

_FORGOTTEN = 100
"""Batches after which a size is tried again: the machine may have been busy when it was run."""


class Pace:
    """Chooses the smallest batch that is nearly as fast as any, from the batches that were run.

    It begins with a guess and tries the neighbours of what it chose, each once, in the course of
    real work: nothing is decoded only to measure. Later runs refine what is known.
    """

    def __init__(self, first: int, most: int, longest: float) -> None:
        """Begin with ``first`` of at most ``most`` tokens.

        ``longest`` is how many seconds a batch may take: what a request may have to wait for, or
        what is lost when it's stopped on its way.
        """
        self._sizes = [size for size in SIZES if size <= most] or [most]
        self._first = min(first, most)
        self._longest = longest
        self._seconds: dict[int, float] = {}
        self._batches = 0
        self._last: dict[int, int] = {}

    def observe(self, tokens: int, seconds: float) -> None:
        """A batch of so many tokens took so long. Sizes that aren't tried tell nothing."""
        if tokens not in self._sizes or seconds <= 0:
            return
        self._batches += 1
        self._last[tokens] = self._batches
        for size in [size for size in self._seconds if self._is_old(size)]:
            del self._seconds[size]
        known = self._seconds.get(tokens, seconds)
        self._seconds[tokens] = known + _WEIGHT * (seconds - known)

    @property
    def best(self) -> int:
        """The smallest size that's fast enough, of those that were measured."""
        speeds = self._quick()
        if not speeds:
            return self._first
        return min(size for size in speeds if speeds[size] >= _ENOUGH * max(speeds.values()))

    @property
    def next(self) -> int:
        """The size to decode next: the best, or a neighbour that may be better, not tried yet."""
        speeds = self._quick()
        if not speeds:
            return self._first
        fastest = max(speeds, key=lambda size: (speeds[size], -size))
        larger, smaller = self._neighbour(fastest, 1), self._neighbour(self.best, -1)
        if larger not in self._seconds and _LONGER * self._seconds[fastest] <= self._longest:
            return larger
        return self.best if smaller in self._seconds else smaller

    @property
    def measured(self) -> dict[int, float]:
        """Tokens per second of each size that was run."""
        return {size: size / self._seconds[size] for size in sorted(self._seconds)}

    def _is_old(self, size: int) -> bool:
        """Whether a size wasn't run for so long that the machine may be another by now."""
        return self._batches - self._last[size] > _FORGOTTEN

    def _quick(self) -> dict[int, float]:
        """What was measured and isn't too long; the smallest, if all are."""
        speeds = self.measured
        quick = {size: speed for size, speed in speeds.items() if size / speed <= self._longest}
        return quick or dict(list(speeds.items())[:1])

    def _neighbour(self, size: int, step: int) -> int:
        at = self._sizes.index(size) + step
        return self._sizes[min(max(at, 0), len(self._sizes) - 1)]
