"""What a client is told while its request runs, under tokens that it sent along."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import change, open_document, span, wish
from tests.e2e.rawclient import Message, RawClient
from tests.e2e.scripted import COMMAND, INLINE, Scripted

pytestmark = pytest.mark.e2e

PROGRESS = "$/progress"
CANCELLED, INVALID = -32800, -32602
BLOCK, CURSOR = "if x:\n    ", (1, 4)
FIRST, LINES = "    a = 1", "    a = 1\n    b = 2\n    c = 3"
AUTOMATIC = 2


@pytest.fixture
def paused(scripted: Scripted) -> Iterator[Scripted]:
    """A model that writes three lines and waits behind the first, and a document for them."""
    scripted.says(LINES.lstrip(), pause="a = 1\n")
    scripted.holds(pause=True)
    scripted.open(BLOCK)
    yield scripted
    scripted.holds(pause=False)


def ask(scripted: Scripted, *position: int, **tokens: object) -> Any:
    """Send a request with tokens; its id."""
    line, character = position or CURSOR
    return scripted.client.request(INLINE, wish(line, character, scripted.uri) | tokens)


def values(client: RawClient, token: object) -> list[Any]:
    """What came under a token so far."""
    told = client.notifications(PROGRESS)
    return [each["value"] for each in told if each["token"] == token]


def wait_for(client: RawClient, token: object, count: int = 1) -> list[Any]:
    """Wait until so much came under a token."""
    client.wait(lambda: len(values(client, token)) >= count, f"progress under {token!r}")
    return values(client, token)


def texts(items: list[Message]) -> list[str]:
    return [item["insertText"] for item in items]


# -- partialResultToken ----------------------------------------------------------------------


@pytest.mark.parametrize("token", ["partial", 17, ""])
def test_the_first_line_comes_at_once(paused: Scripted, token: object) -> None:
    """While the model writes on, the first line is there; the rest follows, and no more."""
    identifier = ask(paused, partialResultToken=token)
    (early,) = wait_for(paused.client, token)
    assert texts(early) == [FIRST]
    assert early[0]["range"] == span((1, 0), (1, 4))
    assert paused.client.answers(identifier) == []
    paused.holds(pause=False)
    assert paused.client.result(identifier) == {"items": []}
    first, *rest = values(paused.client, token)
    assert first == early
    assert list(map(texts, rest)) == [[LINES]]
    assert rest[0][0]["range"] == span((1, 0), (1, 4))


def test_all_suggestions_come_under_the_token(start: Start) -> None:
    """Of several, the first one's first line comes first, and the others in one list at the end."""
    server = Scripted(start(command=COMMAND)).ready({"alternatives": 3})
    server.says("a = 1\n    b = 2", pause="a = 1\n")
    server.open(BLOCK)
    whole = texts(server.items(*CURSOR))
    assert len(whole) > 1
    server.open(BLOCK)
    identifier = ask(server, partialResultToken="several")
    assert server.client.result(identifier) == {"items": []}
    assert list(map(texts, values(server.client, "several"))) == [[FIRST], whole]


def test_one_line_comes_in_the_answer(scripted: Scripted) -> None:
    """Where there's nothing to send before the answer, all is in the answer."""
    scripted.says("1, 2]")
    scripted.open("x = [")
    identifier = ask(scripted, 0, 5, partialResultToken="one line")
    assert texts(scripted.client.result(identifier)["items"]) == ["x = [1, 2]"]
    assert values(scripted.client, "one line") == []


def test_what_turned_out_to_be_all_is_not_sent_twice(paused: Scripted) -> None:
    """When nothing follows the line that was sent, the answer is empty."""
    paused.says("a = 1\n", pause="a = 1\n")
    identifier = ask(paused, partialResultToken="all")
    assert list(map(texts, wait_for(paused.client, "all"))) == [[FIRST]]
    paused.holds(pause=False)
    assert paused.client.result(identifier) == {"items": []}
    assert len(values(paused.client, "all")) == 1


def test_what_is_known_comes_in_the_answer(paused: Scripted) -> None:
    """A suggestion that was shown already is the answer, token or not."""
    paused.holds(pause=False)
    kind = {"context": {"triggerKind": AUTOMATIC}}
    assert len(paused.client.result(ask(paused, **kind))["items"]) == 1
    again = paused.client.result(ask(paused, partialResultToken="known", **kind))
    assert texts(again["items"]) == [LINES]
    assert values(paused.client, "known") == []


