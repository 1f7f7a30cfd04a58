"""Text that never changes, and positions in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.context.text import (
    Encoding,
    Position,
    Text,
    character_of,
    column_of,
    split_lines,
    strip_ending,
)

PIECES = st.lists(st.sampled_from(["a", "é", "😀", "\n", "\r", "\r\n", "\u2028", "\x0c"]))
TEXTS = PIECES.map("".join)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a\n", ""]),
        ("a\r\nb\rc\n", ["a\r\n", "b\r", "c\n", ""]),
        ("\r\n\n\r", ["\r\n", "\n", "\r", ""]),
        ("a\u2028b\x0cc\x85d", ["a\u2028b\x0cc\x85d"]),
    ],
)
def test_lines_end_only_where_lsp_says(text: str, lines: list[str]) -> None:
    """Only LF, CRLF and CR end a line."""
    assert split_lines(text) == lines


@given(TEXTS)
def test_nothing_is_lost(text: str) -> None:
    """The lines of a text joined are the text."""
    kept = Text(text)
    assert str(kept) == text
    assert [kept.line(number) for number in range(len(kept))] == split_lines(text)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), TEXTS), max_size=6))
def test_edits_equal_those_of_a_string(text: str, edits: list[tuple[int, int, str]]) -> None:
    """After any edits the text is what the same edits make of a string."""
    kept = Text(text)
    for first, second, new in edits:
        places = sorted(_places(text))
        start, end = sorted((places[first % len(places)], places[second % len(places)]))
        before = str(kept)
        changed = kept.replace(start[1], end[1], new)
        text = text[: start[0]] + new + text[end[0] :]
        assert str(kept) == before
        kept = changed
        assert [kept.line(number) for number in range(len(kept))] == split_lines(text)


def _places(text: str) -> list[tuple[int, Position]]:
    """Every position that a client can name, with its offset in the text."""
    places: list[tuple[int, Position]] = []
    offset = 0
    for number, line in enumerate(split_lines(text)):
        columns = range(len(strip_ending(line)) + 1)
        places.extend((offset + column, Position(number, column)) for column in columns)
        offset += len(line)
    return places


@pytest.mark.parametrize("lines", [1, 500, 1100, 5000])
def test_long_texts_are_edited_anywhere(lines: int) -> None:
    """An edit at any line of a text of many chunks changes that line alone."""
    text = "x\n" * lines
    for number in {0, lines // 2, lines - 1, lines}:
        changed = Text(text).replace(Position(number, 0), Position(number, 0), "new")
        expected = split_lines(text)
        expected[number] = "new" + expected[number]
        assert [changed.line(each) for each in range(len(changed))] == expected


def test_deleting_everything_leaves_one_empty_line() -> None:
    """A text of many chunks from which all is deleted is the empty text."""
    text = Text("x\n" * 3000)
    assert text.replace(Position(0, 0), Position(3000, 0), "") == Text("")


@pytest.mark.parametrize(
    ("line", "character", "encoding", "column"),
    [
        ("abc", 2, Encoding.UTF16, 2),
        ("abc", 99, Encoding.UTF16, 3),
        ("abc", -1, Encoding.UTF16, 0),
        ("😀b", 2, Encoding.UTF16, 1),
        ("😀b", 1, Encoding.UTF16, 0),
        ("😀b", 3, Encoding.UTF16, 2),
        ("é😀b", 2, Encoding.UTF8, 1),
        ("é😀b", 6, Encoding.UTF8, 2),
        ("é😀b", 4, Encoding.UTF8, 1),
        ("é😀b", 99, Encoding.UTF8, 3),
        ("é😀b", 2, Encoding.UTF32, 2),
        ("a\ud800b", 2, Encoding.UTF16, 2),
        ("e\u0301x", 2, Encoding.UTF16, 2),
    ],
)
def test_characters_are_counted_as_the_client_does(
    line: str, character: int, encoding: Encoding, column: int
) -> None:
    """An offset in the client's units is the column of the character that it stands before."""
    assert column_of(line, character, encoding) == column


@given(st.text(max_size=20), st.sampled_from(Encoding), st.data())
def test_columns_survive_the_way_there_and_back(
    line: str, encoding: Encoding, data: st.DataObject
) -> None:
    """A column turned into code units and back is the same column."""
    line = line.replace("\n", "").replace("\r", "")
    column = data.draw(st.integers(0, len(line)))
    assert column_of(line, character_of(line, column, encoding), encoding) == column


@pytest.mark.parametrize(
    ("line", "character", "expected"),
    [
        (0, 99, Position(0, 2)),
        (1, 0, Position(1, 0)),
        (2, 5, Position(1, 0)),
        (-1, 3, Position(0, 0)),
    ],
)
def test_positions_outside_are_moved_inside(line: int, character: int, expected: Position) -> None:
    """A position outside of the text becomes the nearest one inside, before the line's ending."""
    assert Text("ab\r\n").clamp(line, character, Encoding.UTF16) == expected


def test_lines_outside_are_an_error() -> None:
    """Asking for a line that isn't there raises IndexError."""
    with pytest.raises(IndexError):
        Text("a").line(1)
    with pytest.raises(IndexError):
        Text("a").line(-1)
