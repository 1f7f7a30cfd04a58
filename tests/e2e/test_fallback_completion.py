"""Suggestions in the completion menu, in editors that show none inline."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import CODER, change, initialize, open_document, place, span, stats, wish
from tests.e2e.rawclient import Message, RawClient
from tests.e2e.scripted import COMMAND, INLINE, Scripted

pytestmark = pytest.mark.e2e

MENU, REGISTER, UNREGISTER = (
    "textDocument/completion",
    "client/registerCapability",
    "client/unregisterCapability",
)
CHANGED = "workspace/didChangeConfiguration"
UNKNOWN, CANCELLED, INVALID = -32601, -32800, -32602

HELIX: Message = {
    "completion": {
        "completionItem": {
            "snippetSupport": True,
            "resolveSupport": {"properties": ["documentation", "detail", "additionalTextEdits"]},
            "insertReplaceSupport": True,
            "deprecatedSupport": True,
            "tagSupport": {"valueSet": [1]},
        },
        "completionItemKind": {},
    },
}
"""What Helix 25 says of its menu."""

RICH: Message = {
    "completion": {
        "dynamicRegistration": True,
        "contextSupport": True,
        "completionItem": {
            "snippetSupport": True,
            "documentationFormat": ["markdown", "plaintext"],
            "insertReplaceSupport": True,
            "insertTextModeSupport": {"valueSet": [1, 2]},
            "labelDetailsSupport": True,
        },
        "insertTextMode": 2,
        "completionList": {"itemDefaults": ["editRange", "insertTextFormat"]},
    }
}
"""What an editor with a rich menu says, as those do that are built like VS Code."""

INLINE_TOO = {"inlineCompletion": {"dynamicRegistration": False}}


@pytest.fixture(scope="module")
def helix(start_for_module: Start) -> Scripted:
    """A server that took its client for one without inline completion."""
    return started(start_for_module, HELIX)


def started(start: Start, client: Message, options: Message | None = None) -> Scripted:
    return Scripted(start(command=COMMAND)).ready(options, textDocument=client)


def ask(server: Scripted, line: int, character: int, **more: object) -> Any:
    """Send a request for the menu; its id."""
    where = {"textDocument": {"uri": server.uri}, "position": place((line, character))}
    return server.client.request(MENU, where | more)


def menu(server: Scripted, line: int, character: int, **more: object) -> list[Message]:
    """The entries at a place; the list is never complete."""
    result = server.client.result(ask(server, line, character, **more))
    assert result["isIncomplete"] is True
    items: list[Message] = result["items"]
    return items


# -- announced or not ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "options", "announced"),
    [
        (HELIX, {}, True),
        (RICH, {}, True),
        ({}, {}, True),
        (HELIX | INLINE_TOO, {}, False),
        (HELIX, {"completionFallback": "auto"}, True),
        (HELIX, {"completionFallback": "never"}, False),
        (HELIX | INLINE_TOO, {"completionFallback": "always"}, True),
        (HELIX | {"inlineCompletion": {}}, {}, False),
        (HELIX | {"inlineCompletion": None}, {}, True),
    ],
)
def test_it_is_announced_where_it_is_needed(
    start: Start,
    client: Message,
    options: Message,
    announced: bool,  # noqa: FBT001
) -> None:
    """The menu is announced to clients without inline completion, or as the setting says.

    No character opens a menu that a word wouldn't.
    """
    answer = initialize(start(command=COMMAND), options, textDocument=client)
    provider = answer["capabilities"].get("completionProvider")
    assert provider == ({"workDoneProgress": True} if announced else None)


def test_who_was_not_told_of_it_cannot_ask(start: Start) -> None:
    """A method that wasn't announced is unknown."""
    server = started(start, HELIX | INLINE_TOO)
    server.open("x = ")
    assert server.client.code(ask(server, 0, 4)) == UNKNOWN


# -- the entries -----------------------------------------------------------------------------


def test_a_line_is_one_entry(helix: Scripted) -> None:
    """The entry replaces the typed word by the whole line's rest, and says what it is."""
    helix.says("urn x + 1")
    helix.open("def f(x):\n    ret\n")
    (item,) = menu(helix, 1, 7)
    item.pop("command", None)
    assert item == {
        "label": "return x + 1",
        "kind": 1,
        "detail": "specls",
        "sortText": "\uffff0",
        "filterText": "return x + 1",
        "insertTextFormat": 1,
        "textEdit": {"range": span((1, 4), (1, 7)), "newText": "return x + 1"},
    }


def test_several_lines_are_two_entries(helix: Scripted) -> None:
    """All lines are an entry, and the first one alone is another, behind it."""
    helix.says("n y:\n        return y\n    z")
    helix.open("if x:\n    whe")
    whole, first = menu(helix, 1, 7)
    assert [each["label"] for each in (whole, first)] == ["when y: …", "when y:"]
    assert whole["textEdit"] == {
        "range": span((1, 4), (1, 7)),
        "newText": "when y:\n        return y",
    }
    assert first["textEdit"] == {"range": span((1, 4), (1, 7)), "newText": "when y:"}
    assert whole["sortText"] < first["sortText"]
    preview = "when y:\n    return y"
    assert whole["documentation"] == {"kind": "plaintext", "value": preview}


