"""The ways in which a server can be reached by several clients, and serving them all."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from socket import socket

from specls.errors import SettingsError
from specls.lsp.addresses import Address, listen
from specls.lsp.connections import Connections
from specls.lsp.server import Server
from specls.lsp.token import find_token
from specls.lsp.unix import UnixSocket


@dataclass(frozen=True)
class Ways:
    """Where to listen, as the command line says it, and who may connect."""

    tcp: str | None = None
    socket: Path | None = None
    websocket: str | None = None
    remote: bool = False
    """Whether other machines may connect."""
    origins: tuple[str, ...] = ()
    """Of the pages that may."""
    token_file: Path | None = None
    idle_seconds: float | None = None


async def serve(ways: Ways, make: Callable[[], Server], announce: Callable[[str], None]) -> None:
    """Serve all that connect, until SIGTERM or ctrl-C, or until nobody is there for long.

    ``make`` makes a server for one client; ``announce`` hears of each place that's listened at,
    once that's so.

    Raises:
        SettingsError: something of ``ways`` isn't possible; the message says what to do.
    """
    if ways.origins and ways.websocket is None:
        raise SettingsError("--allow-origin is for --ws: other ways have no pages.")
    token = find_token(ways.token_file)
    if ways.remote and token is None:
        raise SettingsError(
            "With --allow-remote anybody could connect: give --token-file or set SPECLS_TOKEN."
        )
    async with AsyncExitStack() as stack:
        connections = Connections(make, token, ways.idle_seconds)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # Windows ends the process by itself
                loop.add_signal_handler(number, connections.stop)
        for at in await _open(ways, connections, stack):
            announce(f"listening on {at}")
        await connections.wait()


async def _open(ways: Ways, connections: Connections, stack: AsyncExitStack) -> list[str]:
    """Listen everywhere, until ``stack`` is left; where that is."""
    places: list[str] = []

    def accept(listening: socket) -> None:
        stack.callback(asyncio.ensure_future(connections.accept(listening)).cancel)

    if ways.tcp is not None:
        listening, address = listen(Address.parse(ways.tcp), remote=ways.remote)
        stack.callback(listening.close)
        accept(listening)
        places.append(str(address))
    if ways.socket is not None:
        unix = UnixSocket(ways.socket)
        stack.callback(unix.close)
        accept(unix.socket)
        places.append(str(unix.path))
    if ways.websocket is not None:
        # Here, since few need it, and a start should be quick.
        from specls.lsp.websocket import Pages, serving  # noqa: PLC0415

        pages = Pages(ways.origins, remote=ways.remote)
        listening, address = listen(Address.parse(ways.websocket), remote=ways.remote)
        handling = serving(listening, pages, connections.serve, remote=ways.remote)
        await stack.enter_async_context(handling)
        places.append(f"ws://{address}")
    return places
