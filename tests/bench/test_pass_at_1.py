"""Programs are run under limits, and nothing of them remains."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from specls.bench.pass_at_1 import Verdict, check, run_alone

PATIENCE = 30.0
"""Seconds for programs that end by themselves, on a busy machine."""

SHORT = 1.5


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("assert 1 + 1 == 2\n", Verdict.PASSED),
        ("import collections, math, random, re\nfrom typing import List\n", Verdict.PASSED),
        ("assert 1 + 1 == 3\n", Verdict.FAILED),
        ("if\n", Verdict.FAILED),
        ("a\0b\n", Verdict.FAILED),
        ("'\\ud800'\n", Verdict.PASSED),
        ("input()\n", Verdict.FAILED),
        ("import sys\nprint('much ' * 1000)\nsys.exit(0)\nassert False\n", Verdict.FAILED),
        ("import os\nos._exit(0)\n", Verdict.FAILED),
    ],
)
def test_a_program_passes_when_it_runs_through(program: str, verdict: Verdict) -> None:
    """An error fails, and so does leaving before the end; what's printed is nobody's business."""
    assert check(program, PATIENCE) is verdict


@pytest.mark.parametrize(
    "program",
    [
        "import os\nos.fork()\n",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])\n",
        "import os\nos.system('true')\n",
        "open('file', 'w')\n",
        "import os\nos.remove(__import__('sys').executable + '.none')\n",
        "import socket\nsocket.create_connection(('localhost', 9))\n",
    ],
)
def test_what_no_task_needs_is_refused(program: str) -> None:
    """Processes, writing, deleting and the network end a program."""
    refused = f"try:\n    {program.strip().splitlines()[-1]}\nexcept PermissionError:\n    pass\n"
    setup = "\n".join(program.strip().splitlines()[:-1])
    assert check(program, PATIENCE) is Verdict.FAILED
    assert check(f"{setup}\n{refused}", PATIENCE) is Verdict.PASSED


def test_an_endless_loop_is_stopped() -> None:
    """A program that never ends has timed out soon after its time."""
    started = time.monotonic()
    assert check("while True:\n    pass\n", SHORT) is Verdict.TIMED_OUT
    assert time.monotonic() - started < SHORT + 10


def test_a_loop_that_ignores_signals_is_stopped() -> None:
    """Nothing that a program does to signals keeps it running."""
    program = (
        "import signal\n"
        "for number in (signal.SIGTERM, signal.SIGINT):\n"
        "    signal.signal(number, signal.SIG_IGN)\n"
        "while True:\n"
        "    pass\n"
    )
    assert check(program, SHORT) is Verdict.TIMED_OUT


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux")
def test_a_memory_hog_is_stopped() -> None:
    """A program that wants too much memory fails before it has it."""
    assert check("x = bytearray(2**28)\n", PATIENCE, memory=2**27) is Verdict.FAILED
    assert check("x = bytearray(2**20)\n", PATIENCE, memory=2**28) is Verdict.PASSED


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("end", ["os._exit(3)", "time.sleep(60)"])
def test_what_a_program_forked_is_stopped(tmp_path: Path, end: str) -> None:
    """Children end with their parent, whether it ended by itself or was stopped."""
    code = (
        "import os, time\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    time.sleep(60)\n"
        "open('child', 'w').write(str(child))\n"
        f"{end}\n"
    )
    result = run_alone((sys.executable, "-I", "-c", code), tmp_path, SHORT)
    assert result == (3 if "exit" in end else None)
    _wait_until_gone(int((tmp_path / "child").read_text()))


def _wait_until_gone(process: int) -> None:
    for _ in range(200):
        if not _runs(process):
            return
        time.sleep(0.05)
    raise AssertionError("the child still runs")


def _runs(process: int) -> bool:
    """Whether it's there, and not merely waiting to be reaped by whoever inherits it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_nothing_is_left_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that a program ran in is removed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert check("assert True\n", PATIENCE) is Verdict.PASSED
    assert list(tmp_path.iterdir()) == []
