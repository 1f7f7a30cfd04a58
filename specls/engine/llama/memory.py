"""How much memory there is for another model."""

from __future__ import annotations

from pathlib import Path

import psutil

_CGROUP = Path("/sys/fs/cgroup")


def available_bytes(cgroup: Path = _CGROUP) -> int:
    """What can be had without swapping: on the machine, and in the container that this runs in."""
    machine = int(psutil.virtual_memory().available)
    limit, used = (_number(cgroup / name) for name in ("memory.max", "memory.current"))
    if limit is None or used is None:
        return machine
    # Pages of files that were read count as used, and make way.
    return min(machine, max(limit - used + _cached(cgroup / "memory.stat"), 0))


def _number(file: Path) -> int | None:
    """The number in a file; None if there's no such file, or no limit."""
    try:
        return int(file.read_text("ascii"))
    except (OSError, ValueError):
        return None


def _cached(file: Path) -> int:
    try:
        lines = dict(line.split(" ", 1) for line in file.read_text("ascii").splitlines())
        return int(lines["inactive_file"])
    except (OSError, ValueError, KeyError):
        return 0
