"""The connections of one process, each with a server of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from socket import socket

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidRequest

from specls.lsp.server import Server
from specls.lsp.sockets import SocketChannel
from specls.lsp.token import Token
from specls.lsp.transport import Channel

logger = logging.getLogger(__name__)

MOST = 64
"""Connections at once."""

GREETING_SECONDS = 60.0
"""How long somebody may be connected without a handshake."""

_FLUSH_SECONDS = 2.0
_PAUSE_SECONDS = 1.0
_REFUSED = (
    "This server wants its token: send it as `token` in initializationOptions. It's in the file "
    "that the server was started with, or in its variable SPECLS_TOKEN."
)


class Connections:
    """Serves several clients at once. Used from one event loop."""

    def __init__(
        self,
        make: Callable[[], Server],
        token: Token | None = None,
        idle_seconds: float | None = None,
    ) -> None:
        """``make`` makes a server for one more client.

        With a ``token`` only who knows it is served. With ``idle_seconds``, :meth:`wait` ends when
        nobody was connected for so long.
        """
        self._make = make
        self._token = token
        self._idle_seconds = idle_seconds
        self._servers: dict[Server, asyncio.Task[None] | None] = {}
        self._stopped = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._rest()

    def stop(self) -> None:
        """End :meth:`wait`."""
        self._stopped.set()

    async def wait(self) -> None:
        """Wait until somebody says :meth:`stop`; then end all connections."""
        await self._stopped.wait()
        tasks = [task for task in self._servers.values() if task is not None]
        for server in list(self._servers):
            server.stop(0)
        if tasks:
            await asyncio.wait(tasks, timeout=2 * _FLUSH_SECONDS)

    async def accept(self, listening: socket) -> None:
        """Serve whoever connects, until cancelled."""
        listening.settimeout(0)
        loop = asyncio.get_running_loop()
        running: set[asyncio.Task[None]] = set()
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError as error:
                logger.warning("Nobody can connect now: %s", error)
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            task = asyncio.ensure_future(self.serve(SocketChannel(connection)))
            running.add(task)
            task.add_done_callback(running.discard)

    async def serve(self, channel: Channel) -> None:
        """Serve one client until it goes; it takes along only what is its own."""
        if len(self._servers) >= MOST or self._stopped.is_set():
            logger.error("More than %d connections aren't served.", MOST)
            await channel.close(0)
            return
        server = self._make()
        server.protocol.on_greeting = partial(self._greet, server, channel)
        loop = asyncio.get_running_loop()
        late = loop.call_later(GREETING_SECONDS, self._left, server)
        self._servers[server] = asyncio.current_task()
        self._rest()
        try:
            await server.converse(channel)
        finally:
            late.cancel()
            server.service.leave()
            await channel.close(_FLUSH_SECONDS)
            del self._servers[server]
            self._rest()

    def _greet(self, server: Server, channel: Channel, params: types.InitializeParams) -> None:
        """Let a client in.

        Raises:
            JsonRpcInvalidRequest: it doesn't know the token, and is left.
        """
        options = params.initialization_options
        offered = options.pop("token", None) if isinstance(options, dict) else None
        if self._token is not None and not self._token.admits(offered):
            logger.warning("A client without the token was refused.")
            server.stop(1)
            raise JsonRpcInvalidRequest(_REFUSED)
        channel.trust()

    def _left(self, server: Server) -> None:
        if not server.protocol.was_initialized:
            logger.warning("Somebody connected and said nothing.")
            server.stop(1)

    def _rest(self) -> None:
        """Begin to wait for the end, if nobody is there; else stop that."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._idle_seconds is not None and not self._servers:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._idle_seconds, self.stop)
