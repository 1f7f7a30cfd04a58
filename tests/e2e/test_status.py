"""How things stand, as a client is told: `specls/status` and `didChangeStatus`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import initialize, wish
from tests.e2e.rawclient import Message, RawClient
from tests.e2e.scripted import COMMAND, OPTIONS, Scripted

pytestmark = pytest.mark.e2e

STATUS, OF_COPILOT = "specls/status", "didChangeStatus"
CHANGED = "workspace/didChangeConfiguration"
WANTS = {"specls": {"status": True}}
READY = {
    "state": "ready",
    "message": "scripted is ready.",
    "model": "scripted",
    "draft": None,
    "uri": None,
    "reason": None,
    "remedy": None,
    "command": None,
}


def until(client: RawClient, state: str) -> Message:
    """Wait until the newest status is this one; it."""

    def newest() -> Message:
        told = client.notifications(STATUS)
        return told[-1] if told else {}

    client.wait(lambda: newest().get("state") == state, f"the status {state}")
    return newest()


def settings(client: RawClient, **values: object) -> None:
    client.notify(CHANGED, {"settings": {"specls": OPTIONS | values}})


@pytest.fixture
def told(start: Start) -> Scripted:
    """A scripted server that tells how things stand, and is ready."""
    scripted = Scripted(start(command=COMMAND)).ready(experimental=WANTS)
    until(scripted.client, "ready")
    return scripted


def test_from_starting_to_ready(told: Scripted) -> None:
    """The client hears of the start, the load, and that models are ready, with their names."""
    states = [each["state"] for each in told.client.notifications(STATUS)]
    assert states[0] == "starting"
    assert states[-1] == "ready"
    assert until(told.client, "ready") == READY


def test_who_does_not_ask_is_told_nothing(start: Start) -> None:
    """Without the capability or an option no status is sent."""
    client = Scripted(start(command=COMMAND)).ready().client
    assert client.notifications(STATUS) == client.notifications(OF_COPILOT) == []


def test_an_option_of_initialize_asks_as_well(start: Start) -> None:
    """`status` in the options of initialize is no setting, and asks for the status."""
    scripted = Scripted(start(command=COMMAND)).ready({"status": True})
    assert until(scripted.client, "ready") == READY
    assert scripted.client.shown() == []


@pytest.mark.parametrize(
    ("options", "experimental"),
    [
        ({"editorInfo": {"name": "vim", "version": "9"}, "editorPluginInfo": {"name": "x"}}, {}),
        ({}, {"specls": {"didChangeStatus": True}}),
    ],
)
def test_clients_of_copilot_are_told_in_their_way(
    start: Start, options: Message, experimental: Any
) -> None:
    """They get didChangeStatus, and nothing that they don't know."""
    client = start(command=COMMAND)
    Scripted(client).ready(options, experimental=experimental)
    ready = {"message": "scripted is ready.", "kind": "Normal", "busy": False}
    client.wait(lambda: ready in client.notifications(OF_COPILOT), "the status")
    first = client.notifications(OF_COPILOT)[0]
    assert first == {"message": "specls is starting.", "kind": "Normal", "busy": True}
    settings(client, enabled=False)
    off = {
        "message": "The setting enabled switches specls off.",
        "kind": "Inactive",
        "busy": False,
    }
    client.wait(lambda: client.notifications(OF_COPILOT)[-1] == off, "the status")
    assert client.notifications(STATUS) == []
    assert client.shown() == []


def test_an_error_has_its_remedy(start: Start) -> None:
    """What failed is told with what can be done, and a command that tries again."""
    client = start(command=COMMAND)
    initialize(client, {"model": "missing"}, experimental=WANTS)
    assert until(client, "error") == {
        "state": "error",
        "message": "missing isn't on this machine yet.",
        "model": None,
        "draft": None,
        "uri": None,
        "reason": "missing isn't on this machine yet.",
        "remedy": "specls models pull missing",
        "command": {"title": "Try again", "command": "specls.reload", "arguments": []},
    }


@pytest.mark.model
def test_a_real_model_that_is_not_there_has_its_remedy(start: Start) -> None:
    """The command line that fetches a model is the remedy."""
    client = start()
    initialize(client, {"model": "qwen2.5-coder-32b"}, experimental=WANTS)
    assert until(client, "error")["remedy"] == "specls models pull qwen2.5-coder-32b"


