"""States on disk: what comes back, what is ignored, and how much is kept."""

from __future__ import annotations

import logging
import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import wait
from pathlib import Path

import pytest

from specls.engine.session import NOWHERE
from specls.engine.sessions import SessionTable
from specls.engine.shelf import Shelf
from specls.engine.spill import Spill, Spilled
from tests.fakes import ScriptedModel

STATE = Spilled([1, 2, 3, 4], bytes(range(200)), 3, range(1, 3))
BUDGET = 10_000


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path, BUDGET, "model build")
    yield shelf
    shelf.close(10)


def written(shelf: Shelf, folder: Path) -> list[Path]:
    """The files, once all is written."""
    shelf.close(10)
    return sorted(folder.rglob("*.state"))


def again(folder: Path, model: str = "model build") -> Shelf:
    """The shelf of a process that is started later."""
    return Shelf(folder, BUDGET, model)


def test_a_state_comes_back(shelf: Shelf, tmp_path: Path) -> None:
    """Another process finds what one wrote, all of it."""
    shelf.put("a", STATE)
    written(shelf, tmp_path)
    other = again(tmp_path)
    there = other.look("a")
    assert there is not None
    assert (there.tokens, there.exact, there.movable) == ([1, 2, 3, 4], 3, range(1, 3))
    assert other.load("a") == STATE
    assert other.load("a") == STATE
    assert other.load("b") is None
    other.close(1)


