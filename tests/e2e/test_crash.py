"""The engine crashes while the server runs."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import wait_for_state, wait_until_idle, wish
from tests.e2e.scripted import COMMAND, INLINE, Scripted
from tests.e2e.scripted_server import CRASH

pytestmark = pytest.mark.e2e

FAILED = -32603
TOLD = "The completion engine failed and is started again. The log of specls says what happened."


def crash(scripted: Scripted) -> None:
    """Ask when nothing else is computed, and have the next pass fail."""
    client = scripted.client
    wait_until_idle(client)
    client.call(CRASH, {"passes": 1})
    assert client.code(client.request(INLINE, wish(0, 4, scripted.uri))) == FAILED


def test_a_crash_is_told_once_and_healed(start: Start) -> None:
    """The request gets an error, the user one message; then the engine is loaded anew and works."""
    scripted = Scripted(start(command=COMMAND)).ready()
    client = scripted.client
    scripted.says("value")
    scripted.open("x = ")
    for loads in (1, 2):
        crash(scripted)
        client.wait(lambda: bool(client.shown()), "the message")
        client.poll(lambda: scripted.seen["loads"], (loads + 1).__eq__)
        wait_for_state(client, "ready")
        assert len(scripted.items(0, 4)) == 1
    assert [each["message"] for each in client.shown()] == [f"specls: {TOLD}"]
    assert client.log().count("The engine crashed") == 2
    crash(scripted)
    wait_for_state(client, "off")
    (_, off) = client.shown()
    assert "failed three times in a row" in off["message"]
    assert scripted.items(0, 4) == []
    assert client.end() == 0
