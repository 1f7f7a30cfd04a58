"""The command line: reads arguments, and shows an error as one clear line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import specls
from specls.commands import bench, complete, doctor, models, serve, settings, verify
from specls.errors import SettingsError, SpeclsError

_INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended: 128 and the signal's number."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the process' exit code. 2 for wrong arguments, 1 for what failed."""
    _mend_streams()
    parser = _parser()
    parsed = parser.parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except SettingsError as error:
        print(f"specls: {error}", file=sys.stderr)
        return 2
    except SpeclsError as error:
        print(f"specls: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("specls: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 1


def _mend_streams() -> None:
    """Have streams to write to, also where the caller closed them or knows only ASCII."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="specls",
        description="Inline code completion over LSP from a model on your own machine.",
    )
    parser.add_argument("--version", action="version", version=f"specls {specls.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (serve, complete, models, settings, doctor, verify, bench):
        command.register(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
