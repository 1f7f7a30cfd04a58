"""What users of other servers complained about: text that stands there twice, or shouldn't at all.

Each case: the document with the cursor as a bar, what the model writes, what may be inserted. The
numbers in the comments are those of docs/complaints.md.
"""

from __future__ import annotations

import pytest

from tests.e2e.editor import stats
from tests.e2e.scripted import Answer, Scripted
from tests.fakes import END, MIDDLE, PREFIX, SUFFIX

pytestmark = pytest.mark.e2e


# 1: ggml-org/llama.vscode#13
@pytest.mark.parametrize(
    ("document", "answer", "inserted"),
    [
        pytest.param("Not | qual ! x !", "yet ! qual ! x !", "yet !", id="the whole rest"),
        pytest.param("Not | qual ! x !", "yet ! qua", "yet !", id="its beginning"),
        pytest.param(
            "Not | qual ! x !",
            "yet ! qual ! x ! and",
            "yet !",
            id="the rest and more",
        ),
        pytest.param(
            "Not | qual ! x !",
            "qual ! x !",
            "",
            id="nothing else",
        ),
        pytest.param("f(a, |c)", "b, c)", "b, ", id="an argument"),
        pytest.param("x = a |+ c + d", "+ b + c + d", "+ b ", id="a repeated sign"),
        pytest.param("if x == |:\n    pass\n", "1:\n    pass", "1", id="a colon"),
        pytest.param(
            "return | if a else b",
            "x if a else b\n",
            "x",
            id="a line end behind it",
        ),
    ],
)
def test_the_rest_of_the_line_isn_t_repeated(
    scripted: Scripted, document: str, answer: str, inserted: str
) -> None:
    """What stands behind the cursor already is taken off, also if it's only begun or goes on."""
    assert scripted.written(document, answer) == inserted


# 2: continuedev/continue#4721, Kilo-Org/kilocode#3386, zbirenbaum/copilot-cmp#22
@pytest.mark.parametrize(
    ("document", "answer", "inserted"),
    [
        pytest.param("print(|)", "x)", "x", id="one bracket"),
        pytest.param("print(|)", "len(x))", "len(x)", id="its own bracket stays"),
        pytest.param("f(g(|))", "x))", "x", id="two brackets"),
        pytest.param("f(g(|))", "x)", "x", id="one of two"),
        pytest.param(
            "f(g(|)",
            "x))",
            "x)",
            id="only one is closed by the editor",
        ),
        pytest.param("f([|])", "1, 2])", "1, 2", id="brackets of two kinds"),
        pytest.param("f({|})", '"a": [1]})', '"a": [1]', id="brackets of three kinds"),
        pytest.param('x = "|"', 'hello"', "hello", id="a quote"),
        pytest.param('x = f("|")', 'hello")', "hello", id="a quote and a bracket"),
        pytest.param("print(|)", "x)\nprint(y)", "x", id="a line behind it"),
        pytest.param("print(|)", "x, (1 + 2))", "x, (1 + 2)", id="brackets inside"),
        pytest.param("x = f'{|}'", "name}'", "name", id="a formatted string"),
        pytest.param("f(|);", "x);", "x", id="a semicolon"),
        pytest.param("print(|)", ")", "", id="nothing but the bracket"),
    ],
)
def test_what_the_editor_closed_is_closed_once(
    scripted: Scripted, document: str, answer: str, inserted: str
) -> None:
    """Brackets and quotes behind the cursor aren't written again, and those needed stay."""
    assert scripted.written(document, answer) == inserted


# 3: ggml-org/llama.vim#71
@pytest.mark.parametrize(
    ("document", "answer"),
    [
        ("const f = () => {|}", "\n  return 1;\n}"),
        ("f(|)", "\n    1,\n    2,\n)"),
        ("x = [|]  # all", "\n    1,\n]  # all"),
        ("call(|, last)", "first,\n     second, last)"),
    ],
)
def test_the_rest_of_the_line_isn_t_repeated_lines_later(
    scripted: Scripted, document: str, answer: str
) -> None:
    """When the model goes on for lines, the rest of the cursor's line still stands there once."""
    before, rest = document.split("|")
    inserted = scripted.written(document, answer)
    assert (before + inserted + rest).count(rest) == 1


# Further: gergap/vim-ollama#55, and 12: continuedev/continue#3994
@pytest.mark.parametrize(
    ("document", "answer", "inserted"),
    [
        pytest.param(
            "def f():\n    |\n    b = 2\n    c = 3\n",
            "a = 1\n    b = 2\n    c = 3",
            "a = 1",
            id="the lines below",
        ),
        pytest.param(
            "def f():\n    |\n    b = 2\n    c = 3\n",
            "a = 1\n    b =",
            "a = 1",
            id="a part of one",
        ),
        pytest.param(
            "def f():\n    |\n\n    b = 2\n", "a = 1\n\n    b = 2\n", "a = 1", id="a blank between"
        ),
        pytest.param(
            "def f():\n    |\n    b = 2\n    c = 3\n",
            "b = 2\n    c = 3",
            "",
            id="nothing else",
        ),
        pytest.param(
            'x = [\n    "1__a",\n    |\n    "1__c",\n]\n',
            '"1__b",\n    "1__c",\n]',
            '"1__b",',
            id="a line that is like the next",
        ),
        pytest.param(
            "if a:\n    |\n    x = 11\n",
            "x = 1\n    y = 2",
            "x = 1\n    y = 2",
            id="a prefix of it",
        ),
        pytest.param(
            "def f():\n    if a:\n        |\n    return x\n",
            "return x",
            "return x",
            id="the same deeper",
        ),
    ],
)
def test_lines_below_aren_t_repeated(
    scripted: Scripted, document: str, answer: str, inserted: str
) -> None:
    """A line of the document ends a suggestion where it's the whole line; a similar one doesn't."""
    assert scripted.written(document, answer) == inserted


