"""What tests in editors share: a folder with a server that's recorded, and its settings."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from tests.e2e.editor import CODER
from tests.e2e.rawclient import ROOT, SERVER
from tests.e2e.scripted import OPTIONS
from tests.editors.recorder import said
from tests.editors.terminal import DEADLINE, Terminal

CACHE = Path(os.environ.get("SPECLS_EDITORS") or Path.home() / ".cache" / "specls-editors")
"""Where the set-up scripts put editors."""

STUB = (sys.executable, "-m", "tests.editors.stub_server")
_POLL = 0.05


class Conversation:
    """A folder with a file to edit, and all that an editor and its server say about it."""

    def __init__(self, folder: Path, rules: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.log = folder / "messages.log"
        self.settings: Mapping[str, object] = OPTIONS if rules is not None else CODER
        server = STUB if rules is not None else SERVER
        self.command = [sys.executable, "-m", "tests.editors.recorder", str(self.log), *server]
        self.env = {"PYTHONPATH": str(ROOT), "SPECLS_STUB": str(folder / "rules.json")}
        self.env |= {name: os.environ[name] for name in os.environ if name.startswith("SPECLS_")}
        (folder / "rules.json").write_text(json.dumps(rules or {}), "utf-8")
        self._hold = Path(f"{self.log}.hold")

    def write(self, name: str, text: str) -> Path:
        """A file to edit; its line endings are those of the text."""
        file = self.folder / name
        file.write_bytes(text.encode())
        return file

    def editor(self, method: str = "") -> list[Any]:
        """What the editor said."""
        return said(self.log, "editor", method)

    def params(self, method: str) -> list[Any]:
        """The parameters of what the editor said with a method."""
        return [message.get("params") for message in self.editor(method)]

    def answers(self, method: str) -> list[Any]:
        """The server's results to the editor's requests of a method."""
        numbers = {message["id"] for message in self.editor(method) if "id" in message}
        told = said(self.log, "server")
        return [
            message["result"]
            for message in told
            if "method" not in message and message.get("id") in numbers and "result" in message
        ]

    def hold(self) -> None:
        """Keep back what the server says from now on."""
        self._hold.touch()

    def release(self) -> None:
        """Hand it on; when that's done, return."""
        self._hold.unlink()
        self.until(lambda: said(self.log, "recorder"))

    def until(self, wanted: Any, seconds: float = DEADLINE) -> Any:
        """Wait until this is true, or not empty; its value."""
        end = monotonic() + seconds
        while not (value := wanted()):
            if monotonic() > end:
                lines = [json.dumps(each)[:300] for each in self.editor()[-8:]]
                raise AssertionError("It never came. The editor said last:\n" + "\n".join(lines))
            threading.Event().wait(_POLL)
        return value

    def until_ready(self, seconds: float = DEADLINE) -> None:
        """Wait until the server has said that its model is loaded."""
        self.until(
            lambda: any(
                each["params"]["state"] == "ready"
                for each in said(self.log, "server", "specls/status")
            ),
            seconds,
        )

    def until_file(self, file: Path, text: str) -> None:
        """Wait until a file holds this, byte by byte."""
        # Some editors write another file and rename it.
        self.until(lambda: file.exists() and file.read_bytes() == text.encode())


def artefact(seen: Terminal, name: str) -> None:
    """Keep a screen where people look: ``SPECLS_ARTEFACTS``, or ``artefacts`` in the cache."""
    folder = Path(os.environ.get("SPECLS_ARTEFACTS") or CACHE / "artefacts")
    seen.keep(folder / name)
