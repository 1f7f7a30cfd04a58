"""The command line: reads arguments, and shows an error as one clear line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import specls
from specls.commands import complete, models, serve
from specls.errors import SpeclsError

_INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended: 128 and the signal's number."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the process' exit code. 2 for wrong arguments, 1 for what failed."""
    parser = _parser()
    parsed = parser.parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except SpeclsError as error:
        print(f"specls: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("specls: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="specls",
        description="Inline code completion over LSP from a model on your own machine.",
    )
    parser.add_argument("--version", action="version", version=f"specls {specls.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (serve, complete, models):
        command.register(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
