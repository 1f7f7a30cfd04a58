"""The server's text follows the client's, whatever the client counts."""

from __future__ import annotations

import pytest
from lsprotocol import types

from specls.context.document import Snapshot
from specls.context.text import Encoding, Position
from specls.lsp.documents import Documents
from tests.e2e.conftest import Start
from tests.e2e.editor import (
    SMALL,
    URI,
    change,
    close_document,
    complete,
    initialize,
    open_document,
    place,
    span,
    stats,
    wait_for_state,
    wish,
)
from tests.e2e.rawclient import RawClient, RpcError

pytestmark = pytest.mark.e2e

Edit = tuple[tuple[int, int], tuple[int, int], str]
FLAG = "\N{REGIONAL INDICATOR SYMBOL LETTER D}\N{REGIONAL INDICATOR SYMBOL LETTER E}"
COMBINED = "e\N{COMBINING ACUTE ACCENT}"
SEPARATOR = "\N{LINE SEPARATOR}"


def opened(text: str, encoding: Encoding = Encoding.UTF16) -> Documents:
    """The documents of a client that opened one."""
    documents = Documents()
    documents.encoding = encoding
    item = types.TextDocumentItem(URI, "python", 1, text)
    documents.opened(types.DidOpenTextDocumentParams(item))
    return documents


def edited(documents: Documents, *edits: Edit) -> str:
    """The text after one didChange."""
    changes: list[types.TextDocumentContentChangeEvent] = [
        types.TextDocumentContentChangePartial(
            types.Range(types.Position(*start), types.Position(*end)), text
        )
        for start, end, text in edits
    ]
    identifier = types.VersionedTextDocumentIdentifier(2, URI)
    changed = documents.changed(types.DidChangeTextDocumentParams(identifier, changes))
    assert changed is not None
    after: Snapshot = changed[0]
    assert after is documents.get(URI)
    assert after.version == 2
    return str(after.text)


@pytest.mark.parametrize(
    ("encoding", "column"),
    [(Encoding.UTF8, 4 + 8 + 3), (Encoding.UTF16, 2 + 4 + 2), (Encoding.UTF32, 1 + 2 + 2)],
)
def test_columns_are_counted_as_agreed(encoding: Encoding, column: int) -> None:
    """After an emoji, a flag of two code points and a combined letter each encoding finds x."""
    documents = opened(f"🤗{FLAG}{COMBINED}x = 1\n", encoding)
    assert (
        edited(documents, ((0, column), (0, column + 1), "long")) == f"🤗{FLAG}{COMBINED}long = 1\n"
    )


@pytest.mark.parametrize(("encoding", "inside"), [(Encoding.UTF8, 2), (Encoding.UTF16, 1)])
def test_an_offset_inside_a_character_is_before_it(encoding: Encoding, inside: int) -> None:
    """No change can split a character."""
    assert edited(opened("🤗x", encoding), ((0, inside), (0, inside), "a")) == "a🤗x"


@pytest.mark.parametrize("encoding", [Encoding.UTF8, Encoding.UTF16, Encoding.UTF32])
def test_halves_that_meet_are_one(encoding: Encoding) -> None:
    """A character whose halves come one by one is one character for all that follows."""
    documents = opened("\ud83e = 1", encoding)
    half = 3 if encoding is Encoding.UTF8 else 1
    edited(documents, ((0, half), (0, half), "\udd17"))
    size = {Encoding.UTF8: 4, Encoding.UTF16: 2, Encoding.UTF32: 1}[encoding]
    assert edited(documents, ((0, size), (0, size), "a")) == "🤗a = 1"


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("a\r\nb\r\n", ((1, 0), (1, 1), "B"), "a\r\nB\r\n"),
        ("a\rb\rc", ((1, 0), (2, 0), ""), "a\rc"),
        ("a\r\nb\rc\nd", ((3, 0), (3, 1), "D"), "a\r\nb\rc\nD"),
        ("a\r\nb", ((0, 9), (0, 9), "!"), "a!\r\nb"),
        ("a\rb", ((1, 0), (1, 0), "\n"), "a\r\nb"),
        (f"a{SEPARATOR}b\nc", ((1, 0), (1, 1), "C"), f"a{SEPARATOR}b\nC"),
        (f"a{SEPARATOR}b\nc", ((0, 2), (0, 3), "B"), f"a{SEPARATOR}B\nc"),
        ("a\x0bb\x0cc\x85d\ne", ((1, 0), (1, 1), "E"), "a\x0bb\x0cc\x85d\nE"),
        ("a\nb", ((0, 1), (1, 0), ""), "ab"),
        ("a\nb", ((9, 9), (9, 9), "!"), "a\nb!"),
        ("a\nb", ((0, 99), (0, 99), "!"), "a!\nb"),
        ("a\nb", ((0, 0), (99, 99), ""), ""),
        ("abc", ((0, 2), (0, 1), "-"), "a-c"),
        ("a\nb\nc", ((2, 0), (0, 1), ""), "ac"),
        ("", ((0, 0), (0, 0), "x"), "x"),
        ("", ((5, 5), (3, 3), ""), ""),
    ],
)
def test_a_change_is_where_the_client_means_it(text: str, edit: Edit, expected: str) -> None:
    """Line ends are CRLF, CR and LF only; ranges outside of the text or reversed are put right."""
    assert edited(opened(text), edit) == expected


def test_changes_apply_one_after_the_other() -> None:
    """Each change of a message counts in the text that the one before it left."""
    documents = opened("one\n")
    edits: tuple[Edit, ...] = (
        ((0, 0), (0, 0), "🤗\n"),
        ((1, 3), (1, 3), " two"),
        ((0, 2), (1, 0), " "),
    )
    assert edited(documents, *edits) == "🤗 one two\n"


