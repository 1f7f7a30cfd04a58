"""Places in real files: the Python standard library of the machine."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.service.interface import Runtime

FILES = (
    "argparse.py",
    "bisect.py",
    "calendar.py",
    "csv.py",
    "fractions.py",
    "heapq.py",
    "json/decoder.py",
    "queue.py",
    "shlex.py",
    "textwrap.py",
)


def close_all(runtime: Runtime) -> None:
    """Forget every document, so that nothing is shared with the next one."""
    for document in list(runtime.engine._sessions._sessions):
        runtime.engine.close(document)


def snapshot_of(name: str) -> Snapshot:
    """A file of the standard library as a document."""
    path = Path(sysconfig.get_path("stdlib")) / name
    return Snapshot(path.as_uri(), 1, "python", Text(path.read_text(encoding="utf-8")))


def places(count: int, seed: int = 20) -> Iterator[tuple[Snapshot, Position]]:
    """``count`` cursors inside lines of code, spread over :data:`FILES`, the same each time."""
    choice = random.Random(seed)
    snapshots = [snapshot_of(name) for name in FILES]
    for number in range(count):
        snapshot = snapshots[number % len(snapshots)]
        yield snapshot, _cursor(snapshot.text, choice)


def _cursor(text: Text, choice: random.Random) -> Position:
    while True:
        line = choice.randrange(20, len(text))
        content = text.content(line)
        if len(content.strip()) > 12 and not content.strip().startswith(("#", '"', "'")):
            indentation = len(content) - len(content.lstrip())
            return Position(line, choice.randrange(indentation, len(content)))
