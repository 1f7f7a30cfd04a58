"""One server for all editor windows, behind stdin and stdout of a process for each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import NO_MODEL, initialize, open_document, wait_for_state, wish
from tests.e2e.rawclient import DEADLINE, RawClient
from tests.e2e.scripted import INLINE, OPTIONS
from tests.e2e.scripted_server import ANSWER, SEEN

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform == "win32", reason="needs Unix sockets"),
]

URI = "file:///project/a.py"
Window = Callable[..., RawClient]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the server is met."""
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    return runtime


@pytest.fixture
def window(start: Start, folder: Path) -> Iterator[Window]:
    """Opens windows, which share a server; it's ended after the test."""

    def opened(idle: float = 60.0, **env: str) -> RawClient:
        command = (sys.executable, "-m", "tests.e2e.scripted_relay", str(idle))
        # The server's folder is another one, and it finds the tests all the same.
        paths = {"XDG_RUNTIME_DIR": str(folder), "PYTHONPATH": os.getcwd()}  # noqa: PTH109
        return start(command=command, env=paths | env)

    yield opened
    for process in servers(folder):
        process.kill()


def servers(folder: Path) -> list[psutil.Process]:
    """The servers that are met there."""
    found = []
    for process in psutil.process_iter():
        try:
            command = process.cmdline()
        except psutil.Error:
            continue
        if "--socket" in command and any(str(folder) in each for each in command):
            found.append(process)
    return found


def ready(client: RawClient, text: str) -> RawClient:
    initialize(client, OPTIONS)
    wait_for_state(client, "ready")
    open_document(client, text, URI)
    return client


def completed(client: RawClient, character: int) -> Any:
    (item,) = client.call(INLINE, wish(0, character, URI))["items"]
    return item["insertText"]


def test_windows_share_one_server(window: Window, folder: Path) -> None:
    """Several windows that start at once have one server, and each its own documents."""
    clients = [window() for _ in range(3)]
    identifiers = [
        client.request("initialize", {"capabilities": {}, "initializationOptions": OPTIONS})
        for client in clients
    ]
    for number, (client, identifier) in enumerate(zip(clients, identifiers, strict=True)):
        assert client.result(identifier)["serverInfo"]["name"] == "specls"
        client.notify("initialized", {})
        wait_for_state(client, "ready")
        open_document(client, f"x{number} = ", URI)
    assert len(servers(folder)) == 1
    clients[0].call(ANSWER, {"tokens": list(b"1"), "endless": False})
    assert [completed(client, 5) for client in clients] == ["x0 = 1", "x1 = 1", "x2 = 1"]
    assert clients[0].call(SEEN)["loads"] == 1
    assert [client.end() for client in clients] == [0, 0, 0]
    assert [client.stray for client in clients] == [b""] * 3
    assert len(servers(folder)) == 1


def test_a_later_window_finds_the_server(window: Window, folder: Path) -> None:
    """The server stays when its first window is gone, and the next one joins it."""
    first = ready(window(), "x = ")
    (server,) = servers(folder)
    assert first.end() == 0
    second = ready(window(), "y = ")
    assert servers(folder) == [server]
    assert second.call(SEEN)["loads"] == 1


def test_it_ends_a_while_after_the_last_one(window: Window, folder: Path) -> None:
    """Without windows the server ends, and leaves no socket."""
    client = ready(window(idle=0.2), "x = ")
    (server,) = servers(folder)
    assert client.end() == 0
    server.wait(DEADLINE)
    assert list(folder.rglob("*.sock")) == []


def test_a_server_that_was_killed_is_replaced(window: Window, folder: Path) -> None:
    """When the server dies, its windows end with 1, and new ones start another server."""
    client = ready(window(), "x = ")
    (server,) = servers(folder)
    server.kill()
    assert client.wait_for_end() == 1
    ready(window(), "x = ")
    assert servers(folder) != [server]


@pytest.mark.parametrize(("end", "code"), [("exit", 1), ("close", 1), ("kill", -9)])
def test_however_a_window_ends(window: Window, folder: Path, end: str, code: int) -> None:
    """A window that ends in any way leaves the server to the others."""
    client, other = ready(window(), "x = "), ready(window(), "y = ")
    if end == "exit":
        client.notify("exit")
    elif end == "close":
        client.close_stdin()
    else:
        client.process.send_signal(signal.SIGKILL)
    assert client.wait_for_end() == code
    other.call(ANSWER, {"tokens": list(b"1"), "endless": False})
    assert completed(other, 4) == "y = 1"
    assert len(servers(folder)) == 1


def test_other_surroundings_have_another_server(window: Window, folder: Path) -> None:
    """Who has the models somewhere else doesn't get a server that knows others."""
    ready(window(), "x = ")
    ready(window(SPECLS_MODELS=str(folder)), "x = ")
    assert len(servers(folder)) == 2


def test_a_token_in_the_environment_is_not_asked_for(window: Window) -> None:
    """The socket is a person's own, so that SPECLS_TOKEN is for other ways."""
    ready(window(SPECLS_TOKEN="0123456789abcdef"), "x = ")


def test_a_place_that_others_could_take_is_refused(tmp_path: Path) -> None:
    """A folder that others can write into is no place to meet."""
    folder = tmp_path / "specls"
    folder.mkdir()
    folder.chmod(0o777)
    done = subprocess.run(
        [sys.executable, "-m", "specls", "serve", "--shared"],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"specls: Others could put something into {folder}")


def test_the_program_itself(start: Start, folder: Path) -> None:
    """`specls serve --shared` starts the server, and passes everything on."""
    command = (sys.executable, "-m", "specls", "serve", "--shared", "--exit-when-idle", "0.2")
    client = start(command=command, env={"XDG_RUNTIME_DIR": str(folder)})
    initialize(client, NO_MODEL)
    wait_for_state(client, "failed")
    (server,) = servers(folder)
    assert client.end() == 0
    server.wait(DEADLINE)