# 10: QwenLM/Qwen3-Coder#99
@pytest.mark.parametrize("control", [PREFIX, SUFFIX, MIDDLE, END])
@pytest.mark.parametrize("before", ["a + b", ""])
def test_a_control_token_ends_the_text(scripted: Scripted, control: int, before: str) -> None:
    """Any control token ends a suggestion, and nothing of it is in there."""
    answer = [*before.encode(), control, *b"junk"]
    assert scripted.written("x = |\n", answer) == before


# 11
def test_markers_in_a_file_are_text(scripted: Scripted) -> None:
    """Markers in the source reach the model as the text that they are, and leave it as that."""
    marker = '"<|fim_middle|>"'
    scripted.says(marker)
    scripted.open(f"MIDDLE = {marker}\nx = \n")
    assert [item["insertText"] for item in scripted.items(1, 4)] == [f"x = {marker}"]
    seen = scripted.seen["prompt"]
    assert f"MIDDLE = {marker}" in seen
    assert [seen.count(chr(0xE000 + each)) for each in (PREFIX, SUFFIX, MIDDLE)] == [1, 1, 1]


# 13: ollama/ollama#2805, TabbyML/tabby's removeRepetitive
@pytest.mark.parametrize(
    ("loop", "most", "tokens"),
    [
        ("Is+In+", 40, 140),
        ("value, ", 40, 140),
        ("a", 100, 120),
        ("0", 100, 120),
        ("x = 1\n", 1, 20),
        ("\n", 0, 70),
        (" ", 0, 70),
    ],
)
def test_a_loop_ends(scripted: Scripted, loop: str, most: int, tokens: int) -> None:
    """What the model says without end is cut, and no more decoded than shows that it's a loop."""
    before = int(stats(scripted.client)["decodedTokens"])
    inserted = scripted.written("y = |\n", loop, endless=True)
    assert inserted.count(loop) <= most
    assert int(stats(scripted.client)["decodedTokens"]) - before <= tokens


# By code of huggingface/llm-ls and others: a token with a part of a character fails the request
@pytest.mark.parametrize(
    ("answer", "inserted"),
    [
        pytest.param("'é🤗'", "'é🤗'", id="whole"),
        pytest.param("'é🤗".encode()[:-1], "'é", id="cut at the end"),
        pytest.param(b"'a\xf0\x9f", "'a", id="half of one"),
        pytest.param(b"\xf0\x9f", "", id="nothing else"),
        pytest.param(b"'a\xffb'", "'a", id="no character at all"),
    ],
)
def test_no_part_of_a_character_is_shown(scripted: Scripted, answer: Answer, inserted: str) -> None:
    """Bytes that make no character aren't shown, nor replaced by something else."""
    assert scripted.written("x = |\n", answer) == inserted


# 9: TabbyML/tabby#3261
@pytest.mark.parametrize(
    ("document", "answer", "inserted"),
    [
        pytest.param(
            "x = |\n",
            " 1",
            "1",
            id="behind a blank",
        ),
        pytest.param(
            "return |\n",
            "  x",
            "x",
            id="two blanks",
        ),
        pytest.param("x =|\n", " 1", " 1", id="a blank that's missing"),
        pytest.param(
            "x = f(a, |)\n",
            " b",
            "b",
            id="behind a comma",
        ),
    ],
)
def test_a_blank_isn_t_doubled(
    scripted: Scripted, document: str, answer: str, inserted: str
) -> None:
    """Behind a blank a suggestion begins with no other one; where one is missing it's written."""
    assert scripted.written(document, answer) == inserted


# Further: TabbyML and others show what only says again what stands above
@pytest.mark.parametrize(
    ("document", "answer", "inserted"),
    [
        pytest.param("x = 1\n|\n", "x = 1", "", id="the line above"),
        pytest.param("x = 1\nx = |\n", "1", "", id="its rest"),
        pytest.param("x = 1\n|\n", "   \n\n", "", id="blank"),
        pytest.param("x = 1\n|\n", "", "", id="empty"),
    ],
)
def test_nothing_is_shown_where_there_is_nothing_to_say(
    scripted: Scripted, document: str, answer: str, inserted: str
) -> None:
    """Empty and blank answers, and those that only repeat the line above, are no suggestions."""
    assert scripted.written(document, answer) == inserted
