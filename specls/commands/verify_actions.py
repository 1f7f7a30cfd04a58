"""What ``specls verify`` does and prints."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from rich.console import Console
from rich.progress import track
from rich.table import Table

from specls.app import loader
from specls.bench.sources import repository, standard_library
from specls.bench.verify import Check, Tally, cursors, total
from specls.commands.options import settings_of
from specls.core import CancelToken
from specls.errors import SettingsError
from specls.service.completion import budget_of

_LEAST_MEMORY = 256
"""MiB for what is restored."""


def run(arguments: argparse.Namespace) -> int:
    """Compare at each place, and print; 1 if a text differs."""
    if arguments.n < 1:
        raise SettingsError("--n has to be more than 0.")
    settings = settings_of(arguments)
    memory = max(settings.kv_budget_mib, _LEAST_MEMORY)
    if settings.draft_model != "none":
        settings = replace(settings, speculation="draft")
    settings = replace(settings, kv_budget_mib=memory)
    sources = repository(arguments.repo) if arguments.repo else standard_library()
    messages = Console(stderr=True)
    with messages.status(f"loading {settings.model}"):
        runtime = loader()(settings, lambda _share: True)
    tallies: dict[str, Tally] = {}
    languages = Counter[str]()
    try:
        budget = budget_of(settings, runtime.engine.target.capacity)
        check = Check(runtime, budget.windows, budget.max_tokens, arguments.noise, CancelToken())
        places = list(cursors(sources, arguments.n, arguments.seed))
        for snapshot, position in track(places, "comparing", console=messages):
            check.at(snapshot, position, tallies)
            languages[snapshot.language] += 1
    finally:
        runtime.close()
        if tallies:
            told = ", ".join(f"{language} {count}" for language, count in languages.items())
            _show(tallies, f"places: {told}")
    return 1 if total(tallies.values()) else 0


def _show(tallies: Mapping[str, Tally], places: str) -> None:
    table = Table(box=None, pad_edge=False)
    for at, name in enumerate(("way", "compared", "equal", "near-ties", "gaps", "different")):
        table.add_column(name, justify="right" if at else "left")
    for way, tally in tallies.items():
        gaps = [*tally.near_ties, *tally.differences]
        told = f"{min(gaps):.2f} to {max(gaps):.2f}" if gaps else ""
        counts = (tally.compared, tally.equal, len(tally.near_ties))
        table.add_row(way, *map(str, counts), told, str(len(tally.differences)))
    console = Console(highlight=False)
    console.print(table)
    console.print(places)