def test_the_document_at_hand_decides(told: Scripted) -> None:
    """A document in which nothing is completed is told with the reason, until another is seen."""
    client = told.client
    told.open("x = 1\n")
    settings(client, enable={"markdown": False})
    notes = told.open("# Notes\n", "markdown")
    reason = "the setting enable switches markdown off"
    assert until(client, "disabled") == READY | {
        "state": "disabled",
        "message": f"Nothing is completed in this document: {reason}.",
        "uri": notes,
        "reason": reason,
    }
    told.open("y = 1\n")
    until(client, "ready")
    secret = told.open("KEY=1\n", "plaintext", "file:///project/.env")
    assert until(client, "disabled")["uri"] == secret
    client.notify("textDocument/didClose", {"textDocument": {"uri": secret}})
    until(client, "ready")


def test_switched_off_answers_nothing_and_keeps_the_model(told: Scripted) -> None:
    """With `enabled` false requests get nothing; switched on again, nothing is loaded."""
    client = told.client
    told.says("42")
    told.open("x = ")
    settings(client, enabled=False)
    assert until(client, "off")["model"] == "scripted"
    assert told.items(0, 4) == []
    settings(client)
    until(client, "ready")
    assert len(told.items(0, 4)) == 1
    assert told.seen["loads"] == 1


def test_a_long_request_is_busy(told: Scripted) -> None:
    """Busy is told of a request that takes long, and then its end."""
    client = told.client
    told.says("42")
    uri = told.open("x = ")
    told.holds(decode=True)
    request = client.request("textDocument/inlineCompletion", wish(0, 4, uri))
    assert until(client, "busy")["message"] == "scripted is completing."
    told.holds(decode=False)
    assert len(client.result(request)["items"]) == 1
    until(client, "ready")


# -- models ----------------------------------------------------------------------------------


def test_models_are_listed(told: Scripted) -> None:
    """`specls/models` names all models, and the one that answers."""
    models = told.client.call("specls/models")["models"]
    assert [(each["id"], each["present"], each["current"]) for each in models] == [
        ("scripted", True, True),
        ("missing", False, False),
    ]


@pytest.mark.model
def test_the_catalogue_is_listed(small: RawClient) -> None:
    """Each model comes with what an editor shows of it in a list."""
    models = {each["id"]: each for each in small.call("specls/models")["models"]}
    assert models["smollm2-135m"] == {
        "id": "smollm2-135m",
        "name": "smollm2-135m (135M, Q4_1)",
        "kind": "target",
        "bytes": 98_362_432,
        "licence": "Apache-2.0",
        "present": True,
        "state": "yes",
        "drafts": [],
        "current": True,
    }
    assert models["qwen2.5-coder-0.5b"]["kind"] == "draft"
    assert models["qwen2.5-coder-1.5b"]["drafts"] == ["qwen2.5-coder-0.5b"]
    assert [name for name, each in models.items() if each["current"]] == ["smollm2-135m"]


def test_models_are_loaded_again_on_demand(told: Scripted) -> None:
    """The command specls.reload loads what the settings ask for, once more."""
    reload = {"command": "specls.reload"}
    assert told.client.call("workspace/executeCommand", reload) is None
    told.client.poll(lambda: told.seen["loads"], lambda loads: bool(loads == 2))
    until(told.client, "ready")


def test_the_old_model_answers_while_another_is_loaded(told: Scripted) -> None:
    """The status says that another one is loaded, and completions come from the old one."""
    client = told.client
    told.says("42")
    told.open("x = ")
    told.holds(load=True)
    settings(client, model="another")
    loading = until(client, "loading")
    assert loading["model"] == "scripted"
    assert loading["message"].endswith("%; scripted answers until then.")
    assert len(told.items(0, 4)) == 1
    told.holds(load=False)
    assert until(client, "ready")["model"] == "another"
    settings(client, model="missing")
    client.wait(lambda: bool(client.shown()), "the message")
    (message,) = client.shown()
    assert message["message"] == (
        "specls: missing isn't on this machine yet. The models that were loaded before are still "
        "used."
    )
    client.wait(lambda: client.notifications(STATUS)[-1]["reason"] is not None, "the reason")
    assert client.notifications(STATUS)[-1] == READY | {
        "message": "another is ready.",
        "model": "another",
        "reason": "missing isn't on this machine yet.",
        "remedy": "specls models pull missing",
        "command": {"title": "Try again", "command": "specls.reload", "arguments": []},
    }
    assert len(told.items(0, 4)) == 1
