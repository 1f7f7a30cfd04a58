"""A small editor on top of the raw client: starts, opens, changes, asks for completions."""

from __future__ import annotations

from typing import Any

from tests.e2e.rawclient import Message, RawClient

URI = "file:///project/a.py"
SMALL = {
    "model": "smollm2-135m",
    "speculation": "off",
    "prefixTokens": 128,
    "suffixTokens": 16,
    "maxTokens": 8,
    "contextTokens": 4096,
    "threads": 1,
    "alternatives": 1,
    "confidence": 0.0,
    "answerBudgetMs": 0,
}
"""The smallest real model, with small windows: for what doesn't depend on the answer's content."""

CODER = {
    "prefixTokens": 128,
    "suffixTokens": 32,
    "maxTokens": 48,
    "contextTokens": 2048,
    "threads": 1,
    "alternatives": 1,
}
"""The default model, with small windows: for what depends on the answer's content."""

NO_MODEL = {"model": "/nowhere/none.gguf"}
"""Nothing to load: for what needs no model at all."""


def initialize(client: RawClient, options: object = None, **capabilities: object) -> Any:
    """The handshake; the result of initialize. ``capabilities`` are the client's, by section."""
    params: Message = {"processId": None, "rootUri": None, "capabilities": capabilities}
    if options is not None:
        params["initializationOptions"] = options
    result = client.call("initialize", params)
    client.notify("initialized", {})
    return result


def stats(client: RawClient) -> Any:
    """The server's numbers."""
    return client.call("specls/stats")


def wait_for_state(client: RawClient, state: str) -> Any:
    """Wait until the models are in this state; the numbers."""
    return client.poll(lambda: stats(client), lambda numbers: bool(numbers["state"] == state))


def wait_until_idle(client: RawClient) -> Any:
    """Wait until nothing is left to be done; the numbers then."""
    return client.poll(lambda: stats(client), lambda numbers: bool(numbers["idle"]))


def open_document(client: RawClient, text: str, uri: str = URI, language: str = "python") -> None:
    """Send didOpen, version 1."""
    item = {"uri": uri, "languageId": language, "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": item})


def close_document(client: RawClient, uri: str = URI) -> None:
    """Send didClose."""
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def change(
    start: tuple[int, int] | None, end: tuple[int, int] | None, text: str, uri: str = URI
) -> Message:
    """The parameters of a didChange with one change; without a range, of the whole text."""
    event: Message = {"text": text}
    if start is not None and end is not None:
        event["range"] = span(start, end)
    return {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [event]}


def span(start: tuple[int, int], end: tuple[int, int]) -> Message:
    """An LSP range."""
    return {"start": place(start), "end": place(end)}


def place(position: tuple[int, int]) -> Message:
    """An LSP position."""
    return {"line": position[0], "character": position[1]}


def wish(line: int, character: int, uri: str = URI, **context: object) -> Message:
    """The parameters of an inline completion request; ``context`` adds to its context."""
    return {
        "textDocument": {"uri": uri},
        "position": place((line, character)),
        "context": {"triggerKind": 1, **context},
    }


def complete(client: RawClient, line: int, character: int, uri: str = URI) -> list[Message]:
    """Ask for a completion and wait; the items, without the command that has an id of its own."""
    result = client.call("textDocument/inlineCompletion", wish(line, character, uri))
    items: list[Message] = result["items"]
    return [{key: value for key, value in item.items() if key != "command"} for item in items]


LONG = {"prefixTokens": 512, "maxTokens": 512}
"""What makes a completion take long: on top of SMALL."""

_COUNTING = "".join(f"value_{number} = {number}\n" for number in range(120))


def begin_long_completion(client: RawClient, uri: str = "file:///project/long.py") -> Any:
    """Ask for a completion that takes many seconds; its id, once it is being computed."""
    open_document(client, _COUNTING, uri)
    before = stats(client)["decodedTokens"]
    identifier = client.request("textDocument/inlineCompletion", wish(120, 0, uri))
    client.poll(lambda: stats(client)["decodedTokens"], lambda count: bool(count > before))
    return identifier