def test_without_a_token_nothing_comes_early(paused: Scripted) -> None:
    """A client that sent no token gets one answer."""
    before = len(paused.client.notifications(PROGRESS))
    identifier = ask(paused)
    paused.holds(pause=False)
    assert texts(paused.client.result(identifier)["items"]) == [LINES]
    assert len(paused.client.notifications(PROGRESS)) == before


def test_crlf_reaches_the_first_line_too(paused: Scripted) -> None:
    """What comes early has the file's line endings, and the range of its line."""
    paused.says("\n    a = 1\n    b = 2", pause="a = 1\n")
    paused.open("if x:\r\n")
    identifier = ask(paused, 0, 5, partialResultToken="crlf")
    (early,) = wait_for(paused.client, "crlf")
    assert texts(early) == ["if x:\r\n    a = 1"]
    paused.holds(pause=False)
    assert paused.client.result(identifier) == {"items": []}
    assert texts(values(paused.client, "crlf")[1]) == ["if x:\r\n    a = 1\r\n    b = 2"]


def test_a_selected_entry_is_extended_line_by_line(paused: Scripted) -> None:
    """What comes early extends the entry selected in the client's menu, in its range."""
    paused.open("if x:\n    re\n")
    selected = {"range": span((1, 4), (1, 6)), "text": "result = f("}
    context = {"triggerKind": 1, "selectedCompletionInfo": selected}
    paused.says("a,\n        b,\n    )", pause="a,\n")
    identifier = ask(paused, 1, 6, partialResultToken="entry", context=context)
    (early,) = wait_for(paused.client, "entry")
    assert (texts(early), early[0]["range"]) == (["result = f(a,"], selected["range"])
    paused.holds(pause=False)
    assert paused.client.result(identifier) == {"items": []}


def test_after_a_cancellation_nothing_comes(paused: Scripted) -> None:
    """A request that is cancelled after its first line is answered so, and nothing follows."""
    identifier = ask(paused, partialResultToken="cancelled")
    wait_for(paused.client, "cancelled")
    paused.client.notify("$/cancelRequest", {"id": identifier})
    assert paused.client.code(identifier) == CANCELLED
    paused.holds(pause=False)
    paused.client.sync()
    assert len(values(paused.client, "cancelled")) == 1


def test_after_a_change_nothing_comes(paused: Scripted) -> None:
    """A change of the document answers the request; what was written for the old text is lost."""
    identifier = ask(paused, partialResultToken="changed")
    wait_for(paused.client, "changed")
    paused.client.notify("textDocument/didChange", change((0, 3), (0, 4), "y", paused.uri))
    assert paused.client.result(identifier) == {"items": []}
    paused.holds(pause=False)
    paused.client.sync()
    assert len(values(paused.client, "changed")) == 1


@pytest.mark.parametrize("name", ["partialResultToken", "workDoneToken"])
@pytest.mark.parametrize("token", [True, 1.5, [], {}])
def test_a_token_is_a_number_or_a_text(paused: Scripted, name: str, token: object) -> None:
    """A token that can name nothing is refused, with its name."""
    identifier = ask(paused, **{name: token})
    assert paused.client.code(identifier) == INVALID
    assert name in paused.client.answer(identifier)["error"]["message"]


def test_a_token_may_be_null(paused: Scripted) -> None:
    """Null is no token."""
    paused.holds(pause=False)
    answer = paused.client.result(ask(paused, partialResultToken=None, workDoneToken=None))
    assert texts(answer["items"]) == [LINES]


# -- workDoneToken ---------------------------------------------------------------------------


def kinds(client: RawClient, token: object) -> list[str]:
    return [value["kind"] for value in values(client, token)]


def test_what_takes_longer_than_a_moment_is_shown(paused: Scripted) -> None:
    """A progress begins, tells how many lines there are, and ends before the answer comes."""
    identifier = ask(paused, workDoneToken="long")
    (begin,) = wait_for(paused.client, "long")
    assert begin == {
        "kind": "begin",
        "title": "specls: completing",
        "cancellable": True,
        "message": "1 line",
    }
    paused.holds(pause=False)
    assert texts(paused.client.result(identifier)["items"]) == [LINES]
    assert values(paused.client, "long")[1:] == [
        {"kind": "report", "message": "2 lines"},
        {"kind": "end"},
    ]
    (end,) = [each for each in paused.client.received if is_end(each, "long")]
    answer = paused.client.answer(identifier)
    assert paused.client.received.index(end) < paused.client.received.index(answer)


