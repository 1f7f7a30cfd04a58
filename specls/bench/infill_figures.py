"""Figures of the results: shares for each way, and differences between two with an interval."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from specls.bench.infill_results import Result, W
from specls.metrics import rate

_RESAMPLES = 2000
_TAIL = 0.025
"""On each side of a 95 % interval."""

Measure = Callable[[Result], float]

MEASURES: Mapping[str, Measure] = {
    "exact match": lambda result: result.exact,
    "pass@1": lambda result: result.passed,
    "similarity": lambda result: result.similarity,
}
"""What is compared, each from 0 to 1."""


@dataclass(frozen=True)
class Figures:
    """One way's figures for one kind of task."""

    n: int
    exact: float
    passed: float
    similarity: float
    decoded: float
    """The median of the prompt tokens decoded."""


@dataclass(frozen=True)
class Difference:
    """How much higher the first of two ways is, and the 95 % interval of that."""

    value: float
    low: float
    high: float

    @property
    def is_worse(self) -> bool:
        """Whether the first way is worse beyond the interval."""
        return self.high < 0

    @property
    def is_better(self) -> bool:
        """Whether the first way is better beyond the interval."""
        return self.low > 0


def similarity(left: str, right: str) -> float:
    """1 less the Levenshtein distance as a share of the longer text; 1 for two empty ones."""
    longer = max(len(left), len(right))
    return 1 - levenshtein(left, right) / longer if longer else 1.0


def levenshtein(left: str, right: str) -> int:
    """The fewest characters to insert, remove or replace to make one text the other."""
    row = list(range(len(right) + 1))
    for above, char in enumerate(left):
        diagonal, row[0] = row[0], above + 1
        for at, other in enumerate(right, start=1):
            changed = diagonal + (char != other)
            diagonal = row[at]
            row[at] = min(changed, row[at] + 1, row[at - 1] + 1)
    return row[-1]


def figures_of(results: Sequence[Result]) -> Figures:
    """The figures of one way's results (at least one)."""
    return Figures(
        n=len(results),
        exact=statistics.fmean(result.exact for result in results),
        passed=statistics.fmean(result.passed for result in results),
        similarity=statistics.fmean(result.similarity for result in results),
        decoded=statistics.median(result.decoded for result in results),
    )


def pairs_of(first: Iterable[W], second: Iterable[W]) -> list[tuple[W, W]]:
    """The results of two ways for the tasks that both have done."""
    others = {(result.task, result.kind): result for result in second}
    return [
        (result, others[result.task, result.kind])
        for result in first
        if (result.task, result.kind) in others
    ]


def same_share(pairs: Sequence[tuple[W, W]]) -> float:
    """The share of the tasks (at least one) for which both ways wrote the same."""
    return statistics.fmean(left.text == right.text for left, right in pairs)


def once(_: object) -> float:
    """Counts tasks."""
    return 1.0


def difference(
    pairs: Sequence[tuple[W, W]],
    measure: Callable[[W], float],
    seed: int = 0,
    per: Callable[[W], float] = once,
) -> Difference:
    """The difference of the means over the tasks (at least one), with a bootstrap interval.

    Instead of a mean it may be of a share: all of ``measure`` for each of ``per``. Tasks made from
    one program aren't independent, so whole programs are drawn, not tasks.
    """
    problems: defaultdict[str, list[_Sums]] = defaultdict(list)
    for left, right in pairs:
        problems[left.problem].append((measure(left), per(left), measure(right), per(right)))
    groups = [_added(sums) for _, sums in sorted(problems.items())]
    dice = random.Random(seed)  # noqa: S311 - no secret
    values = sorted(_less(dice.choices(groups, k=len(groups))) for _ in range(_RESAMPLES))
    cut = int(_TAIL * _RESAMPLES)
    return Difference(_less(groups), values[cut], values[-1 - cut])


_Sums = tuple[float, float, float, float]
"""Of what is measured and what it's for, of the first way and of the second."""


def _added(sums: Sequence[_Sums]) -> _Sums:
    first, first_per, second, second_per = map(sum, zip(*sums, strict=True))
    return first, first_per, second, second_per


def _less(groups: Sequence[_Sums]) -> float:
    first, first_per, second, second_per = _added(groups)
    return rate(first, first_per) - rate(second, second_per)
