"""Replayed editing: what the documents are like at each step, and what the file has there."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.bench.replay import Kind, Replay, Step
from specls.bench.scripts import SCRIPTS, scripts_of
from specls.bench.sources import repository, standard_library
from specls.context.document import Snapshot
from specls.context.text import Text
from specls.errors import SettingsError
from tests.bench.files import document

ENOUGH = 10_000
ORIGINALS = {each.uri: each for each in map(document, ("one", "two", "three"))}

seeds = st.integers(0, 10_000)
names = st.sampled_from(list(SCRIPTS))


def replay(script: str, seed: int, keys: int = ENOUGH) -> Replay:
    return SCRIPTS[script](iter(ORIGINALS.values()), random.Random(seed), keys)


def before(step: Step, snapshot: Snapshot) -> str:
    """The document up to the cursor."""
    lines = list(snapshot.text.lines(0, step.position.line + 1))
    return "".join((*lines[:-1], lines[-1][: step.position.column]))


def kinds(replayed: Replay) -> Sequence[Kind]:
    return [step.kind for step in replayed.steps]


@given(names, seeds)
def test_typing_everything_gives_back_the_file(script: str, seed: int) -> None:
    """After all steps each document is the original one, or its beginning for `end`."""
    replayed = replay(script, seed)
    last = {step.document: snapshot for step, snapshot in replayed.states()}
    assert len(last) == len(replayed.documents)
    for snapshot in last.values():
        original, text = str(ORIGINALS[snapshot.uri].text), str(snapshot.text)
        if script == "end":
            assert original.startswith(text + "\n")
        else:
            assert text == original


@given(names, seeds, st.integers(0, 12))
def test_before_the_cursor_stands_what_the_file_has(script: str, seed: int, keys: int) -> None:
    """The text up to each cursor, with the truth behind it, is a stretch of the original."""
    for step, snapshot in replay(script, seed, keys).states():
        original = str(ORIGINALS[snapshot.uri].text)
        head = before(step, snapshot)
        assert original.startswith(head)
        assert original[len(head) :].startswith(step.truth)
        assert step.truth


@given(names, seeds, st.integers(0, 12))
def test_behind_the_cursor_the_line_is_empty(script: str, seed: int, keys: int) -> None:
    """The rest of the line was removed, so that there is something to suggest."""
    for step, snapshot in replay(script, seed, keys).states():
        assert snapshot.text.content(step.position.line)[step.position.column :] == ""


@given(names, seeds, st.integers(0, 12))
def test_there_are_no_more_steps_than_keys(script: str, seed: int, keys: int) -> None:
    """Beside the first request in each document, there is a step for each key at the most."""
    replayed = replay(script, seed, keys)
    opened = kinds(replayed).count(Kind.OPEN)
    assert opened == len(replayed.documents)
    assert len(replayed.steps) <= opened + keys


@given(names, seeds)
def test_the_same_seed_replays_the_same(script: str, seed: int) -> None:
    """Every arm can be given the same keys, also in another run."""
    assert replay(script, seed).steps == replay(script, seed).steps


@given(seeds)
def test_versions_count_up(seed: int) -> None:
    """Each change makes the next version of its document."""
    versions = [snapshot.version for _, snapshot in replay("undo", seed).states()]
    assert versions == list(range(1, len(versions) + 1))


@given(seeds)
def test_a_word_is_deleted_back_and_typed_again(seed: int) -> None:
    """In `fix` the cursor goes back at least a character, and returns."""
    columns = [step.position.column for step in replay("fix", seed, keys=6).steps]
    assert columns[1] == columns[0] - 1
    assert columns[0] in columns[2:]


@given(seeds)
def test_a_paste_is_one_change_of_three_lines(seed: int) -> None:
    """In `paste` the first change adds three lines, and the cursor is behind them."""
    first, pasted, *_ = replay("paste", seed, keys=3).steps
    assert pasted.kind is Kind.BLOCK
    assert pasted.change is not None
    assert pasted.change.text.count("\n") == 3
    assert pasted.position.line == first.position.line + 3


@given(seeds)
def test_an_undo_takes_back_several_keys_at_once(seed: int) -> None:
    """In `undo` one change deletes what the last keys typed, and typing goes on from there."""
    replayed = replay("undo", seed, keys=8)
    at = kinds(replayed).index(Kind.BLOCK)
    columns = [step.position.column for step in replayed.steps]
    assert kinds(replayed) == [Kind.OPEN, *4 * [Kind.KEY], Kind.BLOCK, *3 * [Kind.KEY]]
    assert columns[at] == columns[at - 1] - 2
    assert columns[at + 1] == columns[at] + 1


@given(seeds)
def test_each_key_goes_to_another_file(seed: int) -> None:
    """In `switch` three files take turns."""
    replayed = replay("switch", seed, keys=6)
    assert [step.document for step in replayed.steps] == [0, 1, 2] * 3
    assert len({each.uri for each in replayed.documents}) == 3


def test_the_standard_library_has_places() -> None:
    """Each script finds places in real files, and types what they have."""
    sources = standard_library()
    for script, make in SCRIPTS.items():
        choice, drawn = random.Random(script), dict[str, str]()
        replayed = make(noting(sources.draw(choice), drawn), choice, ENOUGH)
        for step, snapshot in replayed.states():
            written = before(step, snapshot) + step.truth
            assert drawn[snapshot.uri].startswith(written)


def noting(documents: Iterator[Snapshot], drawn: dict[str, str]) -> Iterator[Snapshot]:
    for each in documents:
        drawn[each.uri] = str(each.text)
        yield each


def test_files_without_places_are_refused() -> None:
    """Where nothing can be typed, the message says what to do."""
    blank = Snapshot("file:///blank.py", 1, "python", Text("\n" * 100))
    with pytest.raises(SettingsError, match="--repo"):
        SCRIPTS["middle"](iter([blank]), random.Random(0), 4)


def test_a_folder_without_sources_is_refused(tmp_path: Path) -> None:
    """A folder that holds no source files is a wrong argument."""
    with pytest.raises(SettingsError, match="no source files"):
        repository(tmp_path)


def test_a_repository_is_read_without_what_others_wrote(tmp_path: Path) -> None:
    """Hidden folders, dependencies and tiny files are left out."""
    for name in ("a.py", "b.rs", "node_modules/c.js", ".git/d.py", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(str(document().text), encoding="utf-8")
    (tmp_path / "tiny.py").write_text("x = 1\n", encoding="utf-8")
    names = [path.name for path in repository(tmp_path).paths]
    assert names == ["a.py", "b.rs"]
    languages = {each.language for each in repository(tmp_path).draw(random.Random(0))}
    assert languages == {"python", "rust"}


def test_scripts_are_named_with_commas() -> None:
    """A list of names is read; an unknown one is refused, and the known are told."""
    assert scripts_of("end, middle") == ["end", "middle"]
    with pytest.raises(SettingsError, match="paste"):
        scripts_of("middle,sleep")
    with pytest.raises(SettingsError, match="middle"):
        scripts_of("")
