"""JSON-RPC's corners, byte by byte. No model is needed."""

from __future__ import annotations

import json
from typing import Any

import psutil
import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import (
    NO_MODEL,
    URI,
    change,
    initialize,
    open_document,
    place,
    stats,
    wait_for_state,
    wish,
)
from tests.e2e.rawclient import Message, RawClient, encoded, frame
from tests.e2e.scripted import COMMAND, OPTIONS, Scripted

pytestmark = pytest.mark.e2e

INLINE = "textDocument/inlineCompletion"
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED = -32002


def refusal(client: RawClient, body: bytes) -> Any:
    """Send a body; the error that comes without an id."""
    before = len(client.answers(None))
    client.send_bytes(frame(body))
    client.wait(lambda: len(client.answers(None)) > before, "a refusal")
    return client.answers(None)[before]["error"]


# -- framing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc\r\nX-Other: 1\r\n\r\n",
        b'Content-Length: %d\r\ncontent-type: application/json; charset="UTF8"; q=1\r\n\r\n',
    ],
)
def test_header_names_are_read_in_any_case_and_order(modelless: RawClient, header: bytes) -> None:
    """A message is understood whatever the case, order and number of its headers."""
    identifier = modelless.next_id()
    body = json.dumps({"jsonrpc": "2.0", "id": identifier, "method": "specls/stats"}).encode()
    modelless.send_bytes(header % len(body) + body)
    assert modelless.code(identifier) is None


def test_a_message_may_come_in_pieces(modelless: RawClient) -> None:
    """A message that is written byte by byte is one message."""
    identifier = modelless.next_id()
    for byte in encoded({"jsonrpc": "2.0", "id": identifier, "method": "specls/stats"}):
        modelless.send_bytes(bytes((byte,)))
    assert modelless.code(identifier) is None


@pytest.mark.parametrize(
    ("garbage", "told"),
    [
        (b"hello server\r\n\r\n", "a line that is no header"),
        (bytes(range(256)) * 64, "a line that is no header"),
        (b"Content-Type: text/plain\r\n\r\n{}", "a header without Content-Length"),
        (b"Content-Length: 99999999999999\r\n\r\n", "a message of 99999999999999 bytes"),
        (b"Content-Length: 100\r\n\r\n{}", "the stream ended inside a message"),
        (b"Content-Length: 100\r\n", "the stream ended inside a header"),
        (b"Content-Length: 10000000000\r\n\r\n{}", "the stream ended inside a message"),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "a header with several lengths"),
        (b"Content-Length: " + b"1" * 10_000_000, "a line that is no header"),
        (b"X: y\r\n" * 100_000, "a header that doesn't end"),
    ],
)
def test_garbage_ends_the_server_with_one_clear_line(
    start: Start, garbage: bytes, told: str
) -> None:
    """A stream that is no LSP ends the server with code 1 and one line that says what is wrong."""
    client = start()
    client.send_bytes(garbage)
    client.close_stdin()
    assert client.wait_for_end() == 1
    (line,) = client.log().splitlines()
    assert f"The client's stream can't be read: {told}" in line


def test_another_charset_is_refused(modelless: RawClient) -> None:
    """A message in a charset that LSP doesn't know gets -32600 and isn't read; the next one is."""
    before = len(modelless.answers(None))
    kind = b"Content-Type: application/vscode-jsonrpc; charset=utf-16\r\n"
    body = '{"jsonrpc": "2.0", "id": 1, "method": "specls/stats"}'.encode("utf-16")
    modelless.send_bytes(b"Content-Length: %d\r\n%s\r\n%s" % (len(body), kind, body))
    modelless.sync()
    assert [answer["error"] for answer in modelless.answers(None)[before:]] == [
        {
            "code": INVALID_REQUEST,
            "message": "The charset utf-16 isn't known here; send utf-8.",
        }
    ]


