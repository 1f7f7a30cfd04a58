"""``specls serve``: the language server."""

from __future__ import annotations

import argparse
import faulthandler
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from specls.errors import SettingsError

if TYPE_CHECKING:
    from specls.serving import Ways

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001

_LEVELS = ("debug", "info", "warning", "error")


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "serve",
        help="serve an editor over stdin and stdout, or many over sockets",
        description="Speak LSP on stdin and stdout until the editor says exit; or listen, and "
        "serve all editors that connect with one engine, until SIGTERM or ctrl-C. For each place "
        "listened at, a line `listening on PLACE` is printed.",
    )
    parser.add_argument("--stdio", action="store_true", help="the default; editors may pass it")
    parser.add_argument(
        "--shared",
        action="store_true",
        help="let one server do the work for all your editor windows: it's started with the first "
        "one, and ends a while after the last one (--exit-when-idle)",
    )
    _add_ways(parser)
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


def _add_ways(parser: argparse.ArgumentParser) -> None:
    """Add where to listen, and who may connect."""
    ways = parser.add_argument_group("instead of stdin and stdout, any of")
    ways.add_argument("--tcp", metavar="HOST:PORT", help="a TCP port of this machine; 0 is any")
    ways.add_argument(
        "--socket", type=Path, metavar="FILE", help="a Unix socket that only you can connect to"
    )
    ways.add_argument("--ws", metavar="HOST:PORT", help="WebSockets, for editors in a browser")
    who = parser.add_argument_group("who may connect")
    who.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="pages in a browser that may use --ws, as http://localhost:3000; else there are none",
    )
    who.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="serve only who sends what is in this file, or in the variable SPECLS_TOKEN, as "
        "`token` in initializationOptions",
    )
    who.add_argument(
        "--allow-remote",
        action="store_true",
        help="let other machines connect; needs a token, and nothing is encrypted",
    )
    who.add_argument(
        "--exit-when-idle",
        type=float,
        metavar="SECONDS",
        help="end when nobody was connected for so long (with --shared 300, else never)",
    )


def _run(arguments: argparse.Namespace) -> int:
    _set_up_logging(arguments.log_file, arguments.log_level)
    code = _serve(arguments)
    logging.shutdown()
    sys.stderr.flush()
    # Not sys.exit: a reader thread may still wait for a client that keeps the stream open.
    os._exit(code)


def _serve(arguments: argparse.Namespace) -> int:
    """Serve as the arguments say; the exit code."""
    if not _listens(arguments):
        _check_stdio(arguments)
    elif arguments.stdio or arguments.shared:
        name = "--stdio" if arguments.stdio else "--shared"
        raise SettingsError(f"{name} can't be combined with --tcp, --socket or --ws.")
    if arguments.shared:
        return _join(arguments)
    from specls import serving  # noqa: PLC0415 - heavy, and `--help` should be quick

    if not _listens(arguments):
        return serving.serve_stdio()
    return serving.serve_many(ways_of(arguments))


def _join(arguments: argparse.Namespace) -> int:
    from specls import joining  # noqa: PLC0415 - the others don't need it

    level = ("--log-level", arguments.log_level)
    idle = arguments.exit_when_idle
    command = (sys.executable, "-m", "specls", "serve", *level)
    return joining.join(command, joining.IDLE_SECONDS if idle is None else idle)


def _listens(arguments: argparse.Namespace) -> bool:
    return (arguments.tcp, arguments.socket, arguments.ws) != (None, None, None)


def ways_of(arguments: argparse.Namespace) -> Ways:
    """Where to listen, and who may connect."""
    from specls.serving import Ways  # noqa: PLC0415 - heavy, and `--help` should be quick

    return Ways(
        tcp=arguments.tcp,
        socket=arguments.socket,
        websocket=arguments.ws,
        remote=arguments.allow_remote,
        origins=tuple(arguments.allow_origin),
        token_file=arguments.token_file,
        idle_seconds=arguments.exit_when_idle,
    )


def _check_stdio(arguments: argparse.Namespace) -> None:
    """See that nothing is asked for that means nothing on stdin and stdout.

    Raises:
        SettingsError: something is.
    """
    if sys.stdin is None:
        raise SettingsError("stdin is closed: an editor starts the server and talks to it there.")
    for name in ("allow_origin", "token_file", "allow_remote", "exit_when_idle"):
        if getattr(arguments, name) and not (arguments.shared and name == "exit_when_idle"):
            option = f"--{name.replace('_', '-')}"
            raise SettingsError(f"{option} needs --tcp, --socket or --ws.")


def _set_up_logging(file: Path | None, level: str) -> None:
    """Log to a file or stderr. Only ``debug`` lets pygls write what clients send."""
    handler: logging.FileHandler | logging.StreamHandler[TextIO]
    try:
        handler = logging.FileHandler(file, encoding="utf-8") if file else logging.StreamHandler()
    except OSError as error:
        raise SettingsError(f"The log file can't be written: {error}") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
    # Where llama.cpp takes the process down with it, the log says in which call.
    faulthandler.enable(handler.stream or sys.stderr)
    if level != "debug":
        logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
        logging.getLogger("asyncio").setLevel(logging.WARNING)
