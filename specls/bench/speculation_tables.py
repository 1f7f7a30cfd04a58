"""How the figures of ``specls bench speculation`` are printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table

from specls.bench.speculation_arms import PLAIN
from specls.bench.speculation_figures import (
    MOST_PYTHON,
    Figures,
    figures_of,
    lengths_of,
    sentences,
)
from specls.bench.speculation_runs import Run
from specls.core import Source

WIDE = 145
"""The width that holds every column whole."""

FEWEST = 5
"""A median of fewer rounds says little on a shared machine."""

_POSITIONS = 8
"""Positions of a draft that are shown."""


def show(runs: Sequence[Run], console: Console) -> None:
    """All figures of what was measured, and what they say."""
    figures = figures_of(runs)
    if not figures:
        console.print("Nothing is measured yet.")
        return
    console.print(_speeds(figures))
    console.print("Medians; behind the speed-up the least and the most of any round and place.")
    console.print()
    if any(each.drafts for each in figures):
        console.print(_drafts(figures))
        console.print("Acceptance by position: of drafted tokens whose predecessors were accepted.")
        console.print()
    console.print(_overhead(figures))
    console.print(f"Outside of the models; the aim is less than {100 * MOST_PYTHON:.0f} % on CPUs.")
    console.print()
    rounds = 1 + max(run.round for run in runs)
    if rounds < FEWEST:
        console.print(f"Medians of {rounds} rounds: too few to be sure of; {FEWEST} are enough.")
    for sentence in sentences(figures):
        console.print(sentence)


def _speeds(figures: Iterable[Figures]) -> Table:
    names = ("tokens/s", "speed-up", "", "tokens per pass", "verify rate", "accepted length")
    table = _table(("workload", "arm"), (*names, "other texts"))
    for each in figures:
        total = each.total
        table.add_row(
            each.workload,
            each.arm,
            f"{each.tokens_per_second:.2f}",
            f"{each.speed_up:.2f}",
            f"{each.speed_ups[0]:.2f} to {each.speed_ups[-1]:.2f}",
            f"{total.tokens_per_pass:.2f}",
            f"{total.verify_rate:.2f}",
            f"{total.accepted_length:.2f}" if total.verifications else "",
            "" if each.arm == PLAIN else f"{each.different} of {len(each.pairs)}",
        )
    return table


def _drafts(figures: Iterable[Figures]) -> Table:
    names = ("speed-up", "drafts", "no idea", "tokens", "accepted", "", "by position")
    table = _table(("workload", "arm", "source"), names)
    for each in figures:
        for source in dict.fromkeys(source for source, _ in each.drafts):
            table.add_row(each.workload, each.arm, source.value, *_drafted(each, source))
    return table


def _drafted(figures: Figures, source: Source) -> Iterator[str]:
    total, lengths = figures.total, lengths_of(figures.drafts, source)
    drafted = total.drafted.get(source, 0)
    positions = range(min(len(total.positions.get(source, ())), _POSITIONS))
    yield f"{figures.speed_up:.2f}"
    yield str(lengths.drafts)
    yield str(lengths.silent)
    yield f"{lengths.median:g} ({lengths.shortest} to {lengths.longest})" if drafted else ""
    yield f"{total.accepted.get(source, 0)} of {drafted}" if drafted else ""
    yield f"{100 * total.acceptance(source):.0f} %" if drafted else ""
    yield " ".join(f"{total.acceptance_at(source, at):.2f}".lstrip("0") for at in positions)


def _overhead(figures: Sequence[Figures]) -> Table:
    names = ("Python per pass, µs", "target per pass, ms", "Python / target")
    table = _table(("workload", "arm"), names)
    for each in figures:
        table.add_row(
            each.workload,
            each.arm,
            f"{1e6 * each.python_seconds:.0f}",
            f"{1e3 * each.target_seconds:.1f}",
            f"{100 * each.python_share:.2f} %",
        )
    return table


def _table(words: Iterable[str], numbers: Iterable[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in words:
        table.add_column(name, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table
