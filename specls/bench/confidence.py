"""What showing less would be worth: only what the model is sure of, by threshold.

Two rules are weighed, on what ``specls bench infill --shown`` recorded. ``mean``: a suggestion is
shown where the mean of its tokens' log-probabilities reaches the threshold. ``weakest``: it's cut
before the first token whose log-probability doesn't.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from specls.bench.infill_shown_figures import WAYS, Shown
from specls.metrics import rate

Rule = Callable[[Shown, float], str]
"""What of a result's text is left under a threshold, which is a log-probability."""

PROBABILITIES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Thresholds, before the logarithm is taken."""


def logarithm(probability: float) -> float:
    """The natural logarithm, of 0 as well."""
    return math.log(probability) if probability > 0 else -math.inf


def usable(results: Iterable[Shown]) -> list[Shown]:
    """What was shown, where every token's probability is known; nothing shown is usable, too."""
    return [
        result
        for result in results
        if result.way == WAYS[0]
        and bool(result.pieces) == bool(result.text)
        and all(value is not None for _, value in result.pieces)
    ]


def mean(result: Shown) -> float:
    """The mean log-probability of the tokens of a text that isn't empty."""
    return statistics.fmean(value for _, value in result.pieces if value is not None)


def by_mean(result: Shown, least: float) -> str:
    """All or nothing."""
    return result.text if result.pieces and mean(result) >= least else ""


def by_weakest(result: Shown, least: float) -> str:
    """What comes before the first weak token, without white space at its end."""
    length = 0
    for text, value in result.pieces:
        if value is not None and value < least:
            break
        length += len(text)
    return result.text[:length].rstrip()


RULES: dict[str, Rule] = {"mean": by_mean, "weakest": by_weakest}


@dataclass(frozen=True)
class Row:
    """What would be shown under one threshold. Characters are for each task."""

    probability: float
    shown: float
    """The share of the tasks with anything shown."""
    exact: float
    """The share of these whose lines are all as they belong."""
    clean: float
    """The share of these of which nothing has to be deleted."""
    useful: float
    deleted: float
    per_thousand: float
    """Characters to delete of 1,000 shown."""


def row(results: Sequence[Shown], rule: Rule, probability: float) -> Row:
    """The figures of all results (at least one) under a threshold."""
    least = logarithm(probability)
    left = [replace(result, text=rule(result, least)) for result in results]
    shown = [result for result in left if result.text]
    useful = sum(result.useful for result in shown)
    deleted = sum(result.deleted for result in shown)
    return Row(
        probability,
        rate(len(shown), len(left)),
        rate(sum(result.exact for result in shown), len(shown)),
        rate(sum(not result.deleted for result in shown), len(shown)),
        rate(useful, len(left)),
        rate(deleted, len(left)),
        1000 * rate(deleted, useful + deleted),
    )


def rows(results: Sequence[Shown], rule: Rule, probabilities: Iterable[float]) -> list[Row]:
    """One row for each threshold."""
    return [row(results, rule, probability) for probability in probabilities]
