"""The settings as others want to have them: a page, a JSON schema, the schema of VS Code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from specls.settings.definition import Definition, Form, Project, Scope
from specls.settings.values import DEFINITIONS

SECTION = "specls"
"""Under which editors keep the settings."""

_INTRODUCTION = """\
# Settings

In the editor's settings under `specls`, or as options of `specls complete`
(`maxTokens` is `--max-tokens`). Made by `specls settings`: don't edit it.
"""

_SCOPES = {
    Scope.FOLDER: "Per folder of the workspace.",
    Scope.MODELS: "One for all folders; a change loads the models anew.",
}
_PROJECTS = {
    Project.FREE: "",
    Project.LOWER: " A project file may only lower it.",
    Project.CATALOGUE: " A project file names no path.",
    Project.NEVER: " Not in a project file.",
}


def markdown() -> str:
    """The text of docs/settings.md."""
    return _INTRODUCTION + "".join(map(_entry, DEFINITIONS))


def _entry(definition: Definition) -> str:
    default = json.dumps(definition.plain_default)
    where = _SCOPES[definition.scope] + _PROJECTS[definition.project]
    return (
        f"\n## `{definition.name}`\n\n{definition.text}\n\n"
        f"Allowed: {definition.allowed}. Default: `{default}`. {where}\n"
    )


def json_schema() -> str:
    """A JSON schema of the settings as one object, as `initializationOptions` may have it."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of specls",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            each.name: {"description": each.text, **_type(each), "default": each.plain_default}
            for each in DEFINITIONS
        },
    }
    return _json(schema)


def vscode() -> str:
    """The properties of ``contributes.configuration`` in an extension's package.json."""
    properties = {
        f"{SECTION}.{definition.name}": {
            **_type(definition),
            "default": definition.plain_default,
            "markdownDescription": definition.text,
            "scope": _VSCODE_SCOPES[definition.scope],
            "order": order,
        }
        for order, definition in enumerate(DEFINITIONS)
    }
    return _json(properties)


_VSCODE_SCOPES = {Scope.FOLDER: "resource", Scope.MODELS: "machine-overridable"}


def _type(definition: Definition) -> Mapping[str, Any]:
    """What JSON schema says of the values."""
    if definition.form is Form.PATTERNS:
        return {"type": "array", "items": {"type": "string"}}
    if definition.form is Form.SWITCHES:
        return {"type": "object", "additionalProperties": {"type": "boolean"}}
    if definition.switch:
        return {"type": "boolean"}
    if definition.low is None:
        choices = {"enum": list(definition.choices)} if definition.choices else {"pattern": "\\S"}
        return {"type": "string", **choices}
    number = {
        "type": "number" if definition.fraction else "integer",
        "minimum": definition.low,
        "maximum": definition.high,
    }
    if not definition.choices:
        return number
    return {"anyOf": [{"type": "string", "enum": list(definition.choices)}, number]}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Callable[[], str]] = {
    "markdown": markdown,
    "json-schema": json_schema,
    "vscode": vscode,
}
"""By the names of `specls settings --format`."""
