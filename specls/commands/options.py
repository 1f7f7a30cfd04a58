"""Settings as command line options: made from their definitions, read with their rules."""

from __future__ import annotations

import argparse
import contextlib
from dataclasses import fields

from specls.errors import SettingsError
from specls.settings import Settings, camel, parse


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add an option for each setting; ``max_tokens`` is ``--max-tokens``."""
    group = parser.add_argument_group("settings", "as in the editor's settings")
    for item in fields(Settings):
        group.add_argument(
            _flag(item.name),
            metavar="VALUE",
            help=f"{item.metadata['text']} Default: {item.default}.".replace("%", "%%"),
        )


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The settings that the options say.

    Raises:
        SettingsError: names each wrong option and what it may be.
    """
    given: dict[str, object] = {}
    for item in fields(Settings):
        value = getattr(arguments, item.name)
        if value is not None and item.metadata["low"] is not None:
            with contextlib.suppress(ValueError):
                value = float(value) if item.metadata["fraction"] else int(value)
        elif item.metadata["switch"]:
            value = {"true": True, "false": False}.get(value, value)
        given[camel(item.name)] = value
    settings, problems = parse(given)
    if problems:
        flags = {camel(item.name): _flag(item.name) for item in fields(Settings)}
        raise SettingsError("; ".join(f"{flags[each.name]}: {each.message}" for each in problems))
    return settings


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
