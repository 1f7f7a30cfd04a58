"""The tasks of HumanEval-Infilling: a program with lines missing, and a test of the whole.

Source: Bavarian et al. 2022, "Efficient Training of Language Models to Fill in the Middle". The
data isn't part of specls; see :data:`WHERE`.
"""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specls.errors import SettingsError

KINDS = ("line", "cut")
"""``line``: the cursor stands where the missing line begins. ``cut``: somewhere inside of it."""

SHOWN_KINDS = ("indented", "cut")
"""``indented``: the cursor stands behind the missing line's indentation, as editors place it."""

ONE_LINE, LINES = range(1, 2), range(1, 9)
"""How many lines may be missing: one, or as many as an answer has room for."""

WHERE = (
    "HumanEval-SingleLineInfilling.jsonl.gz comes from the folder data/ of the repository "
    "openai/human-eval-infilling on GitHub."
)

_LEAST = 3
"""Characters of a line behind its indentation: one that's typed, and two that are to be written."""

_FIELDS = ("task_id", "entry_point", "prompt", "suffix", "canonical_solution", "test")


@dataclass(frozen=True)
class Task:
    r"""One place to complete. ``truth`` is the rest of what's missing, without the last ``\n``."""

    id: str
    kind: str
    before: str
    after: str
    truth: str
    test: str
    entry_point: str

    @property
    def problem(self) -> str:
        """The program that the task was made from; others were made from it as well."""
        return problem_of(self.id)

    def program(self, text: str) -> str:
        """The program with ``text`` at the cursor, and its test."""
        written = self.before + text + self.after
        return f"{written}\n{self.test}\n\ncheck({self.entry_point})\n"


Row = dict[str, str]
"""A task as it stands in the data."""


def problem_of(task: str) -> str:
    """The program's part of a task's name: all before the last ``/``."""
    return task.rpartition("/")[0] or task


def read(path: Path, lines: range = ONE_LINE) -> list[Row]:
    """All tasks of a data file, compressed or not, that have enough in their first line.

    Where several lines may be missing and are in any of the tasks, only those with several count.

    Raises:
        SettingsError: the file isn't there, or isn't what it should be.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} can't be read ({error}). {WHERE}") from error
    rows = [
        _row(line, f"{path}, line {number}", several=len(lines) > 1)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]
    counts = {row["canonical_solution"].count("\n") for row in rows} & set(lines)
    wanted = counts - {1} or counts
    return [
        row
        for row in rows
        if row["canonical_solution"].count("\n") in wanted and len(_first(row).strip()) >= _LEAST
    ]


def _first(row: Row) -> str:
    r"""The first missing line, without ``\n``."""
    return row["canonical_solution"].partition("\n")[0]


def _row(line: str, where: str, *, several: bool) -> Row:
    try:
        row = json.loads(line)
    except ValueError:
        raise SettingsError(f"{where} isn't JSON. {WHERE}") from None
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in _FIELDS):
        raise SettingsError(f"{where} has to have the texts {', '.join(_FIELDS)}. {WHERE}")
    missing = row["canonical_solution"]
    whole = missing.endswith("\n") and row["prompt"][-1:] in {"", "\n"}
    if not whole or (missing.count("\n") > 1 and not several):
        which = "whole lines" if several else "one whole line"
        raise SettingsError(f"{where} isn't a task with {which} missing. {WHERE}")
    return {name: row[name] for name in _FIELDS}


def choose(rows: Sequence[Row], n: int, seed: int) -> list[Row]:
    """``n`` of the tasks at random, or all of them where there are fewer.

    With the same seed, a larger ``n`` only adds to what a smaller one chooses.
    """
    shuffled = sorted(rows, key=lambda row: row["task_id"])
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - no secret
    return shuffled[:n]


def tasks_of(rows: Sequence[Row], kinds: Sequence[str]) -> list[Task]:
    """The tasks of these kinds; those of one row stand together."""
    return [task_of(row, kind) for row in rows for kind in kinds]


def task_of(row: Row, kind: str) -> Task:
    """The task of one kind."""
    missing = row["canonical_solution"].removesuffix("\n")
    line = _first(row)
    columns = {"cut": _cut(line, row["task_id"]), "indented": len(line) - len(line.lstrip())}
    column = columns.get(kind, 0)
    return Task(
        id=row["task_id"],
        kind=kind,
        before=row["prompt"] + missing[:column],
        after="\n" + row["suffix"],
        truth=missing[column:],
        test=row["test"],
        entry_point=row["entry_point"],
    )


def _cut(line: str, name: str) -> int:
    """A column inside the line, always the same for the same task."""
    content = line.rstrip()
    indentation = len(content) - len(content.lstrip())
    dice = random.Random(name)  # noqa: S311 - no secret
    return dice.randint(indentation + 1, len(content) - _LEAST + 1)
