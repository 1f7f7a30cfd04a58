"""The numbers that sum up a comparison."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.bench.arms import Answer
from specls.bench.comparison import rotated
from specls.bench.figures import (
    Sample,
    common,
    figures_of,
    percentile,
    ratio,
    ratios_of,
    sample_of,
)
from specls.bench.replay import Kind, Step
from specls.context.text import Position

TRUTH = "return 1\n\nnext\n"


def sample(
    arm: str = "anchored",
    kind: Kind = Kind.KEY,
    latency: float = 10.0,
    text: str | None = "return 1",
    script: str = "middle",
    decoded: int | None = 2,
) -> Sample:
    step = Step(kind, 0, None, Position(0, 0), TRUTH)
    answer = Answer(text, latency, latency / 2, 100, decoded, "decode")
    return sample_of(arm, script, 0, 0, step, answer)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(1, 100))
def test_a_percentile_is_a_measured_value(values: list[float], percent: float) -> None:
    """At least so many percent don't exceed it, and fewer are smaller."""
    found = percentile(values, percent)
    assert found is not None
    assert found in values
    assert sum(each <= found for each in values) * 100 >= percent * len(values) * (1 - 1e-9)
    assert sum(each < found for each in values) * 100 <= percent * len(values) * (1 + 1e-9)


def test_percentiles_of_few_values() -> None:
    """Of few values the 99th percentile is the largest; of none there is none."""
    assert percentile([3.0, 1.0, 2.0], 99) == 3.0
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile(range(1, 101), 99) == 99
    assert percentile([], 50) is None


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("", "abc", 0), ("abc", "abd", 2), ("abc", "abc", 3), ("abcd", "abc", 3)],
)
def test_characters_in_common(left: str, right: str, expected: int) -> None:
    """Counting ends at the first difference."""
    assert common(left, right) == expected


@pytest.mark.parametrize(
    ("text", "matched", "exact"),
    [
        ("return 1", 8, True),
        ("return 1\n\nother", 10, True),
        ("return", 6, False),
        ("return 12", 8, False),
        ("", 0, False),
        (None, 0, False),
    ],
)
def test_an_answer_is_compared_with_the_file(
    text: str | None, matched: int, *, exact: bool
) -> None:
    """Matching characters count over all lines, exactness for the first line."""
    found = sample(text=text)
    assert (found.matched, found.exact, found.truth) == (matched, exact, "return 1")


def test_a_finished_line_needs_no_suggestion() -> None:
    """Where the file's line ends, an empty answer is exact, and no answer isn't."""
    step = Step(Kind.KEY, 0, None, Position(0, 0), "\nnext")
    assert sample_of("a", "end", 0, 0, step, Answer("", 1.0)).exact
    assert not sample_of("a", "end", 0, 0, step, Answer(None, 1.0)).exact


def test_new_places_and_keys_are_told_apart() -> None:
    """The first request in a document doesn't count among the keys; a paste does."""
    samples = [
        sample(kind=Kind.OPEN, latency=900.0, decoded=300),
        sample(latency=10.0),
        sample(kind=Kind.BLOCK, latency=30.0, decoded=9),
    ]
    (figures,) = figures_of(samples)
    assert figures.open_median == 900.0
    assert figures.keys == [10.0, 30.0]
    assert figures.key_percentile(95) == 30.0
    assert figures.first_token == 5.0
    assert figures.decoded == 2


def test_unanswered_requests_are_counted() -> None:
    """A request without an answer has no latency, and isn't an exact line."""
    (figures,) = figures_of([sample(), sample(text=None, latency=5000.0)])
    assert figures.unanswered == 1
    assert figures.keys == [10.0]
    assert figures.exact_share == 0.5
    assert figures.matched == 8


def test_useful_characters_per_second() -> None:
    """They are counted per second that somebody waits, whatever came."""
    (figures,) = figures_of([sample(latency=1500.0), sample(text="no", latency=500.0)])
    assert figures.useful_per_second == 4.0


def test_without_values_nothing_is_claimed() -> None:
    """A number that nothing was measured for is None."""
    (figures,) = figures_of([sample(kind=Kind.OPEN, decoded=None)])
    assert figures.key_percentile(50) is None
    assert figures.first_token is None
    assert figures.decoded is None
    assert ratio(None, 1.0) is None
    assert ratio(1.0, None) is None


def test_several_scripts_are_summed_up() -> None:
    """With more than one script, the figures of all come first."""
    samples = [sample(script="end"), sample("cursor", script="middle")]
    found = [(each.script, each.arm, len(each.samples)) for each in figures_of(samples)]
    assert found == [
        ("all", "anchored", 1),
        ("all", "cursor", 1),
        ("end", "anchored", 1),
        ("end", "cursor", 0),
        ("middle", "anchored", 0),
        ("middle", "cursor", 1),
    ]


def test_arms_are_compared_with_the_anchored_one() -> None:
    """A ratio above 1 means that the arm takes longer."""
    samples = [sample(latency=10.0), sample("cursor", latency=40.0)]
    (ratios,) = ratios_of(figures_of(samples))
    assert (ratios.arm, ratios.script) == ("cursor", "middle")
    assert (ratios.opened, ratios.key_median, ratios.key_p95) == (None, 4.0, 4.0)


def test_json_holds_plain_values() -> None:
    """A sample can be written as it is."""
    values = sample(kind=Kind.BLOCK).as_dict()
    assert values["kind"] == "block"
    assert values["text"] == "return 1"


def test_arms_take_turns_at_being_first() -> None:
    """Over as many turns as there are arms, each is at each place once."""
    orders = ["".join(rotated("abc", turn)) for turn in range(4)]
    assert orders == ["abc", "bca", "cab", "abc"]
