"""What ``specls doctor`` does and prints."""

from __future__ import annotations

import argparse
from dataclasses import replace

from rich.console import Console
from rich.table import Table

from specls.app import loader
from specls.bench.doctor import RATES, Diagnosis, diagnose
from specls.commands.options import settings_of


def run(arguments: argparse.Namespace) -> int:
    """Load the models, measure, print."""
    # Both models, also where the target alone would be loaded: the question is what they gain.
    settings = settings_of(arguments)
    speculation = "off" if settings.draft_model == "none" else "draft"
    settings = replace(settings, speculation=speculation)
    messages = Console(stderr=True)
    with messages.status(f"loading {settings.model}"):
        runtime = loader()(settings, lambda _share: True)
    try:
        with messages.status("measuring"):
            diagnosis = diagnose(runtime)
    finally:
        runtime.close()
    for notice in runtime.notices:
        messages.print(f"specls: {notice}", style="yellow", highlight=False, soft_wrap=True)
    console = Console(highlight=False)
    console.print(f"target  {runtime.models['targetDescription']}")
    console.print(f"draft   {runtime.models['draft'] or 'none'}")
    console.print()
    console.print(_passes(diagnosis))
    console.print()
    console.print(_sources(diagnosis))
    return 0


def _passes(diagnosis: Diagnosis) -> Table:
    single = diagnosis.passes[1]
    table = _table("pass of the target over", "ms", "times one token")
    for tokens, seconds in diagnosis.passes.items():
        name = f"{tokens} token" + ("s" if tokens > 1 else "")
        table.add_row(name, f"{1000 * seconds:.1f}", f"{seconds / single:.2f}")
    if diagnosis.draft is not None:
        times = f"{diagnosis.draft / single:.2f}"
        table.add_row("a token of the draft model", f"{1000 * diagnosis.draft:.1f}", times)
    return table


def _sources(diagnosis: Diagnosis) -> Table:
    names = (f"at {100 * rate:.0f} % accepted" for rate in RATES)
    table = _table("drafts from", "pay from", *names)
    for name, seconds in (("look-ups", 0.0), ("the draft model", diagnosis.draft)):
        if seconds is None:
            continue
        least = diagnosis.break_even(seconds)
        choices = (diagnosis.advice(rate, seconds) for rate in RATES)
        table.add_row(name, "never" if least is None else f"{100 * least:.0f} %", *choices)
    return table


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for at, name in enumerate(names):
        table.add_column(name, justify="right" if at else "left")
    return table
