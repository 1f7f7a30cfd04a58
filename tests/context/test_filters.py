"""What becomes of a finished text: each filter by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.context import filters
from specls.context.filters import FILTERS, Filter, fitted
from specls.context.indent import unit_of
from tests.context.test_stop import place

TABS = "class A:\n\tdef a(self):\n\t\treturn 1\n\n"
TWO = "class A:\n  def a(self):\n    return 1\n\n"
FOUR = "class A:\n    def a(self):\n        return 1\n\n"


@pytest.mark.parametrize(
    ("text", "unit"),
    [(TABS, "\t"), (TWO, "  "), (FOUR, "    "), ("a\nb\n", ""), ("/*\n * a\n */\n", "")],
)
def test_the_unit_is_the_files_own(text: str, unit: str) -> None:
    """It's by what most lines are deeper than the one above."""
    assert unit_of(text) == unit


@pytest.mark.parametrize(
    ("marked", "written", "shown"),
    [
        (f"{TABS}if x:|", "\n    y = 1", "\n\ty = 1"),
        (f"{TABS}\tdef c(self):|", "\n        return 3", "\n\t\treturn 3"),
        (f"{TABS}\tdef c(self):\n\t\t|", "x = 3\n        return x", "x = 3\n\t\treturn x"),
        (f"{TABS}if x:|", "\n\ty = 1", "\n\ty = 1"),
        (f"{TWO}if x:|", "\n    y = 1\n    if y:\n        z", "\n  y = 1\n  if y:\n    z"),
        (f"{TWO}if x:|", "\n  y = 1", "\n  y = 1"),
        (f"{FOUR}if x:|", "\n\ty = 1", "\n    y = 1"),
        ("if x:|", "\n  y = 1", "\n  y = 1"),
        (f"{FOUR}x = f(|", "\n  y)", "\n  y)"),
        ("x|", "\r\ny\r\n", "\ny\n"),
        # What the line begins with already isn't written again.
        ("def f():\n    |\n", "    return 1\n    x", "return 1\n    x"),
        ("def f():\n    |\n", "  return 1\n      x", "return 1\n    x"),
        ("def f():\n\t|\n", "\treturn 1", "return 1"),
        ("def f():\n|\n", "    return 1", "    return 1"),
        ("def f():\n    a = 1\n    |\n", "    b = 2", "b = 2"),
        ("x = f(a,\n    |\n", "      b)", "      b)"),
        ("x = (a\n    |\n", "     .b)", "     .b)"),
        ("x = |", " 1", "1"),
        ("x =|", " 1", " 1"),
        ("x = '|", " 1'", " 1'"),
    ],
)
def test_a_text_is_written_like_its_file(marked: str, written: str, shown: str) -> None:
    """Tabs stay tabs, steps are as wide as the file's, and nothing is indented twice."""
    assert fitted(written, place(marked, "python")) == shown


@pytest.mark.parametrize(
    ("each", "marked", "text", "kept"),
    [
        (filters.whole_characters, "|", "a = 'Gr\ufffd'", "a = 'Gr"),
        (filters.whole_characters, "|", "a\x00b", "a"),
        (filters.whole_characters, "|", "a\tb\n", "a\tb\n"),
        (filters.without_what_follows, "f(|)", "a)", "a"),
        (filters.without_what_follows, "f(|)", "g(a)", "g(a)"),
        (filters.without_what_follows, "a | or b", "x or b", "x"),
        (filters.without_what_follows, "a = b|", "c  ", "c  "),
        (filters.without_blank_end, "x|", "a  \n \n", "a"),
        (filters.without_blank_end, "x|y", "a  ", "a  "),
        (filters.without_blank_end, "x| y", "a  ", "a"),
        (filters.without_the_next_line, "|\nreturn x\n", "a\nreturn x", "a"),
        (filters.without_the_next_line, "|\nreturn x\n", "a\nret", "a"),
        (filters.without_the_next_line, "|\nreturn x\n", "a\nr", "a\nr"),
        (filters.without_the_next_line, "|\n}\n", "a\n}", "a\n}"),
        (filters.not_a_line_again, "import os\n|", "import os\nimport re", ""),
        (filters.not_a_line_again, "    }\n    |", "}", "}"),
        (filters.not_a_line_again, "|\nimport os", "import os", ""),
        (filters.not_half_a_pair, "f {|}", "\n  a", ""),
        (filters.not_half_a_pair, "f {|}", "\n  a\n", "\n  a\n"),
        (filters.not_half_a_pair, "f {|}", " a ", " a "),
        (filters.not_blank, "|", " \n\t", ""),
    ],
)
def test_each_filter(each: Filter, marked: str, text: str, kept: str) -> None:
    """What a single filter leaves of a text."""
    assert each(text, place(marked)) == kept


TEXTS = st.text("ab( {)}]\n\t'\"=:,;.\ufffd\r", max_size=30)


@given(TEXTS, TEXTS, TEXTS)
def test_filters_only_shorten(before: str, after: str, text: str) -> None:
    """Each returns a beginning of what it's given, and so does the chain."""
    where = place(f"{before}|{after}", "python")
    for each in FILTERS:
        assert text.startswith(each(text, where))
    assert text.startswith(filters.shown(text, where))


@given(TEXTS, TEXTS, TEXTS)
def test_what_is_fitted_grows_with_the_text(before: str, after: str, text: str) -> None:
    """Behind a complete line, nothing of it changes any more."""
    where = place(f"{before}|{after}", "python")
    for size in range(len(text)):
        earlier = fitted(text[:size], where)
        end = earlier.rfind("\n") + 1
        if earlier[:end].strip():
            assert fitted(text, where).startswith(earlier[:end])
