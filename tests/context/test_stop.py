"""Where a completion ends, and what is taken off it."""

from __future__ import annotations

import pytest

from specls.context import filters
from specls.context.place import Place, Shape, place_of
from specls.context.stop import end_of
from specls.context.syntax import open_brackets
from specls.context.window import Window


def place(marked: str, language: str = "", multiline: str = "auto") -> Place:
    """The place at the ``|`` of a text."""
    before, after = marked.split("|")
    return place_of(Window(before, after), language, multiline)


def finished(marked: str, written: str, language: str = "") -> str:
    """What is left of what a model wrote at the ``|``, as if it came character by character."""
    where = place(marked, language)
    text = ""
    for size in range(len(written) + 1):
        text = filters.fitted(written[:size], where)
        if (end := end_of(text, where)) is not None:
            text = text[:end]
            break
    return filters.shown(text, where)


@pytest.mark.parametrize(
    ("marked", "shape"),
    [
        ("x = 1|", Shape.STATEMENT),
        ("x = |1", Shape.LINE),
        ("f(|)", Shape.LINE),
        ("    |", Shape.BLOCK),
        ("|\n", Shape.BLOCK),
        ("    |   \n", Shape.BLOCK),
    ],
)
def test_the_shape_follows_the_line(marked: str, shape: Shape) -> None:
    """A line, a statement or a block is completed, as the text around the cursor says."""
    assert place(marked).shape is shape


def test_the_next_line_skips_blank_ones() -> None:
    """The next line is the first below the cursor's that isn't blank."""
    assert place("a\n  b|c\n\n  \n   d\ne").next_line == "   d"


@pytest.mark.parametrize(
    ("text", "rest"),
    [("f(a[1], {", "({"), ("a)", ")"), ("(])", "(])"), ("([{}])", ""), ('f("(", [', "([")],
)
def test_open_brackets(text: str, rest: str) -> None:
    """Brackets that find no partner are told in order."""
    assert open_brackets(text) == tuple(rest)


@pytest.mark.parametrize(
    ("marked", "written", "shown"),
    [
        # In the middle of a line, one line.
        ("x = |  # why\n", "compute()\ny = 2\n", "compute()"),
        # Behind a finished beginning, the line; and the block it opens.
        ("x = |\ny = 2\n", "1\nz = 3\n", "1"),
        ("def f(n):|\n", "\n    return n\n\ndef g():\n", "\n    return n"),
        ("if (a) {|\n", "\n  b();\n}\nc();\n", "\n  b();\n}"),
        ("x = [|\n", "\n    1,\n    2,\n]\ny = 1\n", "\n    1,\n    2,\n]"),
        # In a block, until the indentation is left; a blank line doesn't end it.
        ("def f():\n    |\n", "a = 1\n    b = 2\nc = 3\n", "a = 1\n    b = 2"),
        ("def f():\n    |\n", "a = 1\n\n    b = 2\n", "a = 1\n\n    b = 2"),
        ("def f():\n    |\n", "if a:\n        b()\n    c()\nd()\n", "if a:\n        b()\n    c()"),
        ("fn f() {\n\t|\n}\n", "let a = 1;\n\ta\n}\n", "let a = 1;\n\ta"),
        # A dictionary may have a blank line inside.
        ("x = {\n    |\n}\n", "'a': [\n\n    1],\n}\n", "'a': [\n\n    1],"),
        # The next line of the document isn't written again.
        ("def f():\n    |\n    return total\n", "total = 1\n    return total\n", "total = 1"),
        ("    |\n    return total\n", "return total\n", ""),
        # Nothing, or nothing visible.
        ("x|", "", ""),
        ("x|", "  \n  \n", ""),
        ("a\n|\nb", "\n\n", ""),
    ],
)
def test_a_completion_ends_where_it_should(marked: str, written: str, shown: str) -> None:
    """What a person sees of what a model wrote."""
    assert finished(marked, written) == shown


@pytest.mark.parametrize(
    ("marked", "written", "shown"),
    [
        # ggml-org/llama.vscode#13: the rest of the line came twice.
        ("if Not |qual and x:\n", "found and qual and x:", "found and "),
        ("print(|)\n", "a, b)", "a, b"),
        ("print(|)\n", "max(a, b)", "max(a, b)"),
        ("print(|)\n", "max(a, b))", "max(a, b)"),
        ("x = [f(|)]\n", "1)]", "1"),
        ('name = "|"\n', 'Anna"', "Anna"),
        ("f(|);\n", "x);", "x"),
        ("a = b|\n", " + c  ", " + c"),
        # Something opened before the cursor is closed in the middle of what was written.
        ('print(f"Hello, {na|}")\n', 'me}!")}")', "me"),
        ("return `Hello ${user.|}`;\n", "name}!`;}`;", "name"),
        ("return math.sqrt(abs(|))\n", "a) ** 2 + abs(b) ** 2))", "a"),
        ('println!("{}|");\n', ' is a good boy", name);', " is a good boy"),
        ("with open(|) as f:\n", "x) as g:", "x"),
        ("x = '|'\n", "it\\'s'", "it\\'s"),
        ("f(|)]\n", "g(x), [y]) + z", "g(x), [y]"),
    ],
)
def test_what_stands_behind_the_cursor_isn_t_repeated(
    marked: str, written: str, shown: str
) -> None:
    """The end of a completion that repeats the text behind the cursor is taken off."""
    assert finished(marked, written) == shown


@pytest.mark.parametrize("written", ["a = 1\n  ", "a = 1\n", "a = 1"])
def test_a_line_that_isn_t_known_yet_decides_nothing(written: str) -> None:
    """While only white space of a line came, the completion may go on."""
    assert end_of(written, place("def f():\n    |\n")) is None


@pytest.mark.parametrize(
    ("marked", "written", "shown"),
    [
        ("import os\n|\n", "import os\n", ""),
        ("import os\n\n|\n", "import os\n", ""),
        ("import os\nimp|\n", "ort os\n", ""),
        ("import os\n|\n", "import os.path\n", "import os.path"),
        ("    }\n    |\n", "}\n", "}"),
    ],
)
def test_the_line_above_isn_t_repeated(marked: str, written: str, shown: str) -> None:
    """A completion that makes the line above once more is dropped, unless it only closes."""
    assert finished(marked, written) == shown
