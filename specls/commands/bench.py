"""``specls bench``: its subcommands. The work is imported when it's run, so that help is quick."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from specls.commands import (
    bench_confidence,
    bench_context,
    bench_infill,
    bench_speculation,
    bench_typing,
)

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "bench",
        help="measure what a key costs, how good the completions are, and what drafts gain",
        description="Measure on this machine, with the models and settings that you use.",
    )
    benchmarks = parser.add_subparsers(title="benchmarks", metavar="BENCHMARK", required=True)
    for benchmark in (
        bench_typing,
        bench_infill,
        bench_confidence,
        bench_speculation,
        bench_context,
    ):
        benchmark.register(benchmarks)
