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

In the editor's settings under `specls`, in a project file, or as options of `specls complete`
(`maxTokens` is `--max-tokens`). Made by `specls settings`: don't edit it.

Each of these counts before those above it:

1. the defaults,
2. `.specls.toml` in the folder of the workspace that the document is in,
3. the editor's settings: the options of `initialize`, then those for all, then those of the folder.

Some editors send every setting, whether somebody set it or not. So a value that is the default
counts as not set, and the project file is followed there.

A change is followed at once, without a restart. A wrong value is reported once, by its name, and
the value before it stays.

## The project file

`.specls.toml` has names and values at its top level, as in `maxTokens = 96`. It's read when the
folder is opened, and again when it changes: editors that watch files tell so, others when they
save it. Since it comes with whatever repository you clone, it can't do everything:

- It names no path: `model` and `draftModel` are ids of `specls models list`. It fetches none: one
  that isn't on your machine is told, and yours is used.
- It only lowers `contextTokens`, `kvBudgetMiB` and `kvDiskMiB`, from their defaults.
- Its `exclude` is added to yours, and has no patterns with `!`: it allows nothing that you exclude,
  and nothing that may hold secrets.
- In `enable`, your own languages count first; your `*` leaves none to the project.

One model is loaded for all folders: of several project files that name one, that of the first
folder counts. The setting `projectFile` switches all of this off.
"""

_SCOPES = {
    Scope.FOLDER: "Per folder of the workspace.",
    Scope.MODELS: "One for all folders; a change loads the models anew, while the old ones answer.",
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
