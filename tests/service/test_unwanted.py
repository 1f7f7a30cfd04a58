"""Where a suggestion that nobody asked for would only be in the way."""

from __future__ import annotations

import pytest

from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.service.unwanted import Deletions, deleted, is_inside_a_word
from tests.service.scripted import place


@pytest.mark.parametrize(
    ("marked", "inside"),
    [("ba|na", True), ("a_|1", True), ("|bana", False), ("bana|", False), ("f(|x", False)],
)
def test_a_place_is_inside_a_word_or_not(marked: str, inside: bool) -> None:  # noqa: FBT001
    """Letters, digits or underscores stand on both sides."""
    assert is_inside_a_word(*place(marked)) is inside


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ("keep(first)", "|", "keep(first)"),
        ("a = keep + b", "a = | + b", "keep"),
        ("a\nbc\nde\nf", "a\nb|e\nf", "c\nd"),
        ("a\nb\nc", "a\n|c", "b\n"),
        ("abc", "ax|", ""),
        ("abc", "abcd|", ""),
        ("aaaa", "aa|", "aa"),
        ("a\nb", "a|", "\nb"),
        ("a", "a|\nb", ""),
    ],
)
def test_what_was_deleted_is_told(before: str, after: str, gone: str) -> None:
    """It's what stood there, if the change did nothing else."""
    snapshot, position = place(after)
    assert deleted(Text(before), snapshot.text, position) == gone


@pytest.mark.parametrize(
    ("text", "restored"),
    [
        ("keep(first)", True),
        ("keep(first) + 1", True),
        ("keep", True),
        ("other", False),
        ("", False),
    ],
)
def test_what_was_deleted_isnt_brought_back(text: str, restored: bool) -> None:  # noqa: FBT001
    """Neither all of it nor a part, with more behind it or not; until the next change."""
    deletions = Deletions()
    before = Snapshot("file:///a", 1, "python", Text("x = keep(first)\n"))
    after, position = place("x = |\n")
    after = Snapshot("file:///a", 2, "python", after.text)
    deletions.changed(before, after, position)
    assert deletions.restores(after, position, text) is restored
    assert not deletions.restores(after, Position(1, 0), text)
    assert not deletions.restores(before, position, text)
    deletions.changed(after, after, position)
    assert not deletions.restores(after, position, text)


def test_a_few_characters_may_come_back() -> None:
    """Who deletes three of them, or changes several places, may be about to type them."""
    deletions = Deletions()
    before = Snapshot("file:///a", 1, "python", Text("x = abcdef\n"))
    for changed, end in (("x = abc|\n", True), ("x = |\n", False)):
        after, position = place(changed)
        after = Snapshot("file:///a", 2, "python", after.text)
        deletions.changed(before, after, position if end else None)
        assert not deletions.restores(after, position, "def" if end else "abcdef")
