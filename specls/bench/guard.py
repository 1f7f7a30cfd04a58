"""Runs the program in the file named first under limits. Started as a process of its own.

It's a script and imports nothing of specls: ``python -I guard.py FILE CPU-SECONDS BYTES CODE``. It
ends with CODE only when the whole program ran through. The guard keeps mistakes of a model from
doing harm; against intent it's no defence.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

_FORBIDDEN = (
    "os.exec",
    "os.fork",
    "os.kill",
    "os.posix_spawn",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pty.spawn",
    "shutil.",
    "signal.pthread_kill",
    "socket.",
    "subprocess.",
)
"""Beginnings of the audit events that no task's program needs."""

_LARGEST_FILE = 2**20


def _limit(seconds: int, size: int) -> None:
    """Set what the system can hold a process to; where it can't, only the clock does."""
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_AS: size,
        resource.RLIMIT_FSIZE: _LARGEST_FILE,
        resource.RLIMIT_CORE: 0,
    }
    for name, value in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(name, (value, value))


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(_FORBIDDEN) or (event == "open" and _writes(arguments)):
        raise PermissionError(event)


def _writes(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 else 0  # noqa: PLR2004 - path, mode, flags
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def main() -> None:
    """Run it."""
    file, seconds, size, code = sys.argv[1:]
    source = Path(file).read_text(encoding="utf-8")
    _limit(int(seconds), int(size))
    sys.argv[1:] = []
    sys.addaudithook(_refuse)
    exec(compile(source, "program.py", "exec"), {"__name__": "__main__"})  # noqa: S102 - it's the point
    os._exit(int(code))


if __name__ == "__main__":
    main()
