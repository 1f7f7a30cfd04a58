"""Where the benchmark of speculation writes, and how small edits come about."""

from __future__ import annotations

import json
import random
from itertools import islice
from pathlib import Path

import pytest

from specls.bench.sources import Sources, standard_library
from specls.bench.speculation_edits import EDITS, Place, line_above, renamed, replaced, typed
from specls.bench.speculation_places import (
    WORKLOADS,
    copied,
    edited,
    form,
    fresh,
    is_code,
    is_repetitive,
    places,
    repeated,
)
from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.errors import SettingsError
from tests.bench.files import document
from tests.bench.tasks import row, write

SOURCE = "def f():\n    total = 0\n    \n    return total\n"
CURSOR = Position(2, 4)


def choice() -> random.Random:
    return random.Random(0)


def edited_by(name: str, suggestion: str) -> tuple[list[str], Position]:
    snapshot, position = EDITS[name](
        Snapshot("file:///a.py", 1, "python", Text(SOURCE)), CURSOR, suggestion
    )
    return str(snapshot.text).split("\n"), position


def multi_line() -> dict[str, str]:
    """A task in which all lines but two and the last are missing."""
    whole = row("Own/0", 2)
    lines = (whole["canonical_solution"] + whole["suffix"]).splitlines(keepends=True)
    return whole | {"canonical_solution": "".join(lines[:-1]), "suffix": lines[-1]}


def test_a_line_is_written_above() -> None:
    """The cursor stays in its line, which moves down."""
    lines, position = edited_by("line above", "total += 1")
    assert lines[2:4] == ["    # the usual case", "    "]
    assert position == Position(3, 4)


def test_a_name_that_comes_twice_is_renamed() -> None:
    """What was suggested is typed up to its first name that comes again, and that is another."""
    lines, position = edited_by("renamed", "for item in found:\n        total += item\n")
    assert lines[2] == "    for new_item"
    assert position == Position(2, 16)


def test_a_second_name_is_replaced() -> None:
    """What was suggested is typed up to its second name, and one from above stands there."""
    lines, position = edited_by("replaced", "count = measure(1)")
    assert lines[2] == "    count = total"
    assert position == Position(2, 17)


@pytest.mark.parametrize("edit", [renamed, replaced])
def test_without_such_a_name_a_line_is_written(edit: object) -> None:
    """A suggestion in which nothing can be renamed leads to the edit that is always possible."""
    place: Place = Snapshot("file:///a.py", 1, "python", Text(SOURCE)), CURSOR
    assert edit in {renamed, replaced}
    made = renamed(*place, "(1)") if edit is renamed else replaced(*place, "(1)")
    assert made == line_above(*place, "(1)")


def test_typing_several_lines_moves_the_cursor_behind_them() -> None:
    """The cursor stands behind the last character that was typed."""
    snapshot, position = typed(Snapshot("a", 1, "python", Text("ab")), Position(0, 1), "x\nyz")
    assert str(snapshot.text) == "ax\nyzb"
    assert position == Position(1, 2)


def test_the_kinds_of_edits_take_turns() -> None:
    """Each kind comes once before the first comes again."""
    documents = iter([document(str(number)) for number in range(4)])
    assert [each.edit for each in edited(documents, choice())] == [*EDITS, next(iter(EDITS))]


def test_lines_are_missing_where_something_is_edited() -> None:
    """A line of code and the eleven behind it are gone; the cursor stands behind the blanks."""
    original = document()
    place = next(edited(iter([original]), choice()))
    text, line = place.snapshot.text, place.position.line
    assert len(text) == len(original.text) - 11
    assert text.content(line) == " " * place.position.column
    assert list(text.lines(0, line)) == list(original.text.lines(0, line))
    assert text.line(line + 1) == original.text.line(line + 12)
    lines = [original.text.content(each) for each in range(len(original.text))]
    assert is_code(lines, line)


def test_comments_and_blank_ends_are_no_code() -> None:
    """Lines outside of blocks, comments, strings and lines before many blank ones are left out."""
    code = ["    x = 1"] * 12
    assert is_code(code, 0)
    for first in ("x = 1", "    # x", '    "x"', "    "):
        assert not is_code([first, *code[1:]], 0)
    assert not is_code(["    x = 1", *[""] * 11], 0)


