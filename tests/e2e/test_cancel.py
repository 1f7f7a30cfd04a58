"""A request that isn't wanted any more: one answer, and no more work."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import (
    LONG,
    SMALL,
    change,
    close_document,
    complete,
    initialize,
    open_document,
    stats,
    wait_for_state,
    wish,
)
from tests.e2e.rawclient import Message, RawClient

pytestmark = [pytest.mark.e2e, pytest.mark.model]

INLINE = "textDocument/inlineCompletion"
CANCELLED = -32800
NEW = 32
OPTIONS = SMALL | LONG | {"maxTokens": NEW}
LINES = 32


def counting(name: str) -> str:
    """A document that a model continues for as long as it may."""
    return "".join(f"{name}_{number} = {number}\n" for number in range(LINES))


def ready(client: RawClient) -> RawClient:
    """Start with windows that take seconds."""
    initialize(client, OPTIONS)
    wait_for_state(client, "ready")
    return client


@pytest.fixture(scope="module")
def server(start_for_module: Start) -> RawClient:
    """A server whose completions take seconds."""
    return ready(start_for_module())


@pytest.fixture(scope="module")
def whole(server: RawClient) -> Message:
    """The numbers of a completion that nobody cancels, in a document like the others."""
    open_document(server, counting("first"), "file:///first")
    assert len(complete(server, LINES, 0, "file:///first")) == 1
    numbers: Message = stats(server)["lastCompletion"]
    return numbers


def decoded(client: RawClient) -> int:
    """How many tokens were decoded so far."""
    return int(stats(client)["decodedTokens"])


def begin(client: RawClient, name: str, tokens: int) -> tuple[Any, int]:
    """Ask in a new document; the id once more than ``tokens`` are decoded, the count before."""
    open_document(client, counting(name), f"file:///{name}")
    before = decoded(client)
    identifier = client.request(INLINE, wish(LINES, 0, f"file:///{name}"))
    client.poll(lambda: decoded(client), lambda count: bool(count > before + tokens))
    return identifier, before


def settled(client: RawClient) -> int:
    """The count of decoded tokens once it doesn't grow any more."""
    counts = [decoded(client), -1]

    def read() -> bool:
        counts[:] = decoded(client), counts[0]
        return counts[0] == counts[1]

    client.poll(read, bool)
    return counts[0]


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_a_cancelled_request_stops_computing(server: RawClient, whole: Message, phase: str) -> None:
    """A cancelled request is answered once, with -32800, and decodes less than a whole one."""
    tokens = 0 if phase == "prefill" else whole["promptTokens"] + 2
    identifier, before = begin(server, phase, tokens)
    server.notify("$/cancelRequest", {"id": identifier})
    assert server.code(identifier) == CANCELLED
    used = settled(server) - before
    assert (used < whole["promptTokens"]) == (phase == "prefill")
    assert used < whole["promptTokens"] + NEW - 5
    assert server.counts()[identifier] == 1


def test_the_next_request_is_answered_as_if_nothing_happened(
    server: RawClient, start: Start
) -> None:
    """After a cancellation the same request gets the answer of a server that saw none."""
    identifier, _ = begin(server, "again", 0)
    server.notify("$/cancelRequest", {"id": identifier})
    assert server.code(identifier) == CANCELLED
    after = complete(server, LINES, 0, "file:///again")
    fresh = ready(start())
    open_document(fresh, counting("again"), "file:///again")
    assert after == complete(fresh, LINES, 0, "file:///again")
    assert len(after) == 1


def test_the_newest_request_of_a_document_wins(server: RawClient) -> None:
    """Of many requests at once the last is answered, the others get an empty list, each once."""
    uri = "file:///newest"
    open_document(server, "numbers = [1, 2, 3, 4, 5, ", uri)
    identifiers = [server.next_id() for _ in range(20)]
    server.send(
        *(
            {"jsonrpc": "2.0", "id": each, "method": INLINE, "params": wish(0, column, uri)}
            for column, each in enumerate(identifiers, 7)
        )
    )
    *older, newest = [len(server.result(each)["items"]) for each in identifiers]
    assert (older, newest) == ([0] * 19, 1)
    server.sync()
    assert {server.counts()[each] for each in identifiers} == {1}


def test_documents_do_not_supersede_each_other(server: RawClient) -> None:
    """Requests in two documents are both answered."""
    uris = ["file:///left", "file:///right"]
    for uri in uris:
        open_document(server, "numbers = [1, 2, 3, 4, 5, ", uri)
    identifiers = [server.request(INLINE, wish(0, 26, uri)) for uri in uris]
    assert [len(server.result(each)["items"]) for each in identifiers] == [1, 1]


def test_a_change_answers_the_request_before_it(server: RawClient) -> None:
    """A request for a text that isn't there any more gets an empty list and stops computing."""
    identifier, before = begin(server, "changed", 0)
    edit = change((0, 0), (0, 0), "x", "file:///changed")
    server.notify("textDocument/didChange", edit)
    assert server.result(identifier) == {"items": []}
    assert settled(server) - before < 500
    close_document(server, "file:///changed")


def test_a_waiting_request_can_be_cancelled(server: RawClient) -> None:
    """A request that waits for another document's is cancelled without having begun."""
    running, _ = begin(server, "running", 0)
    open_document(server, counting("waiting"), "file:///waiting")
    waiting = server.request(INLINE, wish(LINES, 0, "file:///waiting"))
    server.notify("$/cancelRequest", {"id": waiting})
    assert server.code(waiting) == CANCELLED
    assert server.answers(running) == []
    server.notify("$/cancelRequest", {"id": running})
    assert server.code(running) == CANCELLED


def test_cancelling_twice_or_for_nothing_is_ignored(server: RawClient) -> None:
    """Cancelling an unknown, an answered or a cancelled request changes nothing."""
    shown = server.shown()
    answered = server.request("specls/stats")
    server.answer(answered)
    identifier, _ = begin(server, "twice", 0)
    for each in (answered, "unknown", 10**9, identifier, identifier):
        server.notify("$/cancelRequest", {"id": each})
    server.notify("$/cancelRequest", {})
    server.notify("$/cancelRequest", {"id": [1]})
    assert server.code(identifier) == CANCELLED
    server.sync()
    assert (server.counts()[identifier], server.counts()[answered]) == (1, 1)
    assert server.counts()["unknown"] == 0
    assert server.shown() == shown


def test_nothing_failed(server: RawClient) -> None:
    """Cancelling is no failure: neither the counters nor the log know one."""
    assert stats(server)["requests"]["failed"] == 0
    assert "Traceback" not in server.log()
