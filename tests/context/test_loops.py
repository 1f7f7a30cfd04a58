"""Texts that say the same again and again."""

from __future__ import annotations

import pytest

from specls.context.loops import loop_start
from specls.context.place import Place
from specls.context.stop import end_of

ROW = "    self.value = value\n"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (ROW * 2, None),
        (ROW * 3, ROW * 2),
        (ROW * 7, ROW * 2),
        ("first = 1\n" + ROW * 4, "first = 1\n" + ROW * 2),
        ("if a:\n    b()\nelse:\n    c()\n" * 3, "if a:\n    b()\nelse:\n    c()\n" * 2),
        ("and x > 1 " * 3, "and x > 1 " * 2),
        ("0, " * 20, None),
        ("0, " * 40, "0, " * 30),
        ("-" * 80, None),
        ("=" * 300, "=" * 100),
        (" " * 300, None),
        ("", None),
        ("abc", None),
    ],
)
def test_what_is_said_too_often_is_cut(text: str, kept: str | None) -> None:
    """Of lines and blocks two copies stay, of a few characters thirty, of one a hundred."""
    found = loop_start(text)
    assert (text if found is None else text[:found]) == (text if kept is None else kept)
    assert (found is None) == (kept is None)


@pytest.mark.parametrize("where", [Place("    ", "", ""), Place("x = [", "]", "")])
def test_a_loop_ends_a_completion(where: Place) -> None:
    """As soon as the third copy is there, in a block and within a line."""
    unit = "call(value, 1);" if where.tail else "    call(value, 1)\n"
    text, end = "", None
    for char in unit * 10:
        text += char
        if (end := end_of(text, where)) is not None:
            break
    assert end == 2 * len(unit)
    assert len(text) <= 3 * len(unit)


def test_long_texts_are_looked_at_quickly() -> None:
    """Nothing is quadratic in the number of copies."""
    assert loop_start("x = 1\n" * 2000) == 30 * 6
