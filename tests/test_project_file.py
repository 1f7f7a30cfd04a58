"""The project file: what it may say, how it's merged with what the editor says."""

from __future__ import annotations

import pytest

from specls.settings import Problem, Settings
from specls.settings.project import ProjectFile, of_models, read_project, with_project

MODELS = {"big": True, "small": True, "absent": False}


def read(text: str, before: ProjectFile | None = None) -> ProjectFile:
    return read_project(text, MODELS, before)


def test_right_values_are_taken() -> None:
    """Every kind of setting, by the names that editors use; lists and tables are TOML's."""
    project = read(
        "# ours\n"
        'model = "big"\n'
        'draftModel = "none"\n'
        "maxTokens = 96\n"
        "temperature = 1\n"
        "threads = 4\n"
        "kvDiskMiB = 0\n"
        "enabled = false\n"
        'exclude = ["vendor/", "*.gen.py"]\n'
        "[enable]\n"
        "markdown = false\n"
    )
    assert project.problems == ()
    assert project.values == {
        "model": "big",
        "draft_model": "none",
        "max_tokens": 96,
        "temperature": 1,
        "threads": 4,
        "kv_disk_mib": 0,
        "enabled": False,
        "exclude": ("vendor/", "*.gen.py"),
        "enable": (("markdown", False),),
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("maxTokens = 0", "0 isn't allowed; it must be a whole number from 1 to 1024"),
        ('enabled = "no"', "'no' isn't allowed; it must be true or false"),
        ("exclude = 1979-05-27", "datetime.date(1979, 5, 27) isn't allowed; it must be a list of"),
        ('model = "/models/mine.gguf"', "a project file names an id of `specls models list`"),
        ('model = "mine.gguf"', "a project file names an id of `specls models list`"),
        (
            'model = "absent"',
            "absent isn't on this machine; `specls models pull absent` fetches it",
        ),
        ('model = "auto"', "a project file names an id of `specls models list`"),
        ('draftModel = "./draft"', "a project file names an id of `specls models list`"),
        ("kvDiskMiB = 1025", "1025 isn't allowed; a project file may set 1024 at the most"),
        ("kvBudgetMiB = 100000", "a project file may set 512 at the most"),
        ("contextTokens = 100000", "a project file may set 8192 at the most"),
        ("projectFile = true", "a project file can't set it"),
        ('exclude = ["!.env"]', "a project file can't allow what is excluded"),
        ('exclude = ["a/", "!*.pem"]', "a project file can't allow what is excluded"),
        ('modle = "big"', "no such setting; known are enabled, model,"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(line: str, message: str) -> None:
    """The line and the name say where; all other values are taken."""
    project = read(f"maxLines = 3\n\n# maxTokens = 1\n{line}\n")
    (problem,) = project.problems
    assert problem.name == f"line 4: {line.partition(' ')[0]}"
    assert message in problem.message
    assert project.values == {"max_lines": 3}


def test_what_is_wrong_keeps_the_value_before() -> None:
    """A mistake while somebody edits the file changes nothing else, also when it's no TOML."""
    before = read("maxLines = 3\nmaxTokens = 9\n")
    assert read("maxLines = 4\nmaxTokens = 0\n", before).values == {
        "max_lines": 4,
        "max_tokens": 9,
    }
    broken = read("maxLines = 4\nmaxTokens = \n", before)
    assert broken.values == before.values
    (problem,) = broken.problems
    assert problem == Problem("line 2", "this isn't TOML: Invalid value (at line 2, column 13)")
    assert read("", before) == ProjectFile()


@pytest.mark.parametrize("text", ["[[[", "a = " + "[" * 100_000, "\0", "a = '''"])
def test_nonsense_is_one_problem(text: str) -> None:
    """Whatever a repository holds raises nothing."""
    assert len(read(text).problems) == 1


def test_the_editor_s_settings_count_before_the_project_s() -> None:
    """A value that the editor sets stays; what is at its default follows the project."""
    project = read("maxTokens = 96\nmaxLines = 3\n")
    merged = with_project(Settings(max_lines=7), project)
    assert merged == Settings(max_tokens=96, max_lines=7)


def test_exclusions_add_up() -> None:
    """Patterns of both count, the editor's last, so that it can allow what the project excludes."""
    project = read('exclude = ["vendor/"]\n')
    merged = with_project(Settings(exclude=("secret/", "!vendor/ours/")), project)
    assert merged.exclude == ("vendor/", "secret/", "!vendor/ours/")


@pytest.mark.parametrize(
    ("mine", "expected"),
    [
        ((), {"go": True, "markdown": False, "*": False}),
        ((("go", False),), {"go": False, "markdown": False, "*": False}),
        ((("*", False), ("rust", True)), {"*": False, "rust": True}),
    ],
)
def test_languages_of_both_count(
    mine: tuple[tuple[str, bool], ...], expected: dict[str, bool]
) -> None:
    """The editor's own come first; what it says of all languages leaves none to the project."""
    project = read('[enable]\ngo = true\nmarkdown = false\n"*" = false\n')
    assert dict(with_project(Settings(enable=mine), project).enable) == expected


def test_models_are_for_all_folders() -> None:
    """What is about the models can be told apart."""
    project = read('model = "big"\nthreads = 2\nmaxTokens = 9\n')
    assert of_models(project).values == {"model": "big", "threads": 2}


def test_what_is_told_is_short() -> None:
    """Neither a long value nor a long name fills a person's screen."""
    project = read(f'maxTokens = "{"x" * 60_000}"\n"{"y" * 5000}" = 1\n')
    first, second = project.problems
    assert first == Problem(
        "line 1: maxTokens",
        f"'{'x' * 99}… isn't allowed; it must be a whole number from 1 to 1024",
    )
    assert second.name == f"line 2: {'y' * 100}…"


@pytest.mark.parametrize("name", ['"maxToken"', "'maxToken'", "maxToken", "[maxToken]"])
def test_a_name_is_found_as_it_is_written(name: str) -> None:
    """Names may be quoted, and be those of tables."""
    line = name if name.startswith("[") else f"{name} = 1"
    (problem,) = read(f"maxLines = 3\n\n{line}\n").problems
    assert problem.name == "line 3: maxToken"
