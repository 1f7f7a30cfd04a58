"""What the tests of editors stand on: reading a screen, writing down what was said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.e2e.rawclient import ROOT, encoded
from tests.editors.recorder import said
from tests.editors.stub_server import answer_to
from tests.editors.terminal import Run, Screen, read_row


def test_a_row_is_read_in_runs_of_one_style() -> None:
    """Escapes become the style of what follows them, and what's on goes on in the next row."""
    row, style = read_row("a\x1b[2m\x1b[38;5;8mgho\x1b[39mst\x1b[0m b\x1b[1m", frozenset())
    assert row == (
        Run("a", frozenset()),
        Run("gho", frozenset({"2", "38;5;8"})),
        Run("st", frozenset({"2"})),
        Run(" b", frozenset()),
    )
    assert style == frozenset({"1"})


def test_a_colour_takes_the_place_of_another() -> None:
    """A colour of 8, 16 or 256 is one code, and there is one for the text and one behind it."""
    row, _ = read_row("\x1b[31;44ma\x1b[90mb\x1b[38;5;240mc\x1b[49md", frozenset())
    assert [sorted(run.style) for run in row] == [
        ["31", "44"],
        ["44", "90"],
        ["38;5;240", "44"],
        ["38;5;240"],
    ]


def test_a_screen_tells_what_has_a_style() -> None:
    """Rows without it are left out."""
    dim = frozenset({"2"})
    screen = Screen(((Run("x = ", frozenset()), Run("1", dim)), (Run("y", frozenset()),)), 4, 0)
    assert screen.lines == ["x = 1", "y"]
    assert screen.styled("2") == ["1"]


def test_the_recorder_hands_on_and_writes_down(tmp_path: Path) -> None:
    """Bytes arrive as they were, messages stand in the log, and the exit code is the command's."""
    log = tmp_path / "log"
    script = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()); sys.exit(3)"
    sent = encoded({"method": "a"}) + encoded({"method": "ä"})
    done = subprocess.run(
        [sys.executable, "-m", "tests.editors.recorder", log, sys.executable, "-c", script],
        input=sent,
        capture_output=True,
        check=False,
        cwd=ROOT,
    )
    assert done.stdout == sent
    assert done.returncode == 3
    assert said(log, "editor") == [{"method": "a"}, {"method": "ä"}]
    assert said(log, "server", "ä") == [{"method": "ä"}]


def test_the_longest_rule_counts() -> None:
    """What the stub writes is told by how the text before the cursor ends."""
    rules = {"x = ": "1", "max = ": "2"}
    assert [answer_to(text, rules) for text in ("x = ", "max = ", "y")] == ["1", "2", ""]