def test_tables_are_repetitive_and_code_is_not() -> None:
    """A line is a place where most lines around have the same form, whatever their words are."""
    table = [f'    "a word {number}": {number},' for number in range(40)]
    code = [f"{'x.' * number}call({', '.join('ab'[: number % 3])})" for number in range(40)]
    assert is_repetitive(table, 20)
    assert not is_repetitive(code, 20)
    assert not is_repetitive([*table[:20], "", *table[21:]], 20)
    assert form('  x["a b"] = 12  # c') == form("y['d'] = name  # e")


def test_repetitive_places_are_found() -> None:
    """Of two files the one with a table has a place, inside of the table."""
    table = "".join(f'    "{number}": {number},\n' for number in range(60))
    code = "".join(f"{'x.' * number}call()\n" for number in range(60))
    files = {"file:///a.py": code, "file:///b.py": f"TABLE = {{\n{table}}}\n"}
    documents = (Snapshot(uri, 1, "python", Text(text)) for uri, text in files.items())
    (found,) = repeated(documents, choice())
    assert found.snapshot.uri == "file:///b.py"
    assert found.position.column == 4


def test_a_block_is_begun_again_below() -> None:
    """The first two lines of a long block stand below it once more, and the cursor behind them."""
    body = "".join(f"    step_{number}()\n" for number in range(20))
    original = Text(f"import a\n\n\ndef work():\n{body}\n\ndef other():\n    pass\n")
    place = next(copied(iter([Snapshot("file:///a.py", 1, "python", original)]), choice()))
    lines = str(place.snapshot.text).split("\n")
    assert lines[:24] == str(original).split("\n")[:24]
    assert lines[24:] == ["", "", "def work():", "    step_0()", "    "]
    assert place.position == Position(28, 4)
    assert place.needed == "\n".join(lines[3:24])


@pytest.mark.parametrize("lines", [5, 60])
def test_blocks_of_other_lengths_arent_copied(lines: int) -> None:
    """What is too short to copy, or too long to be seen, is no place."""
    body = "    step()\n" * lines
    snapshot = Snapshot("file:///a.py", 1, "python", Text(f"def work():\n{body}"))
    assert list(copied(iter([snapshot]), choice())) == []


def test_programs_lack_several_lines(tmp_path: Path) -> None:
    """Tasks with several missing lines are taken as they are, of each program one."""
    data = write(tmp_path / "tasks.jsonl.gz", [multi_line(), multi_line()])
    (place,) = fresh(data, choice())
    text = str(place.snapshot.text)
    assert text.endswith('numbers."""\n\n    return best\n')
    assert place.position == Position(2, 0)


def test_tasks_with_a_missing_line_lack_those_behind_it_too(tmp_path: Path) -> None:
    """From a task of the single-line kind four lines are missing, if there are so many."""
    data = write(tmp_path / "tasks.jsonl", [row("Own/0", 1), row("Own/1", 2)])
    (place,) = fresh(data, choice())
    end = "numbers):\n\n            best = number\n    return best\n"
    assert str(place.snapshot.text).endswith(end)


@pytest.mark.parametrize("raw", [b"no json", b"[]", b'{"task_id": 1}', b"\xff"])
def test_wrong_data_is_told(tmp_path: Path, raw: bytes) -> None:
    """What isn't a file of tasks is named, and where a right one comes from."""
    data = tmp_path / "tasks.jsonl"
    data.write_bytes(raw)
    for path in (data, tmp_path / "none"):
        with pytest.raises(SettingsError, match=r"--data: .*human-eval-infilling"):
            list(fresh(path, choice()))


def test_fresh_needs_data() -> None:
    """Without a file the error says where one comes from."""
    with pytest.raises(SettingsError, match="--data FILE"):
        places("fresh", Sources(Path(), []), None, 0)


@pytest.mark.parametrize("workload", [each for each in WORKLOADS if each != "fresh"])
def test_the_standard_library_has_places(workload: str) -> None:
    """Three are found, the same for a seed and others for another; each has its own document."""
    sources = standard_library()
    first, again, other = (
        [each.as_dict() for each in islice(places(workload, sources, None, seed), 3)]
        for seed in (0, 0, 1)
    )
    assert first == again != other
    assert len({str(each["uri"]) for each in first}) == 3
    assert json.loads(json.dumps(first)) == first