def test_nobody_waits_for_a_state_to_be_written(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was just put there can be read at once, while the disk is slow; later from disk."""
    go, write = threading.Event(), shelf._write_file
    monkeypatch.setattr(shelf, "_write_file", lambda *given: go.wait(10) and write(*given))
    shelf.put("a", STATE)
    shelf.put("b", STATE)
    assert shelf.load("b") is STATE
    assert list(tmp_path.rglob("*.state")) == []
    go.set()
    assert len(written(shelf, tmp_path)) == 2
    assert shelf.load("b") == STATE
    assert shelf.load("b") is not STATE


def test_the_newest_state_counts(shelf: Shelf, tmp_path: Path) -> None:
    """A document has one state: the last."""
    shelf.put("a", STATE)
    shelf.put("a", Spilled([9], b"new", 1, NOWHERE))
    assert len(written(shelf, tmp_path)) == 1
    other = again(tmp_path)
    assert other.load("a") == Spilled([9], b"new", 1, NOWHERE)
    other.close(1)


def test_another_model_s_states_are_not_found(shelf: Shelf, tmp_path: Path) -> None:
    """A state belongs to a model and a build."""
    shelf.put("a", STATE)
    written(shelf, tmp_path)
    other = again(tmp_path, "another build")
    assert other.look("a") is None
    other.close(1)


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_only_the_user_can_read_them(shelf: Shelf, tmp_path: Path) -> None:
    """Files and their folder are closed to others, and names say nothing."""
    shelf.put("file:///secret.py", STATE)
    (path,) = written(shelf, tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert "secret" not in str(path.relative_to(tmp_path))


def cut(raw: bytes) -> bytes:
    return raw[:-10]


def grown(raw: bytes) -> bytes:
    return raw + b"x"


def turned(raw: bytes) -> bytes:
    return raw[:-10] + bytes([raw[-10] ^ 1]) + raw[-9:]


def other_tokens(raw: bytes) -> bytes:
    at = raw.index((2).to_bytes(4, "little"))
    return raw[:at] + (7).to_bytes(4, "little") + raw[at + 4 :]


def old_version(raw: bytes) -> bytes:
    return raw.replace(b"state 1", b"state 0", 1)


def huge(raw: bytes) -> bytes:
    return raw.replace(b'"state": 200', b'"state": 900000000000', 1)


def more_exact(raw: bytes) -> bytes:
    return raw.replace(b'"exact": 3', b'"exact": 4', 1)


def infinite(raw: bytes) -> bytes:
    return raw.replace(b'"exact": 3', b'"exact": 1e999', 1)


def deep(raw: bytes) -> bytes:
    return raw[: raw.index(b"{")] + b"[" * 4000 + b"\n"


def outside(raw: bytes) -> bytes:
    return raw.replace(b"[1, 3]", b"[1, 9]", 1)


def no_header(raw: bytes) -> bytes:
    return raw.replace(b'"exact"', b'"exxct"', 1)


def empty(_raw: bytes) -> bytes:
    return b""


@pytest.mark.parametrize(
    "damage",
    [
        *(cut, grown, turned, other_tokens, old_version, huge, more_exact),
        *(infinite, deep, outside, no_header, empty),
    ],
)
def test_what_is_damaged_is_ignored(
    shelf: Shelf, tmp_path: Path, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """A file that isn't what was written is deleted, with a line in the log, and nothing fails."""
    shelf.put("a", STATE)
    (path,) = written(shelf, tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    other = again(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert other.load("a") is None
    assert "ignored and deleted" in caplog.text
    assert not path.exists()
    assert other.look("a") is None
    other.close(1)


def test_the_oldest_go_first(tmp_path: Path) -> None:
    """Over the budget, files used the longest time ago are deleted, whoever wrote them."""
    for number in range(12):
        shelf = Shelf(tmp_path, BUDGET, f"model {number % 2}")
        shelf.put(number, Spilled([1], bytes(2000), 1, NOWHERE))
        shelf.close(10)
        for path in tmp_path.rglob("*.state"):
            os.utime(path, (path.stat().st_atime - 60, path.stat().st_mtime - 60))
    kept = [number for number in range(12) if again_has(tmp_path, number)]
    assert kept == [8, 9, 10, 11]
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.state")) <= BUDGET


def again_has(folder: Path, number: int) -> bool:
    shelf = again(folder, f"model {number % 2}")
    found = shelf.load(number) is not None
    shelf.close(1)
    return found


def test_what_is_too_large_is_not_written(shelf: Shelf, tmp_path: Path) -> None:
    """A state larger than the budget is dropped."""
    shelf.put("a", Spilled([1], bytes(BUDGET + 1), 1, NOWHERE))
    assert written(shelf, tmp_path) == []


def test_a_folder_that_can_t_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where nothing can be written, the log says so and all goes on without."""
    (tmp_path / "file").write_text("")
    shelf = Shelf(tmp_path / "file", BUDGET, "model")
    with caplog.at_level(logging.WARNING):
        shelf.put("a", STATE)
        shelf.close(10)
    assert "can't be written" in caplog.text


def test_a_full_disk_leaves_nothing_behind(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that fails leaves no part of a file, and what isn't there isn't believed to be."""

    def refuse(_self: Path, _target: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    shelf.put("a", STATE)
    shelf.close(10)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert shelf.look("a") is None
    assert shelf.age("a") > 1e9


def test_what_was_deleted_is_known_to_be(tmp_path: Path) -> None:
    """A state that had to make way on disk isn't counted on."""
    shelf = Shelf(tmp_path, BUDGET, "model")
    for number in range(8):
        shelf.put(number, Spilled([1], bytes(2000), 1, NOWHERE))
        assert shelf.load(number) is not None
        for path in tmp_path.rglob("*.state"):
            os.utime(path, (path.stat().st_atime - 60, path.stat().st_mtime - 60))
    shelf.close(10)
    assert [shelf.look(number) is not None for number in range(8)] == [False] * 4 + [True] * 4


@pytest.mark.parametrize(("budget", "left"), [(BUDGET, 4), (5000, 2), (0, 0)])
def test_a_smaller_budget_deletes_what_is_there(tmp_path: Path, budget: int, left: int) -> None:
    """States of an earlier run that don't fit any more are deleted at the start; at 0 all are."""
    first = Shelf(tmp_path, BUDGET, "model")
    for number in range(4):
        first.put(number, Spilled([1], bytes(2000), 1, NOWHERE))
    first.close(10)
    Shelf(tmp_path, budget, "model").close(10)
    assert len(list(tmp_path.rglob("*.state"))) == left


def test_a_folder_that_is_gone_is_no_damage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where nothing is, nothing is said to be ignored; what can't be written is said once."""
    (tmp_path / "file").write_text("")
    shelf = Shelf(tmp_path / "file", BUDGET, "model")
    with caplog.at_level(logging.WARNING):
        assert shelf.load("a") is None
        assert caplog.text == ""
        shelf.put("a", STATE)
        shelf.put("b", STATE)
        shelf.close(10)
    assert len(caplog.records) == 1


def test_files_of_others_stay(tmp_path: Path) -> None:
    """In a folder that holds other things, nothing but saved states is ever deleted."""
    others = [tmp_path / "films" / "big.part", tmp_path / "games" / "a.state"]
    for path in others:
        path.parent.mkdir()
        path.write_bytes(bytes(BUDGET))
        os.utime(path, (0, 0))
    shelf = again(tmp_path)
    for number in range(8):
        shelf.put(number, Spilled([1], bytes(2000), 1, NOWHERE))
    shelf.close(10)
    assert all(path.exists() for path in others)


def test_a_table_s_documents_survive_the_process(tmp_path: Path) -> None:
    """What a table held at its end is restored by the next one, and not decoded."""
    first = SessionTable(ScriptedModel(len), Spill(1000, again(tmp_path)))
    first.open("a", 10).sync(list(range(10)))
    first.open("b", 10).sync(list(range(50, 60)))
    first.finish(least=5, seconds=10)
    model = ScriptedModel(len)
    second = SessionTable(model, Spill(1000, again(tmp_path)))
    assert second.open("b", 10).sync(list(range(50, 62))).prefilled == 2
    assert second.open("a", 10).sync(list(range(12))).prefilled == 2
    assert second.counts.restored_from_disk == 2
    assert model.decoded_tokens == 4
    second.finish(least=5, seconds=10)


def test_a_state_is_written_when_it_is_worth_it(tmp_path: Path) -> None:
    """A state that is on disk already, but for some tokens, isn't written again."""
    table = SessionTable(ScriptedModel(len), Spill(0, again(tmp_path)))
    session = table.open("a", 40)
    session.sync(list(range(10)))
    table.save("a", least=5, seconds=0)
    session.sync(list(range(12)))
    table.save("a", least=5, seconds=0)
    assert table.counts.saved == 1
    session.sync(list(range(20)))
    table.save("a", least=5, seconds=1000)
    assert table.counts.saved == 1
    table.save("a", least=5, seconds=0)
    assert table.counts.saved == 2
    table.finish(least=5, seconds=10)


def test_what_is_on_disk_already_is_not_written_again(tmp_path: Path) -> None:
    """A document that's closed as it was opened leaves its file alone."""
    table = SessionTable(ScriptedModel(len), Spill(0, again(tmp_path)))
    for _ in range(3):
        table.open("a", 40).sync(list(range(10)))
        table.close("a")
    assert table.counts.saved == 1
    table.finish(least=5, seconds=10)


def test_memory_goes_on_to_disk(tmp_path: Path) -> None:
    """What memory has no room for is written to disk, and comes back from there."""
    shelf = again(tmp_path)
    spill = Spill(500, shelf)
    for document in "abcd":
        spill.put(document, STATE)
    assert spill.size == 400
    assert spill.counts.saved == 2
    assert [spill.take(document) for document in "abcd"] == [STATE] * 4
    assert (spill.counts.restored, spill.counts.restored_from_disk) == (2, 2)
    spill.close(10)


def test_a_state_that_is_dropped_is_deleted(shelf: Shelf, tmp_path: Path) -> None:
    """Nothing of it is left on disk, whether it was written or is being written just then."""
    spill = Spill(10_000, shelf)
    for document in ("old", "new", "kept"):
        shelf.put(document, STATE)
        if document == "old":
            assert len(list(iter_written(shelf, tmp_path))) == 1
    for document in ("old", "new", "never there"):
        spill.drop(document)
        assert shelf.look(document) is None
        assert shelf.load(document) is None
    assert len(written(shelf, tmp_path)) == 1
    assert shelf.load("kept") == STATE


def test_nothing_is_left_once_it_is_emptied(shelf: Shelf, tmp_path: Path) -> None:
    """All states go, of other models and earlier processes as well; later ones are kept again."""
    earlier = Shelf(tmp_path, BUDGET, "another model")
    earlier.put("earlier", STATE)
    earlier.close(10)
    spill = Spill(10_000, shelf)
    spill.put("in memory", STATE)
    shelf.put("old", STATE)
    assert len(iter_written(shelf, tmp_path)) == 2
    shelf.put("new", STATE)
    spill.empty()
    assert [spill.take(each) for each in ("in memory", "old", "new")] == [None] * 3
    assert (spill.size, iter_written(shelf, tmp_path)) == (0, [])
    shelf.put("later", STATE)
    assert len(written(shelf, tmp_path)) == 1
    assert shelf.load("later") == STATE


def iter_written(shelf: Shelf, folder: Path) -> list[Path]:
    """The files, once what was begun is written; more may be put there afterwards."""
    wait(list(shelf._writing.values()), 10)
    return sorted(folder.rglob("*.state"))


def test_a_state_is_seen_while_it_replaces_an_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a full budget the older file goes first; the new state is there all the time."""
    shelf = Shelf(tmp_path, 3 * len(STATE.state) + 600, "model build")
    for document in ("a", "b"):
        shelf.put(document, STATE)
    iter_written(shelf, tmp_path)
    newer = Spilled([7, 8, 9], STATE.state, 3, NOWHERE)
    go, begun, write = threading.Event(), threading.Event(), shelf._write_file

    def slow(path: Path, pieces: Iterable[bytes]) -> None:
        begun.set()
        assert go.wait(10)
        write(path, pieces)

    monkeypatch.setattr(shelf, "_write_file", slow)
    shelf.put("a", newer)
    assert begun.wait(10)
    assert shelf.look("a") is newer
    go.set()
    iter_written(shelf, tmp_path)
    found = shelf.look("a")
    assert found is not None
    assert list(found.tokens) == [7, 8, 9]
    assert shelf.load("a") == newer
    shelf.close(10)
