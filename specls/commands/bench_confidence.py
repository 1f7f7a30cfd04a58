"""``specls bench confidence``: its arguments. The work is imported when it's run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "confidence",
        help="what it would be worth to show only what the model is sure of",
        description="Print what would be shown, kept and deleted if unsure suggestions weren't "
        "shown, or were cut at the first unsure token, for several thresholds.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="of `infill --shown --json FILE`")
    parser.add_argument("--kind", action="append", default=[], help="only this one (all)")
    parser.add_argument(
        "--thresholds",
        type=_probabilities,
        default=(),
        metavar="P,P,…",
        help="probabilities from 0 to 1",
    )
    parser.set_defaults(run=_run)


def _probabilities(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(each) for each in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0 <= each <= 1 for each in found):
        raise argparse.ArgumentTypeError(f"{text!r} isn't a list of numbers from 0 to 1")
    return found


def _run(arguments: argparse.Namespace) -> int:
    from specls.bench import confidence_tables  # noqa: PLC0415

    return confidence_tables.run(arguments.file, arguments.kind, arguments.thresholds)
