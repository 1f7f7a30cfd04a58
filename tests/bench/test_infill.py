"""The infilling benchmark: what was done is kept, and not done again."""

from __future__ import annotations

import argparse
import io
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console

from specls.bench.infill import Plan, measure, missing, run
from specls.bench.infill_results import Results
from specls.bench.infill_tables import grouped, sentences, show
from specls.bench.infill_tasks import KINDS, Task, task_of, tasks_of
from specls.bench.infill_ways import (
    NAMES,
    Answer,
    Setup,
    Way,
    at_cursor,
    before_lines,
    first_line,
    ways_of,
)
from specls.bench.pass_at_1 import Verdict
from specls.commands import bench_infill
from specls.core import CancelToken
from specls.errors import Cancelled, SettingsError
from specls.service.interface import Runtime
from specls.settings import Settings
from tests.bench.tasks import row, rows, write

CONDITIONS = {"model": "fake"}


@dataclass
class FakeWay:
    """Writes the truth, or something else, and can be interrupted after some tasks."""

    name: str
    right: bool = True
    most: int = 1000
    asked: list[str] = field(default_factory=list)

    def complete(self, task: Task) -> Answer:
        if len(self.asked) == self.most:
            raise Cancelled("interrupted")
        self.asked.append(task.id)
        return Answer(task.truth if self.right else "pass", 5, 20, 0.25)


def fakes(most: int = 1000) -> list[Way]:
    return [FakeWay(name, right="anchored" not in name, most=most) for name in NAMES]


def passes(program: str) -> Verdict:
    return Verdict.FAILED if "pass\n" in program else Verdict.PASSED


TASKS = tasks_of(rows(), KINDS)


def test_what_is_measured_can_be_read_back(tmp_path: Path) -> None:
    """The file holds every result as it was."""
    results = Results(tmp_path / "results.jsonl", CONDITIONS)
    measure(TASKS, fakes(), results, passes)
    again = Results(tmp_path / "results.jsonl", CONDITIONS)
    assert list(again) == list(results)
    assert len(again) == len(TASKS) * len(NAMES)
    assert not missing(TASKS, NAMES, again)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """What an earlier run has done isn't done again."""
    path = tmp_path / "results.jsonl"
    with pytest.raises(Cancelled):
        measure(TASKS, fakes(most=3), Results(path, CONDITIONS), passes)
    results = Results(path, CONDITIONS)
    assert len(results) == 2 * len(NAMES) + 1
    assert missing(TASKS, NAMES, results)
    ways = [FakeWay(name) for name in NAMES]
    measure(TASKS, ways, results, passes)
    assert [len(TASKS) - len(way.asked) for way in ways] == [3] + [2] * (len(NAMES) - 1)
    assert len(Results(path, CONDITIONS)) == len(TASKS) * len(NAMES)


def test_a_line_that_was_cut_off_is_written_again(tmp_path: Path) -> None:
    """A run that ended while it wrote loses that result only."""
    path = tmp_path / "results.jsonl"
    measure(TASKS[:2], fakes(), Results(path, CONDITIONS), passes)
    path.write_bytes(path.read_bytes()[:-9])
    results = Results(path, CONDITIONS)
    assert len(results) == 2 * len(NAMES) - 1
    measure(TASKS[:2], fakes(), results, passes)
    assert len(Results(path, CONDITIONS)) == 2 * len(NAMES)


def test_results_of_another_run_are_refused(tmp_path: Path) -> None:
    """Results of two models don't get into one file, nor into one that is something else."""
    path = tmp_path / "results.jsonl"
    Results(path, CONDITIONS)
    with pytest.raises(SettingsError, match="model differ"):
        Results(path, {"model": "other"})
    for raw in (b"something else\n", b"no line end", b'{"a": 1}\n'):
        path.write_bytes(raw)
        with pytest.raises(SettingsError, match="isn't a file of results"):
            Results(path, CONDITIONS)
        assert path.read_bytes() == raw
    with pytest.raises(SettingsError, match="can't be used"):
        Results(tmp_path / "none" / "results.jsonl", CONDITIONS)


def test_the_same_program_is_tested_once() -> None:
    """Ways that write the same share one test."""
    tested: list[str] = []

    def checker(program: str) -> Verdict:
        tested.append(program)
        return Verdict.PASSED

    measure(TASKS[:2], [FakeWay("a"), FakeWay("b")], Results(None, {}), checker)
    assert len(tested) == 1


