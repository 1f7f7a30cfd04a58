"""Tasks of our own in the format of HumanEval-Infilling."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from specls.bench.infill_tasks import Row

_PROGRAMS = {
    "Own/0": (
        "largest",
        [
            "def largest(numbers):",
            '    """The largest of the numbers."""',
            "    best = numbers[0]",
            "    for number in numbers:",
            "        if number > best:",
            "            best = number",
            "    return best",
        ],
        "def check(candidate):\n    assert candidate([3, 9, 4]) == 9\n",
    ),
    "Own/1": (
        "count_words",
        [
            "def count_words(text):",
            '    """How many words the text has."""',
            "    words = text.split()",
            "    return len(words)",
        ],
        "def check(candidate):\n    assert candidate('one two') == 2\n",
    ),
}


def row(program: str, missing: int) -> Row:
    """The task in which one line of a program is missing."""
    return several(program, missing, missing + 1) | {"task_id": f"{program}/L{missing}"}


def several(program: str, start: int, stop: int) -> Row:
    """The task in which the lines from ``start`` to before ``stop`` are missing."""
    entry_point, lines, test = _PROGRAMS[program]
    whole = [line + "\n" for line in lines]
    return {
        "task_id": f"{program}/L{start}_L{stop - 1}",
        "entry_point": entry_point,
        "prompt": "".join(whole[:start]),
        "suffix": "".join(whole[stop:]),
        "canonical_solution": "".join(whole[start:stop]),
        "test": test,
    }


def rows() -> list[Row]:
    """A handful: every line of every program but its first two."""
    return [
        row(program, missing)
        for program, (_, lines, _) in _PROGRAMS.items()
        for missing in range(2, len(lines))
    ]


def write(path: Path, tasks: list[Row]) -> Path:
    """A data file with these tasks, compressed if its name says so."""
    raw = "".join(json.dumps(task) + "\n" for task in tasks).encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path