def test_a_rich_menu_shows_more(start: Start) -> None:
    """Details, a preview with its language, and lines that the client mustn't indent."""
    server = started(start, RICH)
    server.says("n y:\n        return y")
    server.open("if x:\n    whe")
    whole, _ = menu(server, 1, 7, context={"triggerKind": 1})
    assert whole["labelDetails"] == {"description": "specls, 2 lines"}
    assert "detail" not in whole
    assert whole["insertTextMode"] == 1
    preview = "```python\nwhen y:\n    return y\n```"
    assert whole["documentation"] == {"kind": "markdown", "value": preview}


def test_between_braces_there_is_one_entry(helix: Scripted) -> None:
    """Where something stands behind the cursor the first line alone would break the code."""
    helix.says("\n    a();\n}")
    helix.open("if (x) {}", "c")
    (item,) = menu(helix, 0, 8)
    assert item["textEdit"] == {"range": span((0, 8), (0, 8)), "newText": "\n    a();\n"}


@pytest.mark.parametrize(("encoding", "start_of_it"), [("utf-8", 7), ("utf-16", 4), ("utf-32", 3)])
def test_positions_are_in_the_clients_units(start: Start, encoding: str, start_of_it: int) -> None:
    """Behind signs of several bytes the range is where the client counts it."""
    server = Scripted(start(command=COMMAND))
    server.ready(textDocument=HELIX, general={"positionEncodings": [encoding]})
    server.says("x = 1")
    server.open("🤗é ma")
    (item,) = menu(server, 0, start_of_it + 2)
    where = span((0, start_of_it), (0, start_of_it + 2))
    assert item["textEdit"] == {"range": where, "newText": "max = 1"}


def test_crlf_is_written_to_a_file_that_has_it(helix: Scripted) -> None:
    """Each line that's written ends as those of the file do."""
    helix.says("n y:\n        return y")
    helix.open("if x:\r\n    whe\r\n")
    whole, first = menu(helix, 1, 7)
    assert whole["textEdit"]["newText"] == "when y:\r\n        return y"
    assert first["textEdit"]["newText"] == "when y:"


def test_nothing_to_suggest_is_an_empty_list(helix: Scripted) -> None:
    """With nothing to offer, the list is empty and will be asked for again."""
    helix.says("")
    helix.open("x = ")
    assert menu(helix, 0, 4) == []


def test_inside_of_a_word_nothing_is_offered(helix: Scripted) -> None:
    """As inline: who changes a word isn't disturbed."""
    helix.says("1")
    helix.open("foobar")
    assert menu(helix, 0, 3) == []


def test_each_key_is_answered_from_what_was_shown(helix: Scripted) -> None:
    """Who types what is offered keeps the entry, without the model."""
    helix.says("urn x")
    uri = helix.open("ret")
    (item,) = menu(helix, 0, 3)
    helix.client.notify("textDocument/didChange", change((0, 3), (0, 3), "u", uri))
    before = stats(helix.client)["requests"]["withoutModel"]
    (again,) = menu(helix, 0, 4, context={"triggerKind": 3})
    assert stats(helix.client)["requests"]["withoutModel"] == before + 1
    assert again["textEdit"] == {"range": span((0, 0), (0, 4)), "newText": "return x"}
    assert again["filterText"] == item["filterText"]


# -- requests and their ends -----------------------------------------------------------------


def test_a_document_has_to_be_open(helix: Scripted) -> None:
    """A document that wasn't opened can't be completed."""
    helix.uri = "file:///never-opened"
    assert helix.client.code(ask(helix, 0, 0)) == INVALID


def test_it_can_be_cancelled(helix: Scripted) -> None:
    """A request is answered at once when it's cancelled."""
    helix.says("1")
    helix.open("x = ")
    helix.holds(decode=True)
    identifier = ask(helix, 0, 4)
    helix.client.notify("$/cancelRequest", {"id": identifier})
    assert helix.client.code(identifier) == CANCELLED
    helix.holds(decode=False)


def test_a_change_answers_it(helix: Scripted) -> None:
    """A request for a text that is no more gets an empty list at once; the next one is answered."""
    helix.says("1")
    uri = helix.open("x =")
    helix.holds(decode=True)
    identifier = ask(helix, 0, 3)
    helix.client.notify("textDocument/didChange", change((0, 3), (0, 3), " ", uri))
    assert helix.client.result(identifier) == {"isIncomplete": True, "items": []}
    helix.holds(decode=False)
    (item,) = menu(helix, 0, 4)
    assert item["textEdit"]["newText"] == "1"


def test_a_long_one_shows_a_progress(helix: Scripted) -> None:
    """What takes longer than a moment begins and ends a progress, if the client takes one."""
    helix.says("1")
    helix.open("x = ")
    helix.holds(decode=True)
    identifier = ask(helix, 0, 4, workDoneToken="menu")
    client = helix.client
    client.wait(lambda: bool(progress(client, "menu")), "a progress")
    helix.holds(decode=False)
    client.result(identifier)
    kinds = [each["value"]["kind"] for each in progress(client, "menu")]
    assert (kinds[0], kinds[-1]) == ("begin", "end")


