"""The workloads of ``specls bench speculation``: places in real files, by what is written there."""

from __future__ import annotations

import gzip
import json
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

from specls.bench.infill_tasks import problem_of
from specls.bench.sources import Sources
from specls.bench.speculation_edits import EDITS
from specls.context.document import Snapshot
from specls.context.text import Position, Text, split_lines
from specls.errors import SettingsError

WORKLOADS = ("edit", "repeat", "fresh", "copy")
"""``edit``: a suggestion was shown, something small was changed, and it's asked for again.
``repeat``: inside tests, tables, dictionaries. ``fresh``: programs of HumanEval-Infilling.
``copy``: a block that stands above is written once more."""

WHERE = (
    "HumanEval-MultiLineInfilling.jsonl.gz comes from the folder data/ of the repository "
    "openai/human-eval-infilling on GitHub."
)

_ABOVE, _BELOW = 20, 10
"""Lines that a place has around it at least."""

_GAP = 12
"""Lines of a file that are missing, so that there's something to write."""

_LEAST_MISSING = 4
"""Lines of a program that are missing at least."""

_ALIKE = 4
"""So many lines of one form around a place make it repetitive,"""

_SHARE = 0.8
"""if that share of the lines is of such forms."""

_BLOCK = range(14, 49)
"""How many lines a block has that is copied."""

_GIVEN = 2
"""Lines of a copy that are there already."""

_STRING = re.compile(r"""(["'])(?:\\.|(?!\1).)*\1""")
_HEADER = re.compile(r"\w.*[:{]\s*\Z")
_PROSE = ("#", "//", "*", '"', "'")
_FIELDS = ("task_id", "prompt", "suffix", "canonical_solution")


@dataclass(frozen=True)
class Place:
    """A document and a cursor; where a suggestion is shown first, how it's edited then."""

    workload: str
    snapshot: Snapshot
    position: Position
    edit: str = ""
    needed: str = ""
    """Text without which a prompt makes no sense here: what is to be copied."""

    @property
    def document(self) -> str:
        """A name that no other place of the run has."""
        return f"{self.snapshot.uri}#{self.workload}"

    def as_dict(self) -> dict[str, object]:
        """Where it is, for JSON: lines and columns from 0."""
        return {
            "workload": self.workload,
            "uri": self.snapshot.uri,
            "line": self.position.line,
            "column": self.position.column,
            "edit": self.edit or None,
        }


def places(workload: str, sources: Sources, data: Path | None, seed: int) -> Iterator[Place]:
    """Places of a workload in an order that the seed decides, at most one in each file.

    Raises:
        SettingsError: ``data`` is needed and missing, or can't be read.
    """
    choice = random.Random(f"{seed} {workload}")  # noqa: S311 - no secret
    if workload == "fresh":
        if data is None:
            raise SettingsError(f"--workloads: fresh needs --data FILE. {WHERE}")
        return fresh(data, choice)
    finders = {"edit": edited, "repeat": repeated, "copy": copied}
    return finders[workload](sources.draw(choice), choice)


def edited(documents: Iterator[Snapshot], choice: random.Random) -> Iterator[Place]:
    """Lines of code of which the rest of the block is missing; the kinds of edits take turns."""
    for place, edit in zip(_gaps(documents, choice, "edit", is_code), cycle(EDITS), strict=False):
        yield replace(place, edit=edit)


def repeated(documents: Iterator[Snapshot], choice: random.Random) -> Iterator[Place]:
    """Lines around which most others are of one of a few forms: tests, tables, dictionaries."""
    return _gaps(documents, choice, "repeat", is_repetitive)


def copied(documents: Iterator[Snapshot], choice: random.Random) -> Iterator[Place]:
    """A file ends with a long block and the first lines of it once more, the cursor behind them."""
    for document in documents:
        lines = list(document.text.lines(0, len(document.text)))
        blocks = list(_blocks(lines))
        if blocks:
            yield _begun_again(document, lines, choice.choice(blocks))


