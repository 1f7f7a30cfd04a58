"""What becomes of suggestions: what a client says of them, and what its documents show."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import change, close_document, initialize, stats, wait_until_idle
from tests.e2e.rawclient import Message
from tests.e2e.scripted import COMMAND, Scripted
from tests.e2e.scripted_server import LATER

pytestmark = pytest.mark.e2e

ACCEPT = "specls.didAcceptCompletion"
SHOW = "textDocument/didShowCompletion"
PARTLY = "textDocument/didPartiallyAcceptCompletion"
REJECT = "specls/didRejectCompletion"
AUTOMATIC = 2


@pytest.fixture
def fresh(start: Start) -> Scripted:
    """A server of the test's own, whose numbers begin at nothing."""
    return Scripted(start(command=COMMAND)).ready()


def suggest(server: Scripted, answer: str, text: str = "x = \n", character: int = 4) -> Message:
    """The item that an automatic request gets in a document of its own."""
    server.says(answer)
    server.open(text)
    (item,) = server.items(0, character, triggerKind=AUTOMATIC)
    return item


def insert(server: Scripted, text: str, line: int, character: int) -> None:
    """A didChange that writes at a place of the document that was opened last."""
    at = (line, character)
    server.client.notify("textDocument/didChange", change(at, at, text, server.uri))


def accept(server: Scripted, item: Message) -> Any:
    """Execute the command of an item, as a client does; the result."""
    command = item["command"]
    params = {"command": command["command"], "arguments": command["arguments"]}
    return server.client.call("workspace/executeCommand", params)


def totals(server: Scripted) -> dict[str, int]:
    """The numbers of suggestions that aren't zero."""
    counts = stats(server.client)["suggestions"]["total"]
    return {name: number for name, number in counts.items() if number}


def test_an_item_has_the_command_of_its_acceptance(fresh: Scripted) -> None:
    """Its argument is an id of its own; the same item again has the same."""
    first = suggest(fresh, "foo(a)")
    assert first["command"]["title"] == "Accepted"
    assert first["command"]["command"] == ACCEPT
    (name,) = first["command"]["arguments"]
    assert isinstance(name, str)
    assert name
    assert fresh.items(0, 4, triggerKind=AUTOMATIC) == [first]
    assert suggest(fresh, "foo(a)")["command"]["arguments"] != [name]


def test_the_commands_are_announced(start: Start) -> None:
    """A client learns from initialize which commands it may execute."""
    result = initialize(start(command=COMMAND))
    assert ACCEPT in result["capabilities"]["executeCommandProvider"]["commands"]


def test_executing_the_command_counts_it(fresh: Scripted) -> None:
    """The change, then the command, as VS Code sends them: accepted once, with its characters."""
    item = suggest(fresh, "foo(a)")
    insert(fresh, "foo(a)", 0, 4)
    assert accept(fresh, item) is None
    assert accept(fresh, item) is None
    assert totals(fresh) == {
        "shown": 1,
        "accepted": 1,
        "characters": 6,
        "charactersPending": 6,
    }
    assert list(stats(fresh.client)["suggestions"]["byLanguage"]) == ["python"]


@pytest.mark.parametrize(
    ("command", "arguments", "code"),
    [
        ("specls.noSuchCommand", [], -32602),
        (ACCEPT, [], -32602),
        (ACCEPT, None, -32602),
        (ACCEPT, [5], -32602),
        (ACCEPT, ["one", "two"], -32602),
        (ACCEPT, ["unknown"], None),
    ],
)
def test_wrong_commands(
    scripted: Scripted, command: str, arguments: list[object] | None, code: int | None
) -> None:
    """What doesn't exist or makes no sense is an error; an unknown id isn't: it may be late."""
    params: Message = {"command": command}
    if arguments is not None:
        params["arguments"] = arguments
    request = scripted.client.request("workspace/executeCommand", params)
    assert scripted.client.code(request) == code


