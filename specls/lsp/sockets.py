"""A connection over a socket."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from specls.lsp.frames import LARGEST_BODY, Refused
from specls.lsp.transport import FrameReader, FrameWriter, OnBody, OnEnd

LARGEST_GREETING = 1 << 20
"""Bytes of a message of somebody who may not belong here."""

_LINGER_SECONDS = 1.0
"""How long what a client still sends is read, so that the last answer reaches it."""


class SocketChannel:
    """See :class:`specls.lsp.transport.Channel`."""

    framed = True
    watched = False

    def __init__(self, connection: socket.socket) -> None:
        """Take over a connection that was accepted."""
        connection.settimeout(None)
        if connection.family in {socket.AF_INET, socket.AF_INET6}:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._connection = connection
        self._streams = (connection.makefile("rb"), connection.makefile("wb"))
        self._ends: tuple[FrameReader, FrameWriter] | None = None
        self._on_body: OnBody = lambda _body: None

    def open(self, on_body: OnBody, on_end: OnEnd) -> None:
        """See :class:`Channel`."""
        reader, writer = self._streams
        self._on_body = on_body
        self._ends = (
            FrameReader(reader, self._take, on_end, LARGEST_GREETING),
            FrameWriter(writer, on_end),
        )

    def trust(self) -> None:
        """The client belongs here: it may send long messages."""
        if self._ends is not None:
            self._ends[0].largest = LARGEST_BODY

    def write(self, data: bytes) -> None:
        """See :class:`Channel`."""
        if self._ends is not None:
            self._ends[1].write(data)

    async def close(self, seconds: float) -> None:
        """See :class:`Channel`."""
        self._on_body = lambda _body: None
        await asyncio.to_thread(self._close, seconds)

    def _take(self, body: bytes | Refused) -> None:
        self._on_body(body)

    def _close(self, seconds: float) -> None:
        if self._ends is not None:
            self._ends[1].close(seconds)
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_WR)
            # With something unread, closing would take back what is on its way to the client.
            self._ends[0].join(_LINGER_SECONDS)
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        if self._ends is not None:
            self._ends[0].join(_LINGER_SECONDS)
        for stream in (*self._streams, self._connection):
            with contextlib.suppress(OSError, ValueError):
                stream.close()
