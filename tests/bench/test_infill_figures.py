"""Figures of known results."""

from __future__ import annotations

import pytest

from specls.bench.infill_figures import (
    MEASURES,
    difference,
    figures_of,
    levenshtein,
    pairs_of,
    same_share,
    similarity,
)
from specls.bench.infill_results import Result


def result(number: int, way: str, *, exact: bool, decoded: int = 10, text: str = "x") -> Result:
    return Result(
        task=f"Own/{number // 2}/L{number}",
        kind="line",
        way=way,
        text=text,
        exact=exact,
        verdict="passed" if exact else "failed",
        similarity=1.0 if exact else 0.5,
        new_tokens=3,
        decoded=decoded,
        seconds=0.1,
    )


def results(way: str, marks: str) -> list[Result]:
    """One result for each mark; ``+`` is an exact match."""
    return [result(number, way, exact=mark == "+") for number, mark in enumerate(marks)]


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("kitten", "sitting", 3), ("same", "same", 0)],
)
def test_the_distance(left: str, right: str, distance: int) -> None:
    """Known Levenshtein distances, the same in both directions."""
    assert levenshtein(left, right) == distance
    assert levenshtein(right, left) == distance


def test_the_similarity() -> None:
    """It's a share of the longer text."""
    assert similarity("", "") == 1.0
    assert similarity("abcd", "abc") == 0.75
    assert similarity("ab", "xy") == 0.0


def test_the_figures_of_a_way() -> None:
    """Shares are means, and the tokens' figure is their median."""
    done = [
        result(0, "a", exact=True, decoded=1),
        result(1, "a", exact=False, decoded=5),
        result(2, "a", exact=False, decoded=100),
        result(3, "a", exact=True, decoded=7),
    ]
    figures = figures_of(done)
    assert (figures.n, figures.exact, figures.passed, figures.similarity) == (4, 0.5, 0.5, 0.75)
    assert figures.decoded == 6


def test_only_what_both_have_done_is_compared() -> None:
    """A task that one of two ways hasn't done is no pair."""
    pairs = pairs_of(results("a", "+-+"), results("b", "++"))
    assert [left.task for left, _ in pairs] == ["Own/0/L0", "Own/0/L1"]


def test_the_interval_holds_the_difference() -> None:
    """The difference is that of the means, and lies inside of its interval."""
    pairs = pairs_of(results("a", "++-" * 20), results("b", "+-" * 30))
    found = difference(pairs, MEASURES["exact match"])
    assert found.value == pytest.approx(2 / 3 - 1 / 2)
    assert found.low < found.value < found.high
    assert found == difference(pairs, MEASURES["exact match"])


def test_a_clear_difference_is_beyond_the_interval() -> None:
    """A way that is better almost everywhere is said to be better, and the other to be worse."""
    good, bad = results("a", "+" * 40), results("b", "+---" * 10)
    assert difference(pairs_of(good, bad), MEASURES["pass@1"]).is_better
    assert difference(pairs_of(bad, good), MEASURES["pass@1"]).is_worse


def test_identical_results_differ_by_nothing() -> None:
    """Two ways with the same results have the difference 0 and no width around it."""
    pairs = pairs_of(results("a", "+-+"), results("b", "+-+"))
    for measure in MEASURES.values():
        found = difference(pairs, measure)
        assert (found.value, found.low, found.high) == (0, 0, 0)
        assert not found.is_worse
        assert not found.is_better
    assert same_share(pairs) == 1.0


def test_the_share_of_the_same_output() -> None:
    """It counts the texts that are equal."""
    left = [result(number, "a", exact=True, text=text) for number, text in enumerate("abcd")]
    right = [result(number, "b", exact=True, text=text) for number, text in enumerate("abcx")]
    assert same_share(pairs_of(left, right)) == 0.75