def test_a_client_that_says_nothing(fresh: Scripted) -> None:
    """Shown, typed on, accepted, ignored: the requests and the changes tell."""
    suggest(fresh, "return a + b", "\n", 0)
    for column, key in enumerate("ret"):
        insert(fresh, key, 0, column)
        fresh.items(0, column + 1, triggerKind=AUTOMATIC)
    assert totals(fresh) == {"shown": 1}
    insert(fresh, "urn a + b", 0, 3)
    accepted = {"shown": 1, "accepted": 1, "characters": 9, "charactersPending": 9}
    assert totals(fresh) == accepted
    suggest(fresh, "foo(a)")
    insert(fresh, "z", 0, 4)
    assert totals(fresh) == {**accepted, "shown": 2, "ignored": 1}


def test_nothing_to_show_is_not_shown(fresh: Scripted) -> None:
    """An empty answer is no suggestion."""
    fresh.says("")
    fresh.open("x = \n")
    assert fresh.items(0, 4, triggerKind=AUTOMATIC) == []
    assert totals(fresh) == {}


def test_word_by_word(fresh: Scripted) -> None:
    """Words that come in at once are accepted in part, and with the last one in full."""
    suggest(fresh, "return value", "\n", 0)
    insert(fresh, "return", 0, 0)
    partly = {"shown": 1, "partlyAccepted": 1, "characters": 6, "charactersPending": 6}
    assert totals(fresh) == partly
    (rest,) = fresh.items(0, 6, triggerKind=AUTOMATIC)
    assert rest["insertText"] == "return value"
    insert(fresh, " value", 0, 6)
    assert totals(fresh) == {
        "shown": 1,
        "accepted": 1,
        "characters": 12,
        "charactersPending": 12,
    }


def test_a_part_as_the_client_says(fresh: Scripted) -> None:
    """The length counts UTF-16 units from the item's beginning, with the line before the cursor."""
    item = suggest(fresh, "a 🙂 b", "é = \n", 4)
    assert item["insertText"] == "é = a 🙂 b"
    insert(fresh, "a 🙂", 0, 4)
    assert totals(fresh) == {"shown": 1}
    fresh.client.notify(PARTLY, {"item": item, "acceptedLength": 4 + 4})
    assert totals(fresh) == {
        "shown": 1,
        "partlyAccepted": 1,
        "characters": 3,
        "charactersPending": 3,
    }


@pytest.mark.parametrize(("ignored", "end"), [(True, "ignored"), (False, "rejected")])
def test_no(fresh: Scripted, ignored: bool, end: str) -> None:  # noqa: FBT001
    """Somebody said no, or went on."""
    item = suggest(fresh, "foo(a)")
    fresh.client.notify(REJECT, {"item": item, "ignored": ignored})
    assert totals(fresh) == {"shown": 1, end: 1}


def test_a_client_that_reports_what_it_shows(fresh: Scripted) -> None:
    """From then on what it didn't show isn't counted."""
    item = suggest(fresh, "foo(a)")
    fresh.client.notify(SHOW, {"item": item})
    fresh.client.notify(SHOW, {"item": item})
    suggest(fresh, "bar(b)")
    assert totals(fresh) == {"shown": 1}


@pytest.mark.parametrize("method", [SHOW, PARTLY, REJECT])
@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        "text",
        {},
        {"item": None},
        {"item": {"insertText": "x"}},
        {"item": {"command": {"arguments": []}}},
        {"item": {"command": {"arguments": [{"id": 1}]}}},
        {"item": {"command": {"arguments": ["unknown"]}}, "ignored": "yes", "acceptedLength": 2},
        {
            "item": {"insertText": 5, "command": {"arguments": ["unknown"]}},
            "acceptedLength": -1,
        },
    ],
)
def test_what_makes_no_sense_is_ignored(scripted: Scripted, method: str, params: object) -> None:
    """Malformed items and unknown ids change nothing, and nobody is bothered with them."""
    before = stats(scripted.client)["suggestions"]
    scripted.client.notify(method, params)
    scripted.client.sync()
    assert stats(scripted.client)["suggestions"] == before
    assert scripted.client.shown() == []


