"""Settings as command line options: made from their definitions, read with their rules."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Mapping

from specls.errors import SettingsError
from specls.settings import DEFINITIONS, Settings, parse
from specls.settings.definition import Definition, Form


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add an option for each setting; ``max_tokens`` is ``--max-tokens``."""
    group = parser.add_argument_group("settings", "as in the editor's settings")
    for definition in DEFINITIONS:
        group.add_argument(
            definition.flag,
            metavar="VALUE",
            help=f"{definition.text} {_default(definition.default)}".replace("%", "%%"),
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
    given = {each.name: _read(each, getattr(arguments, each.field)) for each in DEFINITIONS}
    settings, problems = parse(given)
    if problems:
        flags = {definition.name: definition.flag for definition in DEFINITIONS}
        raise SettingsError("; ".join(f"{flags[each.name]}: {each.message}" for each in problems))
    return settings


def _read(definition: Definition, text: str | None) -> object:
    """The value that a text stands for; the text itself where it stands for none."""
    if text is None:
        return None
    if definition.form is not None:
        return _READERS[definition.form](text)
    if definition.switch:
        return _SWITCH.get(text, text)
    if definition.low is not None:
        with contextlib.suppress(ValueError):
            return float(text) if definition.fraction else int(text)
    return text


_SWITCH = {"true": True, "false": False}


def _patterns(value: str) -> list[str]:
    return value.split(",")


def _switches(value: str) -> dict[str, object]:
    pairs = (each.partition("=") for each in value.split(","))
    return {name: _SWITCH.get(each, each) for name, _, each in pairs}


_READERS: Mapping[Form, Callable[[str], object]] = {
    Form.PATTERNS: _patterns,
    Form.SWITCHES: _switches,
}


def count(text: str) -> int:
    """A number of things, from 1, for ``type`` of an argument."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} isn't a whole number from 1")
    return int(text)
