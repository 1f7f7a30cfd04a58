"""The method that specls is made for, against real models."""

from __future__ import annotations

import ast

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import (
    CODER,
    change,
    complete,
    initialize,
    open_document,
    place,
    span,
    stats,
    wish,
)
from tests.e2e.rawclient import Message, RawClient

pytestmark = [pytest.mark.e2e, pytest.mark.model]

INLINE = "textDocument/inlineCompletion"
CHANGED = "workspace/didChangeConfiguration"
FIBONACCI = "def fibonacci(n):\n    "
MARKERS = 'MIDDLE = "<|fim_middle|>"\nEND = "<|endoftext|>"\nPREFIX = "<|fim_'


def offset(text: str, position: Message) -> int:
    """Where an LSP position lies in a text of the Basic Multilingual Plane."""
    lines = [*text.splitlines(keepends=True), ""]
    return sum(map(len, lines[: position["line"]])) + int(position["character"])


def accepted(text: str, item: Message) -> str:
    """The document after the item was accepted."""
    start, end = (offset(text, item["range"][name]) for name in ("start", "end"))
    return text[:start] + str(item["insertText"]) + text[end:]


def covered(text: str, item: Message) -> str:
    """The text that the item's range covers."""
    start, end = (offset(text, item["range"][name]) for name in ("start", "end"))
    return text[start:end]


# -- what the default model writes -----------------------------------------------------------


@pytest.fixture(scope="module")
def fibonacci(coder: RawClient) -> Message:
    """The default model's item for the body of a function."""
    open_document(coder, FIBONACCI, "file:///fibonacci.py")
    (item,) = complete(coder, 1, 4, "file:///fibonacci.py")
    return item


def test_a_function_gets_a_body(fibonacci: Message) -> None:
    """The item replaces the typed indentation by itself and a body."""
    assert set(fibonacci) == {"insertText", "range"}
    assert fibonacci["range"] == span((1, 0), (1, 4))
    assert covered(FIBONACCI, fibonacci) == "    "
    assert fibonacci["insertText"].startswith("    ")
    assert len(fibonacci["insertText"].strip()) > 0


def test_what_is_accepted_is_python(fibonacci: Message) -> None:
    """The document with the item in it parses, and the function uses its parameter."""
    (function,) = ast.parse(accepted(FIBONACCI, fibonacci)).body
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    assert isinstance(function, ast.FunctionDef)
    assert "n" in names


def test_a_crlf_document_gets_crlf(coder: RawClient, fibonacci: Message) -> None:
    """The same document with CRLF gets the same item with CRLF."""
    uri = "file:///crlf.py"
    open_document(coder, FIBONACCI.replace("\n", "\r\n"), uri)
    (item,) = complete(coder, 1, 4, uri)
    assert item["insertText"] == fibonacci["insertText"].replace("\n", "\r\n")
    assert item["range"] == fibonacci["range"]


def test_markers_in_the_source_are_text(coder: RawClient) -> None:
    """A file that contains the model's markers as text gets completions without control tokens."""
    uri = "file:///markers.py"
    text = f"{MARKERS}prefix|>\"\nnames = ['MIDDLE', 'END', \n"
    open_document(coder, text, uri)
    (item,) = complete(coder, 3, len("names = ['MIDDLE', 'END', "), uri)
    written = item["insertText"].removeprefix(covered(text, item))
    assert "PREFIX" in written
    assert "<|" not in written


def test_the_selected_entry_counts_as_typed(coder: RawClient) -> None:
    """With an entry selected in the client's menu the item extends it, and has its range."""
    uri = "file:///selected.py"
    open_document(coder, "import os\nhome = os.pa\n", uri)
    selected = {"range": span((1, 10), (1, 12)), "text": "path.expanduser"}
    result = coder.call(INLINE, wish(1, 12, uri, selectedCompletionInfo=selected))
    (item,) = result["items"]
    assert item["range"] == span((1, 10), (1, 12))
    assert item["insertText"].startswith("path.expanduser(")


def test_who_asks_gets_a_choice(coder: RawClient, fibonacci: Message) -> None:
    """An explicit request gets up to three different items, the usual one first."""
    coder.notify(CHANGED, {"settings": {"specls": CODER | {"alternatives": 3}}})
    items = complete(coder, 1, 4, "file:///fibonacci.py")
    coder.notify(CHANGED, {"settings": {"specls": CODER}})
    assert items[0] == fibonacci
    texts = {item["insertText"] for item in items}
    assert 2 <= len(texts) == len(items) <= 3
    assert all(item["range"] == fibonacci["range"] for item in items)
    for item in items:
        assert covered(FIBONACCI, item) == "    "
        assert item["insertText"].startswith("    ")
    assert complete(coder, 1, 4, "file:///fibonacci.py") == [fibonacci]


def test_requests_while_loading_are_answered_at_once(start: Start) -> None:
    """Until the model is there a request gets an empty list instead of a place in a queue."""
    client = start()
    initialize(client, CODER)
    open_document(client, FIBONACCI)
    assert complete(client, 1, 4) == []
    numbers = stats(client)
    assert numbers["state"] == "loading"
    assert numbers["requests"]["unavailable"] == numbers["requests"]["received"] == 1


