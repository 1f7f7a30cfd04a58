"""Clients of a server that listens: over TCP, Unix sockets and WebSockets."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.e2e.rawclient import DEADLINE, ROOT, Message, RawClient

G = TypeVar("G", bound=RawClient)

SCRIPTED = (sys.executable, "-m", "tests.e2e.scripted_server")
SERVE = (sys.executable, "-m", "specls", "serve")


class Host:
    """A server process that listens."""

    def __init__(
        self,
        log: Path,
        *arguments: str,
        command: Sequence[str] = SCRIPTED,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.log_path = log
        self.guests: list[RawClient] = []
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                (*command, *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=ROOT,
                env={**os.environ, **(env or {})},
                text=True,
            )

    def place(self) -> str:
        """Where it listens next, as it says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), (line, self.log())
        return line.removeprefix("listening on ").rstrip("\n")

    def tcp(self, place: str) -> SocketGuest:
        """A client of a TCP port."""
        host, _, port = place.rpartition(":")
        return self._met(SocketGuest(self, socket.create_connection((host.strip("[]"), int(port)))))

    def unix(self, path: str) -> SocketGuest:
        """A client of a Unix socket."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return self._met(SocketGuest(self, connection))

    def websocket(self, place: str, **options: Any) -> WebSocketGuest:
        """A client over a WebSocket."""
        return self._met(WebSocketGuest(self, place, **options))

    def _met(self, guest: G) -> G:
        self.guests.append(guest)
        return guest

    def log(self) -> str:
        return self.log_path.read_text("utf-8", "replace")

    def terminate(self) -> int:
        """End it as a process manager does; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE)

    def kill(self) -> None:
        """End it whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE)
        for guest in self.guests:
            guest.kill()
        if self.process.stdout is not None:
            self.process.stdout.close()


class Guest(RawClient):
    """A raw client whose server is somebody else's process."""

    def __init__(self, host: Host) -> None:
        self.prepare(host.log_path)
        self.process = host.process  # type: ignore[assignment]

    def wait_for_close(self) -> None:
        """Wait until the server has closed the connection."""
        self._reader.join(DEADLINE)
        assert not self._reader.is_alive(), self.evidence()

    def leave(self) -> None:
        """Close the connection without a word."""
        raise NotImplementedError

    def kill(self) -> None:
        self.leave()
        self.wait_for_close()

    def say_goodbye(self) -> None:
        """End the conversation as a client should."""
        assert self.call("shutdown") is None
        self.notify("exit")
        self.wait_for_close()


class SocketGuest(Guest):
    """Frames over a socket."""

    def __init__(self, host: Host, connection: socket.socket) -> None:
        super().__init__(host)
        self.connection = connection
        self.start_reading()

    def send_bytes(self, data: bytes) -> None:
        with self._writing:
            try:
                self.connection.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                return

    def leave(self) -> None:
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def kill(self) -> None:
        super().kill()
        self.connection.close()

    def _read_some(self) -> bytes:
        try:
            return self.connection.recv(65536)
        except OSError:
            return b""


class WebSocketGuest(Guest):
    """Messages over a WebSocket, text or binary as ``binary`` says."""

    def __init__(self, host: Host, place: str, *, binary: bool = False, **options: Any) -> None:
        super().__init__(host)
        self.binary = binary
        self.kinds: set[type] = set()
        """Of the messages that came."""
        self._stack = ExitStack()
        self.connection = self._stack.enter_context(
            connect(place, max_size=None, proxy=None, **options)
        )
        self.start_reading()

    def send(self, *messages: object) -> None:
        for message in messages:
            self.send_bytes(json.dumps(message).encode())

    def send_bytes(self, data: bytes) -> None:
        with self._writing:
            try:
                self.connection.send(data if self.binary else data.decode())
            except ConnectionClosed:
                return

    def leave(self) -> None:
        self._stack.close()

    def _read(self) -> None:
        try:
            for raw in self.connection:
                self.kinds.add(type(raw))
                message: Message = json.loads(raw)
                self._take(message)
        except ConnectionClosed:
            pass
        with self._changed:
            self._ended = True
            self._changed.notify_all()


def in_parallel(*works: Any) -> None:
    """Run all at once, each on a thread, and wait; what one raises is raised."""
    failures: list[BaseException] = []

    def run(work: Any) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it's raised below
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    if failures:
        raise failures[0]
