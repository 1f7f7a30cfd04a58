"""What users of other servers complained about: indentation and line endings."""

from __future__ import annotations

import pytest

from tests.e2e.scripted import Marked, Scripted

pytestmark = pytest.mark.e2e


TABS = "class A:\n\tdef a(self):\n\t\treturn 1\n\n\tdef b(self):\n\t\treturn 2\n\n"
TWO = "if a:\n  b()\n  if c:\n    d()\n\n"
FOUR = "if a:\n    b()\n    if c:\n        d()\n\n"


INDENTED = [
    pytest.param("def f():\n    |\n", "    return 1", "return 1", id="repeated"),
    pytest.param("def f():\n    |\n", "        return 1", "return 1", id="deeper"),
    pytest.param("def f():\n  |\n", "    return 1", "return 1", id="another width"),
    pytest.param("def f():\n\t|\n", "\treturn 1", "return 1", id="a tab"),
    pytest.param("def f():\n\t|\n", "    return 1", "return 1", id="spaces behind a tab"),
    pytest.param(
        "def f():\n    |\n", "    a = 1\n    return a", "a = 1\n    return a", id="two lines"
    ),
]


# 4: TabbyML/tabby#3263, ggml-org/llama.vscode#72
@pytest.mark.parametrize(("document", "answer", "inserted"), INDENTED)
def test_what_is_indented_isn_t_indented_again(
    scripted: Scripted, document: str, answer: str, inserted: str
) -> None:
    """On a line that's indented, a suggestion begins with no white space."""
    above = "import os\nimport sys\nimport time\n\n" * 3
    assert scripted.written(above + document, answer) == inserted


@pytest.mark.parametrize(("document", "answer", "inserted"), INDENTED)
def test_nor_is_it_in_the_first_lines(
    scripted: Scripted, document: str, answer: str, inserted: str
) -> None:
    """The same at the beginning of a file."""
    assert scripted.written(document, answer) == inserted


@pytest.mark.parametrize("above", ["", "import os\nimport sys\nimport time\n\n" * 3])
@pytest.mark.parametrize(
    ("document", "answer"),
    [("def f():\n    |\n", "return 1"), ("def f():|\n", "\n    return 1"), ("|\n", "x = 1")],
)
def test_right_indentation_stays(
    scripted: Scripted, above: str, document: str, answer: str
) -> None:
    """What is indented as it should be is shown as it is."""
    assert scripted.written(above + document, answer) == answer


# 5: ggml-org/llama.vscode#73, FittenTech/fittencode.vim#6
@pytest.mark.parametrize(
    ("document", "answer", "inserted"),
    [
        pytest.param(TABS + "if x:|\n", "\n    y = 1", "\n\ty = 1", id="tabs"),
        pytest.param(
            TABS + "\tdef c(self):|\n",
            "\n        return 3",
            "\n\t\treturn 3",
            id="tabs, two deep",
        ),
        pytest.param(
            TABS + "\tdef c(self):\n\t\t|\n",
            "x = 3\n        return x",
            "x = 3\n\t\treturn x",
            id="tabs, the second line",
        ),
        pytest.param(TWO + "if x:|\n", "\n    y = 1", "\n  y = 1", id="two spaces"),
        pytest.param(FOUR + "if x:|\n", "\n\ty = 1", "\n    y = 1", id="four spaces"),
        pytest.param(FOUR + "if x:|\n", "\n    y = 1", "\n    y = 1", id="right already"),
        pytest.param(TABS + "if x:|\n", "\n\ty = 1", "\n\ty = 1", id="tabs already"),
    ],
)
def test_the_file_s_own_indentation_is_kept(
    scripted: Scripted, document: str, answer: str, inserted: str
) -> None:
    """Lines of a suggestion are indented with what the file is indented with."""
    assert scripted.written(document, answer) == inserted


# 6: TabbyML/tabby#3279 and #3303, continuedev/continue#3591
@pytest.mark.parametrize(
    ("document", "ending"),
    [
        ("a = 1\r\nif a:\r\n    |\r\n", "\r\n"),
        ("a = 1\nif a:\n    |\n", "\n"),
        ("a = 1\r\nb = 2\r\nif a:\n    |\r\n", "\r\n"),
        ("a = 1\nb = 2\nif a:\r\n    |\n", "\n"),
        ("if a:|", "\n"),
    ],
)
def test_line_endings_are_the_file_s(scripted: Scripted, document: str, ending: str) -> None:
    """The model sees LF, and the suggestion has what most lines of the file end with."""
    marked = Marked.read(document)
    answer = "b = 2\n    c = 3" if marked.before.endswith(" ") else "\n    b = 2\n    c = 3"
    assert scripted.written(document, answer) == answer.replace("\n", ending)
    assert "\r" not in scripted.seen["prompt"]


def test_the_same_document_with_crlf_gets_the_same(scripted: Scripted) -> None:
    """No line is more or less than with LF."""
    document = "def f(a):\n    if a:\n        |\n    return 0\n"
    answer = "b = 1\n        return b\n    return 0"
    unix = scripted.written(document, answer)
    assert unix == "b = 1\n        return b"
    windows = scripted.written(document.replace("\n", "\r\n"), answer)
    assert windows == unix.replace("\n", "\r\n")
