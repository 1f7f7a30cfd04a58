"""What ``specls bench speculation`` does and prints."""

from __future__ import annotations

import argparse
import contextlib
import json
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Console

import specls
from specls.bench.interrupt import INTERRUPTED, interruptible
from specls.bench.sources import Sources, repository, standard_library
from specls.bench.speculation import MAX_TOKENS, Measured, Plan, measure
from specls.bench.speculation_arms import NONE, SOURCES
from specls.bench.speculation_places import WHERE, WORKLOADS, places
from specls.bench.speculation_tables import WIDE, show
from specls.catalogue.store import ModelStore
from specls.commands.options import settings_of
from specls.errors import Cancelled, ModelError, SettingsError
from specls.settings import Settings

_MOST_LENGTH = 31
"""Tokens of a draft: with the one before, as many as one pass of llama.cpp scores."""


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the tables, write the values; the process' exit code."""
    settings, messages = _settings(arguments), Console(stderr=True)
    plan = _plan(arguments, messages)
    ModelStore().resolve(settings.model)
    _check_writable(arguments.json)
    measured = Measured()
    with interruptible() as cancel:
        try:
            with contextlib.suppress(Cancelled), messages.status("starting") as status:
                tell = status.update if messages.is_terminal else messages.print
                measure(plan, settings, measured, cancel, tell)
        finally:
            # What was measured before Ctrl-C, or before something failed, isn't lost.
            if measured.runs or measured.notices:
                _report(arguments, plan, settings, measured, messages)
    return INTERRUPTED if cancel.cancelled else 0


def _settings(arguments: argparse.Namespace) -> Settings:
    if arguments.speculation is not None:
        raise SettingsError(
            "--speculation: its ways are compared here. Name what to compare with --drafts."
        )
    settings = settings_of(arguments)
    return replace(settings, max_tokens=MAX_TOKENS) if arguments.max_tokens is None else settings


def _plan(arguments: argparse.Namespace, messages: Console) -> Plan:
    if arguments.draft_length > _MOST_LENGTH:
        raise SettingsError(f"--draft-length may be 1 to {_MOST_LENGTH}.")
    plan = Plan(
        workloads=_workloads(arguments, messages),
        sources=_sources(arguments.repo),
        data=arguments.data,
        n=arguments.n,
        rounds=arguments.rounds,
        seed=arguments.seed,
        drafts=_drafts(arguments.drafts),
        draft_length=arguments.draft_length,
    )
    if "fresh" in plan.workloads:
        next(places("fresh", plan.sources, plan.data, plan.seed), None)  # rather fail now
    return plan


def _workloads(arguments: argparse.Namespace, messages: Console) -> list[str]:
    wanted = _names(arguments.workloads)
    if not wanted or set(wanted) - set(WORKLOADS):
        known = ", ".join(WORKLOADS)
        raise SettingsError(f"--workloads: {arguments.workloads!r} isn't a list of {known}.")
    if "fresh" in wanted and arguments.data is None:
        if wanted == ["fresh"]:
            raise SettingsError(f"--workloads: fresh needs --data FILE. {WHERE}")
        _warn(messages, f"fresh is left out: it needs --data FILE. {WHERE}")
        wanted.remove("fresh")
    return wanted


def _drafts(given: str) -> list[str]:
    """What to draft with; a model that isn't there is told before any is loaded."""
    names = _names(given)
    for name in names:
        if name in SOURCES or name == NONE:
            continue
        try:
            ModelStore().resolve(name)
        except ModelError as error:
            known = ", ".join((NONE, *SOURCES))
            raise SettingsError(f"--drafts: {error} Besides models there are {known}.") from error
    return names


def _names(given: str) -> list[str]:
    """The names in a list with commas, each once."""
    return list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))


def _sources(folder: Path | None) -> Sources:
    if folder is None:
        return standard_library()
    if not folder.is_dir():
        raise SettingsError(f"--repo: {folder} isn't a folder.")
    return repository(folder)


def _check_writable(path: Path | None) -> None:
    """Rather fail now than after an hour of measuring."""
    if path is None:
        return
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise SettingsError(f"--json: {path} can't be written: {error.strerror}.") from error


def _warn(messages: Console, text: str) -> None:
    messages.print(f"specls: {text}", style="yellow", highlight=False, soft_wrap=True)


def _report(
    arguments: argparse.Namespace,
    plan: Plan,
    settings: Settings,
    measured: Measured,
    messages: Console,
) -> None:
    for notice in measured.notices:
        _warn(messages, notice)
    console = Console(highlight=False, soft_wrap=True)
    # A table that is cut off is worse than one that wraps.
    console.width = max(console.width, WIDE)
    console.print(
        f"n {plan.n}, rounds {plan.rounds}, seed {plan.seed}, {settings.max_tokens} tokens, "
        f"model {settings.model}"
    )
    show(measured.runs, console)
    if arguments.json:
        values = _as_json(plan, settings, measured)
        arguments.json.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def _as_json(plan: Plan, settings: Settings, measured: Measured) -> dict[str, object]:
    return {
        "version": specls.__version__,
        "models": measured.models,
        "settings": asdict(settings),
        "folder": str(plan.sources.folder),
        "data": str(plan.data) if plan.data else None,
        "workloads": list(plan.workloads),
        "n": plan.n,
        "rounds": plan.rounds,
        "seed": plan.seed,
        "drafts": list(plan.drafts),
        "draftLength": plan.draft_length,
        "places": measured.places,
        "runs": [each.as_dict() for each in measured.runs],
    }
