"""How the worth of thresholds is printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from specls.bench.confidence import PROBABILITIES, RULES, Row, logarithm, rows, usable
from specls.bench.infill_results import read
from specls.bench.infill_shown_figures import WAYS, Shown
from specls.bench.infill_tables import WIDE, table_of
from specls.errors import SettingsError

_NAMES = (
    "probability",
    "logarithm",
    "shown",
    "exact of shown",
    "nothing to delete",
    "useful characters",
    "deleted",
    "of 1,000 shown",
)

_TITLES = {
    "mean": "shown where the geometric mean of the tokens' probabilities is at least",
    "weakest": "cut before the first token whose probability is less than",
}


def run(file: Path, kinds: Sequence[str], probabilities: Sequence[float]) -> int:
    """Print the tables of a file of results; the process' exit code.

    Raises:
        SettingsError: the file holds no probabilities, or nothing of these kinds.
    """
    results = [result for result in read(file, Shown) if result.way == WAYS[0]]
    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, WIDE)
    for kind in kinds or dict.fromkeys(result.kind for result in results):
        asked = [result for result in results if result.kind == kind]
        found = usable(asked)
        if not any(result.text for result in found):
            raise SettingsError(f"{file} has no probabilities of what was shown for {kind}.")
        for name in RULES:
            console.print(f"{kind}, n = {len(found)}: {_TITLES[name]}")
            _print(rows(found, RULES[name], probabilities or PROBABILITIES), console)
        if len(found) < len(asked):
            console.print(f"Without {len(asked) - len(found)} whose probabilities aren't known.")
    console.print("Characters are for each task, and 1,000 for all together.")
    return 0


def _print(found: Sequence[Row], console: Console) -> None:
    table = table_of(_NAMES, words=0)
    for row in found:
        table.add_row(
            f"{row.probability:.2f}",
            f"{logarithm(row.probability):.2f}",
            f"{100 * row.shown:.0f} %",
            f"{100 * row.exact:.0f} %",
            f"{100 * row.clean:.0f} %",
            f"{row.useful:.1f}",
            f"{row.deleted:.1f}",
            f"{row.per_thousand:.0f}",
        )
    console.print(table)
    console.print()
