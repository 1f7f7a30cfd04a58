"""Frames on stdin and stdout: a header with the length, and a JSON text.

Reading and writing block threads of their own, so that they work with pipes, sockets and files on
every platform, and a client that doesn't read stops nothing but what is written to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import re
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

logger = logging.getLogger(__name__)

LARGEST_BODY = 256 * 2**20
"""Bytes; a longer message is passed over."""

_LARGEST_PASSED_OVER = 64 * 2**30
"""Bytes; that a message is longer than this is more likely garbage."""

_PIECE = 2**20
_LONGEST_LINE = 4096
_MOST_LINES = 64
_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_CHARSET = re.compile(rb"content-type:.*;[ \t]*charset=[\"']?([^\"';\s]+).*\n", re.IGNORECASE)
_UTF8 = {"utf-8", "utf8"}  # the specification names both


class FramingError(Exception):
    """The stream isn't what LSP prescribes, and where the next message begins is unknown."""


@dataclass(frozen=True)
class Refused:
    """A message whose end is known and that isn't read: what to tell the client."""

    reason: str


def read_frame(stream: BinaryIO) -> bytes | Refused | None:
    """The body of the next message, None at the end of the stream.

    Raises:
        FramingError: no valid header comes, the stream ends inside a message, or the message is
            so long that its length must be garbage.
    """
    lines = _read_header(stream)
    if not lines:
        return None
    length = _length(lines)
    if length > LARGEST_BODY:
        _pass_over(stream, length)
        return Refused(f"The message has {length} bytes; the most is {LARGEST_BODY}.")
    body = stream.read(length)
    if len(body) < length:
        raise FramingError("the stream ended inside a message")
    charset = next(
        (found[1].decode("ascii", "replace") for found in map(_CHARSET.fullmatch, lines) if found),
        "utf8",
    )
    if charset.lower() not in _UTF8:
        return Refused(f"The charset {charset} isn't known here; send utf-8.")
    return body


def _read_header(stream: BinaryIO) -> list[bytes]:
    """The lines of a header, without the empty one behind them; none at the end of the stream."""
    lines: list[bytes] = []
    while line := stream.readline(_LONGEST_LINE):
        if line in {b"\r\n", b"\n"}:
            return lines or [line]
        if b":" not in line or not line.endswith(b"\n"):
            raise FramingError("a line that is no header")
        lines.append(line)
        if len(lines) > _MOST_LINES:
            raise FramingError("a header that doesn't end")
    if lines:
        raise FramingError("the stream ended inside a header")
    return lines


def _length(lines: list[bytes]) -> int:
    lengths = {int(found[1]) for found in map(_LENGTH.fullmatch, lines) if found}
    if not lengths:
        raise FramingError("a header without Content-Length")
    if len(lengths) > 1:
        raise FramingError("a header with several lengths")
    return lengths.pop()


def _pass_over(stream: BinaryIO, length: int) -> None:
    """Skip a body without keeping it."""
    if length > _LARGEST_PASSED_OVER:
        raise FramingError(f"a message of {length} bytes; the most is {LARGEST_BODY}")
    while length:
        piece = stream.read(min(length, _PIECE))
        if not piece:
            raise FramingError("the stream ended inside a message")
        length -= len(piece)


class FrameReader:
    """A thread that reads frames and hands them to the event loop, in order."""

    def __init__(
        self,
        stream: BinaryIO,
        on_body: Callable[[bytes | Refused], None],
        on_end: Callable[[FramingError | None], None],
    ) -> None:
        """Both callbacks run on the loop; ``on_end`` runs once, last, with what was wrong."""
        self._stream = stream
        self._on_body = on_body
        self._on_end = on_end
        self._events: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, name="specls-reader", daemon=True).start()

    def _run(self) -> None:
        problem = None
        try:
            while (body := read_frame(self._stream)) is not None:
                self._hand_over(partial(self._on_body, body))
        except FramingError as error:
            problem = error
        except (OSError, ValueError) as error:
            logger.debug("Reading stopped: %s", error)
        except RuntimeError:
            return  # the loop is closed already
        try:
            self._hand_over(partial(self._on_end, problem))
        except RuntimeError:
            logger.debug("The loop ended before the stream did.")

    def _hand_over(self, event: Callable[[], None]) -> None:
        """Queue something for the loop, and wake it unless it's at the queue already.

        Waking it for each message of a burst would fill the pipe that asyncio is woken through,
        and a signal that comes then is lost.
        """
        with self._lock:
            self._events.append(event)
            alone = len(self._events) == 1
        if alone:
            self._loop.call_soon_threadsafe(self._handle)

    def _handle(self) -> None:
        try:
            self._events[0]()
        finally:
            with self._lock:
                self._events.popleft()
                more = bool(self._events)
            if more:
                self._loop.call_soon(self._handle)


class FrameWriter:
    """A thread that writes what it's given, in order."""

    def __init__(self, stream: BinaryIO, on_broken: Callable[[], None]) -> None:
        """``on_broken`` runs on the loop when the stream takes nothing any more."""
        self._stream = stream
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="specls-writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Queue a frame. Never blocks."""
        self._waiting.put(data)

    def close(self, timeout: float = 0.0) -> None:
        """Write no more than what waits already, for ``timeout`` seconds at the most."""
        self._waiting.put(None)
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            while (data := self._waiting.get()) is not None:
                self._stream.write(data)
                self._stream.flush()
        except (OSError, ValueError) as error:
            logger.debug("Writing stopped: %s", error)
            with contextlib.suppress(RuntimeError):  # the loop may be closed already
                self._loop.call_soon_threadsafe(self._on_broken)


def take_over_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Streams for the protocol, which nothing else can write to.

    From now on ``print``, and C code that writes to stdout, end up on stderr.
    """
    reader = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    writer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return reader, writer
