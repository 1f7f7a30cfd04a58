"""The benchmark of workspace context: where it writes, and what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from specls.bench.context import Plan, Result, figures_of, measure, places
from specls.context.text import Position
from specls.core import CancelToken
from specls.engine.controllers import FixedController
from specls.engine.engine import Engine
from specls.errors import SettingsError
from specls.service.dialect import dialect_of
from specls.service.interface import Runtime
from specls.service.prompts import PromptBuilder
from specls.settings import Settings
from tests.bench.files import FUNCTION
from tests.fakes import FILE, FamilyTokenizer, ScriptedModel
from tests.service.scripted import says


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder of three files that are much alike."""
    for number in range(3):
        folder = tmp_path / ("near" if number < 2 else "far")
        folder.mkdir(exist_ok=True)
        text = "".join(FUNCTION.format(10 * number + each) for each in range(12))
        (folder / f"file{number}.py").write_text(text, encoding="utf-8")
    return tmp_path


def runtime_of(script: str) -> tuple[Runtime, ScriptedModel]:
    tokenizer = FamilyTokenizer()
    model = ScriptedModel(says(script), micro_batch=64, capacity=8192)
    prompts = PromptBuilder(tokenizer, dialect_of(tokenizer, FamilyTokenizer.FAMILY), None)
    engine = Engine(model, {}, FixedController())
    return Runtime(engine, tokenizer, prompts, {}, (), lambda: None), model


def test_the_rest_of_the_line_is_missing(project: Path) -> None:
    """At a place, what is to be written isn't in the document; the nearest files are open."""
    found = list(places(Plan(project, 5, 0, 1)))
    assert len(found) == 5
    for each in found:
        assert each.snapshot.text.content(each.position.line)[each.position.column :] == ""
        path = Path(each.snapshot.uri.removeprefix("file://"))
        line = path.read_text(encoding="utf-8").split("\n")[each.position.line]
        assert line[each.position.column :].rstrip() == each.truth
        if "near" in path.parts:
            assert "/near/" in each.others[0].uri


def test_places_are_the_same_for_a_seed(project: Path) -> None:
    """The same seed means the same places and the same open files."""
    first, again = (list(places(Plan(project, 4, 7, 2))) for _ in range(2))
    assert [(each.snapshot.uri, each.position) for each in first] == [
        (each.snapshot.uri, each.position) for each in again
    ]
    assert [[other.uri for other in each.others] for each in first] == [
        [other.uri for other in each.others] for each in again
    ]


def test_a_folder_needs_two_files(tmp_path: Path) -> None:
    """A single file has no others that could be told of."""
    text = "".join(FUNCTION.format(number) for number in range(20))
    (tmp_path / "one.py").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="one source file"):
        list(places(Plan(tmp_path, 1, 0, 1)))


def test_both_arms_write_at_each_place(project: Path) -> None:
    """One prompt tells of other files and the other doesn't; both are read anew, and counted."""
    runtime, model = runtime_of("\n")
    told: list[bool] = []

    def note() -> None:
        told.append(any(FILE in tokens for tokens in model.held.values()))

    model.on_decode = note
    results: list[Result] = []
    settings = Settings(prefix_tokens=300, suffix_tokens=50, workspace_tokens=1500)
    measure(Plan(project, 2, 0, 2), settings, runtime, CancelToken(), results.append)
    assert sorted((each.place, each.arm) for each in results) == [
        (0, "alone"),
        (0, "files"),
        (1, "alone"),
        (1, "files"),
    ]
    assert True in told
    for alone, files in zip(
        [each for each in results if each.arm == "alone"],
        [each for each in results if each.arm == "files"],
        strict=True,
    ):
        assert (alone.head_tokens, alone.files) == (0, ())
        assert 0 < files.head_tokens <= 1500 + 20
        assert files.prefilled == alone.prefilled + files.head_tokens
        assert len(files.files) >= 1


def test_what_is_written_is_compared_with_the_line(project: Path) -> None:
    """A line as the file has it is exact, and its characters match."""
    (place,) = places(Plan(project, 1, 3, 1))
    runtime, _ = runtime_of(place.truth + "\n")
    results: list[Result] = []
    measure(Plan(project, 1, 3, 1), Settings(), runtime, CancelToken(), results.append)
    assert [(each.exact, each.matched) for each in results] == [(True, len(place.truth))] * 2


def result(place: int, arm: str, *, exact: bool = False, matched: int = 0) -> Result:
    return Result(place, arm, exact, matched, 10, 100, 0.5, 0.0)


def test_only_what_both_have_done_is_compared() -> None:
    """A place that one arm hasn't done when it's interrupted doesn't count."""
    results: Sequence[Result] = [
        result(0, "alone", exact=True, matched=4),
        result(0, "files", matched=2),
        result(1, "alone"),
    ]
    alone, files = figures_of(results, "alone"), figures_of(results, "files")
    assert alone is not None
    assert files is not None
    assert (alone.n, alone.exact, alone.matched) == (1, 1.0, 4.0)
    assert (files.n, files.exact, files.matched) == (1, 0.0, 2.0)
    assert figures_of(results[2:], "files") is None


def test_the_position_is_inside_of_code(project: Path) -> None:
    """Nothing is asked for at the beginning of a line."""
    for each in places(Plan(project, 6, 1, 1)):
        assert each.position > Position(0, 0)
        assert each.snapshot.text.content(each.position.line).strip()
