"""A JSON-RPC client that shares no library with the server, so that no error can hide in both.

It keeps every message, and bytes that are none; what it waits for has a deadline.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import IO, Any

ROOT = Path(__file__).parents[2]
SERVER = (sys.executable, "-m", "specls", "serve", "--stdio")
DEADLINE = 120.0
"""Seconds until a wait fails: far more than anything takes, since machines can be busy."""

_POLL = 0.02
_HEADER = re.compile(rb"Content-Length: (\d+)\r\n(?:Content-Type: [^\r\n]+\r\n)?\r\n")

Message = dict[str, Any]
Handler = Callable[[Any], Any]


class RpcError(Exception):
    """An error answer; a handler raises it to send one."""

    def __init__(self, code: int, message: str = "no") -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class NoAnswer(Exception):
    """A handler raises it to leave a request of the server's unanswered."""


def _unknown(_params: object) -> None:
    raise RpcError(-32601, "unknown method")


def frame(body: bytes) -> bytes:
    """The bytes of one message on the wire."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def encoded(message: object) -> bytes:
    """One message, framed."""
    return frame(json.dumps(message).encode())


class RawClient:
    """One server process and the conversation with it. Used from one thread.

    ``handlers`` answer the server's requests, by method: their result is the answer's. A request
    without a handler gets -32601, as from a client that doesn't know it.
    """

    def __init__(
        self,
        log: Path,
        *,
        command: Sequence[str] = SERVER,
        env: Mapping[str, str] | None = None,
        reading: bool = True,
    ) -> None:
        self.prepare(log)
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=ROOT,
                env={**os.environ, **(env or {})},
                bufsize=0,
            )
        if reading:
            self.start_reading()

    def prepare(self, log: Path) -> None:
        """Be ready for a server that writes its log to ``log``."""
        self.log_path = log
        self.handlers: dict[str, Handler] = {"window/workDoneProgress/create": lambda _params: None}
        self.received: list[Message] = []
        self.on_message: Callable[[Message], None] = lambda _message: None
        """Called on the reader's thread with each message, as soon as it's there."""
        self.stray = b""
        """What came on stdout and isn't a message."""
        self._asked: list[Message] = []
        self._ids = itertools.count(1)
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)

    def start_reading(self) -> None:
        """Take in what the server writes, from now on."""
        self._reader.start()

    # -- sending -----------------------------------------------------------------------------

    def send_bytes(self, data: bytes) -> None:
        """Write to the server's stdin; nothing happens when it's closed already."""
        pipe = self._stdin()
        with self._writing:
            try:
                view = memoryview(data)
                while view:
                    view = view[pipe.write(view) :]
            except BrokenPipeError:
                return

    def send(self, *messages: object) -> None:
        """Send messages, all in one write."""
        self.send_bytes(b"".join(map(encoded, messages)))

    def next_id(self) -> int:
        """An id that wasn't used."""
        return next(self._ids)

    def request(self, method: str, params: object = None, *, id: object = None) -> Any:  # noqa: A002
        """Send a request; its id."""
        identifier = self.next_id() if id is None else id
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})
        return identifier

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def sync(self) -> None:
        """Wait until the server has read everything that was sent."""
        self.answer(self.request("$/sync"))

    # -- receiving ---------------------------------------------------------------------------

    def answers(self, identifier: object) -> list[Message]:
        """Every answer that came for an id: the value and its type must be the same."""
        with self._changed:
            return [
                message
                for message in self.received
                if "method" not in message
                and message["id"] == identifier
                and type(message["id"]) is type(identifier)
            ]

    def answer(self, identifier: object) -> Message:
        """Wait for the answer to a request."""
        self.wait(lambda: bool(self.answers(identifier)), f"an answer to {identifier!r}")
        return self.answers(identifier)[0]

    def call(self, method: str, params: object = None) -> Any:
        """Send a request and wait for its result.

        Raises:
            RpcError: the answer is an error.
        """
        return self.result(self.request(method, params))

    def result(self, identifier: object) -> Any:
        """Wait for a request's result.

        Raises:
            RpcError: the answer is an error.
        """
        answer = self.answer(identifier)
        if "error" in answer:
            raise RpcError(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def code(self, identifier: object) -> int | None:
        """Wait for a request's answer: its error code, None for a result."""
        error = self.answer(identifier).get("error")
        return error["code"] if error else None

    def notifications(self, method: str) -> list[Any]:
        """The parameters of each notification of this kind that came."""
        with self._changed:
            return [each["params"] for each in self.received if each.get("method") == method]

    def asked(self, method: str) -> list[Message]:
        """The server's requests of this kind."""
        with self._changed:
            return [each for each in self._asked if each["method"] == method]

    def counts(self) -> Counter[object]:
        """How many answers came for each id."""
        with self._changed:
            return Counter(each["id"] for each in self.received if "method" not in each)

    def shown(self) -> list[Message]:
        """The parameters of each window/showMessage."""
        return self.notifications("window/showMessage")

    # -- waiting -----------------------------------------------------------------------------

    def wait(self, done: Callable[[], bool], what: str) -> None:
        """Wait until a message makes ``done`` true; fails at the deadline or the stream's end."""
        with self._changed:
            self._changed.wait_for(lambda: done() or self._ended, DEADLINE)
            if not done():
                state = "the server ended" if self._ended else "it didn't come in time"
                raise AssertionError(f"Waited for {what}; {state}. {self.evidence()}")

    def poll(self, read: Callable[[], Any], wanted: Callable[[Any], bool]) -> Any:
        """Ask again and again until the value is the wanted one; the value."""
        end = monotonic() + DEADLINE
        while not wanted(value := read()):
            if monotonic() > end:
                raise AssertionError(f"The last value is {value!r}. {self.evidence()}")
            threading.Event().wait(_POLL)
        return value

    def wait_for_end(self) -> int:
        """Wait until the process has ended and everything that it wrote is read; its code."""
        code = self.process.wait(DEADLINE)
        if self._reader.ident is None:
            self.start_reading()
        self._reader.join(DEADLINE)
        return code

    def evidence(self) -> str:
        """What a failure's message should show."""
        recent = "\n".join(json.dumps(message)[:300] for message in self.received[-5:])
        return f"\nThe last messages:\n{recent}\nThe server's log:\n{self.log()[-3000:]}"

    def log(self) -> str:
        """What the server wrote to stderr so far."""
        return self.log_path.read_text("utf-8", "replace")

    # -- ending ------------------------------------------------------------------------------

    def close_stdin(self) -> None:
        """Close the server's stdin."""
        self._stdin().close()

    def end(self) -> int:
        """Shut the server down as a client should; its exit code."""
        self.call("shutdown")
        self.notify("exit")
        return self.wait_for_end()

    def kill(self) -> None:
        """End the process whatever it does; for after a test."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.wait_for_end()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    # -- the reader's thread -----------------------------------------------------------------

    def _read(self) -> None:
        buffer = b""
        while data := self._read_some():
            buffer = self._take_frames(buffer + data)
        with self._changed:
            self.stray += buffer
            self._ended = True
            self._changed.notify_all()

    def _read_some(self) -> bytes:
        assert self.process.stdout is not None
        data: bytes = self.process.stdout.read(65536)
        return data

    def _take_frames(self, buffer: bytes) -> bytes:
        """Handle the whole messages; what is left."""
        while header := _HEADER.search(buffer):
            end = header.end() + int(header[1])
            if len(buffer) < end:
                break
            self.stray += buffer[: header.start()]
            self._take(json.loads(buffer[header.end() : end]))
            buffer = buffer[end:]
        return buffer

    def _take(self, message: Message) -> None:
        self.on_message(message)
        if "method" in message and "id" in message:
            self._answer(message)
        with self._changed:
            (self._asked if "id" in message and "method" in message else self.received).append(
                message
            )
            self._changed.notify_all()

    def _answer(self, message: Message) -> None:
        answer: Message = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            handler = self.handlers.get(message["method"], _unknown)
            answer["result"] = handler(message.get("params"))
        except NoAnswer:
            return
        except RpcError as error:
            answer["error"] = {"code": error.code, "message": error.message}
        self.send(answer)

    def _stdin(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin
