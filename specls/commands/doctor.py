"""``specls doctor``: its arguments. The work is imported when it's run, so that help is quick."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from specls.commands.options import add_settings

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "doctor",
        help="measure what passes cost on this machine, and say whether drafts pay",
        description="Load target and draft, measure what a pass over some tokens costs, and say "
        "at which acceptance drafts gain anything and what would be chosen.",
    )
    add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from specls.commands import doctor_actions  # noqa: PLC0415

    return doctor_actions.run(arguments)
