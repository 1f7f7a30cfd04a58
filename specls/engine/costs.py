"""What a pass of the target costs, by the number of its tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from time import perf_counter

from specls.engine.interface import TokenModel

SIZES = (1, 2, 16, 4, 8, 3, 12, 6)
"""Tokens: the batches that are measured at first, in the order in which they tell most. Without a
long one, long drafts look as dear as many short ones, and would never be tried."""

_WEIGHT = 0.1
"""How much a new observation counts: passes are noisy, and there are many."""

_OWN = 1.2
"""How much more it counts for its own size than for the others."""

_MOST_SLOWER = 3.0
"""An observation this many times what's known is a hiccup of the machine, and counts no more."""


_QUICK = 0.05
"""Seconds: a pass that takes less is measured twice."""


class Costs:
    """Seconds of a pass over ``n`` tokens, all of them scored: measured, and refined while used.

    Between two measured sizes it's interpolated, and beyond the last one extrapolated, until a
    pass of that size is seen.
    """

    def __init__(self, seconds: Mapping[int, float]) -> None:
        """``seconds`` by number of tokens, at least for one."""
        self._seconds = dict(seconds)
        self._sizes = sorted(self._seconds)

    def of(self, tokens: int) -> float:
        """Seconds of a pass over so many tokens."""
        if (known := self._seconds.get(tokens)) is not None:
            return known
        at = min(max(bisect_left(self._sizes, tokens), 1), len(self._sizes) - 1)
        if at == 0:
            return self._seconds[self._sizes[0]] * tokens / self._sizes[0]
        low, high = self._sizes[at - 1], self._sizes[at]
        slope = (self._seconds[high] - self._seconds[low]) / (high - low)
        return max(self._seconds[low] + slope * (tokens - low), self._seconds[self._sizes[0]])

    def observe(self, tokens: int, seconds: float) -> None:
        """A pass over so many tokens took so long.

        What makes one pass slower makes all slower, mostly: another program, heat, a fuller cache.
        So the others follow nearly as far, and don't look dear because nobody ran them lately.
        """
        known = self.of(tokens)
        if tokens not in self._seconds:
            self._sizes.insert(bisect_left(self._sizes, tokens), tokens)
            self._seconds[tokens] = known
        change = min(seconds / known, _MOST_SLOWER) - 1
        for size in self._sizes:
            share = _WEIGHT * (_OWN if size == tokens else 1)
            self._seconds[size] *= 1 + share * change

    def as_dict(self) -> dict[int, float]:
        """Seconds by number of tokens, as far as they are known."""
        return {size: self._seconds[size] for size in self._sizes}


def measure(
    model: TokenModel, sizes: Sequence[int] = SIZES, seconds: float = 2.0
) -> dict[int, float]:
    """Run passes of some sizes on an empty sequence, in this order, for so long at most.

    Where passes are quick each is run twice, and the quicker counts. What isn't reached in time is
    left out.
    """
    sequence = model.sequences - 1
    ends = perf_counter() + seconds
    found: dict[int, float] = {}
    model.decode(sequence, 0, [1], 1)  # the first pass also sets up what later ones use
    model.truncate(sequence, 0)
    for size in (each for each in sizes if each <= model.most_scored):
        if found and perf_counter() > ends:
            break
        found[size] = _pass(model, sequence, size)
        if found[size] < _QUICK:
            found[size] = min(found[size], _pass(model, sequence, size))
    return dict(sorted(found.items()))


def _pass(model: TokenModel, sequence: int, size: int) -> float:
    started = perf_counter()
    model.decode(sequence, 0, [1] * size, size)
    model.best(size - 1)
    took = perf_counter() - started
    model.truncate(sequence, 0)
    return took
