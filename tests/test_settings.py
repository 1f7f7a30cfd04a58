"""Settings: what is allowed, and what a wrong value says."""

from __future__ import annotations

import json
import re
from itertools import zip_longest
from pathlib import Path

import pytest

from specls import cli
from specls.settings import DEFINITIONS, Problem, Settings, camel, parse


def test_nothing_given_means_the_defaults() -> None:
    """No object, and an object without values, change nothing."""
    assert parse(None) == (Settings(), [])
    assert parse({}) == (Settings(), [])
    assert parse({"model": None}) == (Settings(), [])


def test_values_are_taken_over() -> None:
    """Right values replace those that were there before."""
    settings, problems = parse({"maxTokens": 7, "gpuLayers": 3}, Settings(model="other"))
    assert settings == Settings(model="other", max_tokens=7, gpu_layers=3)
    assert problems == []


def test_fractions_are_taken_over() -> None:
    """Where a number may have a fraction, a whole one is right as well."""
    settings, problems = parse({"temperature": 0.7, "topP": 1, "minP": 0})
    assert (settings.temperature, settings.top_p, settings.min_p) == (0.7, 1, 0)
    assert problems == []


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("maxTokens", 0, "a whole number from 1 to 1024"),
        ("maxTokens", "8", "a whole number from 1 to 1024"),
        ("maxTokens", True, "a whole number from 1 to 1024"),
        ("maxTokens", 1.5, "a whole number from 1 to 1024"),
        ("speculation", "on", '"off" or "lookup" or "draft" or "auto"'),
        ("gpuLayers", "all", '"auto" or a whole number from 0 to 1000'),
        ("threads", -1, '"auto" or a whole number from 1 to 512'),
        ("model", "", "a non-empty text"),
        ("model", 7, "a non-empty text"),
        ("kvType", "f32", '"f16" or "q8_0"'),
        ("alternatives", 4, "a whole number from 1 to 3"),
        ("temperature", 2.5, "a number from 0.0 to 2.0"),
        ("temperature", True, "a number from 0.0 to 2.0"),
        ("temperature", float("nan"), "a number from 0.0 to 2.0"),
        ("topP", "0.9", "a number from 0.01 to 1.0"),
        ("exclude", "*.py", "a list of patterns of git's ignore files"),
        ("exclude", ["*.py", 7], "a list of patterns of git's ignore files"),
        ("exclude", ["!"], "a list of patterns of git's ignore files"),
        ("enable", {"go": "no"}, "an object of names with true or false"),
        ("enable", ["go"], "an object of names with true or false"),
    ],
)
def test_a_wrong_value_is_named_with_the_allowed_ones(
    name: str, value: object, allowed: str
) -> None:
    """The old value stays, and the problem says what may stand there."""
    settings, problems = parse({name: value, "maxTokens" if name != "maxTokens" else "model": 5})
    assert Problem(name, f"{value!r} isn't allowed; it must be {allowed}") in problems
    expected = Settings() if name == "maxTokens" else Settings(max_tokens=5)
    assert settings == expected


def test_lists_and_objects_are_taken_over() -> None:
    """Patterns and switches keep their order."""
    settings, problems = parse({"exclude": ["a/", "!a/b"], "enable": {"*": False, "go": True}})
    assert settings.exclude == ("a/", "!a/b")
    assert settings.enable == (("*", False), ("go", True))
    assert problems == []


def test_an_unknown_setting_is_named() -> None:
    """A name that doesn't exist is told with those that do."""
    settings, (problem,) = parse({"modle": "x"})
    assert settings == Settings()
    assert str(problem).startswith("modle: no such setting; known are enabled, model,")


def test_settings_must_be_an_object() -> None:
    """A list or a text instead of names and values is a problem, not an error."""
    settings, (problem,) = parse(["model"])
    assert settings == Settings()
    assert "must be an object" in problem.message


def test_names_are_camel_case() -> None:
    """An editor's name of a setting is the field's in camelCase."""
    assert camel("kv_type") == "kvType"
    assert camel("model") == "model"


def test_every_default_is_allowed() -> None:
    """Each setting's default passes its own rules."""
    given = {definition.name: definition.plain_default for definition in DEFINITIONS}
    assert parse(given) == (Settings(), [])


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What `specls settings` prints with these words."""
    assert cli.main(["settings", *words]) == 0
    return capsys.readouterr().out


def test_the_page_is_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    """docs/settings.md is what `specls settings` prints."""
    page = Path(__file__).parents[1] / "docs" / "settings.md"
    assert page.read_text(encoding="utf-8") == printed(capsys)


def test_the_readme_names_only_settings_there_are() -> None:
    """Each setting in the README's table exists and has the default that the table says."""
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    table = readme.partition("\n## Settings\n")[2].partition("\n## ")[0]
    rows = [row.split("|") for row in table.splitlines() if row.startswith("| `")]
    told = {
        name: default
        for _, names, defaults, *_ in rows
        for name, default in zip_longest(
            re.findall("`(.+?)`", names), re.findall("`(.+?)`", defaults)
        )
    }
    defaults = {each.name: json.dumps(each.plain_default).strip('"') for each in DEFINITIONS}
    assert len(told) > 20
    assert told.keys() <= defaults.keys()
    assert told == {name: told[name] and defaults[name] for name in told}


def test_the_schema_has_each_setting(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON schema holds the type, range and default of each kind of setting."""
    schema = json.loads(printed(capsys, "--format", "json-schema"))
    properties = schema["properties"]
    assert list(properties) == [definition.name for definition in DEFINITIONS]
    assert schema["additionalProperties"] is False
    for each in properties.values():
        assert each.pop("description")
    assert properties["enabled"] == {"type": "boolean", "default": True}
    assert properties["maxLines"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 200,
        "default": 24,
    }
    assert properties["minP"]["type"] == "number"
    assert properties["kvType"] == {"type": "string", "enum": ["f16", "q8_0"], "default": "f16"}
    assert properties["model"] == {
        "type": "string",
        "pattern": "\\S",
        "default": "qwen2.5-coder-1.5b",
    }
    assert properties["threads"] == {
        "anyOf": [
            {"type": "string", "enum": ["auto"]},
            {"type": "integer", "minimum": 1, "maximum": 512},
        ],
        "default": "auto",
    }
    assert properties["exclude"] == {
        "type": "array",
        "items": {"type": "string"},
        "default": [],
    }
    assert properties["enable"] == {
        "type": "object",
        "additionalProperties": {"type": "boolean"},
        "default": {},
    }


def test_the_schema_of_vscode_names_the_section(capsys: pytest.CaptureFixture[str]) -> None:
    """VS Code gets each setting under `specls.`, with a scope: models are the machine's."""
    properties = json.loads(printed(capsys, "--format", "vscode"))
    assert list(properties) == [f"specls.{definition.name}" for definition in DEFINITIONS]
    assert properties["specls.maxLines"]["scope"] == "resource"
    assert properties["specls.model"]["scope"] == "machine-overridable"
    assert properties["specls.enabled"] == {
        "type": "boolean",
        "default": True,
        "markdownDescription": DEFINITIONS[0].text,
        "scope": "resource",
        "order": 0,
    }
