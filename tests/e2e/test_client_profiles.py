"""Clients with the capabilities that editors sent, as recorded in ``tests/clients``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import make_test_lsp_client

from tests.e2e.rawclient import DEADLINE, ROOT
from tests.e2e.scripted import COMMAND, OPTIONS
from tests.e2e.scripted_server import ANSWER, HOLD

pytestmark = pytest.mark.e2e

PROFILES = sorted((ROOT / "tests" / "clients").glob("*.json"))
ENCODINGS = {
    "emacs-lsp-mode-10": "utf-32",
    "helix-25.07": "utf-8",
    "neovim-0.11": "utf-8",
    "neovim-0.12": "utf-8",
    "vscode-1.139": "utf-16",
}
"""The first one that each editor offers."""

INLINE_TOO = {"neovim-0.12", "vscode-1.139"}
"""Who announces inline completion. lsp-mode has it, and doesn't say so."""

UNITS = {"utf-8": 4, "utf-16": 2, "utf-32": 1}
URI = "file:///project/a.py"
T = TypeVar("T")


async def soon(work: Awaitable[T]) -> T:
    """The result of something that always happens, or a failure at the deadline."""
    return await asyncio.wait_for(work, DEADLINE)


def profile_of(path: Path, client: Any) -> types.InitializeParams:
    """The parameters of initialize, as the editor sent them."""
    recorded = json.loads(path.read_text("utf-8"))
    recorded |= {"processId": None, "rootUri": None}
    params: types.InitializeParams = client.protocol._converter.structure(
        recorded, types.InitializeParams
    )
    params.initialization_options = OPTIONS
    return params


@pytest.fixture(params=PROFILES, ids=[path.stem for path in PROFILES])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """A client like an editor, with a server that is ready; it says goodbye after the test."""
    made: Any = make_test_lsp_client()
    made.set_configuration({"specls": OPTIONS})
    await made.start_io(*COMMAND, cwd=ROOT)
    made.profile = request.param.stem
    made.answer = await soon(made.initialize_session(profile_of(request.param, made)))
    while (await soon(made.protocol.send_request_async("specls/stats", {}))).state != "ready":
        pass
    yield made
    await soon(made.shutdown_session())
    await soon(made.stop())
    assert made._server.returncode == 0


async def opened(client: Any, text: str, answer: str) -> types.Position:
    """Open a document, in which the model would write this; where its first line ends."""
    tokens = {"tokens": list(answer.encode()), "endless": False}
    await soon(client.protocol.send_request_async(ANSWER, tokens))
    document = types.TextDocumentItem(URI, "python", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    units = UNITS[ENCODINGS[client.profile]]
    return types.Position(0, len(text) - text.count("🤗") + units * text.count("🤗"))


def wish(position: types.Position) -> types.InlineCompletionParams:
    context = types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic)
    return types.InlineCompletionParams(context, types.TextDocumentIdentifier(URI), position)


def met(client: Any) -> None:
    """Its first encoding is taken; it's told of inline completion, and of a menu if need be."""
    found = client.answer.capabilities
    assert (
        getattr(found.position_encoding, "value", found.position_encoding)
        == (ENCODINGS[client.profile])
    )
    assert found.inline_completion_provider is not None
    assert (found.completion_provider is None) == (client.profile in INLINE_TOO)


async def completes(client: Any) -> None:
    """A change and a request right behind it, counted as the editor counts."""
    end = await opened(client, "🤗🤗 = ", "'é 🤗'")
    item = types.VersionedTextDocumentIdentifier(2, URI)
    insert = types.TextDocumentContentChangePartial(types.Range(end, end), "x + ")
    client.text_document_did_change(types.DidChangeTextDocumentParams(item, [insert]))
    end.character += 4
    result = await soon(client.text_document_inline_completion_async(wish(end)))
    (item,) = result.items
    # Behind the emoji, since VS Code shows nothing for a range that begins before one.
    behind = types.Position(0, 2 * UNITS[ENCODINGS[client.profile]])
    assert item.insert_text == " = x + 'é 🤗'"
    assert item.range == types.Range(behind, end)
    assert client.messages == []


async def cancels(client: Any) -> None:
    """A request that is computed and not wanted any more gets -32800; the next one is answered."""
    end = await opened(client, "y = ", "1")
    await soon(client.protocol.send_request_async(HOLD, {"decode": True}))
    method = types.TEXT_DOCUMENT_INLINE_COMPLETION
    running = asyncio.ensure_future(
        client.protocol.send_request_async(method, wish(end), msg_id="one")
    )
    await asyncio.sleep(0)  # it's sent by then
    client.cancel_request(types.CancelParams(id="one"))
    with pytest.raises(JsonRpcException) as cancelled:
        await soon(running)
    assert cancelled.value.code == -32800
    await soon(client.protocol.send_request_async(HOLD, {"decode": False}))
    result = await soon(client.text_document_inline_completion_async(wish(end)))
    assert [item.insert_text for item in result.items] == ["y = 1"]


async def has_a_menu(client: Any) -> None:
    """The suggestion is an entry of the menu."""
    end = await opened(client, "z = ", "12")
    where = types.CompletionParams(types.TextDocumentIdentifier(URI), end)
    found = await soon(client.text_document_completion_async(where))
    (entry,) = found.items
    assert entry.text_edit.new_text == "12"
    assert entry.text_edit.range == types.Range(end, end)


async def test_each_editor_is_served(client: Any) -> None:
    """An editor's client is met, gets a menu where it has nothing else, completes and cancels."""
    met(client)
    if client.profile not in INLINE_TOO:
        await has_a_menu(client)  # before it's seen that it asks for inline completions
    await completes(client)
    await cancels(client)