def test_a_message_that_is_too_long_is_passed_over(modelless: RawClient) -> None:
    """More than 256 MiB get -32600 at once it has come; the server lives and has kept nothing."""
    process = psutil.Process(modelless.process.pid)
    modelless.sync()
    before, refusals = process.memory_info().rss, len(modelless.answers(None))
    modelless.send_bytes(b"Content-Length: %d\r\n\r\n" % (257 * 2**20))
    for _ in range(257):
        modelless.send_bytes(b" " * 2**20)
    modelless.sync()
    (refusal,) = modelless.answers(None)[refusals:]
    assert refusal["error"]["code"] == INVALID_REQUEST
    assert process.memory_info().rss - before < 16 * 2**20


# -- JSON-RPC --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"nonsense", b'{"jsonrpc": "2.0",}', b'"\xff\xfe"', b"[" * 100_000, b"1" * 5000],
    ids=["empty", "open", "word", "comma", "bytes", "deep", "number"],
)
def test_malformed_json_is_a_parse_error(modelless: RawClient, body: bytes) -> None:
    """A body that isn't JSON is answered with -32700 and an id of null."""
    error = refusal(modelless, body)
    assert (error["code"], set(error)) == (PARSE_ERROR, {"code", "message"})


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"5",
        b'"text"',
        b"{}",
        b"[]",
        b'[{"jsonrpc": "2.0", "id": 1, "method": "specls/stats"}]',
        b'{"method": "initialized", "params": {}}',
        b'{"jsonrpc": 2.0, "method": "initialized"}',
    ],
)
def test_what_is_no_message_is_an_invalid_request(modelless: RawClient, body: bytes) -> None:
    """JSON that is no message of JSON-RPC 2.0, a batch among it, gets -32600 and an id of null."""
    assert refusal(modelless, body)["code"] == INVALID_REQUEST


@pytest.mark.parametrize("identifier", [1.5, True, None, [1], {}])
def test_an_id_is_a_number_or_a_text(modelless: RawClient, identifier: object) -> None:
    """A request whose id is neither a whole number nor a text gets -32600 and an id of null."""
    body = json.dumps({"jsonrpc": "2.0", "id": identifier, "method": "specls/stats"})
    assert refusal(modelless, body.encode())["code"] == INVALID_REQUEST


@pytest.mark.parametrize("identifier", [0, -1, 2**31, 10**30, "", "1", "é 🤗", "null"])
def test_an_id_comes_back_as_it_was(modelless: RawClient, identifier: object) -> None:
    """Whole numbers and texts of any size come back with their type."""
    modelless.request("specls/stats", id=identifier)
    assert modelless.code(identifier) is None


@pytest.mark.parametrize("identifier", [0, -7, 2**70, "", "é"])
def test_an_id_in_use_is_not_taken_again(scripted: Scripted, identifier: object) -> None:
    """Of requests under one id the first is answered, once; the others get -32600 without an id."""
    client = scripted.client
    scripted.says("value", endless=True)
    params = wish(0, 4, scripted.open("x = "))
    request = {"jsonrpc": "2.0", "id": identifier, "method": INLINE, "params": params}
    refused = len(client.answers(None))
    client.send(request, {**request, "method": "specls/stats"}, request)
    assert len(client.result(identifier)["items"]) == 1
    client.sync()
    codes = [answer["error"]["code"] for answer in client.answers(None)[refused:]]
    assert (codes, client.counts()[identifier]) == ([INVALID_REQUEST, INVALID_REQUEST], 1)


def test_an_id_that_was_answered_is_free(modelless: RawClient) -> None:
    """A client that counts modulo something may use an id again once it has its answer."""
    for count in (1, 2):
        modelless.request("specls/stats", id="again")
        modelless.sync()
        assert len(modelless.answers("again")) == count
    with modelless._changed:
        modelless.received = [each for each in modelless.received if each.get("id") != "again"]


@pytest.mark.parametrize(
    "wrong",
    [{"jsonrpc": "1.0", "method": "specls/stats"}, {"jsonrpc": "2.0", "method": 5}],
)
def test_an_invalid_request_is_answered_by_its_id(modelless: RawClient, wrong: Message) -> None:
    """A request that is wrong in itself gets -32600 under its own id, so that no client waits."""
    identifier = modelless.next_id()
    modelless.send({**wrong, "id": identifier})
    assert modelless.code(identifier) == INVALID_REQUEST


