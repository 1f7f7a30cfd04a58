"""Figures of what users are shown, each defined here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specls.bench.infill_figures import Difference, difference, once
from specls.bench.infill_results import Written
from specls.bench.infill_shown_ways import Piece
from specls.metrics import rate

WAYS = ("shown", "raw")
"""``shown``: through the service, with stop rules and filters. ``raw``: the same tokens without."""


@dataclass(frozen=True)
class Shown(Written):
    """What was shown for one task, and what belongs there. Both without white space at the end."""

    truth: str
    pieces: Sequence[Piece]
    """The tokens that begin inside of ``text``: what each adds, and its log-probability."""

    @property
    def useful(self) -> int:
        """The characters that the user keeps: those up to the first that isn't as it belongs."""
        pairs = enumerate(zip(self.text, self.truth, strict=False))
        shorter = min(len(self.text), len(self.truth))
        return next((at for at, (written, wanted) in pairs if written != wanted), shorter)

    @property
    def deleted(self) -> int:
        """The characters that the user deletes: all others."""
        return len(self.text) - self.useful

    @property
    def first_line_exact(self) -> bool:
        """Whether the first line is as it belongs, white space at its end aside."""
        first, wanted = (text.partition("\n")[0].rstrip() for text in (self.text, self.truth))
        return first == wanted

    @property
    def exact(self) -> bool:
        """Whether all lines are as they belong."""
        return self.text == self.truth


@dataclass(frozen=True)
class Figure:
    """One number about many results: all of ``of`` for each of ``per``, times ``scale``."""

    name: str
    of: Callable[[Shown], float]
    per: Callable[[Shown], float] = once
    scale: float = 1.0

    def value(self, results: Sequence[Shown]) -> float:
        """The figure."""
        return self.scale * rate(sum(map(self.of, results)), sum(map(self.per, results)))

    def difference(self, pairs: Sequence[tuple[Shown, Shown]], seed: int) -> Difference:
        """How much higher it is for the first of each pair, with its 95 % interval."""
        found = difference(pairs, self.of, seed, self.per)
        return Difference(*(self.scale * each for each in (found.value, found.low, found.high)))


def _length(result: Shown) -> int:
    return len(result.text)


FIGURES = (
    Figure("first line exact, %", lambda result: result.first_line_exact, scale=100),
    Figure("all lines exact, %", lambda result: result.exact, scale=100),
    Figure("pass@1, %", lambda result: result.passed, scale=100),
    Figure("nothing shown, %", lambda result: not result.text, scale=100),
    Figure("characters shown", _length),
    Figure("useful characters", lambda result: result.useful),
    Figure("deleted characters", lambda result: result.deleted),
    Figure("deleted of 1,000 shown", lambda result: result.deleted, _length, scale=1000),
    Figure("new tokens", lambda result: result.new_tokens),
)
"""Shares are of all tasks, and the others are for each task, but for the one of 1,000 shown."""
