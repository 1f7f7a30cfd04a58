"""``specls serve``: the language server."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from specls.errors import SettingsError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001

_LEVELS = ("debug", "info", "warning", "error")


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "serve",
        help="serve an editor over stdin and stdout",
        description="Speak LSP on stdin and stdout until the editor says exit.",
    )
    parser.add_argument("--stdio", action="store_true", help="the default; editors may pass it")
    parser.add_argument("--log-file", type=Path, metavar="FILE", help="log here, not to stderr")
    parser.add_argument(
        "--log-level",
        choices=_LEVELS,
        default="warning",
        help="how much is logged; debug includes the text of your files (default: %(default)s)",
    )
    # vscode-languageclient adds it; the process is known from initialize.
    parser.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if sys.stdin is None:
        raise SettingsError("stdin is closed: an editor starts the server and talks to it there.")
    _set_up_logging(arguments.log_file, arguments.log_level)
    from specls.app import serve_stdio  # noqa: PLC0415 - heavy, and `--help` should be quick

    code = serve_stdio()
    logging.shutdown()
    sys.stderr.flush()
    # Not sys.exit: a reader thread may still wait for a client that keeps the stream open.
    os._exit(code)


def _set_up_logging(file: Path | None, level: str) -> None:
    """Log to a file or stderr. Only ``debug`` lets pygls write what clients send."""
    handler: logging.Handler
    try:
        handler = logging.FileHandler(file, encoding="utf-8") if file else logging.StreamHandler()
    except OSError as error:
        raise SettingsError(f"The log file can't be written: {error}") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
    if level != "debug":
        logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
        logging.getLogger("asyncio").setLevel(logging.WARNING)