@pytest.mark.parametrize(
    "method", ["textDocument/hover", "$/unknown", "window/showMessage", "initialized", "é", ""]
)
def test_an_unknown_request_is_refused(modelless: RawClient, method: str) -> None:
    """A request for a method that takes no requests here gets -32601."""
    assert modelless.code(modelless.request(method, {})) == NO_METHOD


@pytest.mark.parametrize(
    "message",
    [
        {"method": "$/unknown", "params": {}},
        {"method": "textDocument/didSave", "params": {"textDocument": {"uri": URI}}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": URI}}},
        {"method": "textDocument/didOpen"},
        {"method": "textDocument/didChange", "params": 7},
        {"method": "textDocument/inlineCompletion", "params": {}},
        {"method": "window/workDoneProgress/cancel", "params": {"token": "none"}},
        {"method": 5},
        {"method": ["initialized"]},
        {"method": None, "params": []},
    ],
)
def test_a_notification_that_means_nothing_is_ignored(
    modelless: RawClient, message: Message
) -> None:
    """Unknown and malformed notifications change nothing and raise no popup."""
    before = len(modelless.received)
    modelless.send({"jsonrpc": "2.0", **message})
    modelless.sync()
    assert len(modelless.received) == before + 1


@pytest.mark.parametrize("identifier", ["unknown", 77, None, [1], {}, 1.5, True])
def test_an_answer_that_nobody_waits_for_is_ignored(
    modelless: RawClient, identifier: object
) -> None:
    """Answers to requests that were never made change nothing."""
    before = len(modelless.received)
    modelless.send({"jsonrpc": "2.0", "id": identifier, "result": 1})
    modelless.sync()
    assert len(modelless.received) == before + 1


def test_nothing_of_this_is_logged_as_a_failure(modelless: RawClient) -> None:
    """Whatever a client sends, the log has no traceback."""
    modelless.send({"jsonrpc": "2.0", "id": [], "result": 1}, {"jsonrpc": "2.0", "method": {}})
    modelless.sync()
    assert "Traceback" not in modelless.log()


# -- parameters ------------------------------------------------------------------------------


def without(params: Message, *names: str) -> Message:
    """The parameters without one of them, named by its path."""
    *path, last = names
    copy: Message = json.loads(json.dumps(params))
    inner = copy
    for name in path:
        inner = inner[name]
    del inner[last]
    return copy


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        "text",
        without(wish(0, 0), "context"),
        without(wish(0, 0), "position"),
        without(wish(0, 0), "textDocument"),
        without(wish(0, 0), "textDocument", "uri"),
        without(wish(0, 0), "position", "line"),
        without(wish(0, 0), "context", "triggerKind"),
        {**wish(0, 0), "position": None},
        {**wish(0, 0), "context": None},
        {**wish(0, 0), "textDocument": None},
        {**wish(0, 0), "position": [0, 0]},
        {**wish(0, 0), "position": {"line": "here", "character": 0}},
        {**wish(0, 0), "position": {"line": None, "character": 0}},
        {**wish(0, 0), "position": {"line": -1, "character": 0}},
        {**wish(0, 0), "position": {"line": 0, "character": 2**40}},
        {**wish(0, 0), "position": {"line": 0, "character": float("nan")}},
        {**wish(0, 0), "textDocument": {"uri": 5}},
        {**wish(0, 0), "textDocument": {"uri": None}},
        wish(0, 0, triggerKind=7),
        wish(0, 0, triggerKind="soon"),
        wish(0, 0, selectedCompletionInfo={"text": "x"}),
        wish(0, 0, selectedCompletionInfo={"range": place((0, 0)), "text": "x"}),
    ],
)
def test_malformed_parameters_are_refused(modelless: RawClient, params: object) -> None:
    """Parameters that aren't what the method takes get -32602, a plain message, and no popup."""
    open_document(modelless, "x = 1\n")
    before = len(modelless.shown())
    error = modelless.answer(modelless.request(INLINE, params))["error"]
    assert (error["code"], set(error)) == (INVALID_PARAMS, {"code", "message"})
    assert len(modelless.shown()) == before


