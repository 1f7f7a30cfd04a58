"""Settings: what is allowed, and what a wrong value says."""

from __future__ import annotations

from pathlib import Path

import pytest

from specls.settings import Problem, Settings, camel, describe, parse, settings_page


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
    assert str(problem).startswith("modle: no such setting; known are model, draftModel,")


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
    given = {name: default for name, default, _, _ in describe()}
    assert parse(given) == (Settings(), [])


def test_the_page_is_fresh() -> None:
    """docs/settings.md is what the definitions make of it (`python -m specls.settings`)."""
    page = Path(__file__).parents[1] / "docs" / "settings.md"
    assert page.read_text(encoding="utf-8") == settings_page()