def test_a_change_without_a_range_is_the_whole_text() -> None:
    """The full text replaces what was there; it was written where it differs."""
    documents = opened("old\nold\n")
    params = types.DidChangeTextDocumentParams(
        types.VersionedTextDocumentIdentifier(2, URI),
        [types.TextDocumentContentChangeWholeDocument("new")],
    )
    after = documents.changed(params)
    assert after is not None
    snapshot, end = after
    assert (str(snapshot.text), end) == ("new", Position(0, 3))


def test_a_snapshot_given_out_stays() -> None:
    """What was read before a change doesn't change with it."""
    documents = opened("before")
    before = documents.get(URI)
    edited(documents, ((0, 0), (0, 6), "after"))
    assert before is not None
    assert str(before.text) == "before"


@pytest.mark.model
@pytest.mark.parametrize(
    ("encoding", "emoji", "units"),
    [("utf-8", 4 + 8, 3), ("utf-16", 2 + 4, 2), ("utf-32", 1 + 2, 2)],
)
def test_a_completion_counts_as_agreed(start: Start, encoding: str, emoji: int, units: int) -> None:
    """The range of a completion behind emoji, which a change brought, is what stands behind them.

    It ends at the position.
    """
    client = start()
    initialize(client, SMALL, general={"positionEncodings": [encoding]})
    wait_for_state(client, "ready")
    open_document(client, "one\ntwo\n")
    line = f"🤗{FLAG}{COMBINED} = "
    client.notify("textDocument/didChange", change((1, 0), (1, 3), line))
    end = emoji + units + 3
    (item,) = complete(client, 1, end)
    assert item["range"] == span((1, emoji), (1, end))
    assert item["insertText"].startswith(f"{COMBINED} = ")


@pytest.mark.model
def test_the_request_sees_the_change_before_it(small: RawClient) -> None:
    """A request counts in the text as the changes sent before it left it."""
    open_document(small, "x\n", "file:///order.py")
    edit = change((0, 1), (0, 1), " = 1\ny = ", "file:///order.py")
    small.notify("textDocument/didChange", edit)
    (item,) = complete(small, 1, 4, "file:///order.py")
    assert item["range"] == span((1, 0), (1, 4))
    assert item["insertText"].startswith("y = ")


@pytest.mark.model
def test_a_closed_document_is_forgotten(small: RawClient) -> None:
    """After didClose a completion is refused, after another didOpen it sees the new text."""
    uri = "file:///close.py"
    open_document(small, "old_text\n", uri)
    close_document(small, uri)
    with pytest.raises(RpcError, match="-32602"):
        complete(small, 0, 0, uri)
    open_document(small, "new = [1, 2, ", uri)
    (item,) = complete(small, 0, 13, uri)
    assert item["insertText"].startswith("new = [1, 2, ")


@pytest.mark.model
def test_closing_answers_the_request_in_the_document(small: RawClient) -> None:
    """A request that waits when its document is closed gets an empty list."""
    uri = "file:///closed-meanwhile.py"
    open_document(small, "a = [1, 2, 3, 4, ", uri)
    identifier = small.request("textDocument/inlineCompletion", wish(0, 17, uri))
    close_document(small, uri)
    assert small.result(identifier) == {"items": []}


@pytest.mark.model
@pytest.mark.parametrize(
    "uri",
    ["file:///a b/ü 🤗.py", "file:///a%20b/%C3%BC.py", "untitled:Untitled-1", "x", "", "C:\\a.py"],
)
def test_any_uri_names_a_document(small: RawClient, uri: str) -> None:
    """A URI is a name and nothing else: blanks, other letters and other schemes are taken."""
    open_document(small, "x = [1, 2, ", uri)
    (item,) = complete(small, 0, 11, uri)
    assert item["range"]["end"] == place((0, 11))
    close_document(small, uri)


@pytest.mark.model
def test_documents_that_are_not_open_change_nothing(small: RawClient) -> None:
    """Changes and closings of an unknown document are ignored."""
    before = stats(small)
    small.notify("textDocument/didChange", change((0, 0), (0, 0), "x", "file:///never"))
    close_document(small, "file:///never")
    assert stats(small)["requests"] == before["requests"]
    with pytest.raises(RpcError, match="-32602"):
        complete(small, 0, 0, "file:///never")


@pytest.mark.parametrize(
    ("text", "end"),
    [("x", (1, 3)), ("", (1, 2)), ("a\nbc", (2, 2)), ("\n", (2, 0)), ("😀", (1, 3))],
)
def test_where_a_change_ends(text: str, end: tuple[int, int]) -> None:
    """The place behind what was written is told, counted in characters."""
    documents = opened("one\n😀 two\n")
    changed = documents.changed(
        _change(types.Range(types.Position(1, 3), types.Position(1, 4)), text)
    )
    assert changed is not None
    assert changed[1] == Position(*end)


def test_several_changes_end_nowhere() -> None:
    """Changes at several places, as with several cursors, have no one end."""
    documents = opened("one\ntwo\n")
    place = types.Range(types.Position(0, 0), types.Position(0, 0))
    params = _change(place, "x")
    params.content_changes = [*params.content_changes, *params.content_changes]
    changed = documents.changed(params)
    assert changed is not None
    assert str(changed[0].text) == "xxone\ntwo\n"
    assert changed[1] is None


def _change(place: types.Range, text: str) -> types.DidChangeTextDocumentParams:
    return types.DidChangeTextDocumentParams(
        types.VersionedTextDocumentIdentifier(2, URI),
        [types.TextDocumentContentChangePartial(place, text)],
    )