def test_what_is_wrong_is_said(modelless: RawClient) -> None:
    """A refusal names the parameter by its path in the message."""
    params = {"position": {"line": "here", "character": 0}, "context": {}}
    error = modelless.answer(modelless.request(INLINE, params))["error"]
    assert error["message"] == (
        "Invalid parameters: params.context.triggerKind: missing; params.textDocument: missing; "
        "params.position.line: invalid literal for int() with base 10: 'here'."
    )


def test_a_change_that_is_not_understood_closes_its_document(scripted: Scripted) -> None:
    """No completion is made from a text that may not be the client's; a new didOpen heals that."""
    client, uri = scripted.client, scripted.open("x = ")
    scripted.says("1")
    client.notify("textDocument/didChange", change((0, 0), (0, 2**32), "y", uri))
    assert client.code(client.request(INLINE, wish(0, 0, uri))) == INVALID_PARAMS
    client.notify("textDocument/didChange", change((0, 0), (0, 1), "y", uri))
    assert client.code(client.request(INLINE, wish(0, 0, uri))) == INVALID_PARAMS
    scripted.open("x = ", uri=uri)
    assert len(scripted.items(0, 4)) == 1


def test_a_document_that_is_not_open_is_refused(modelless: RawClient) -> None:
    """A completion in a document that was never opened gets -32602 and says what to do."""
    error = modelless.answer(modelless.request(INLINE, wish(0, 0, "file:///unopened")))["error"]
    assert error == {
        "code": INVALID_PARAMS,
        "message": "The document isn't open: send textDocument/didOpen first.",
    }


@pytest.mark.parametrize("root", ["http://[", "file://[x/y", "no uri", "", "file:///%zz\ud800"])
def test_a_folder_may_be_called_anything(start: Start, root: str) -> None:
    """What is no URI of a folder keeps nobody from working."""
    client = start(command=COMMAND)
    folders = [{"uri": root, "name": root}]
    params = {"processId": None, "rootUri": root, "rootPath": root, "workspaceFolders": folders}
    client.call("initialize", {**params, "capabilities": {}, "initializationOptions": OPTIONS})
    client.notify("initialized", {})
    wait_for_state(client, "ready")
    event = {"event": {"added": folders, "removed": folders}}
    client.notify("workspace/didChangeWorkspaceFolders", event)
    open_document(client, "x = ", root + "/a.py")
    assert len(client.call(INLINE, wish(0, 4, root + "/a.py"))["items"]) == 0
    assert client.end() == 0
    assert "Traceback" not in client.log()


# -- order -----------------------------------------------------------------------------------


def test_requests_have_their_time(start: Start) -> None:
    """Before initialize -32002, a second initialize -32600, after shutdown -32600, then code 0."""
    client = start()
    assert client.code(client.request("specls/stats")) == NOT_INITIALIZED
    assert client.code(client.request("shutdown")) == NOT_INITIALIZED
    open_document(client, "ignored")
    initialize(client, NO_MODEL)
    assert client.code(client.request(INLINE, wish(0, 0))) == INVALID_PARAMS
    assert client.code(client.request("initialize", {"capabilities": {}})) == INVALID_REQUEST
    assert client.code(client.request("shutdown")) is None
    assert client.code(client.request("specls/stats")) == INVALID_REQUEST
    assert client.code(client.request("shutdown")) == INVALID_REQUEST
    client.notify("exit")
    assert client.wait_for_end() == 0


def test_initialize_can_be_tried_again(start: Start) -> None:
    """After an initialize with malformed parameters the right one is still taken."""
    client = start()
    assert client.code(client.request("initialize", {"processId": "me"})) == INVALID_PARAMS
    assert client.code(client.request("specls/stats")) == NOT_INITIALIZED
    initialize(client, NO_MODEL)
    assert stats(client)["requests"]["received"] == 0
    assert client.end() == 0


def test_a_client_may_answer_its_own_request(modelless: RawClient) -> None:
    """An answer with the id of a request of the client's own neither answers nor stops it."""
    identifier = modelless.next_id()
    modelless.send(
        {"jsonrpc": "2.0", "id": identifier, "method": "specls/stats"},
        {"jsonrpc": "2.0", "id": identifier, "result": "mine"},
    )
    assert modelless.result(identifier)["state"] == "failed"
