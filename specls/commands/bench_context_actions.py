"""What ``specls bench context`` does and prints."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from specls.app import loader
from specls.bench.context import ARMS, Plan, Result, figures_of, measure
from specls.bench.interrupt import INTERRUPTED, interruptible
from specls.commands.options import settings_of
from specls.errors import Cancelled, SettingsError

_TOKENS = 1024
"""Of other files, unless the options say otherwise."""


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the table, write the results; the process' exit code."""
    # Drafts change no text, and a document isn't opened again.
    settings = replace(settings_of(arguments), speculation="off", kv_budget_mib=0)
    if arguments.workspace_tokens is None:
        settings = replace(settings, workspace_tokens=_TOKENS)
    if not settings.workspace_tokens:
        raise SettingsError("--workspace-tokens: with 0 there's nothing to compare.")
    if not arguments.repo.is_dir():
        raise SettingsError(f"--repo: {arguments.repo} isn't a folder.")
    plan = Plan(arguments.repo, arguments.n, arguments.seed, arguments.open)
    messages, results = Console(stderr=True), list[Result]()

    def done(result: Result) -> None:
        results.append(result)
        _append(arguments.json, result)
        if not messages.is_terminal:
            return
        messages.print(f"place {result.place + 1} of {plan.n}, {result.arm}")

    with interruptible() as cancel, contextlib.suppress(Cancelled):
        runtime = loader()(settings, lambda _share: not cancel.cancelled)
        try:
            if not runtime.prompts.dialect.tells_files:
                raise SettingsError(f"{settings.model} wasn't trained to see other files.")
            measure(plan, settings, runtime, cancel, done)
        finally:
            runtime.close()
    about = f"n {plan.n}, open {plan.opened}, seed {plan.seed}, model {settings.model}"
    _show(results, f"{about}, at most {settings.workspace_tokens} tokens of other files")
    return INTERRUPTED if cancel.cancelled else 0


def _append(path: Path | None, result: Result) -> None:
    if path is None:
        return
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result.as_dict()) + "\n")
    except OSError as error:
        raise SettingsError(f"--json: {path} can't be written: {error.strerror}.") from error


def _show(results: Sequence[Result], about: str) -> None:
    console = Console(highlight=False, soft_wrap=True)
    table = Table(title="the rest of a line")
    table.add_column("arm")
    for name in ("places", "exact", "matched", "of other files", "prompt tokens", "read in s"):
        table.add_column(name, justify="right")
    for arm in ARMS:
        if (each := figures_of(results, arm)) is not None:
            table.add_row(
                arm,
                str(each.n),
                f"{100 * each.exact:.0f}",
                f"{each.matched:.1f}",
                f"{each.head:.0f}",
                f"{each.prefilled:.0f}",
                f"{each.seconds:.2f}",
            )
    table.caption = "exact in %; matched: characters as the file has them; means"
    console.print(about)
    console.print(table)
