"""``specls bench context``: its arguments. The work is imported when it's run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from specls.commands.options import add_settings, count

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001

_DESCRIPTION = """\
Write the rest of lines in files of a project, from the document alone and with pieces of other
files before it, and compare what's written with what stands there. The folder is the workspace,
and so many of its other files are open (--open), the nearest first. All of each prompt is read
anew: in use, what stands before a document is read once, while nobody waits.
"""


def register(subparsers: Subparsers) -> None:
    """Add the benchmark."""
    parser = subparsers.add_parser(
        "context",
        help="what pieces of other files are worth to the model, and what they cost",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--repo", type=Path, metavar="FOLDER", required=True, help="the project")
    add("--n", type=count, default=20, metavar="N", help="places (%(default)s)")
    add("--open", type=count, default=8, metavar="N", help="other open files (%(default)s)")
    add("--seed", type=int, default=0, metavar="S", help="decides where (%(default)s)")
    add("--json", type=Path, metavar="FILE", help="write all results there, a line for each")
    add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from specls.commands import bench_context_actions  # noqa: PLC0415

    return bench_context_actions.run(arguments)
