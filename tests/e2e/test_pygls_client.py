"""Clients that others wrote: pygls' own, and pytest-lsp's with the capabilities of editors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient
from pytest_lsp import client_capabilities, make_test_lsp_client

from tests.e2e.editor import SMALL, URI
from tests.e2e.rawclient import DEADLINE, ROOT, SERVER

pytestmark = [pytest.mark.e2e, pytest.mark.model]

T = TypeVar("T")
TEXT = "numbers = [1, 2, 3, "


async def soon(work: Awaitable[T]) -> T:
    """The result of something that always happens, or a failure at the deadline."""
    return await asyncio.wait_for(work, DEADLINE)


@pytest.fixture(params=["pygls", "visual_studio_code", "neovim", "emacs"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """A client with a server of its own, the model loaded; it says goodbye after the test."""
    plain = request.param == "pygls"
    made: Any = LanguageClient("client", "1") if plain else make_test_lsp_client()
    capabilities = types.ClientCapabilities() if plain else client_capabilities(request.param)
    await made.start_io(*SERVER, cwd=ROOT)
    params = types.InitializeParams(capabilities, initialization_options=SMALL)
    if plain:
        result = await soon(made.initialize_async(params))
        made.initialized(types.InitializedParams())
    else:
        result = await soon(made.initialize_session(params))
    options = types.InlineCompletionOptions(work_done_progress=True)
    assert result.capabilities.inline_completion_provider == options
    await soon(until_ready(made))
    yield made
    await soon(made.shutdown_async(None))
    made.exit(None)
    await soon(made.stop())
    assert made._server.returncode == 0


async def until_ready(client: Any) -> None:
    """Ask until the model is loaded."""
    state = None
    while state != "ready":
        state = (await client.protocol.send_request_async("specls/stats", {})).state


def wish(uri: str) -> types.InlineCompletionParams:
    """The parameters of a request at the end of the text."""
    context = types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic)
    position = types.Position(0, len(TEXT))
    return types.InlineCompletionParams(context, types.TextDocumentIdentifier(uri), position)


async def test_a_client_of_others_completes(client: Any) -> None:
    """The typed item covers the line up to the position; an unopened document is refused."""
    document = types.TextDocumentItem(URI, "python", 1, TEXT)
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    result = await soon(client.text_document_inline_completion_async(wish(URI)))
    (item,) = result.items
    assert item.insert_text.startswith(TEXT)
    assert item.range == types.Range(types.Position(0, 0), types.Position(0, len(TEXT)))
    with pytest.raises(JsonRpcException, match="isn't open"):
        await soon(client.text_document_inline_completion_async(wish("file:///unopened")))
