"""Which part of a document the model sees."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.context.window import Window, cut


def snapshot(text: str) -> Snapshot:
    return Snapshot("file:///a", 1, "python", Text(text))


def words(text: str) -> int:
    """A token is a word or a line ending."""
    return len(text.split()) + text.count("\n")


def window(text: str, line: int, column: int, before: int, after: int) -> Window:
    return cut(snapshot(text), Position(line, column), before, after, words)


def test_a_small_file_is_seen_whole() -> None:
    """What fits is taken from the first to the last character, split at the cursor."""
    assert window("a b\nc d\ne f\n", 1, 2, 100, 100) == Window("a b\nc ", "d\ne f\n")


def test_budgets_hold() -> None:
    """Neither side has more tokens than its budget."""
    text = "one two\n" * 1000
    seen = window(text, 500, 3, 90, 30)
    assert 60 <= words(seen.before) <= 90
    assert 24 <= words(seen.after) <= 30


def test_the_beginning_stays_while_lines_are_added() -> None:
    """Going down line by line, the window's first line changes once in several lines."""
    text = "".join(f"line {number}\n" for number in range(400))
    first = [window(text, line, 0, 300, 10).before.split("\n")[0] for line in range(200, 264)]
    assert len(set(first)) <= 6


def test_little_room_still_shows_the_lines_above() -> None:
    """A window of few lines keeps at least three quarters of those that fit."""
    text = "".join(f"line {number}\n" for number in range(400))
    for line in range(100, 164):
        assert window(text, line, 0, 24, 0).before.count("\n") >= 6


def test_no_room_after_the_cursor_shows_nothing_there() -> None:
    """A budget of zero behind the cursor gives an empty suffix."""
    assert window("a b c\nd\n", 0, 2, 50, 0).after == ""


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings_become_lf(ending: str) -> None:
    """The model sees LF, whatever the file has, and no byte order mark."""
    text = ending.join(("\ufeffa", "b", "c", ""))
    assert window(text, 1, 1, 50, 50) == Window("a\nb", "\nc\n")


def test_a_huge_line_is_cut_near_the_cursor() -> None:
    """Of a line of a megabyte only what surrounds the cursor is counted and shown."""
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text) // 4

    line = "abcd" * 250_000
    seen = cut(snapshot(line), Position(0, 600_000), 128, 64, count)
    assert line[:600_000].endswith(seen.before)
    assert line[600_000:].startswith(seen.after)
    assert 370 <= len(seen.before) <= 512
    assert 200 <= len(seen.after) <= 256
    assert sum(counted) < 20_000


def test_the_cut_of_a_huge_line_stays_while_typing() -> None:
    """Typing in a huge line moves the window's beginning once in many keys."""
    count: Callable[[str], int] = lambda text: len(text) // 4  # noqa: E731
    line = "".join(f"{number};" for number in range(100_000))
    starts = {
        column - len(cut(snapshot(line), Position(0, column), 128, 64, count).before)
        for column in range(300_000, 300_200)
    }
    assert len(starts) <= 3


def test_budgets_hold_within_a_line() -> None:
    """Also where every character is a token, no more than the budget is shown."""
    seen = cut(snapshot("x" * 10_000), Position(0, 5000), 100, 40, len)
    assert 56 <= len(seen.before) <= 100
    assert 30 <= len(seen.after) <= 40


def test_the_work_is_that_of_the_window() -> None:
    """In a document of a million lines, only those of the window are looked at."""
    looked = 0

    def count(text: str) -> int:
        nonlocal looked
        looked += 1
        return words(text)

    cut(snapshot("x = 1\n" * 1_000_000), Position(500_000, 2), 400, 100, count)
    assert looked < 250