def fresh(data: Path, choice: random.Random) -> Iterator[Place]:
    """Programs with several lines missing, one task of each.

    From the tasks with a single missing line, what follows that line is missing as well.

    Raises:
        SettingsError: the file isn't there, or isn't what it should be.
    """
    rows = sorted(_rows(data), key=lambda row: row["task_id"])
    choice.shuffle(rows)
    seen: set[str] = set()
    for row in rows:
        missing = len(split_lines(row["canonical_solution"])) - 1
        rest = split_lines(row["canonical_solution"] + row["suffix"])
        missing = max(missing, _LEAST_MISSING)
        if missing < len(rest) and (problem := problem_of(row["task_id"])) not in seen:
            seen.add(problem)
            yield _task(row, "".join(rest[missing:]))


def _task(row: dict[str, str], after: str) -> Place:
    above = split_lines(row["prompt"])
    text = Text(f"{row['prompt']}\n{after}")
    snapshot = Snapshot(f"file:///{row['task_id']}.py", 1, "python", text)
    return Place("fresh", snapshot, Position(len(above) - 1, len(above[-1])))


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise SettingsError(f"--data: {path} can't be read ({error}). {WHERE}") from error
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in _FIELDS):
            told = f"line {number} has to have the texts {', '.join(_FIELDS)}"
            raise SettingsError(f"--data: {path}: {told}. {WHERE}")
    return rows


Wanted = Callable[[Sequence[str], int], bool]
"""Whether a line, by its number, is a place of a kind."""


def _gaps(
    documents: Iterator[Snapshot], choice: random.Random, workload: str, wanted: Wanted
) -> Iterator[Place]:
    """In each document that has one, a line that is wanted; it and those behind it are missing."""
    for document in documents:
        lines = [document.text.content(line) for line in range(len(document.text))]
        candidates = range(_ABOVE, len(lines) - _GAP - _BELOW)
        for line in choice.sample(candidates, len(candidates)):
            if wanted(lines, line):
                yield _without(document, lines, line, workload)
                break


def _without(document: Snapshot, lines: Sequence[str], line: int, workload: str) -> Place:
    start = Position(line, len(lines[line]) - len(lines[line].lstrip()))
    last = line + _GAP - 1
    text = document.text.replace(start, Position(last, len(lines[last])), "")
    return Place(workload, replace(document, text=text), start)


def is_code(lines: Sequence[str], line: int) -> bool:
    """Whether it's inside of a block, neither comment nor string, and few blank lines follow."""
    content, following = lines[line], lines[line : line + _GAP]
    if not content[:1].isspace() or content.strip().startswith(_PROSE) or not content.strip():
        return False
    return sum(not each.strip() for each in following) <= _GAP // 4


def is_repetitive(lines: Sequence[str], line: int) -> bool:
    """Whether most lines around it have one of a few forms."""
    around = [form(each) for each in lines[line - _GAP : line + _GAP] if each.strip()]
    if not lines[line].strip() or len(around) < _GAP:
        return False
    alike = sum(count for count in Counter(around).values() if count >= _ALIKE)
    return alike >= _SHARE * len(around)


def form(line: str) -> str:
    """A line without what its strings, names and numbers say."""
    return re.sub(r"\w+", "w", _STRING.sub("s", line.strip()))


def _blocks(lines: Sequence[str]) -> Iterator[range]:
    """The blocks at the outermost level that are long enough, as lines from and to."""
    tops = [at for at, line in enumerate(lines) if line.strip() and not line[0].isspace()]
    for top, following in zip(tops, [*tops[1:], len(lines)], strict=True):
        stop = following
        while not lines[stop - 1].strip():
            stop -= 1
        whole = all(line.strip() for line in lines[top : top + _GIVEN + 1])
        if _HEADER.match(lines[top]) and stop - top in _BLOCK and whole:
            yield range(top, stop)


def _begun_again(document: Snapshot, lines: Sequence[str], block: range) -> Place:
    """The file ends with the block and what was begun again of it: there's no end to be seen."""
    given = lines[block.start : block.start + _GIVEN]
    third = lines[block.start + _GIVEN]
    indentation = third[: len(third) - len(third.lstrip())]
    above = "".join(lines[: block.stop]).rstrip("\n")
    text = Text(f"{above}\n\n\n{''.join(given)}{indentation}")
    position = Position(len(text) - 1, len(indentation))
    needed = "".join(lines[block.start : block.stop]).replace("\r\n", "\n").rstrip("\n")
    return Place("copy", replace(document, text=text), position, needed=needed)
