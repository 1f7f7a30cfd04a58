"""How a server process ends, and what it leaves behind: nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import (
    LONG,
    NO_MODEL,
    SMALL,
    begin_long_completion,
    initialize,
    stats,
    wait_for_state,
)
from tests.e2e.rawclient import RawClient

pytestmark = pytest.mark.e2e

CANCELLED = -32800


def exit_after_shutdown(client: RawClient) -> None:
    """The way that the protocol prescribes."""
    client.call("shutdown")
    client.notify("exit")


def exit_at_once(client: RawClient) -> None:
    """The impolite way."""
    client.notify("exit")


def close_after_shutdown(client: RawClient) -> None:
    """A client that ends between shutdown and exit."""
    client.call("shutdown")
    client.close_stdin()


def hang_up(client: RawClient) -> None:
    """What a terminal does that's closed."""
    client.process.send_signal(signal.SIGHUP)


def terminate(client: RawClient) -> None:
    """What a process manager does."""
    client.process.send_signal(signal.SIGTERM)


ENDS = [
    (exit_after_shutdown, 0),
    (exit_at_once, 1),
    (close_after_shutdown, 0),
    (RawClient.close_stdin, 1),
    (terminate, 0),
    (hang_up, 0),
]


@contextmanager
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits for its end, in the role of the client."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("end", "code"), ENDS)
def test_an_idle_server_ends(start: Start, end: Callable[[RawClient], None], code: int) -> None:
    """A server that has nothing to do ends with the code that the specification asks for."""
    client = start()
    initialize(client, NO_MODEL)
    wait_for_state(client, "failed")
    end(client)
    assert client.wait_for_end() == code
    assert "Traceback" not in client.log()


@pytest.mark.model
@pytest.mark.parametrize(("end", "code"), ENDS)
def test_a_computing_server_ends(start: Start, end: Callable[[RawClient], None], code: int) -> None:
    """A completion that is being computed doesn't keep the process, and changes no exit code."""
    client = start()
    initialize(client, SMALL | LONG)
    wait_for_state(client, "ready")
    begin_long_completion(client)
    assert psutil.Process(client.process.pid).children(recursive=True) == []
    end(client)
    assert client.wait_for_end() == code
    assert client.log() == ""
    assert client.stray == b""


@pytest.mark.model
def test_shutdown_answers_what_is_being_computed(start: Start) -> None:
    """A completion that runs at shutdown is answered with -32800, and the shutdown with null."""
    client = start()
    initialize(client, SMALL | LONG)
    wait_for_state(client, "ready")
    running = begin_long_completion(client)
    down = client.request("shutdown")
    assert client.result(down) is None
    assert client.code(running) == CANCELLED
    client.notify("exit")
    assert client.wait_for_end() == 0
    assert (client.counts()[running], client.counts()[down]) == (1, 1)


@pytest.mark.model
@pytest.mark.parametrize("computing", [False, True])
def test_the_server_ends_with_its_client(start: Start, *, computing: bool) -> None:
    """When the process that initialize named dies, the server ends, open streams or not."""
    client = start()
    with bystander() as owner:
        client.call(
            "initialize",
            {
                "processId": owner.pid,
                "capabilities": {},
                "initializationOptions": SMALL | LONG if computing else NO_MODEL,
            },
        )
        client.notify("initialized", {})
        wait_for_state(client, "ready" if computing else "failed")
        if computing:
            begin_long_completion(client)
        owner.kill()
        assert client.wait_for_end() == 1


@pytest.mark.parametrize("number", [2**31 - 1, 0, -1])
def test_a_client_that_cannot_be_watched_is_served(start: Start, number: int) -> None:
    """A processId that is nobody's here, as from another machine, ends nothing."""
    client = start()
    params = {"processId": number, "capabilities": {}, "initializationOptions": NO_MODEL}
    client.call("initialize", params)
    client.notify("initialized", {})
    wait_for_state(client, "failed")
    assert client.end() == 0
    assert "Traceback" not in client.log()


@pytest.mark.parametrize("end", [terminate, RawClient.close_stdin, exit_at_once])
def test_a_client_that_does_not_read_keeps_no_server(
    start: Start, end: Callable[[RawClient], None]
) -> None:
    """A full stdout pipe stops neither the reading nor the end of the server."""
    client = start(reading=False)
    client.request("initialize", {"processId": None, "capabilities": {}})
    client.send(
        *({"jsonrpc": "2.0", "id": f"stats {n}", "method": "specls/stats"} for n in range(1000))
    )
    end(client)
    client.process.wait(60)
    assert "Traceback" not in client.log()


def test_a_process_that_is_taken_down_says_where(start: Start) -> None:
    """When native code ends the process, the log has the call, for whoever reports it."""
    client = start()
    initialize(client, NO_MODEL)
    client.process.send_signal(signal.SIGABRT)
    assert client.wait_for_end() == -signal.SIGABRT
    assert "Fatal Python error: Aborted" in client.log()
    assert "specls/serving.py" in client.log()


def test_a_server_that_was_never_initialized_ends(start: Start) -> None:
    """Exit as the first message ends the process with code 1."""
    client = start()
    client.notify("exit")
    assert client.wait_for_end() == 1


def test_nothing_but_messages_is_on_stdout(start: Start) -> None:
    """Neither the start nor a failure writes anything but messages to stdout."""
    client = start()
    initialize(client, NO_MODEL)
    wait_for_state(client, "failed")
    assert stats(client)["state"] == "failed"
    assert client.end() == 0
    assert client.stray == b""
