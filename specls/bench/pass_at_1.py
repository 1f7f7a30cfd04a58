"""Whether a program passes its test, run in a process that can't hang or leave anything behind."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from specls.bench import guard

SECONDS = 5.0
"""How long a program may run."""

MEMORY = 2**30
"""Bytes of address space."""

_PASSED = 86
"""The exit code of a program that ran through: one that merely leaves early has another."""


class Verdict(Enum):
    """How a program did."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed out"


def check(program: str, seconds: float = SECONDS, memory: int = MEMORY) -> Verdict:
    """Run a program that ends with its test; it passes when it runs through."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = Path(folder, "program.py")
        file.write_text(program, encoding="utf-8", errors="replace")
        # The clock comes first: the limit of the processor's time is for what escapes it.
        limits = (str(math.ceil(seconds) + 1), str(memory), str(_PASSED))
        command = (sys.executable, "-I", str(Path(guard.__file__)), str(file), *limits)
        code = run_alone(command, Path(folder), seconds)
    if code is None:
        return Verdict.TIMED_OUT
    return Verdict.PASSED if code == _PASSED else Verdict.FAILED


def run_alone(command: Sequence[str], folder: Path, seconds: float) -> int | None:
    """The exit code of a command; None when it took too long. Its whole group is ended after it."""
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end(process)


def _environment() -> dict[str, str]:
    """Nothing of ours, but what Windows needs to start a process at all."""
    return {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        # It leads a session of its own, so its group is what it started, even once it has ended.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
