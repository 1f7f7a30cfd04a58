"""Puts a language server together: protocol, service and models."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal

from specls.app import loader, states_folder
from specls.lsp import listening
from specls.lsp.listening import Ways
from specls.lsp.server import Server
from specls.lsp.transport import take_over_stdio
from specls.service.service import CompletionService
from specls.service.shared import Shared

__all__ = ["Ways", "serve_many", "serve_stdio"]

logger = logging.getLogger(__name__)

_SHUTDOWN_SECONDS = 10.0

_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""What ends the server in order: a process manager, or a terminal that's closed."""


def serve_stdio() -> int:
    """Serve one editor on stdin and stdout; the process' exit code."""
    reader, writer = take_over_stdio()

    async def run() -> int:
        server = Server(CompletionService(Shared(loader(states=states_folder()))))
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError):  # Windows ends the process by itself
            for number in _ENDS:
                loop.add_signal_handler(number, server.stop, 0)
        return await server.serve(reader, writer)

    return asyncio.run(run())


def serve_many(ways: Ways) -> int:
    """Serve all that connect, with one engine, until SIGTERM or ctrl-C; the process' exit code.

    On stdout comes one line ``listening on PLACE`` for each place.

    Raises:
        SettingsError: something of ``ways`` isn't possible; the message says what to do.
    """

    async def run() -> int:
        shared = Shared(loader(states=states_folder()))
        try:
            await listening.serve(ways, lambda: Server(CompletionService(shared)), _announce)
        finally:
            if not shared.shutdown(_SHUTDOWN_SECONDS):
                logger.warning("The engine didn't stop in time.")
        return 0

    return asyncio.run(run())


def _announce(line: str) -> None:
    print(line, flush=True)