def progress(client: RawClient, token: str) -> list[Message]:
    return [each for each in client.notifications("$/progress") if each["token"] == token]


# -- beside inline completion ----------------------------------------------------------------


def test_who_asks_inline_needs_no_menu(start: Start) -> None:
    """A client that shows inline completions without announcing it gets no second ones."""
    server = started(start, HELIX)
    server.says("1")
    server.open("x = ")
    assert len(menu(server, 0, 4)) == 1
    assert len(server.items(0, 4)) == 1
    empty = {"isIncomplete": False, "items": []}
    assert server.client.result(ask(server, 0, 4)) == empty


def test_both_may_be_asked_at_once(start: Start) -> None:
    """With `always`, a request for the menu and one inline at one place don't stop each other."""
    server = started(start, HELIX | INLINE_TOO, {"completionFallback": "always"})
    server.says("1")
    server.open("x = ")
    server.holds(decode=True)
    menu_id = ask(server, 0, 4)
    inline_id = server.client.request(INLINE, wish(0, 4, server.uri, triggerKind=2))
    server.client.sync()
    server.holds(decode=False)
    assert len(server.client.result(menu_id)["items"]) == 1
    assert len(server.client.result(inline_id)["items"]) == 1
    assert stats(server.client)["requests"]["superseded"] == 0


# -- the setting changes ---------------------------------------------------------------------


def push(server: Scripted, value: str) -> None:
    """Change the setting, and see that it was read."""
    settings = {"model": "scripted", "completionFallback": value}
    server.client.notify(CHANGED, {"settings": {"specls": settings}})
    server.client.sync()


def test_never_holds_at_once(start: Start) -> None:
    """What was announced for good is answered with nothing from then on, and back."""
    server = started(start, HELIX)
    server.says("1")
    server.open("x = ")
    push(server, "never")
    assert server.client.result(ask(server, 0, 4)) == {"isIncomplete": False, "items": []}
    push(server, "auto")
    assert len(menu(server, 0, 4)) == 1


def test_it_is_registered_later_where_that_can_be(start: Start) -> None:
    """A client that takes registrations learns of the menu when the setting asks for it."""
    server = Scripted(start(command=COMMAND))
    client = server.client
    client.handlers |= {REGISTER: lambda _params: None, UNREGISTER: lambda _params: None}
    server.ready(textDocument=RICH | INLINE_TOO)
    server.says("1")
    server.open("x = ")
    assert client.asked(REGISTER) == []
    push(server, "always")
    client.wait(lambda: len(client.asked(REGISTER)) == 1, "a registration")
    (made,) = client.asked(REGISTER)[0]["params"]["registrations"]
    assert (made["method"], made["registerOptions"]) == (
        MENU,
        {"documentSelector": None, "workDoneProgress": True},
    )
    assert len(menu(server, 0, 4)) == 1
    push(server, "auto")
    client.wait(lambda: len(client.asked(UNREGISTER)) == 1, "the end of it")
    # So the specification spells it.
    assert client.asked(UNREGISTER)[0]["params"] == {
        "unregisterations": [{"id": made["id"], "method": MENU}]
    }
    assert client.shown() == []


def test_else_a_restart_is_asked_for(start: Start) -> None:
    """A client that takes no registrations is told once what to do."""
    server = started(start, HELIX | INLINE_TOO)
    push(server, "always")
    client = server.client
    client.wait(lambda: bool(client.shown()), "a message")
    push(server, "always")
    push(server, "always")
    (message,) = client.shown()
    assert message["type"] == 3
    assert "restart" in message["message"]


def test_a_wrong_value_is_named(start: Start) -> None:
    """A value that isn't one is reported, and the default holds."""
    server = started(start, HELIX, {"completionFallback": "sometimes"})
    (message,) = server.client.shown()
    assert "completionFallback" in message["message"]
    server.says("1")
    server.open("x = ")
    assert len(menu(server, 0, 4)) == 1


# -- with a real model -----------------------------------------------------------------------


@pytest.mark.model
def test_the_model_fills_the_menu(start: Start) -> None:
    """The default model's body of a function is offered as a whole and by its first line."""
    client = start()
    initialize(client, CODER, textDocument=RICH)
    client.poll(lambda: stats(client)["state"], lambda state: bool(state == "ready"))
    uri = "file:///menu.py"
    text = "def fibonacci(n):\n    if n < 2:\n        return n\n    ret"
    open_document(client, text, uri)
    where = {"textDocument": {"uri": uri}, "position": place((3, 7))}
    items = client.call(MENU, where)["items"]
    assert items[0]["label"] == "return fibonacci(n-1) + fibonacci(n-2)"
    assert items[0]["textEdit"]["range"] == span((3, 4), (3, 7))
    assert items[0]["filterText"].startswith("ret")
