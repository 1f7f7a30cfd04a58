"""A server that was killed: the next one restores what the first one had read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import SMALL, complete, initialize, open_document, stats, wait_for_state
from tests.e2e.rawclient import RawClient

pytestmark = [pytest.mark.e2e, pytest.mark.model]

URI = "file:///project/restart.py"
TEXT = "".join(f"value_{number} = {number * number}\n" for number in range(40))
WHOLE = {**SMALL, "prefixTokens": 800, "coldBudgetMs": 0, "prefetch": False}


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of saved states, for the servers of one test."""
    monkeypatch.setenv("SPECLS_STATES", str(tmp_path / "states"))
    return tmp_path / "states"


def ready(start: Start, options: object = WHOLE) -> RawClient:
    client = start()
    initialize(client, options)
    wait_for_state(client, "ready")
    open_document(client, TEXT, URI)
    return client


def saved(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.state"))


def restored(client: RawClient) -> Any:
    """The counters of states, once the opened document was looked for on disk."""
    return client.poll(
        lambda: stats(client)["states"], lambda counts: bool(counts["restoredFromDisk"])
    )


def test_killed_and_started_again(start: Start, states: Path) -> None:
    """After a kill, an opened document is restored before anybody asks, and answered the same."""
    first = ready(start)
    items = complete(first, 40, 0, URI)
    read = stats(first)["lastCompletion"]["prefilledTokens"]
    assert read > 256
    first.poll(lambda: saved(states), bool)
    first.kill()
    second = ready(start)
    assert restored(second)["restoredFromDisk"] == 1
    assert complete(second, 40, 0, URI) == items
    last = stats(second)["lastCompletion"]
    assert last["restoredTokens"] > 256
    assert last["prefilledTokens"] < read // 10


def test_a_damaged_state_is_read_again(start: Start, states: Path) -> None:
    """A file that was damaged meanwhile is ignored, and the document is read as if it were new."""
    first = ready(start)
    items = complete(first, 40, 0, URI)
    (path,) = first.poll(lambda: saved(states), bool)
    first.kill()
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    path.write_bytes(raw)
    second = ready(start)
    assert complete(second, 40, 0, URI) == items
    numbers = stats(second)
    assert numbers["states"]["restoredFromDisk"] == 0
    assert numbers["lastCompletion"]["restoredTokens"] == 0
    assert not path.exists()
    assert "ignored and deleted" in second.log()


def test_another_type_of_cache_finds_nothing(start: Start, states: Path) -> None:
    """A state of another build or another kind of cache isn't taken."""
    first = ready(start)
    complete(first, 40, 0, URI)
    first.poll(lambda: saved(states), bool)
    first.kill()
    second = ready(start, {**WHOLE, "kvType": "q8_0", "flashAttention": "on"})
    assert len(complete(second, 40, 0, URI)) <= 1
    assert stats(second)["states"]["restoredFromDisk"] == 0


def test_without_disk_nothing_is_written(start: Start, states: Path) -> None:
    """With `kvDiskMiB` 0 no file is made, also at the end."""
    first = ready(start, {**WHOLE, "kvDiskMiB": 0})
    complete(first, 40, 0, URI)
    first.call("shutdown")
    first.notify("exit")
    assert first.wait_for_end() == 0
    assert saved(states) == []


def test_the_end_of_a_server_keeps_all(start: Start, states: Path) -> None:
    """A server that's shut down writes what it has, without waiting for a pause."""
    first = ready(start)
    complete(first, 40, 0, URI)
    first.call("shutdown")
    first.notify("exit")
    assert first.wait_for_end() == 0
    assert len(saved(states)) == 1
