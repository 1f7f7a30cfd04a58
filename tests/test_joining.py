"""A window and the server that it shares, without either."""

from __future__ import annotations

import io
import os
import socket
import threading
from collections.abc import Iterator
from typing import BinaryIO, cast

import pytest

from specls.joining import Meeting, Relay

DEADLINE = 30.0


class Place:
    """A meeting whose servers are the test; ``others`` are their ends."""

    def __init__(self) -> None:
        self.others: list[socket.socket] = []
        self.joined = threading.Semaphore(0)

    def join(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        theirs.settimeout(DEADLINE)
        self.others.append(theirs)
        self.joined.release()
        return ours

    def next(self) -> socket.socket:
        assert self.joined.acquire(timeout=DEADLINE)
        return self.others[-1]


class Window:
    """A relay that runs, and what its editor sees."""

    def __init__(self) -> None:
        self.place = Place()
        reader, writer = os.pipe()
        self.stdin = os.fdopen(writer, "wb", buffering=0)
        self._reader = os.fdopen(reader, "rb")
        self.stdout = io.BytesIO()
        self.codes: list[int] = []
        meeting = cast("Meeting", self.place)
        relay = Relay(meeting, self._reader, cast("BinaryIO", self.stdout))
        self._thread = threading.Thread(target=lambda: self.codes.append(relay.run()))
        self._thread.start()

    @property
    def code(self) -> int:
        self._thread.join(DEADLINE)
        return self.codes[0]

    def close(self) -> None:
        self.stdin.close()
        for other in self.place.others:
            other.close()
        self._thread.join(DEADLINE)
        self._reader.close()


@pytest.fixture
def window() -> Iterator[Window]:
    """A window, which is closed in the end."""
    window = Window()
    yield window
    window.close()


def test_everything_is_passed_on(window: Window) -> None:
    """What comes on either side goes to the other; after a shutdown the code is 0."""
    server = window.place.next()
    window.stdin.write(b'{"method": "shutdown"}')
    assert server.recv(100) == b'{"method": "shutdown"}'
    server.sendall(b"answer")
    server.close()
    assert window.code == 0
    assert window.stdout.getvalue() == b"answer"


def test_a_server_that_was_just_ending_is_replaced(window: Window) -> None:
    """Nothing is lost that was sent to a server which ended before it said anything."""
    first = window.place.next()
    window.stdin.write(b"hello")
    assert first.recv(100) == b"hello"
    first.close()
    second = window.place.next()
    assert second.recv(100) == b"hello"
    second.sendall(b"answer")
    window.stdin.write(b" more")
    assert second.recv(100) == b" more"
    second.close()
    assert window.code == 1
    assert window.stdout.getvalue() == b"answer"


def test_trying_ends(window: Window) -> None:
    """Servers that end at once, one after the other, are the end."""
    for _ in range(4):
        window.place.next().close()
    assert window.code == 1


def test_a_client_that_ends_ends_it(window: Window) -> None:
    """When stdin ends, the server sees that, and its end is the end."""
    server = window.place.next()
    window.stdin.write(b"hello")
    window.stdin.close()
    assert server.recv(100) == b"hello"
    assert server.recv(100) == b""
    server.close()
    assert window.code == 1
