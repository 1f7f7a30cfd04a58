"""Joins the server that all of a person's editor windows share; starts it where there's none.

An editor starts a process per window and talks to its stdin and stdout. Here that process passes
everything on to one server behind a Unix socket, in which the models are loaded once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout
from platformdirs import user_runtime_path

import specls
from specls.errors import SettingsError, SpeclsError

IDLE_SECONDS = 300.0
"""How long a server stays that nobody uses."""

_TOKEN = "SPECLS_TOKEN"  # noqa: S105 - a name
_START_SECONDS = 60.0
_TRIES = 3
_PIECE = 1 << 16
_SHUTDOWN = re.compile(rb'"method"\s*:\s*"shutdown"')
_LONGEST_SHUTDOWN = 64
"""Bytes of what that pattern finds, at the most, as anybody writes it."""

_VARIABLES = ("SPECLS_MODELS", "SPECLS_STATES")
"""What a server is told by its environment: who says something else gets another one."""


class Meeting:
    """The place where one version of specls, with the same surroundings, is met."""

    def __init__(self, command: Sequence[str], idle_seconds: float) -> None:
        """``command`` starts a server, with more arguments; it ends when it's idle for so long.

        Raises:
            SettingsError: others could take the place.
        """
        if not hasattr(socket, "AF_UNIX"):
            raise SettingsError("--shared needs Unix sockets, which this system's Python lacks.")
        folder = user_runtime_path("specls", appauthor=False)
        _make_private(folder)
        told = (specls.__version__, *command, *(os.environ.get(each, "") for each in _VARIABLES))
        name = hashlib.sha256("\0".join(told).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._folder = folder
        self._socket = folder / f"{name}.sock"
        self._lock = FileLock(folder / f"{name}.lock")
        self._log = folder / f"{name}.log"
        self._command = (*command, "--socket", str(self._socket))
        self._command += ("--exit-when-idle", str(idle_seconds))

    def join(self) -> socket.socket:
        """A connection to the server, which is started where there's none.

        Raises:
            SpeclsError: it can't be started; the message says why.
        """
        if (connection := self._connect()) is not None:
            return connection
        try:
            # Of several that find no server, one starts it.
            with self._lock.acquire(_START_SECONDS):
                connection = self._connect()
                if connection is None:
                    self._start()
                    connection = self._connect()
        except Timeout as error:
            raise SpeclsError(f"Another process holds {self._lock.lock_file}: end it.") from error
        if connection is None:
            raise SpeclsError(f"The shared server ended at once; see {self._log}.")
        return connection

    def _connect(self) -> socket.socket | None:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(self._socket))
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            return None
        except OSError as error:
            connection.close()
            raise SpeclsError(f"{self._socket} can't be used: {error}.") from error
        return connection

    def _start(self) -> None:
        with self._log.open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - ourselves
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._folder,
                # Who can connect there is known already.
                env={name: value for name, value in os.environ.items() if name != _TOKEN},
                start_new_session=True,  # a window that's closed must not take it along
            )
        assert process.stdout is not None
        with process.stdout as told:
            if not told.readline().startswith(b"listening on "):
                lines = self._log.read_text("utf-8", "replace").splitlines() or ["it says nothing"]
                raise SpeclsError(f"The shared server doesn't start: {lines[-1]}")


class Relay:
    """Passes on what comes, in both directions, until one side ends."""

    def __init__(self, meeting: Meeting, reader: BinaryIO, writer: BinaryIO) -> None:
        self._meeting = meeting
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()
        self._connection = meeting.join()
        self._early: list[bytes] | None = []
        """What was sent before anything came back."""
        self._ended = False
        self._was_shut_down = False

    def run(self) -> int:
        """Pass on until the end; what the process should exit with."""
        threading.Thread(target=self._send, name="specls-relay", daemon=True).start()
        tries = _TRIES
        while True:
            data = self._receive()
            if data:
                if self._early is not None:
                    with self._lock:
                        self._early = None
                if not self._write(data):
                    break
            elif self._early is None or self._ended or tries == 0:
                break
            else:
                # The server was just ending, since it was idle.
                tries -= 1
                self._join_again()
        self._connection.close()
        return 0 if self._was_shut_down else 1

    def _receive(self) -> bytes:
        try:
            return self._connection.recv(_PIECE)
        except OSError:
            return b""

    def _write(self, data: bytes) -> bool:
        try:
            self._writer.write(data)
            self._writer.flush()
        except (OSError, ValueError):
            return False
        return True

    def _join_again(self) -> None:
        with self._lock:
            self._connection.close()
            self._connection = self._meeting.join()
            with contextlib.suppress(OSError):
                self._connection.sendall(b"".join(self._early or ()))

    def _send(self) -> None:
        """On a thread: pass on what the client says."""
        end = b""
        while data := os.read(self._reader.fileno(), _PIECE):
            end = end[-_LONGEST_SHUTDOWN:] + data
            self._was_shut_down = self._was_shut_down or bool(_SHUTDOWN.search(end))
            with self._lock:
                if self._early is not None:
                    self._early.append(data)
                with contextlib.suppress(OSError):
                    self._connection.sendall(data)
        self._ended = True
        with self._lock, contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)


def _make_private(folder: Path) -> None:
    """Have a folder that nobody else can put anything into.

    Raises:
        SettingsError: it's somebody else's, or it can't be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        own, above = folder.lstat(), folder.parent.stat()
    except OSError as error:
        raise SettingsError(f"{folder} can't be made: {error}.") from error
    mine = stat.S_ISDIR(own.st_mode) and own.st_uid == os.getuid()
    if not mine or own.st_mode & 0o077 or above.st_uid not in {os.getuid(), 0}:
        raise SettingsError(
            f"Others could put something into {folder}: set XDG_RUNTIME_DIR to a folder of yours."
        )


def join(command: Sequence[str], idle_seconds: float) -> int:
    """Serve one editor on stdin and stdout through the shared server; the exit code.

    Raises:
        SpeclsError: there's none, and it can't be started.
    """
    meeting = Meeting(command, idle_seconds)
    return Relay(meeting, sys.stdin.buffer, sys.stdout.buffer).run()
