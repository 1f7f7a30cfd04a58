"""Names, records and amounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from specls.catalogue.files import ModelFiles, Record, in_words, models_folder


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (491_400_064, "491.4 MB"),
        (999_960_000, "1.0 GB"),
        (2_500_000_000_000, "2.5 TB"),
    ],
)
def test_amounts_are_readable(amount: int, words: str) -> None:
    """Bytes are written in the unit that keeps the number short."""
    assert in_words(amount) == words


def test_folder_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPECLS_MODELS names the folder, a tilde stands for the home; else it's the user's cache."""
    monkeypatch.setenv("SPECLS_MODELS", "~/mine")
    assert models_folder() == Path.home() / "mine"

    monkeypatch.setenv("SPECLS_MODELS", " ")
    assert models_folder().parts[-2:] == ("specls", "models")


def test_record_describes_the_unchanged_file_only(tmp_path: Path) -> None:
    """A record holds until the file's size or time of change is another."""
    model, path = tmp_path / "m.gguf", tmp_path / "m.json"
    model.write_bytes(b"GGUF")
    Record.of(model, "ab").write(path)
    record = Record.read(path)

    assert record is not None
    assert record.describes(model)
    model.write_bytes(b"GGUF2")
    assert not record.describes(model)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"bytes": "x"}', "null"])
def test_record_that_makes_no_sense_is_none(tmp_path: Path, text: str) -> None:
    """A record that something else wrote counts as absent."""
    path = tmp_path / "m.json"
    path.write_text(text, encoding="utf-8")

    assert Record.read(path) is None


def test_partials_are_of_one_model(tmp_path: Path) -> None:
    """Another model's partial file isn't listed, nor anything in a folder that doesn't exist."""
    files = ModelFiles(tmp_path, "a.gguf")
    for name in ("a.gguf", "a.gguf.12.partial", "a.gguf.json", "ab.gguf.12.partial"):
        (tmp_path / name).touch()

    assert files.partials() == [tmp_path / "a.gguf.12.partial"]
    assert ModelFiles(tmp_path / "absent", "a.gguf").partials() == []