def test_figures_are_printed() -> None:
    """The tables have every kind and way, and a sentence says what is worse."""
    results = Results(None, CONDITIONS)
    measure(TASKS, fakes(), results, passes)
    out = io.StringIO()
    show(results, NAMES, 0, Console(file=out, width=160))
    assert all(out.getvalue().count(name) >= 2 for name in (*NAMES, *KINDS))
    said = list(sentences(grouped(results, NAMES), 0))
    assert len(said) == 4
    assert all("too few tasks" in each for each in said)


def test_a_sentence_says_what_is_worse() -> None:
    """With enough programs, the default is judged by its interval."""
    given = [row("Own/1", 3) | {"task_id": f"Own/{number}/L3"} for number in range(10)]
    results = Results(None, CONDITIONS)
    measure(tasks_of(given, KINDS), fakes(), results, passes)
    said = list(sentences(grouped(results, NAMES), 0))
    assert len(said) == 4
    assert all("exact match is worse beyond the interval (-100.0" in each for each in said)


def test_tasks_that_a_way_lacks_arent_shown() -> None:
    """All ways are shown for the same tasks."""
    results = Results(None, CONDITIONS)
    ways = fakes()
    measure(TASKS[:4], ways, results, passes)
    measure(TASKS[4:], ways[:2], results, passes)
    assert {key: len(found) for key, found in grouped(results, NAMES).items()} == {
        (kind, name): 2 for kind in KINDS for name in NAMES
    }


@pytest.mark.parametrize(
    ("head", "text", "line", "ended"),
    [
        ("", "    return 1\n", "    return 1", True),
        ("", "    return 1  ", "    return 1", False),
        ("", "\n  \n  a = 1\nb", "  a = 1", True),
        ("", "\n\n", "", False),
        ("x = ", "1\n2", "1", True),
        ("x = ", "\ny", "", True),
        ("x", "", "", False),
    ],
)
def test_the_first_line_counts(head: str, text: str, line: str, ended: bool) -> None:  # noqa: FBT001
    """An answer is the rest of the line, or the first line with something in it."""
    assert first_line(head, text) == (line, ended)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 2, 4, 30])
def test_the_anchor_is_where_the_lines_were_not_typed_yet(kind: str, count: int) -> None:
    """Typing the lines above the cursor into the earlier document makes the later one."""
    task = task_of(row("Own/0", 5), kind)
    earlier, place = before_lines(task, count)
    later, cursor = at_cursor(task)
    assert str(later.text) == task.before + task.after
    assert cursor.line - place.line == min(count, 5)
    lines = str(later.text).split("\n")[place.line : cursor.line + 1]
    lines[-1] = lines[-1][: cursor.column]
    assert earlier.text.replace(place, place, "\n".join(lines)) == later.text


def test_data_has_to_be_named() -> None:
    """Without ``--data`` the error says where the data comes from."""
    parser = argparse.ArgumentParser()
    bench_infill.register(parser.add_subparsers())
    arguments = parser.parse_args(["infill"])
    with pytest.raises(SettingsError, match="human-eval-infilling"):
        arguments.run(arguments)
    for options in (["--n", "0"], ["--typed-lines", "27"], ["--carried-lines", "-1"]):
        arguments = parser.parse_args(["infill", "--data", "x", *options])
        with pytest.raises(SettingsError, match=options[0]):
            arguments.run(arguments)


@pytest.mark.model
def test_all_ways_write_with_a_real_model(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A small run measures all ways on the real model; a second one only prints."""
    data = write(tmp_path / "tasks.jsonl", [row("Own/0", 4), row("Own/1", 3)])
    file = tmp_path / "results.jsonl"
    plan = Plan(data, 2, 0, NAMES, KINDS, 0, 4, 30.0, file)
    settings = Settings(model="qwen2.5-coder-0.5b", context_tokens=2048, max_tokens=16)
    assert run(plan, settings) == 0
    first = capfd.readouterr().out
    assert all(name in first for name in NAMES)
    lines = file.read_text().splitlines()
    assert len(lines) == 1 + 2 * len(KINDS) * len(NAMES)
    assert run(plan, settings) == 0
    assert capfd.readouterr().out == first
    assert file.read_text().splitlines() == lines


def _check_protocols(runtime: Runtime) -> list[Way]:
    """For mypy: the ways are what they stand for."""
    return ways_of(Setup(runtime, (1536, 512), 48, 0, 4, CancelToken()))
