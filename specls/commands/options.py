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
            help=f"{item.metadata['text']} {_default(item.default)}".replace("%", "%%"),
        )


def _default(value: object) -> str:
    if value == ():
        return "Separated by commas; a name with =true or =false where it's a switch."
    return f"Default: {value}."


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
            value = _SWITCH.get(value, value)
        elif value is not None and item.metadata["form"]:
            value = _READERS[item.metadata["form"]](value)
        given[camel(item.name)] = value
    settings, problems = parse(given)
    if problems:
        flags = {camel(item.name): _flag(item.name) for item in fields(Settings)}
        raise SettingsError("; ".join(f"{flags[each.name]}: {each.message}" for each in problems))
    return settings


_SWITCH = {"true": True, "false": False}


def _patterns(value: str) -> list[str]:
    return value.split(",")


def _switches(value: str) -> dict[str, object]:
    pairs = (each.partition("=") for each in value.split(","))
    return {name: _SWITCH.get(each, each) for name, _, each in pairs}


_READERS = {"patterns": _patterns, "switches": _switches}


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def count(text: str) -> int:
    """A number of things, from 1, for ``type`` of an argument."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} isn't a whole number from 1")
    return int(text)