def test_what_is_left_after_half_a_minute(fresh: Scripted) -> None:
    """Two of six characters are deleted, and a line is put before them: four are kept."""
    suggest(fresh, "foo(a)")
    insert(fresh, "foo(a)", 0, 4)
    fresh.client.notify("textDocument/didChange", change((0, 4), (0, 6), "", fresh.uri))
    insert(fresh, "import a\n", 0, 0)
    fresh.client.call(LATER, {"seconds": 29.9})
    accepted = {"shown": 1, "accepted": 1, "characters": 6}
    assert totals(fresh) == {**accepted, "charactersPending": 6}
    fresh.client.call(LATER, {"seconds": 0.1})
    assert totals(fresh) == {**accepted, "charactersKept": 4}
    close_document(fresh.client, fresh.uri)
    assert totals(fresh) == {**accepted, "charactersKept": 4}


def test_what_follows_an_accepted_suggestion_is_there_already(start: Start) -> None:
    """The next suggestion was computed while the first was shown: no token is decoded for it."""
    server = Scripted(start(command=COMMAND)).ready({"prefetch": True})
    item = suggest(server, "foo(a)", "x = \n", 4)
    wait_until_idle(server.client)
    server.says("")  # from now on, nothing new would be suggested
    for column, key in enumerate("fo", 4):
        insert(server, key, 0, column)
        server.items(0, column + 1, triggerKind=AUTOMATIC)
    wait_until_idle(server.client)
    insert(server, "o(a)", 0, 6)
    accept(server, item)
    decoded = stats(server.client)["decodedTokens"]
    (following,) = server.items(0, 10, triggerKind=AUTOMATIC)
    assert following["insertText"].startswith("x = foo(a)")
    after = stats(server.client)
    assert after["lastCompletion"]["origin"] == "prefetch"
    assert after["lastCompletion"]["generatedTokens"] == 0
    assert after["decodedTokens"] - decoded <= len("o(a)")  # what was accepted is read meanwhile


def test_what_is_waited_for(fresh: Scripted) -> None:
    """Each answer that came is a time; the percentiles are in order."""
    numbers = stats(fresh.client)["latency"]
    assert numbers == {"count": 0, "p50Ms": None, "p95Ms": None, "p99Ms": None}
    for _ in range(3):
        suggest(fresh, "foo(a)")
    numbers = stats(fresh.client)["latency"]
    assert numbers["count"] == 3
    assert 0 < numbers["p50Ms"] <= numbers["p95Ms"] <= numbers["p99Ms"]


def test_the_document_that_is_looked_at(start: Start) -> None:
    """The state that is told is that document's; without a document, it's of none."""
    server = Scripted(start(command=COMMAND)).ready({"status": True})
    client = server.client
    secret = server.open("KEY=1\n", "dotenv", "file:///project/.env")
    server.open("x = 1\n")

    def focus(params: object, state: str, uri: str | None) -> None:
        client.notify("textDocument/didFocus", params)
        client.wait(
            lambda: (
                (last := client.notifications("specls/status")[-1])["state"] == state
                and last["uri"] == uri
            ),
            f"{state} for {uri}",
        )

    focus({"textDocument": {"uri": secret}}, "disabled", secret)
    for other in ({}, {"textDocument": {"uri": server.uri}}, {"textDocument": {"uri": 5}}, None):
        focus(other, "ready", None)
        focus({"textDocument": {"uri": secret}}, "disabled", secret)
    focus({"textDocument": {"uri": "file:///never-opened"}}, "ready", None)


def test_a_client_that_sends_the_whole_text(fresh: Scripted) -> None:
    """What is new in it is what was accepted."""
    suggest(fresh, "foo(a)", "x = \ny = 1\n")
    text = change(None, None, "x = foo(a)\ny = 1\n", fresh.uri)
    fresh.client.notify("textDocument/didChange", text)
    assert totals(fresh) == {
        "shown": 1,
        "accepted": 1,
        "characters": 6,
        "charactersPending": 6,
    }
