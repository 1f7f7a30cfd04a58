"""Stands between an editor and a server and writes down what they say.

``python -m tests.editors.recorder FILE COMMAND…`` runs the command, hands both streams through as
they are, and appends each message to the file as a line of JSON: ``{"from": "editor"|"server",
"at": seconds, "message": …}``. While there is a file of that name with ``.hold`` behind it, what
the server says is held back; it's written down when it's said, and ``{"from": "recorder"}`` when
it's handed on.
"""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import IO, Any

_HEADER = re.compile(rb"(?:[^\r\n]+\r\n)*?Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n")
_CHUNK = 65536
_POLL = 0.02


class Log:
    """The file with the messages, written by two threads."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def add(self, sender: str, message: object) -> None:
        line = json.dumps({"from": sender, "at": monotonic(), "message": message})
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()


def pump(source: int, write: Callable[[bytes], object], sender: str, log: Log) -> None:
    """Log the messages from ``source``, and hand on all bytes."""
    pending = b""
    while chunk := os.read(source, _CHUNK):
        pending += chunk
        while match := _HEADER.search(pending):
            end = match.end() + int(match[1])
            if len(pending) < end:
                break
            log.add(sender, json.loads(pending[match.end() : end]))
            pending = pending[end:]
        write(chunk)


def main(arguments: list[str]) -> int:
    """Run the command between our own stdin and stdout; its exit code."""
    log, hold = Log(Path(arguments[0])), Path(arguments[0] + ".hold")
    child = subprocess.Popen(arguments[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    into, out = child.stdin, child.stdout.fileno()

    def write(stream: IO[bytes]) -> Callable[[bytes], None]:
        def both(data: bytes) -> None:
            stream.write(data)
            stream.flush()

        return both

    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def hand_on() -> None:
        while data := waiting.get():
            held = False
            while hold.exists():
                held = True
                threading.Event().wait(_POLL)
            write(sys.stdout.buffer)(data)
            if held:
                log.add("recorder", "handed on")

    def from_editor() -> None:
        try:
            pump(0, write(into), "editor", log)
            into.close()
        except OSError:
            pass  # the server is gone; its exit code tells

    threading.Thread(target=from_editor, daemon=True).start()
    writer = threading.Thread(target=hand_on)
    writer.start()
    pump(out, waiting.put, "server", log)
    code = child.wait()
    waiting.put(b"")
    writer.join()
    os._exit(code)  # the thread may still wait for the editor


def said(file: Path, sender: str, method: str = "") -> list[Any]:
    """What was said so far: the messages of one side, perhaps of one method only."""
    if not file.exists():
        return []
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    messages = [line["message"] for line in lines if line["from"] == sender]
    return [each for each in messages if not method or each.get("method") == method]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
