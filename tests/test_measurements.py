"""What was measured on a machine is kept, and nothing breaks where it can't be."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from specls.measurements import read, write


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Each key has its own values; a later value replaces an earlier one."""
    write(tmp_path / "new", "a", {1: 0.5, 8: 2.0})
    write(tmp_path / "new", "b", {1: 0.1})
    write(tmp_path / "new", "a", {1: 0.6})
    assert read(tmp_path / "new", "a") == {1: 0.6}
    assert read(tmp_path / "new", "b") == {1: 0.1}
    assert read(tmp_path / "new", "c") is None
    assert read(tmp_path / "nowhere", "a") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"a": 3}',
        '{"a": {"x": 1}}',
        '{"a": {"1": "fast"}}',
        '{"a": {"1": -1}}',
        "{}",
    ],
)
def test_what_is_damaged_counts_as_nothing(tmp_path: Path, text: str) -> None:
    """A file that says nothing useful is measured anew, and replaced."""
    (tmp_path / "measured.json").write_text(text, encoding="utf-8")
    assert read(tmp_path, "a") is None
    write(tmp_path, "a", {1: 1.0})
    assert read(tmp_path, "a") == {1: 1.0}


def test_only_some_are_kept(tmp_path: Path) -> None:
    """Old entries make way."""
    for number in range(70):
        write(tmp_path, str(number), {1: 1.0})
    assert read(tmp_path, "0") is None
    assert read(tmp_path, "69") == {1: 1.0}


def test_a_folder_that_can_t_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where nothing can be kept, the log says so."""
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING):
        write(tmp_path / "file", "a", {1: 1.0})
    assert "can't be kept" in caplog.text
