"""Tasks: read, checked, chosen, and cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from specls.bench.infill_tasks import KINDS, LINES, choose, problem_of, read, task_of, tasks_of
from specls.bench.pass_at_1 import Verdict, check
from specls.errors import SettingsError
from tests.bench.tasks import row, rows, several, write


@pytest.mark.parametrize("name", ["tasks.jsonl", "tasks.jsonl.gz"])
def test_reads_plain_and_compressed(tmp_path: Path, name: str) -> None:
    """A data file gives its tasks, compressed or not."""
    assert read(write(tmp_path / name, rows())) == rows()


def test_a_missing_file_says_where_to_get_it(tmp_path: Path) -> None:
    """Without the data, the error names the repository and the file."""
    with pytest.raises(SettingsError, match="human-eval-infilling") as caught:
        read(tmp_path / "none.jsonl.gz")
    assert "HumanEval-SingleLineInfilling.jsonl.gz" in str(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"no json\n",
        b"[1]\n",
        b'{"task_id": "Own/0/L1"}\n',
        b"\xff\n",
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, raw: bytes) -> None:
    """A file that isn't the data gives a clear error."""
    path = tmp_path / "wrong.jsonl"
    path.write_bytes(raw)
    with pytest.raises(SettingsError, match=r"wrong\.jsonl"):
        read(path)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    """A compressed file that was cut off gives a clear error."""
    path = write(tmp_path / "tasks.jsonl.gz", rows())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SettingsError, match="can't be read"):
        read(path)


def test_several_missing_lines_are_refused(tmp_path: Path) -> None:
    """Only tasks with one line missing can be measured."""
    task = row("Own/0", 2) | {"canonical_solution": "a = 1\nb = 2\n"}
    with pytest.raises(SettingsError, match="one whole line"):
        read(write(tmp_path / "multi.jsonl", [task]))


def test_where_several_lines_may_be_missing_those_tasks_count(tmp_path: Path) -> None:
    """Of a file with both, those with several lines are read, but for very long ones."""
    two, three = several("Own/0", 3, 5), several("Own/0", 4, 7)
    long = two | {"canonical_solution": "a = 1\n" * LINES.stop}
    path = write(tmp_path / "multi.jsonl", [*rows(), two, long, three])
    assert read(path, LINES) == [two, three]
    assert read(write(tmp_path / "single.jsonl", rows()), LINES) == rows()
    part = write(tmp_path / "part.jsonl", [two | {"canonical_solution": "a = 1\nb ="}])
    with pytest.raises(SettingsError, match="whole lines"):
        read(part, LINES)


def test_a_task_with_several_lines_goes_on_below_the_cursor() -> None:
    """The truth is the rest of the first line, and the others; the program is whole with it."""
    missing = several("Own/0", 3, 6)
    indented = task_of(missing, "indented")
    assert indented.before.endswith("numbers[0]\n    ")
    assert indented.truth.startswith("for number in numbers:\n        if number")
    assert indented.truth.endswith("best = number")
    for kind in (*KINDS, "indented"):
        task = task_of(missing, kind)
        assert check(task.program(task.truth)) is Verdict.PASSED
        assert check(task.program("pass")) is Verdict.FAILED
    assert "\n" not in task_of(missing, "cut").before.rpartition("numbers[0]\n")[2]


def test_lines_with_too_little_are_left_out(tmp_path: Path) -> None:
    """A line of less than three characters can't be cut, and isn't a task of either kind."""
    short = row("Own/0", 2) | {"canonical_solution": "    }\n"}
    assert read(write(tmp_path / "short.jsonl", [short, *rows()])) == rows()


def test_a_larger_choice_holds_a_smaller_one() -> None:
    """The choice depends on the seed alone, and grows with n."""
    small, large = choose(rows(), 3, 1), choose(rows(), 5, 1)
    assert large[:3] == small
    assert choose(list(reversed(rows())), 3, 1) == small
    assert len(choose(rows(), 100, 1)) == len(rows())
    assert any(choose(rows(), 3, seed) != small for seed in range(2, 6))


def test_the_kinds_of_a_row_stand_together() -> None:
    """Both kinds of one row come one after the other."""
    tasks = tasks_of(rows()[:2], KINDS)
    assert [(task.id, task.kind) for task in tasks] == [
        ("Own/0/L2", "line"),
        ("Own/0/L2", "cut"),
        ("Own/0/L3", "line"),
        ("Own/0/L3", "cut"),
    ]


def test_a_line_task_begins_where_the_line_begins() -> None:
    """The cursor stands in an empty line, and the truth is the whole line."""
    task = task_of(row("Own/0", 4), "line")
    assert task.before.endswith("in numbers:\n")
    assert task.truth == "        if number > best:"
    assert task.after.startswith("\n            best")


@pytest.mark.parametrize("number", range(len(rows())))
def test_a_cut_task_leaves_something_on_both_sides(number: int) -> None:
    """At least one character is typed and two are left, always at the same place."""
    given = rows()[number]
    task = task_of(given, "cut")
    head = task.before[len(given["prompt"]) :]
    assert head.strip()
    assert len(task.truth) >= 2
    assert head + task.truth + "\n" == given["canonical_solution"]
    assert task_of(given, "cut") == task


@pytest.mark.parametrize("kind", KINDS)
def test_the_truth_passes(kind: str) -> None:
    """The program with the truth at the cursor passes its test."""
    task = task_of(row("Own/0", 4), kind)
    assert check(task.program(task.truth), seconds=30) is Verdict.PASSED


def test_the_problem_of_a_task() -> None:
    """Tasks made from one program have the same problem."""
    assert problem_of("SingleLineInfilling/HumanEval/0/L3") == "SingleLineInfilling/HumanEval/0"
    assert problem_of("alone") == "alone"
