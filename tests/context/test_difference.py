"""What changed between two versions of a text."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.context.difference import Difference, difference
from specls.context.text import Position, Text, split_lines

TEXTS = st.text(alphabet="ab\n\r🙂", max_size=30)


def at(line: int, column: int) -> Position:
    return Position(line, column)


def offset(text: str, place: Position) -> int:
    """How many characters stand before a place, which may be inside of a line's ending."""
    starts = [0, *accumulate(map(len, split_lines(text)))]
    return starts[place.line] + place.column


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("same\n", "same\n", None),
        ("a = 1\n", "a = 12\n", Difference(at(0, 5), at(0, 5), at(0, 6))),
        ("a\nb\nc", "a\nx\nb\nc", Difference(at(1, 0), at(1, 0), at(2, 0))),
        ("a\nx\nb\nc", "a\nb\nc", Difference(at(1, 0), at(2, 0), at(1, 0))),
        ("f(x)\n", "f(\n    x)\n", Difference(at(0, 2), at(0, 2), at(1, 4))),
        ("f(\n    x)\n", "f(x)\n", Difference(at(0, 2), at(1, 4), at(0, 2))),
        ("one two\nthree", "one 2\n3", Difference(at(0, 4), at(1, 5), at(1, 1))),
        ("", "new\n", Difference(at(0, 0), at(0, 0), at(1, 0))),
        ("aa", "aaa", Difference(at(0, 2), at(0, 2), at(0, 3))),
        ("a", "a\n", Difference(at(0, 1), at(0, 1), at(1, 0))),
        ("a\r\nb", "a\nb", Difference(at(0, 1), at(0, 2), at(0, 1))),
    ],
)
def test_it_is_the_smallest_stretch(before: str, after: str, expected: Difference | None) -> None:
    """Outside of the stretch both texts are the same, and it can't be smaller."""
    assert difference(Text(before), Text(after)) == expected


@given(TEXTS, TEXTS)
def test_outside_of_it_nothing_changed(before: str, after: str) -> None:
    """What stands before and behind the stretch is the same; inside, both ends differ."""
    found = difference(Text(before), Text(after))
    if found is None:
        assert before == after
        return
    start, end = offset(before, found.start), offset(before, found.end)
    new_end = offset(after, found.new_end)
    assert before[:start] == after[:start]
    assert before[end:] == after[new_end:]
    old, new = before[start:end], after[start:new_end]
    assert old != new
    assert not (old and new) or old[0] != new[0] or start == 0 or before[:start][-1] == "\r"


@given(TEXTS, TEXTS, st.data())
def test_a_place_behind_it_moves_along(before: str, new: str, data: st.DataObject) -> None:
    """What stood at a place behind an edit stands where the difference says."""
    text = Text(before)
    places = [
        at(line, column)
        for line in range(len(text))
        for column in range(len(text.content(line)) + 1)
    ]
    start, end, place = sorted(data.draw(st.tuples(*[st.sampled_from(places)] * 3)))
    after = text.replace(start, end, new)
    found = difference(text, after)
    if found is not None and place >= found.end:
        moved = found.moved(place)
        assert before[offset(before, place) :] == str(after)[offset(str(after), moved) :]


def test_lines_that_two_versions_share_are_not_compared() -> None:
    """Chunks that are the same object are passed over: an edit in a long text costs little."""

    class Line(str):
        """A line that must not be compared."""

        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

    before = Text("line\n" * 4000)
    chunks = list(before._chunks)
    chunks[0] = tuple(map(Line, chunks[0]))
    chunks[-1] = tuple(map(Line, chunks[-1]))
    before._adopt(tuple(chunks))
    after = before.replace(at(2000, 4), at(2000, 4), "!")
    assert difference(before, after) == Difference(at(2000, 4), at(2000, 4), at(2000, 5))
