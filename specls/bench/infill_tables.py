"""How the figures are printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table

from specls.bench.infill_figures import (
    MEASURES,
    Difference,
    difference,
    figures_of,
    pairs_of,
    same_share,
)
from specls.bench.infill_results import Result, W

JUDGED = (("anchored+healing", "cursor"), ("anchored+healing", "cursor+healing"))
"""About these a sentence is printed: the first of each is the product's default."""

COMPARISONS = (
    *JUDGED,
    ("anchored+healing", "anchored"),
    ("cursor+healing", "cursor"),
    ("anchored, carried", "anchored+healing"),
    ("cursor, carried", "cursor+healing"),
)

WIDE = 130
"""The width that holds every column whole."""

FEWEST = 10
"""With tasks from fewer programs, a bootstrap interval means nothing."""

Groups = dict[tuple[str, str], list[Result]]
"""Results by kind and way."""


def show(results: Iterable[Result], ways: Sequence[str], seed: int, console: Console) -> None:
    """Print all figures of the tasks that every way has done."""
    groups = grouped(results, ways)
    if not groups:
        console.print("No task is done yet.")
        return
    console.print(_figures(groups))
    console.print("Similarity is 1 less the Levenshtein distance as a share of the longer text.")
    console.print()
    console.print(_differences(groups, seed))
    console.print("Differences in points, with the 95 % bootstrap interval.")
    console.print()
    for sentence in sentences(groups, seed):
        console.print(sentence)


def grouped(results: Iterable[W], ways: Sequence[str]) -> dict[tuple[str, str], list[W]]:
    """The results by kind and way, of the tasks that every way has done."""
    results = list(results)
    done = {result.key for result in results}
    kinds = dict.fromkeys(result.kind for result in results)
    groups: dict[tuple[str, str], list[W]] = {(kind, way): [] for kind in kinds for way in ways}
    for result in results:
        if all((result.task, result.kind, way) in done for way in ways):
            groups[result.kind, result.way].append(result)
    return {key: found for key, found in groups.items() if found}


def sentences(groups: Groups, seed: int) -> Iterator[str]:
    """For each kind and rival, whether the default is worse beyond the interval."""
    for kind, first, second, pairs in _compared(groups, JUDGED):
        if len({left.problem for left, _ in pairs}) < FEWEST:
            yield f"{kind}: {first} against {second}: too few tasks to tell."
            continue
        found = {
            name: difference(pairs, MEASURES[name], seed) for name in ("exact match", "pass@1")
        }
        parts = ", ".join(f"{name} {_judged(each)}" for name, each in found.items())
        yield f"{kind}: {first} against {second}: {parts}."


def _judged(found: Difference) -> str:
    if found.is_worse:
        return f"is worse beyond the interval ({_points(found)})"
    if found.is_better:
        return f"is better beyond the interval ({_points(found)})"
    return f"isn't worse beyond the interval ({_points(found)})"


def _compared(
    groups: Groups, comparisons: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str, str, list[tuple[Result, Result]]]]:
    for kind in dict.fromkeys(kind for kind, _ in groups):
        for first, second in comparisons:
            pairs = pairs_of(groups.get((kind, first), ()), groups.get((kind, second), ()))
            if pairs:
                yield kind, first, second, pairs


def _figures(groups: Groups) -> Table:
    names = ("kind", "way", "n", *MEASURES, "prompt tokens decoded")
    table = table_of(names, words=2)
    for (kind, way), results in groups.items():
        figures = figures_of(results)
        table.add_row(
            kind,
            way,
            str(figures.n),
            f"{100 * figures.exact:.1f} %",
            f"{100 * figures.passed:.1f} %",
            f"{figures.similarity:.3f}",
            f"{figures.decoded:.0f}",
        )
    return table


def _differences(groups: Groups, seed: int) -> Table:
    table = table_of(("kind", "way", "less", *MEASURES, "same output"), words=3)
    for kind, first, second, pairs in _compared(groups, COMPARISONS):
        found = (difference(pairs, measure, seed) for measure in MEASURES.values())
        same = f"{100 * same_share(pairs):.0f} %"
        table.add_row(kind, first, second, *map(_points, found), same)
    return table


def table_of(names: Sequence[str], words: int) -> Table:
    """A table whose first ``words`` columns are words, and the others numbers."""
    table = Table(box=None, pad_edge=False)
    for at, name in enumerate(names):
        table.add_column(name, justify="left" if at < words else "right", no_wrap=True)
    return table


def _points(found: Difference) -> str:
    return f"{100 * found.value:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