# -- what holds for every model --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", (0, 0)),
        ("\n", (1, 0)),
        ("x = [1, 2, ", (0, 11)),
        ("x = [1, 2, ", (0, 4)),
        ("print(1)\n\nprint(3)\n", (1, 0)),
        ("a = 1\r\nb = 2\r\n", (2, 0)),
        ("\ufeffa = [1, ", (0, 8)),
        ("a\x00b = [", (0, 7)),
        ("\t\tif x:\n\t\t\t", (1, 3)),
    ],
)
def test_an_item_has_a_range_on_the_line(
    small: RawClient, text: str, position: tuple[int, int]
) -> None:
    """Each item has a range on the line, up to the position, whose text begins the item's."""
    uri = f"file:///range-{hash((text, position))}"
    open_document(small, text, uri)
    for item in complete(small, *position, uri):
        assert item["range"]["start"]["line"] == position[0]
        assert item["range"]["end"] == place(position)
        assert item["insertText"].startswith(covered(text, item))
        assert len(item["insertText"]) > len(covered(text, item))


@pytest.mark.parametrize("position", [(0, 99), (99, 0), (99, 99), (2**31 - 1, 2**31 - 1)])
def test_a_position_past_the_end_is_put_right(small: RawClient, position: tuple[int, int]) -> None:
    """A position outside of the text means its nearest end."""
    uri = f"file:///past-{position[0]}-{position[1]}"
    open_document(small, "x = [1, 2, ", uri)
    (item,) = complete(small, *position, uri)
    assert item["range"] == span((0, 0), (0, 11))


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_every_trigger_kind_in_use_is_taken(small: RawClient, kind: int) -> None:
    """Besides the kinds 1 and 2 of the specification 0 is taken, which some clients send."""
    uri = f"file:///kind{kind}"
    open_document(small, "x = [1, 2, ", uri)
    result = small.call(INLINE, wish(0, 11, uri, triggerKind=kind))
    assert len(result["items"]) == 1


def test_other_trigger_kinds_are_refused(small: RawClient) -> None:
    """A kind that nobody sends gets -32602."""
    open_document(small, "x = [1, 2, ", "file:///kind7")
    assert small.code(small.request(INLINE, wish(0, 11, "file:///kind7", triggerKind=7))) == -32602


@pytest.mark.parametrize(
    ("selected", "line"),
    [
        ({"range": span((0, 4), (0, 6)), "text": "two\nlines"}, (0, 6)),
        ({"range": span((0, 4), (1, 0)), "text": "far"}, (0, 6)),
        ({"range": span((9, 9), (9, 9)), "text": "away"}, (0, 6)),
        ({"range": span((0, 99), (0, 4)), "text": "reversed"}, (0, 6)),
        ({"range": span((0, 0), (0, 0)), "text": ""}, (0, 6)),
    ],
)
def test_a_strange_selection_harms_nothing(
    small: RawClient, selected: Message, line: tuple[int, int]
) -> None:
    """An entry that isn't on the line or has several lines still gets one sound answer."""
    uri = f"file:///selection-{selected['text'].split()}"
    open_document(small, "x = ab\n", uri)
    identifier = small.request(INLINE, wish(*line, uri, selectedCompletionInfo=selected))
    for item in small.result(identifier)["items"]:
        assert item["range"]["start"]["line"] == item["range"]["end"]["line"] == 0


def test_a_lone_surrogate_harms_nothing(small: RawClient) -> None:
    """Half a character, which JSON can carry and UTF-8 can't, doesn't fail a completion."""
    uri = "file:///surrogate"
    open_document(small, "x = '\ud83e'\ny = [1, 2, ", uri)
    (item,) = complete(small, 1, 11, uri)
    assert item["insertText"].startswith("y = [1, 2, ")
    open_document(small, "x = ['\udd17', 1, 2, ", uri)
    (item,) = complete(small, 0, 16, uri)
    assert item["range"]["end"] == place((0, 16))


def test_a_line_of_a_megabyte(small: RawClient) -> None:
    """Of a very long line only the end is read, and the range covers no more than a word."""
    uri = "file:///long-line"
    open_document(small, "x = [" + "value, " * 150_000, uri)
    (item,) = complete(small, 0, 1_050_005, uri)
    assert item["range"] == span((0, 1_050_005), (0, 1_050_005))
    assert stats(small)["lastCompletion"]["promptTokens"] < 1000


def test_a_document_of_ten_megabytes(small: RawClient) -> None:
    """Typing in a huge document is followed, and the next request answered from its window."""
    uri = "file:///huge"
    open_document(small, "value = 1\n" * 1_000_000, uri)
    for typed, letter in enumerate("data = [1, 2, "):
        edit = change((500_000, typed), (500_000, typed), letter, uri)
        small.notify("textDocument/didChange", edit)
    (item,) = complete(small, 500_000, 14, uri)
    assert item["insertText"].startswith("data = [1, 2, ")
    assert stats(small)["lastCompletion"]["promptTokens"] < 1000
