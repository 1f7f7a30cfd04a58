"""``specls verify``: its arguments. The work is imported when it's run, so that help is quick."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from specls.commands.options import add_settings

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001

NOISE = 0.75
"""Logits: batches round differently from single tokens, by up to this (docs/speculation.md)."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "verify",
        help="check that drafts, reuse and restoring change no text",
        description="Complete at random places of real files in every way, and compare with plain "
        "decoding from nothing. Where two tokens are equally good but for rounding, either may "
        "come: such near-ties are counted apart. Ends with 1 if there's a real difference.",
    )
    parser.add_argument("--n", type=int, default=20, help="how many places (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of their choice (%(default)s)")
    parser.add_argument(
        "--repo",
        type=Path,
        metavar="FOLDER",
        help="files of this folder, of any language (the Python standard library)",
    )
    parser.add_argument(
        "--noise", type=float, default=NOISE, help="the largest gap of a near-tie (%(default)s)"
    )
    add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from specls.commands import verify_actions  # noqa: PLC0415

    return verify_actions.run(arguments)
