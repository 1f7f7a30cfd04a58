"""A server that's ended at the worst moment, and a machine that lets it down.

Nothing is left running, and no half file is trusted afterwards.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from specls.catalogue.store import ModelStore
from tests.conftest import SMALLEST
from tests.e2e.conftest import Start
from tests.e2e.editor import (
    LONG,
    SMALL,
    begin_long_completion,
    close_document,
    complete,
    initialize,
    open_document,
    stats,
    wait_for_state,
)
from tests.e2e.rawclient import SERVER, RawClient

pytestmark = [pytest.mark.e2e, pytest.mark.model]

SPILLING = {**SMALL, "prefixTokens": 800, "coldBudgetMs": 0, "prefetch": False, "kvBudgetMiB": 0}
LINES = 40


class Owner:
    """A process in the role of the client."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", "input()"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def owner() -> Any:
    """The client's process; its end is the server's."""
    owner = Owner()
    yield owner
    owner.kill()


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what servers of a test keep, empty: what passes cost is measured in a load."""
    folder = tmp_path / "states"
    monkeypatch.setenv("SPECLS_STATES", str(folder))
    return folder


def document(name: str) -> str:
    return "".join(f"{name}_{number} = {number * number}\n" for number in range(LINES))


def begun(client: RawClient, owner: Owner, options: object) -> None:
    """Shake hands in the name of a process."""
    params = {"processId": owner.process.pid, "capabilities": {}, "initializationOptions": options}
    client.call("initialize", params)
    client.notify("initialized", {})


def loading(client: RawClient, owner: Owner) -> None:
    """While the model is loaded, and what passes cost is measured."""
    begun(client, owner, SMALL | {"speculation": "auto"})
    wait_for_state(client, "loading")


def prefilling(client: RawClient, owner: Owner) -> None:
    """While a prompt is read."""
    begun(client, owner, SMALL | LONG)
    wait_for_state(client, "ready")
    begin_long_completion(client)


def decoding(client: RawClient, owner: Owner) -> None:
    """While tokens are written, which takes long."""
    begun(client, owner, SMALL | {"maxTokens": 512})
    wait_for_state(client, "ready")
    before = stats(client)["decodedTokens"]
    begin_long_completion(client)
    client.poll(lambda: stats(client)["decodedTokens"] - before, lambda count: bool(count > 160))


def spilling(client: RawClient, owner: Owner) -> None:
    """While states of documents are written to disk."""
    begun(client, owner, SPILLING)
    wait_for_state(client, "ready")
    for name in ("one", "two", "three"):
        open_document(client, document(name), f"file:///{name}")
        complete(client, LINES, 0, f"file:///{name}")
    for name in ("one", "two", "three"):
        close_document(client, f"file:///{name}")
    folder = Path(os.environ["SPECLS_STATES"])
    client.poll(lambda: list(folder.rglob("*.part")) + list(folder.rglob("*.state")), bool)


def terminate(client: RawClient, _owner: Owner) -> None:
    client.process.send_signal(signal.SIGTERM)


def kill(client: RawClient, _owner: Owner) -> None:
    client.process.send_signal(signal.SIGKILL)


def close(client: RawClient, _owner: Owner) -> None:
    client.close_stdin()


def die(_client: RawClient, owner: Owner) -> None:
    owner.kill()


CODES = {terminate: 0, kill: -signal.SIGKILL, close: 1, die: 1}


@pytest.mark.parametrize("end", CODES)
@pytest.mark.parametrize("moment", [loading, prefilling, decoding, spilling])
def test_an_end_at_any_moment_leaves_nothing_running(
    start: Start,
    owner: Owner,
    states: Path,
    moment: Callable[[RawClient, Owner], None],
    end: Callable[[RawClient, Owner], None],
) -> None:
    """However a server ends, it ends soon, with the code for it, and leaves no process behind."""
    client = start()
    moment(client, owner)
    children = psutil.Process(client.process.pid).children(recursive=True)
    end(client, owner)
    assert client.wait_for_end() == CODES[end]
    assert [child for child in children if child.is_running()] == []
    assert "Traceback" not in client.log()
    if end is not kill:
        assert list(states.rglob("*.part")) == []


@pytest.mark.parametrize("end", [terminate, kill])
def test_what_a_spill_left_is_whole_or_ignored(
    start: Start, owner: Owner, states: Path, end: Callable[[RawClient, Owner], None]
) -> None:
    """After an end while states are written, the next server answers as the first one did."""
    first = start()
    begun(first, owner, SPILLING)
    wait_for_state(first, "ready")
    open_document(first, document("one"), "file:///one")
    items = complete(first, LINES, 0, "file:///one")
    close_document(first, "file:///one")
    if end is kill:
        first.poll(lambda: list(states.rglob("*.part")) + list(states.rglob("*.state")), bool)
    end(first, owner)
    first.wait_for_end()
    second = start()
    initialize(second, SPILLING)
    wait_for_state(second, "ready")
    open_document(second, document("one"), "file:///one")
    assert complete(second, LINES, 0, "file:///one") == items
    assert second.log() == ""


def test_a_full_disk_costs_the_states_alone(start: Start, states: Path) -> None:
    """Where states can't be written, that's said once, no part is left, and all is completed."""
    limit = f"ulimit -f 1; exec {' '.join(SERVER)}"
    client = start(command=("bash", "-c", limit))
    initialize(client, SPILLING)
    wait_for_state(client, "ready")
    for name in ("one", "two"):
        open_document(client, document(name), f"file:///{name}")
        assert len(complete(client, LINES, 0, f"file:///{name}")) <= 1
        close_document(client, f"file:///{name}")
    client.poll(client.log, lambda text: "can't be written" in text)
    open_document(client, document("one"), "file:///one")
    complete(client, LINES, 0, "file:///one")
    numbers = stats(client)
    assert (numbers["state"], numbers["requests"]["failed"]) == ("ready", 0)
    assert client.end() == 0
    assert client.log().count("can't be written") == 1
    assert [path for path in states.rglob("*") if path.suffix in {".part", ".state"}] == []


@pytest.mark.parametrize("kind", ["folder", "pipe", "gone", "loop", "unreadable"])
def test_a_model_that_cannot_be_read_is_told(
    start: Start, store: ModelStore, tmp_path: Path, kind: str
) -> None:
    """What is no file, or none that may be read, is named, and the server answers."""
    path = tmp_path / f"{kind}.gguf"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "unreadable":
        path.write_bytes(store.resolve(SMALLEST).path.read_bytes()[:65536])
        path.chmod(0)
    client = start()
    initialize(client, {**SMALL, "model": str(path)})
    numbers = wait_for_state(client, "failed")
    assert path.name in numbers["message"]
    assert len(client.shown()) == 1
    open_document(client, "x = ")
    assert complete(client, 0, 4) == []
    assert client.end() == 0
    assert "Traceback" not in client.log()
