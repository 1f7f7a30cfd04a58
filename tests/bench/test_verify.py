"""Whether a difference in the text is found, and what counts as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from specls.bench.sources import repository, standard_library
from specls.bench.verify import Check, Tally, cursors, first_difference, total
from specls.cli import main
from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.core import CancelToken, Source
from specls.engine import decode
from specls.engine.controllers import FixedController
from specls.engine.engine import Engine
from specls.engine.interface import Drafter
from specls.engine.spill import Spill
from specls.service.dialect import dialect_of
from specls.service.interface import Runtime
from specls.service.prompts import PromptBuilder
from tests.conftest import DRAFT
from tests.fakes import ByteTokenizer, ListDrafter, ScriptedModel
from tests.service.scripted import says

PLACE = Snapshot("file:///a", 1, "python", Text("x = 1\ny = 2\n")), Position(1, 1)


def tallies(*more: ListDrafter) -> dict[str, Tally]:
    """What comes of a check on a scripted model that writes *hello*."""
    tokenizer = ByteTokenizer()
    model = ScriptedModel(says("hello"), micro_batch=64)
    lookup = ListDrafter(Source.LOOKUP, b"elxo", b"lo")
    drafters: dict[Source, Drafter] = {each.source: each for each in (lookup, *more)}
    runtime = Runtime(
        Engine(model, drafters, FixedController(), Spill(10_000)),
        tokenizer,
        PromptBuilder(tokenizer, dialect_of(tokenizer, None), None),
        {},
        (),
        lambda: None,
    )
    found: dict[str, Tally] = {}
    Check(runtime, (100, 100), 8, 0.75, CancelToken()).at(*PLACE, found)
    return found


def test_the_same_text_in_every_way() -> None:
    """Drafts, reuse and restoring write what plain decoding writes."""
    found = tallies()
    assert list(found) == ["lookup", "what was read before", "restored"]
    assert all((each.compared, each.equal) == (1, 1) for each in found.values())
    assert total(found.values()) == 0


def test_a_wrong_text_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verification that accepts everything is found out, with the gap at the first difference."""

    def all_of_it(draft: Sequence[int], best: Callable[[int], int]) -> tuple[int, int]:
        return len(draft), best(len(draft))

    monkeypatch.setattr(decode, "accepted_so_far", all_of_it)
    found = tallies()
    assert found["lookup"].differences == [20.0]
    assert found["restored"].equal == 1
    assert total(found.values()) == 1


@pytest.mark.parametrize(
    ("left", "right", "at"),
    [([], [], None), ([1, 2], [1, 2], None), ([1, 2], [1, 3], 1), ([1], [1, 2], 1)],
)
def test_the_first_difference(left: list[int], right: list[int], at: int | None) -> None:
    """Where two texts part is told, also where one ends."""
    assert first_difference(left, right) == at


def test_the_same_places_for_a_seed() -> None:
    """Places lie inside lines of code, and are the same each time."""
    places = [(snapshot.uri, position) for snapshot, position in cursors(standard_library(), 30, 1)]
    again = [(snapshot.uri, position) for snapshot, position in cursors(standard_library(), 30, 1)]
    assert places == again
    assert len(set(places)) == 30


def test_languages_take_turns(tmp_path: Path) -> None:
    """Places are spread over the languages; one whose files are all too short has none."""
    line = "value = compute(value)\n"
    for name in ("a.py", "b.py", "c.py", "d.go"):
        (tmp_path / name).write_text(line * 100)
    (tmp_path / "e.rs").write_text("x" * 2_000)
    found = [snapshot for snapshot, _ in cursors(repository(tmp_path), 6, 1)]
    assert [snapshot.language for snapshot in found] == ["go", "python"] * 3
    assert len({snapshot.uri for snapshot in found}) == 4


def test_sources_behind_each_other_are_compared_as_well() -> None:
    """With several drafters there's a way in which each draft comes from all of them."""
    found = tallies(ListDrafter(Source.DRAFT, b"", b"", b"lo"))
    assert list(found) == ["lookup", "draft", "all sources", "what was read before", "restored"]
    assert all(each.equal == 1 for each in found.values())


@pytest.mark.model
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """On a real model two places are compared in each way, and none differs."""
    words = "--n 2 --draft-model none --prefix-tokens 64 --suffix-tokens 32 --max-tokens 6"
    assert main(["verify", "--model", DRAFT, *words.split()]) == 0
    shown = capsys.readouterr().out
    rows = re.findall(
        r"^(previous|lookup|all sources|what was read before|restored) +2 +", shown, re.MULTILINE
    )
    assert len(rows) == 5
    assert "places: python 2" in shown
