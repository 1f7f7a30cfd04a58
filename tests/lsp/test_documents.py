"""The documents against a slow and simple model of them."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from specls.context.text import Encoding, Position
from specls.lsp.documents import Documents
from tests.e2e.reference import PIECES, Edit, Place, whole

URI = "file:///a.py"
FAR = 2**31 - 1


def text_of(chance: Random) -> str:
    return "".join(chance.choices(PIECES, k=chance.choice((0, 1, 1, 2, 8))))


def place_of(chance: Random) -> Place:
    line, character = (chance.choice((0, 1, 2, 3, 4, 5, 6, 8, FAR)) for _ in range(2))
    return line, character


def edit_of(chance: Random) -> Edit:
    """A change at one place, of a range forwards or backwards, or of the whole text."""
    kind, start = chance.random(), place_of(chance)
    if kind < 0.02:
        return Edit(text_of(chance) * 3)
    return Edit(text_of(chance), (start, start if kind < 0.6 else place_of(chance)))


def event_of(edit: Edit) -> types.TextDocumentContentChangeEvent:
    if edit.range is None:
        return types.TextDocumentContentChangeWholeDocument(edit.text)
    start, end = (types.Position(*place) for place in edit.range)
    return types.TextDocumentContentChangePartial(types.Range(start, end), edit.text)


@pytest.mark.parametrize("encoding", list(Encoding))
@settings(max_examples=120, derandomize=True)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 80))
def test_any_edits_leave_the_same_text(encoding: Encoding, seed: int, count: int) -> None:
    """After any edits, in and outside of the text, it's what the simple model makes of it."""
    chance = Random(seed)
    documents = Documents()
    documents.encoding = encoding
    expected = text_of(chance) * 3
    item = types.TextDocumentItem(URI, "python", 1, expected)
    documents.opened(types.DidOpenTextDocumentParams(item))
    expected = whole(expected)
    for version in range(count):
        edits = [edit_of(chance) for _ in range(chance.choice((1, 1, 1, 3)))]
        identifier = types.VersionedTextDocumentIdentifier(version, URI)
        events = [event_of(edit) for edit in edits]
        changed = documents.changed(types.DidChangeTextDocumentParams(identifier, events))
        for edit in edits:
            expected = edit.apply(expected, encoding.value)
        assert changed is not None
        assert str(changed[0].text) == expected, edits


WHOLE = "abc\r\nef\r\n"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([Edit("xy", ((0, 1), (0, 1)))], Position(0, 3)),
        ([Edit("x\ny", ((0, 1), (1, 1)))], Position(1, 1)),
        ([Edit("", ((1, 0), (0, 1)))], Position(0, 1)),  # ends in the wrong order
        ([Edit("abcd\r\nef\r\n")], Position(0, 4)),
        ([Edit("abc\r\nd\r\nef\r\n")], Position(2, 0)),
        ([Edit("abc\nef\r\n")], Position(0, 3)),  # inside of a line's ending
        ([Edit(WHOLE)], None),
        ([Edit("x", ((0, 0), (0, 0))), Edit("y", ((1, 0), (1, 0)))], None),
    ],
)
def test_the_end_of_what_was_written(edits: list[Edit], expected: Position | None) -> None:
    """At one place it's where that ends; of the whole text, where what is new in it ends."""
    documents = Documents()
    item = types.TextDocumentItem(URI, "python", 1, WHOLE)
    documents.opened(types.DidOpenTextDocumentParams(item))
    identifier = types.VersionedTextDocumentIdentifier(2, URI)
    params = types.DidChangeTextDocumentParams(identifier, list(map(event_of, edits)))
    changed = documents.changed(params)
    assert changed is not None
    assert changed[1] == expected
