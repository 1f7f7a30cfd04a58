"""What ``specls bench typing`` does and prints."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

from rich.console import Console

import specls
from specls.bench.comparison import Measured, Plan, compare
from specls.bench.llama_server import LlamaServerArm
from specls.bench.report import as_json, print_report
from specls.bench.scripts import scripts_of
from specls.bench.sources import Sources, repository, standard_library
from specls.catalogue.store import ModelStore
from specls.commands.options import settings_of
from specls.errors import SettingsError
from specls.settings import Settings

_LEAST_WIDTH = 110
"""Columns of a table that is written to a file."""


def run(arguments: argparse.Namespace) -> int:
    """Replay, print the tables, write the values."""
    settings = settings_of(arguments)
    plan = _plan(arguments)
    sources = _sources(arguments.repo)
    _check_writable(arguments.json)
    messages = Console(stderr=True)
    server = _server(arguments.llama_server, settings, messages)
    measured = Measured()
    try:
        with messages.status("starting") as status:
            tell = status.update if messages.is_terminal else messages.print
            asyncio.run(compare(plan, sources, settings, server, measured, tell))
    finally:
        # What was measured before Ctrl-C isn't lost.
        if measured.samples:
            _report(arguments, settings, sources, measured, messages)
    return 0


def _report(
    arguments: argparse.Namespace,
    settings: Settings,
    sources: Sources,
    measured: Measured,
    messages: Console,
) -> None:
    for notice in measured.notices:
        _warn(messages, notice)
    print_report(_wide(Console(highlight=False)), measured.samples)
    if arguments.json:
        _write(arguments, settings, sources, measured)


def _plan(arguments: argparse.Namespace) -> Plan:
    scripts = scripts_of(arguments.scripts)
    if arguments.places < 1:
        raise SettingsError("--places: at least 1 is needed.")
    pause = arguments.pause / 1000
    return Plan(scripts, arguments.places, arguments.keys, arguments.seed, pause)


def _sources(folder: Path | None) -> Sources:
    if folder is None:
        return standard_library()
    if not folder.is_dir():
        raise SettingsError(f"--repo: {folder} isn't a folder.")
    return repository(folder)


def _server(url: str | None, settings: Settings, messages: Console) -> LlamaServerArm | None:
    """The other server, if one is to be compared; what differs between the models is told."""
    model = ModelStore().resolve(settings.model).path
    if url is None:
        return None
    server = LlamaServerArm(url, settings.max_tokens)
    if warning := server.warning(model):
        _warn(messages, warning)
    return server


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


def _wide(console: Console) -> Console:
    """A terminal has the width that it has; elsewhere nothing is to be cut off."""
    if not console.is_terminal:
        console.width = max(console.width, _LEAST_WIDTH)
    return console


def _write(
    arguments: argparse.Namespace, settings: Settings, sources: Sources, measured: Measured
) -> None:
    about = {
        "version": specls.__version__,
        "models": dict(measured.models),
        "folder": str(sources.folder),
        "places": arguments.places,
        "keys": arguments.keys,
        "seed": arguments.seed,
        "pauseMs": arguments.pause,
        "llamaServer": arguments.llama_server,
    }
    values = as_json(measured.samples, settings, about)
    arguments.json.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
