"""``specls bench speculation``: its arguments. The work is imported when it's run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from specls.commands.options import add_settings, count

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001

_WORKLOADS = "edit,repeat,fresh,copy"

_DESCRIPTION = """\
Write on in real files with drafts and without, and compare by the clock. Every arm writes at the
same places behind the same prompt, read once, in turn: plain (no drafts), auto (what the server
does), and what --drafts names. Only decoding is measured. An answer has 48 tokens, or as many as
--max-tokens says, unless the model ends it; where it ends it early, there's no place.

workloads:
  edit    a suggestion was shown, something small was changed, and it's asked for again; what
          follows the suggestion was completed ahead (not with --prefetch false)
  repeat  inside tests, tables and dictionaries
  fresh   programs of HumanEval-Infilling with several lines missing (needs --data)
  copy    a long block that stands above is begun a second time
"""

_EPILOG = """\
A table of drafts, to choose a draft model by:

  specls bench speculation --drafts none,lookup,qwen2.5-coder-0.5b

The models have seen the standard library: --repo takes newer files.
"""


def register(subparsers: Subparsers) -> None:
    """Add the benchmark."""
    parser = subparsers.add_parser(
        "speculation",
        help="what drafts gain over plain decoding, for several kinds of text",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--workloads", default=_WORKLOADS, metavar="A,B,…", help="(%(default)s)")
    add(
        "--drafts",
        default="",
        metavar="A,B,…",
        help="what to measure besides: none (which is plain), previous (the earlier suggestion), "
        "lookup (n-grams of the open documents), or draft models by id or path",
    )
    add("--draft-length", type=count, default=4, metavar="N", help="tokens of these (%(default)s)")
    add("--n", type=count, default=3, metavar="N", help="places of each workload (%(default)s)")
    add("--rounds", type=count, default=5, metavar="N", help="at each place (%(default)s)")
    add("--seed", type=int, default=0, metavar="S", help="decides where (%(default)s)")
    add("--repo", type=Path, metavar="FOLDER", help="write in its files (the standard library's)")
    add("--data", type=Path, metavar="FILE", help="HumanEval-MultiLineInfilling.jsonl.gz")
    add("--json", type=Path, metavar="FILE", help="write all values there")
    add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from specls.commands import bench_speculation_actions  # noqa: PLC0415

    return bench_speculation_actions.run(arguments)
