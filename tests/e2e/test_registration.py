"""How a client learns of inline completion: in the answer to initialize, or registered later."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import initialize, open_document, wait_for_state, wish
from tests.e2e.rawclient import Message, NoAnswer, RawClient, RpcError
from tests.e2e.scripted import COMMAND, INLINE, OPTIONS

pytestmark = pytest.mark.e2e

REGISTER, UNREGISTER = "client/registerCapability", "client/unregisterCapability"
CHANGED = "workspace/didChangeConfiguration"
DYNAMIC = {"inlineCompletion": {"dynamicRegistration": True}}
ALL = {"documentSelector": None, "workDoneProgress": True}
PYTHON = {"documentSelector": [{"language": "python"}], "workDoneProgress": True}


@pytest.fixture
def client(start: Start) -> RawClient:
    """A client that takes registrations."""
    client = start(command=COMMAND)
    client.handlers |= {REGISTER: lambda _params: None, UNREGISTER: lambda _params: None}
    return client


def met(client: RawClient, document: Message, **options: object) -> Any:
    """Shake hands and wait for the model; the server's capabilities."""
    answer = initialize(client, OPTIONS | options, textDocument=document)
    wait_for_state(client, "ready")
    return answer["capabilities"]


def registered(client: RawClient, count: int = 1) -> list[Message]:
    """Wait until so much was registered; every registration."""
    client.wait(lambda: len(client.asked(REGISTER)) >= count, f"{count} registrations")
    return [each for asked in client.asked(REGISTER) for each in asked["params"]["registrations"]]


def forgotten(client: RawClient, count: int = 1) -> list[Message]:
    """Wait until so many registrations were ended; all of them."""
    client.wait(lambda: len(client.asked(UNREGISTER)) >= count, "the end of a registration")
    # The specification has this spelling.
    return [
        each for asked in client.asked(UNREGISTER) for each in asked["params"]["unregisterations"]
    ]


def push(client: RawClient, **settings: object) -> None:
    client.notify(CHANGED, {"settings": {"specls": OPTIONS | settings}})
    client.sync()


def completes(client: RawClient) -> bool:
    """Whether a request is answered with an item."""
    client.call("scripted/answer", {"tokens": list(b"1"), "endless": False})
    open_document(client, "x = ")
    return bool(client.call(INLINE, wish(0, 4))["items"])


@pytest.mark.parametrize(
    "document",
    [
        {"inlineCompletion": {}},
        {"inlineCompletion": {"dynamicRegistration": False}},
        {"inlineCompletion": {"dynamicRegistration": None}},
        {"completion": {"dynamicRegistration": True}},
        {},
    ],
)
def test_who_takes_no_registration_is_told_at_once(client: RawClient, document: Message) -> None:
    """Inline completion is in the answer to initialize, and registered nowhere.

    Also for a client that says nothing of it: Emacs' lsp-mode asks all the same.
    """
    assert met(client, document)["inlineCompletionProvider"] == {"workDoneProgress": True}
    assert completes(client)
    assert client.asked(REGISTER) == []


def test_who_takes_registrations_gets_one(client: RawClient) -> None:
    """Inline completion is registered once, for the documents that the client chose."""
    assert "inlineCompletionProvider" not in met(client, DYNAMIC)
    (made,) = registered(client)
    assert (made["method"], made["registerOptions"]) == (INLINE, ALL)
    assert made["id"]
    push(client, maxTokens=32)
    assert completes(client)
    assert len(client.asked(REGISTER)) == 1


def test_nothing_is_registered_before_the_handshake_ends(client: RawClient) -> None:
    """The registration waits for the notification that the client is initialized."""
    client.call("initialize", {"capabilities": {"textDocument": DYNAMIC}})
    client.sync()
    assert client.asked(REGISTER) == []
    client.notify("initialized", {})
    assert registered(client)[0]["method"] == INLINE


@pytest.mark.parametrize(
    ("enable", "options"),
    [
        ({"*": False, "python": True}, PYTHON),
        ({"*": False, "python": True, "c": False}, PYTHON),
        ({"markdown": False}, ALL),
        ({"*": True, "python": True}, ALL),
    ],
)
def test_documents_are_selected_by_language(
    client: RawClient, enable: Message, options: Message
) -> None:
    """Where only some languages are on, the client needn't ask in others."""
    met(client, DYNAMIC, enable=enable)
    assert registered(client)[0]["registerOptions"] == options


def test_the_settings_are_asked_for_first(client: RawClient) -> None:
    """What the client's configuration says decides on the first registration."""
    client.handlers["workspace/configuration"] = lambda _params: [
        {"enable": {"*": False, "python": True}}
    ]
    initialize(client, OPTIONS, textDocument=DYNAMIC, workspace={"configuration": True})
    wait_for_state(client, "ready")
    assert [made["registerOptions"] for made in registered(client)] == [PYTHON]


def test_it_follows_the_settings(client: RawClient) -> None:
    """Other languages are registered anew under another id; with none, nothing is."""
    met(client, DYNAMIC)
    (first,) = registered(client)
    push(client, enable={"*": False, "python": True})
    _, second = registered(client, 2)
    assert second["registerOptions"] == PYTHON
    assert second["id"] != first["id"]
    assert forgotten(client) == [{"id": first["id"], "method": INLINE}]
    push(client, enable={"*": False})
    assert forgotten(client, 2)[1]["id"] == second["id"]
    push(client)
    assert registered(client, 3)[2]["registerOptions"] == ALL


def test_a_client_may_refuse(client: RawClient) -> None:
    """A registration that the client refuses harms nothing, and is tried at the next change."""

    def refuse(_params: object) -> None:
        raise RpcError(-32603, "not now")

    client.handlers[REGISTER] = refuse
    met(client, DYNAMIC)
    registered(client)
    assert completes(client)
    client.handlers[REGISTER] = lambda _params: None
    push(client, maxTokens=32)
    assert len(registered(client, 2)) == 2
    assert client.shown() == []


def test_a_client_may_not_answer(client: RawClient) -> None:
    """A registration that's never answered delays nothing."""

    def ignore(_params: object) -> None:
        raise NoAnswer

    client.handlers[REGISTER] = ignore
    met(client, DYNAMIC)
    registered(client)
    assert completes(client)


def test_what_is_registered_is_answered(client: RawClient) -> None:
    """A client that doesn't wait for the registration is answered as well."""
    met(client, DYNAMIC)
    assert completes(client)
