"""A connection over a WebSocket: each message is one of JSON-RPC, without a header.

A page that anybody wrote can open a WebSocket to this machine from somebody's browser. The browser
says which page it is, and only those are served that were named (docs/decisions/0015).
"""

from __future__ import annotations

import asyncio
import contextlib
import http
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from socket import socket
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from specls.errors import SettingsError
from specls.lsp.addresses import is_loopback
from specls.lsp.transport import MOST_UNREAD, Channel, OnBody, OnEnd

logger = logging.getLogger(__name__)

_LARGEST_MESSAGE = 64 * 2**20
"""Bytes."""


class WebSocketChannel:
    """See :class:`specls.lsp.transport.Channel`."""

    framed = False
    watched = False

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._waiting: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._unread = 0
        """Bytes."""
        self._tasks: list[asyncio.Task[None]] = []
        self._on_end: OnEnd = lambda _problem: None
        self._closing = False

    def open(self, on_body: OnBody, on_end: OnEnd) -> None:
        """See :class:`Channel`."""
        self._on_end = on_end
        self._tasks = [asyncio.ensure_future(work) for work in (self._send(), self._read(on_body))]

    def trust(self) -> None:
        """The client belongs here; its messages are bounded as before."""

    def write(self, data: bytes) -> None:
        """See :class:`Channel`."""
        if self._unread + len(data) > MOST_UNREAD:
            self._on_end(f"The client doesn't read: {MOST_UNREAD} bytes wait for it.")
            return
        self._unread += len(data)
        self._waiting.put_nowait(data)

    async def close(self, seconds: float) -> None:
        """See :class:`Channel`."""
        self._closing = True
        self._waiting.put_nowait(None)
        if self._tasks:
            sending, reading = self._tasks
            await asyncio.wait({sending}, timeout=seconds)
            for task in (sending, reading):
                task.cancel()
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            await asyncio.wait_for(self._connection.close(), seconds)

    async def _send(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while (data := await self._waiting.get()) is not None:
                await self._connection.send(data, text=True)
                self._unread -= len(data)

    async def _read(self, on_body: OnBody) -> None:
        try:
            async for message in self._connection:
                if not self._closing:  # else nobody is there any more to whom it could matter
                    on_body(message.encode() if isinstance(message, str) else message)
                await asyncio.sleep(0)  # a burst mustn't keep the others waiting
        except ConnectionClosed as error:
            logger.debug("The WebSocket was closed: %s", error)
        self._on_end(None)


class Pages:
    """Which pages may open a connection."""

    def __init__(self, origins: Collection[str] = (), *, remote: bool = False) -> None:
        """``origins`` as browsers write them; ``remote``: this machine may have any name.

        Raises:
            SettingsError: one of them is no origin, or one that any page can have.
        """
        self._origins = {_origin(each) for each in origins}
        self._remote = remote

    def refuse(self, origin: str | None, host: str | None) -> str | None:
        """Why a connection isn't for us, from what the browser said; None if it is."""
        if not self._remote and not is_loopback(_name(host or "")):
            return f"The host {host!r} isn't this machine."
        if origin is not None and origin.lower() not in self._origins:
            return f"Pages of {origin} aren't allowed: start specls with --allow-origin {origin}"
        return None

    def check(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a handshake that isn't for us."""
        headers = request.headers
        origins, hosts = headers.get_all("Origin"), headers.get_all("Host")
        if len(origins) > 1 or len(hosts) != 1:
            why: str | None = "A request says once which host it's for, and where it comes from."
        else:
            why = self.refuse(origins[0] if origins else None, hosts[0])
        if why is None:
            return None
        logger.warning("A connection was refused. %s", why)
        return connection.respond(http.HTTPStatus.FORBIDDEN, why + "\n")


def _name(host: str) -> str:
    """The host's name, without the port."""
    with contextlib.suppress(ValueError):
        return urlsplit(f"//{host}").hostname or ""
    return ""


def _origin(text: str) -> str:
    parts = urlsplit(text.strip().rstrip("/").lower())
    whole = f"{parts.scheme}://{parts.netloc}"
    if not parts.scheme or not parts.netloc or "*" in whole or parts.geturl() != whole:
        raise SettingsError(
            f"{text!r} is no origin: write it as http://localhost:3000. There's none for all "
            "pages, nor for files (null), since any page can look like those."
        )
    return whole


@asynccontextmanager
async def serving(
    listening: socket, pages: Pages, handle: Callable[[Channel], Awaitable[None]], *, remote: bool
) -> AsyncIterator[None]:
    """Hand every connection to ``handle`` while this lasts."""

    async def handler(connection: ServerConnection) -> None:
        await handle(WebSocketChannel(connection))

    async with serve(
        handler,
        sock=listening,
        process_request=pages.check,
        compression=None,  # it's a loopback, mostly
        max_size=_LARGEST_MESSAGE,
        # Who is on this machine can't get lost, and an idle server has nothing to do.
        ping_interval=20.0 if remote else None,
        server_header=None,
        logger=logging.getLogger(f"{__name__}.library"),
    ):
        yield
