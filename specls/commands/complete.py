"""``specls complete``: its arguments. The work is imported when it's run, so that help is quick."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from specls.commands.options import add_settings

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "complete",
        help="complete a file at one place, and show where each token came from",
        description="Complete FILE at LINE and COL, both counted from 1 as editors show them.",
    )
    parser.add_argument("place", metavar="FILE:LINE:COL")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from specls.commands import complete_actions  # noqa: PLC0415

    return complete_actions.run(arguments)
