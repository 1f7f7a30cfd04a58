"""What a server really sends has the keys and types that docs/protocol.md and its shapes have."""

from __future__ import annotations

from typing import Any

import pytest

from specls.lsp import custom, shapes
from specls.lsp.custom import CUSTOM, Custom, Kind
from tests.e2e.conftest import Start
from tests.e2e.editor import initialize, place, stats, wait_for_state
from tests.e2e.rawclient import RawClient
from tests.e2e.scripted import COMMAND, OPTIONS, Scripted
from tests.lsp.shapes import problems
from tests.lsp.test_custom import examples

pytestmark = pytest.mark.e2e

BY_NAME = {each.name: each for each in CUSTOM}


def asked(client: RawClient, message: Custom, params: object = None) -> Any:
    """The result of a request or command, which is what its shape says."""
    if message.kind is Kind.COMMAND:
        command = {"command": message.name, "arguments": params or []}
        result = client.call("workspace/executeCommand", command)
    else:
        result = client.call(message.name, params)
    assert problems(result, message.result) == []
    return result


@pytest.fixture(scope="module")
def told(start_for_module: Start) -> Scripted:
    """A server that tells its client everything, and has completed something."""
    server = Scripted(start_for_module(command=COMMAND))
    server.ready({"status": True, "editorInfo": {"name": "test", "version": "1"}})
    server.says("foo(a)")
    server.open("KEY=1\n", "dotenv", "file:///project/.env")
    server.open("x = \n")
    assert server.items(0, 4)
    return server


def test_stats(told: Scripted) -> None:
    """With models and a completion, all keys are there that the example has."""
    numbers = asked(told.client, BY_NAME[custom.STATS])
    (example,) = examples(custom.STATS, "result")
    assert numbers.keys() == example.keys()
    assert numbers["lastCompletion"].keys() == example["lastCompletion"].keys()
    assert numbers["states"].keys() == example["states"].keys()


def test_stats_without_models(start: Start) -> None:
    """Before anything is loaded, the three keys of loaded models are missing, and no other."""
    server = Scripted(start(command=COMMAND))
    initialize(server.client, OPTIONS | {"model": "missing"})
    wait_for_state(server.client, "failed")
    numbers = asked(server.client, BY_NAME[custom.STATS])
    (example,) = examples(custom.STATS, "result")
    loaded = {"prefillBatch", "prefillTokensPerSecond", "states"}
    assert example.keys() - numbers.keys() == loaded
    assert numbers["lastCompletion"] is None


def test_context(told: Scripted) -> None:
    """The parts of a prompt, and the reason where there are none."""
    message = BY_NAME[custom.CONTEXT]
    where = {"textDocument": {"uri": told.uri}, "position": place((0, 4))}
    assert problems(where, message.params) == []
    assert asked(told.client, message, where)["parts"]
    secret = {"textDocument": {"uri": "file:///project/.env"}, "position": place((0, 4))}
    assert asked(told.client, message, secret)["excluded"]


def test_models(told: Scripted) -> None:
    """The catalogue."""
    assert asked(told.client, BY_NAME[custom.MODELS])["models"]


def test_items_are_what_comes_back(told: Scripted) -> None:
    """An item as the notifications of the client have it is the item that the server sent."""
    (item,) = told.items(0, 4)
    assert problems(item, shapes.Item) == []
    for name in (custom.DID_SHOW, custom.DID_ACCEPT_PARTLY, custom.DID_REJECT):
        (example,) = examples(name, "params")
        assert example["item"].keys() == item.keys()
        assert example["item"]["command"].keys() == item["command"].keys()
        assert example["item"]["command"]["title"] == item["command"]["title"]
        assert example["item"]["command"]["command"] == item["command"]["command"]
        assert problems({**example, "item": item}, BY_NAME[name].params) == []


def test_commands(told: Scripted) -> None:
    """Each is announced, and its result is null."""
    names = {each.name for each in CUSTOM if each.kind is Kind.COMMAND}
    assert names == {custom.ACCEPT, custom.RELOAD}
    asked(told.client, BY_NAME[custom.ACCEPT], ["unknown"])
    loads = told.seen["loads"]
    asked(told.client, BY_NAME[custom.RELOAD])
    told.client.poll(lambda: told.seen["loads"], lambda count: bool(count > loads))
    wait_for_state(told.client, "ready")


def test_what_the_server_tells(told: Scripted) -> None:
    """Every status that was sent, from starting on, is one; those of both kinds were sent."""
    told.client.notify(custom.DID_FOCUS, {"textDocument": {"uri": "file:///project/.env"}})
    told.client.wait(
        lambda: told.client.notifications(custom.STATUS)[-1]["state"] == "disabled", "disabled"
    )
    for name in (custom.STATUS, custom.DID_CHANGE_STATUS):
        sent = told.client.notifications(name)
        assert len(sent) > 1
        shape = BY_NAME[name].params
        assert [problem for params in sent for problem in problems(params, shape)] == []


def test_an_error_says_what_to_do(start: Start) -> None:
    """A status as the example on the page, of a model that isn't there."""
    server = Scripted(start(command=COMMAND))
    initialize(server.client, OPTIONS | {"model": "missing", "status": True})
    wait_for_state(server.client, "failed")
    server.client.wait(
        lambda: server.client.notifications(custom.STATUS)[-1]["state"] == "error", "an error"
    )
    told = server.client.notifications(custom.STATUS)[-1]
    (example,) = examples(custom.STATUS, "params")
    assert problems(told, shapes.StatusParams) == []
    assert told.keys() == example.keys()
    assert told["command"] == example["command"]
    assert [type(told[key]) for key in example] == [type(example[key]) for key in example]
    assert stats(server.client)["state"] == "failed"