def is_end(message: Message, token: str) -> bool:
    told = message.get("params") if message.get("method") == PROGRESS else None
    return told == {"token": token, "value": {"kind": "end"}}


def test_reading_is_told(paused: Scripted) -> None:
    """Before the first token is there, the text is being read."""
    paused.holds(decode=True, pause=False)
    identifier = ask(paused, workDoneToken="reading")
    (begin,) = wait_for(paused.client, "reading")
    assert begin["message"] == "reading"
    paused.holds(decode=False)
    paused.client.result(identifier)
    assert kinds(paused.client, "reading")[-1] == "end"


@pytest.mark.parametrize("end", ["cancelled", "changed", "superseded", "closed"])
def test_it_ends_however_the_request_ends(paused: Scripted, end: str) -> None:
    """The progress is ended also when the request is cancelled or made pointless."""
    client, token = paused.client, f"ends {end}"
    identifier = ask(paused, workDoneToken=token)
    wait_for(client, token)
    match end:
        case "cancelled":
            client.notify("$/cancelRequest", {"id": identifier})
        case "changed":
            client.notify("textDocument/didChange", change((0, 3), (0, 4), "y", paused.uri))
        case "superseded":
            other = ask(paused, 0, 0)
        case _:
            client.notify("textDocument/didClose", {"textDocument": {"uri": paused.uri}})
    assert client.code(identifier) == (CANCELLED if end == "cancelled" else None)
    assert kinds(client, token) == ["begin", "end"]
    paused.holds(pause=False)
    if end == "superseded":
        client.answer(other)


def test_what_is_quick_shows_nothing(scripted: Scripted) -> None:
    """An answer that comes within a moment has no progress."""
    scripted.says("1, 2]")
    scripted.open("x = [")
    scripted.client.result(ask(scripted, 0, 5, workDoneToken="quick"))
    assert values(scripted.client, "quick") == []


def test_both_tokens_work_together(paused: Scripted) -> None:
    """A progress and partial results don't mix."""
    identifier = ask(paused, workDoneToken="work", partialResultToken="part")
    assert texts(wait_for(paused.client, "part")[0]) == [FIRST]
    wait_for(paused.client, "work")
    paused.holds(pause=False)
    assert paused.client.result(identifier) == {"items": []}
    assert kinds(paused.client, "work") == ["begin", "report", "end"]
    assert list(map(texts, values(paused.client, "part"))) == [[FIRST], [LINES]]


# -- clients that never cancel ---------------------------------------------------------------


def test_a_client_that_never_cancels_gets_all_answers(paused: Scripted) -> None:
    """Each key's request is answered at once when the next key comes, and the last in full."""
    client, uri, asked = paused.client, paused.uri, []
    for typed in range(20):
        asked.append(ask(paused, 1, 4 + typed))
        where = (1, 4 + typed)
        client.notify("textDocument/didChange", change(where, where, "a", uri))
    assert [client.result(each) for each in asked] == [{"items": []}] * 20
    paused.says(" = 1")
    paused.holds(pause=False)
    (item,) = paused.items(1, 24)
    assert item["insertText"] == "    " + "a" * 20 + " = 1"


def test_requests_without_a_change_are_answered_too(paused: Scripted) -> None:
    """Of requests at several places the last one is answered in full, the others with nothing."""
    open_document(paused.client, "x = [\n" * 20, paused.uri)
    paused.holds(decode=True)
    asked = [ask(paused, line, 5) for line in range(20)]
    paused.holds(decode=False, pause=False)
    results = [paused.client.result(each)["items"] for each in asked]
    assert [bool(items) for items in results] == [False] * 19 + [True]


# -- with a real model -----------------------------------------------------------------------


@pytest.mark.model
def test_what_comes_early_is_the_beginning(coder: RawClient) -> None:
    """The default model's first line is there before the rest, and the whole begins with it."""
    uri = "file:///partial.py"
    open_document(coder, "def fibonacci(n):\n    ", uri)
    identifier = coder.request(INLINE, wish(1, 4, uri) | {"partialResultToken": "real"})
    assert coder.result(identifier) == {"items": []}
    (early,), (whole,) = values(coder, "real")
    assert "\n" not in early["insertText"].strip()
    assert whole["insertText"].startswith(early["insertText"] + "\n")
    assert early["range"] == whole["range"] == span((1, 0), (1, 4))
