"""``specls bench typing``: its arguments. The work is imported when it's run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from specls.commands.options import add_settings

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001

_SCRIPTS = "middle,end,fix,paste,undo,switch"

_DESCRIPTION = """\
Type in real files and measure each answer. Every arm gets the same keys at the same places, in
turn: the anchored prompt, the same with answers from what was shown before (type-through), the
usual prompt, and a llama-server asked as llama.vim asks it.

scripts:
  middle  the end of a line in the middle of a function is typed
  end     the end of a line is typed, and nothing follows in the file
  fix     the end of a word is deleted and typed again, then the line goes on
  paste   three lines are pasted, and the next line is typed
  undo    some of what was typed is undone at once, and typed again
  switch  three files in turn, each key in another one
"""

_EPILOG = """\
A llama-server of the same llama.cpp is built by bench/build_llama_server.sh. Start it with

  llama-server -m MODEL --port 8012 --host 127.0.0.1 -c 8192 -b 1024 -ub 1024 -t 2

where MODEL is the same file and -t the same number of threads. It cuts the text before the cursor
at 3/4 of -b tokens, and what follows it at 1/4: -b 1024 is --prefix-tokens 768 --suffix-tokens 256.
It reads a new place at once, as specls does with --cold-budget-ms 0.

The models have seen the standard library: for the quality of answers use --repo with newer files.
"""


def register(subparsers: Subparsers) -> None:
    """Add the benchmark."""
    parser = subparsers.add_parser(
        "typing",
        help="what a key costs, for several ways of editing",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--repo", type=Path, metavar="FOLDER", help="type in its files (the standard library's)"
    )
    add = parser.add_argument
    add("--places", type=_count, default=4, metavar="N", help="for each script (%(default)s)")
    add("--keys", type=_count, default=8, metavar="N", help="at each place (%(default)s)")
    add("--seed", type=int, default=0, metavar="S", help="decides where (%(default)s)")
    add("--scripts", default=_SCRIPTS, metavar="A,B,…", help="(%(default)s)")
    add("--pause", type=_count, default=0, metavar="MS", help="before each request (%(default)s)")
    add("--llama-server", metavar="URL", help="compare with this one, too")
    add("--json", type=Path, metavar="FILE", help="write all values there")
    add_settings(parser)
    parser.set_defaults(run=_run)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} isn't a whole number from 0")
    return int(text)


def _run(arguments: argparse.Namespace) -> int:
    from specls.commands import bench_typing_actions  # noqa: PLC0415

    return bench_typing_actions.run(arguments)
