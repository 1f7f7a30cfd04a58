"""What is left of a stretch of text while the document is edited."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.context.difference import difference
from specls.context.remains import Remains, Stretch
from specls.context.text import Position, Text, split_lines


def marked(text: str) -> tuple[Text, Remains]:
    """A text, and the stretch in it that brackets of this kind stand around: ⟦…⟧."""
    before, inner, after = re.split("[⟦⟧]", text)
    places = []
    for head in (before, before + inner):
        lines = split_lines(head)
        places.append(Position(len(lines) - 1, len(lines[-1])))
    return Text(before + inner + after), Remains((Stretch(*places),))


def shown(text: Text, remains: Remains) -> str:
    """The text with brackets around what is left."""
    lines = list(text.lines(0, len(text)))
    for stretch in reversed(remains.stretches):
        for place, mark in ((stretch.end, "⟧"), (stretch.start, "⟦")):
            line = lines[place.line]
            lines[place.line] = line[: place.column] + mark + line[place.column :]
    return "".join(lines)


def left(before: str, after: str) -> tuple[str, int]:
    """What is left of a stretch, with brackets around it, and how many characters."""
    text, remains = marked(before)
    new = Text(after)
    change = difference(text, new)
    assert change is not None
    moved = remains.moved(change, text, new)
    return shown(new, moved), moved.characters(new)


@pytest.mark.parametrize(
    ("before", "after", "expected", "characters"),
    [
        # elsewhere
        ("x\n⟦abc⟧\ny", "x\nnew\nabc\ny", "x\nnew\n⟦abc⟧\ny", 3),
        ("x ⟦abc⟧ y", "xx abc y", "xx ⟦abc⟧ y", 3),
        ("x ⟦abc⟧ y", "x abc yy", "x ⟦abc⟧ yy", 3),
        # at its ends
        ("x ⟦abc⟧ y", "x abcd y", "x ⟦abc⟧d y", 3),
        ("x ⟦abc⟧ y", "x dabc y", "x d⟦abc⟧ y", 3),
        # inside
        ("⟦abc⟧", "abXc", "⟦ab⟧X⟦c⟧", 3),
        ("⟦abcd⟧", "abd", "⟦ab⟧⟦d⟧", 3),
        ("⟦a\nb\nc⟧", "a\nb\nnew\nc", "⟦a\nb\n⟧new\n⟦c⟧", 5),
        # across its ends
        ("one ⟦two three⟧ four", "one four", "one four", 0),
        ("one ⟦two three⟧ four", "ee four", "⟦ee⟧ four", 2),
        ("one ⟦two three⟧ four", "one two", "one ⟦two⟧", 3),
        # replaced, and partly by itself
        ("⟦return a⟧\n", "result = a\n", "⟦re⟧sult =⟦ a⟧\n", 4),
        ("x = ⟦foo(a, b)⟧", "x = foo(\n    a,\n    b\n)", "x = ⟦foo(⟧\n    ⟦a,⟧\n    ⟦b⟧\n⟦)⟧", 8),
        ("a\n⟦b\nc\n⟧d\n", "A\nb\nc\nD\n", "A\n⟦b\nc\n⟧D\n", 4),
        ("⟦abc⟧", "", "", 0),
    ],
)
def test_it_follows_an_edit(before: str, after: str, expected: str, characters: int) -> None:
    """Characters that are still there are counted, wherever they moved; new ones aren't."""
    assert left(before, after) == (expected, characters)


def test_the_end_of_a_line_is_one_character() -> None:
    """A suggestion has as many characters in a file with other line endings."""
    text, remains = marked("x\r\n⟦a\r\nb⟧")
    assert remains.characters(text) == 3


def test_a_formatter_leaves_what_it_only_indents() -> None:
    """Where a large stretch is replaced, its lines and words are found again."""
    body = "".join(f"value_{number} = {number}\n" for number in range(50))
    before = f'a = 1\n⟦{body}⟧b = "c"\n'
    after = "".join(f"    {line}\n" for line in before.replace('"', "'").splitlines())
    after = after.replace("⟦", "").replace("⟧", "")
    assert left(before, "if x:\n" + after)[1] == len(body)


def test_what_replaces_very_much_keeps_nothing_of_it() -> None:
    """Texts that are too long to compare are taken for different ones."""
    filler = "".join(f"{number}\n" for number in range(20_000))
    assert left(f"a{filler}⟦abc⟧{filler}b", f"b{filler}abc{filler}a")[1] == 0


@given(
    st.text(alphabet="ab \n", max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), st.text("xy\n", max_size=4))),
    st.integers(0, 40),
    st.integers(0, 40),
)
def test_it_counts_the_characters_that_edits_leave(
    text: str, edits: list[tuple[int, int, str]], first: int, last: int
) -> None:
    """Of characters that no edit brings back, as many are left as were never deleted."""
    first, last = sorted((min(first, len(text)), min(last, len(text))))
    # Each sign of the stretch is one of its own, so that what is left of it can be seen.
    signs = [chr(0x4E00 + index) if char != "\n" else char for index, char in enumerate(text)]
    whole = "".join(signs)
    document, remains = marked(f"{whole[:first]}⟦{whole[first:last]}⟧{whole[last:]}")
    for at, length, new in edits:
        string = str(document)
        at = min(at, len(string))  # noqa: PLW2901
        changed = Text(string[:at] + new + string[at + length :])
        change = difference(document, changed)
        if change is not None:
            remains = remains.moved(change, document, changed)
        document = changed
    wanted = sum(sign in str(document) for sign in whole[first:last] if sign != "\n")
    ends = whole[first:last].count("\n")
    assert wanted <= remains.characters(document) <= wanted + ends
