"""The project file: settings that come with a repository, and what they may not say.

Whoever clones a repository gets its file, so it can neither name a file, nor take more memory or
disk, nor allow what somebody excludes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from specls.errors import short
from specls.settings.definition import Definition, Form, Project, Scope
from specls.settings.reading import Problem
from specls.settings.values import DEFINITIONS, Settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = ".specls.toml"

_AT_LINE = re.compile(r"\(at line (\d+),")
_KEY = re.compile(r"""\s*\[?\s*(?P<quote>["']?)(?P<name>[^"'\s=.\[\]]+)(?P=quote)\s*[=.\]]""")


@dataclass(frozen=True)
class ProjectFile:
    """What a project file says: right values by the names of their fields, and what is wrong."""

    values: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_project(
    text: str, models: Mapping[str, bool], before: ProjectFile | None = None
) -> ProjectFile:
    """Read a project file. ``models`` are the ids of the catalogue, and whether each is here.

    Problems are named with their lines. What is wrong keeps the value that it had ``before``.
    """
    old = before.values if before is not None else {}
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _AT_LINE.search(str(error))
        where = f"line {found[1] if found else text.count(chr(10)) + 1}"
        return ProjectFile(old, (Problem(where, f"this isn't TOML: {short(error)}"),))
    known = {definition.name: definition for definition in DEFINITIONS}
    lines = _lines_of(text)
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in table.items():
        definition = known.get(name)
        refused = _refused(definition, value, models)
        if definition is not None and refused is None:
            values[definition.field] = definition.frozen(value)
        else:
            where = f"line {lines.get(name, 1)}: {short(repr(name)[1:-1])}"
            problems.append(Problem(where, str(refused)))
            if definition is not None and definition.field in old:
                values[definition.field] = old[definition.field]
    return ProjectFile(values, tuple(problems))


def with_project(settings: Settings, project: ProjectFile) -> Settings:
    """An editor's settings for a folder that has a project file.

    What the editor sets counts. Whether a default was set can't be known of editors that send all
    values: it counts as not set. Lists add up: patterns of both exclude, and languages of both
    count, those of the editor first.
    """
    untouched = Settings()
    values = {
        name: value
        for name, value in project.values.items()
        if getattr(settings, name) == getattr(untouched, name)
    }
    if exclude := project.values.get("exclude"):
        values["exclude"] = (*exclude, *settings.exclude)
    if enable := project.values.get("enable"):
        mine = dict(settings.enable)
        theirs = {} if "*" in mine else dict(enable)
        values["enable"] = tuple({**theirs, **mine}.items())
    return replace(settings, **values)


def of_models(project: ProjectFile) -> ProjectFile:
    """What of it is about the models, and so holds for all folders."""
    names = {each.field for each in DEFINITIONS if each.scope is Scope.MODELS}
    return ProjectFile({name: value for name, value in project.values.items() if name in names})


def _refused(
    definition: Definition | None, value: object, models: Mapping[str, bool]
) -> str | None:
    """Why a value may not be set by a project; None if it may."""
    if definition is None:
        return f"no such setting; known are {', '.join(each.name for each in DEFINITIONS)}"
    if definition.project is Project.NEVER:
        return "a project file can't set it"
    if not definition.accepts(value):
        return f"{short(repr(value))} isn't allowed; it must be {definition.allowed}"
    return _forbidden(definition, value, models)


def _forbidden(definition: Definition, value: Any, models: Mapping[str, bool]) -> str | None:
    """Why a right value is too much for a project; None if it isn't."""
    if definition.project is Project.CATALOGUE and not _is_left_open(definition, value):
        if value not in models:
            named = "a project file names an id of `specls models list`"
            return f"{short(repr(value))} isn't allowed; {named}"
        if not models[value]:
            return f"{value} isn't on this machine; `specls models pull {value}` fetches it"
    if definition.project is Project.LOWER and value > definition.default:
        return f"{value} isn't allowed; a project file may set {definition.default} at the most"
    if definition.form is Form.PATTERNS and any(each.startswith("!") for each in value):
        return "a project file can't allow what is excluded: patterns with ! are the editor's"
    return None


def _is_left_open(definition: Definition, value: object) -> bool:
    """Whether a draft model isn't named, but left to the catalogue, or not wanted."""
    return definition.default == "auto" and value in {"auto", "none"}


def _lines_of(text: str) -> dict[str, int]:
    """The lines that set names: TOML's reader doesn't tell."""
    found = ((_KEY.match(line), number) for number, line in enumerate(text.splitlines(), 1))
    lines: dict[str, int] = {}
    for match, number in found:
        if match is not None:
            lines.setdefault(match["name"], number)
    return lines
