"""How the figures of what users are shown are printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from specls.bench.infill_figures import Difference, pairs_of
from specls.bench.infill_shown_figures import FIGURES, WAYS, Figure, Shown
from specls.bench.infill_tables import FEWEST, grouped, table_of

BEFORE = "before"
"""What an earlier run showed, as a way."""

_NOTE = """\
Useful characters are those up to the first that isn't as it belongs there; the user deletes the
others. "raw" is the same generation without stop rules and filters. Differences are those of
"shown" less the way beside them, with the 95 % bootstrap interval over programs."""


def show(results: Iterable[Shown], ways: Sequence[str], seed: int, console: Console) -> None:
    """Print all figures of the tasks that every way has done, kind by kind."""
    groups = grouped(results, ways)
    if not groups:
        console.print("No task is done yet.")
        return
    for kind in dict.fromkeys(kind for kind, _ in groups):
        console.print(table(kind, {way: groups[kind, way] for way in ways}, seed))
        console.print()
    console.print(_NOTE)


def table(kind: str, found: dict[str, list[Shown]], seed: int) -> Table:
    """One kind's figures of each way, and what ``shown`` has more than each of the others."""
    first, *others = found
    names = [f"{kind}, n = {len(found[first])}", first]
    for other in others:
        names += [other, "difference"]
    made = table_of(names, words=1)
    pairs = {other: pairs_of(found[first], found[other]) for other in others}
    for figure in FIGURES:
        row = [figure.name, f"{figure.value(found[first]):.1f}"]
        for other in others:
            row += [f"{figure.value(found[other]):.1f}", _interval(figure, pairs[other], seed)]
        made.add_row(*row)
    return made


def _interval(figure: Figure, pairs: Sequence[tuple[Shown, Shown]], seed: int) -> str:
    found: Difference = figure.difference(pairs, seed)
    if len({left.problem for left, _ in pairs}) < FEWEST:
        return f"{found.value:+.1f} (too few tasks)"
    return f"{found.value:+.1f} [{found.low:+.1f}, {found.high:+.1f}]"


def ways_of(*, against: bool) -> tuple[str, ...]:
    """The ways that the tables have."""
    return (*WAYS, BEFORE) if against else WAYS
