"""Threads that read and write frames, so that the event loop never waits for a client.

Reading and writing block threads of their own, so that they work with pipes, sockets and files on
every platform. A client that doesn't read stops nothing but what is written to it, and is left when
too much waits; one that writes faster than it's answered is made to wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import BinaryIO, Protocol

from specls.lsp.frames import LARGEST_BODY, FramingError, Refused, read_frame

logger = logging.getLogger(__name__)

MOST_UNREAD = 64 * 2**20
"""Bytes that may wait for a client to read them."""

_MOST_UNHANDLED = 16 * 2**20
"""Bytes that may wait to be handled; one message may have more."""

_BROKEN = "The client doesn't read any more."

OnBody = Callable[[bytes | Refused], None]
OnEnd = Callable[[str | None], None]


class Channel(Protocol):
    """The way to one client. Used from the event loop."""

    framed: bool
    """Whether messages need headers to be told apart."""

    watched: bool
    """Whether it's the client's process that tells when it's gone, and it runs on this machine."""

    def open(self, on_body: OnBody, on_end: OnEnd) -> None:
        """Begin. ``on_end`` runs once, or more often, with what was wrong if anything was."""

    def write(self, data: bytes) -> None:
        """Queue a message. Never blocks."""

    def trust(self) -> None:
        """The client belongs here: it may send long messages."""

    async def close(self, seconds: float) -> None:
        """Write what waits already, for so many ``seconds`` at the most, and end."""


class Streams:
    """A channel of two streams: stdin and stdout."""

    framed = True
    watched = True

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._streams = (reader, writer)
        self._writer: FrameWriter | None = None

    def open(self, on_body: OnBody, on_end: OnEnd) -> None:
        """See :class:`Channel`."""
        reader, writer = self._streams
        self._writer = FrameWriter(writer, on_end)
        FrameReader(reader, on_body, on_end)

    def write(self, data: bytes) -> None:
        """See :class:`Channel`."""
        if self._writer is not None:
            self._writer.write(data)

    def trust(self) -> None:
        """See :class:`Channel`."""

    async def close(self, seconds: float) -> None:
        """Blocks, since nobody else is served. The streams stay open."""
        if self._writer is not None:
            self._writer.close(seconds)


class FrameReader:
    """A thread that reads frames and hands them to the event loop, in order."""

    def __init__(
        self, stream: BinaryIO, on_body: OnBody, on_end: OnEnd, largest: int = LARGEST_BODY
    ) -> None:
        """Both callbacks run on the loop; ``on_end`` runs once, last, with what was wrong."""
        self.largest = largest
        """Bytes that a message may have, from the next one on."""
        self._stream = stream
        self._on_body = on_body
        self._on_end = on_end
        self._events: deque[tuple[int, Callable[[], None]]] = deque()
        self._unhandled = 0
        """Bytes."""
        self._changed = threading.Condition()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="specls-reader", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait for the stream's end."""
        self._thread.join(seconds)

    def _run(self) -> None:
        problem = None
        try:
            while (body := read_frame(self._stream, self.largest)) is not None:
                size = len(body) if isinstance(body, bytes) else 0
                self._hand_over(size, partial(self._on_body, body))
        except FramingError as error:
            problem = f"The client's stream can't be read: {error}"
        except (OSError, ValueError) as error:
            logger.debug("Reading stopped: %s", error)
        except RuntimeError:
            return  # the loop is closed already
        try:
            self._hand_over(0, partial(self._on_end, problem))
        except RuntimeError:
            logger.debug("The loop ended before the stream did.")

    def _hand_over(self, size: int, event: Callable[[], None]) -> None:
        """Queue something for the loop, and wake it unless it's at the queue already.

        Waking it for each message of a burst would fill the pipe that asyncio is woken through,
        and a signal that comes then is lost.
        """
        with self._changed:
            # The loop never waits for this thread, so it gets to it.
            self._changed.wait_for(lambda: self._unhandled <= _MOST_UNHANDLED)
            self._events.append((size, event))
            self._unhandled += size
            alone = len(self._events) == 1
        if alone:
            self._loop.call_soon_threadsafe(self._handle)

    def _handle(self) -> None:
        size, event = self._events[0]
        try:
            event()
        finally:
            with self._changed:
                self._events.popleft()
                self._unhandled -= size
                self._changed.notify()
                more = bool(self._events)
            if more:
                self._loop.call_soon(self._handle)


class FrameWriter:
    """A thread that writes what it's given, in order."""

    def __init__(self, stream: BinaryIO, on_broken: Callable[[str], None]) -> None:
        """``on_broken`` runs on the loop when the stream takes no more, or takes it too slowly."""
        self._stream = stream
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._unread = 0
        """Bytes."""
        self._thread = threading.Thread(target=self._run, name="specls-writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Queue a frame. Never blocks. What is too much is dropped, and that's the end."""
        with self._lock:
            too_much = self._unread + len(data) > MOST_UNREAD
            if not too_much:
                self._unread += len(data)
        if too_much:
            self._on_broken(f"The client doesn't read: {MOST_UNREAD} bytes wait for it.")
        else:
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
                with self._lock:
                    self._unread -= len(data)
        except (OSError, ValueError) as error:
            logger.debug("Writing stopped: %s", error)
            with contextlib.suppress(RuntimeError):  # the loop may be closed already
                self._loop.call_soon_threadsafe(self._on_broken, _BROKEN)


def take_over_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Streams for the protocol, which nothing else can write to.

    From now on ``print``, and C code that writes to stdout, end up on stderr.
    """
    reader = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    writer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return reader, writer
