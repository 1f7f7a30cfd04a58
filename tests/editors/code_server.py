"""VS Code in a browser: code-server as a process, with our extension in it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tests.e2e.rawclient import ROOT

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specls-editors"
HOME = CACHE / "code-server"
"""Where ``setup_code_server.sh`` puts it."""

EXTENSION = ROOT / "editors" / "vscode"
DEADLINE = 120.0

QUIET = {
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.wordBasedSuggestions": "off",
    "editor.minimap.enabled": False,
    "editor.fontFamily": "monospace",
    "files.autoSave": "off",
    "chat.disableAIFeatures": True,
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "window.commandCenter": False,
    "extensions.ignoreRecommendations": True,
    "security.workspace.trust.enabled": False,
    "typescript.tsserver.enabled": False,
    "typescript.validate.enable": False,
    "telemetry.telemetryLevel": "off",
}
"""Nothing that pops up by itself and covers ghost text."""


class CodeServer:
    """One running code-server, with a workspace, settings and a recorder before the server."""

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        self.workspace = folder / "project"
        self.frames = folder / "frames.jsonl"
        self.program = folder / "bin" / "specls"
        self._data = folder / "data"
        self._extensions = folder / "extensions"
        self._log = (folder / "code-server.log").open("wb")
        self.port = _free_port()
        self.workspace.mkdir(parents=True)
        self._write_program()
        self.configure(settings)
        self._install()
        self._process = self._start()
        self._wait()

    @property
    def url(self) -> str:
        """What the browser opens."""
        return f"http://127.0.0.1:{self.port}/?folder={self.workspace}"

    def configure(self, settings: Mapping[str, object]) -> None:
        """Write the machine's settings, for some aren't taken from others; VS Code notices."""
        file = self._data / "Machine" / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        everything = {**QUIET, "specls.server.path": str(self.program), **settings}
        file.write_text(json.dumps(everything), "utf-8")

    def _write_program(self) -> None:
        """The server as the extension finds it: the real one, behind the recorder."""
        self.program.parent.mkdir()
        python = shlex.quote(sys.executable)
        self.program.write_text(
            "#!/bin/sh\n"
            f"export PYTHONPATH={shlex.quote(str(ROOT))}\n"
            f'if [ "$1" != serve ]; then exec {python} -m specls "$@"; fi\n'
            f"exec {python} -m tests.editors.recorder {shlex.quote(str(self.frames))} "
            f'{python} -m specls "$@"\n'
        )
        self.program.chmod(0o755)

    def _install(self) -> None:
        """Unpacked: code-server takes a folder as it takes a .vsix."""
        manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
        target = self._extensions / f"specls.specls-{manifest['version']}"
        shutil.copytree(EXTENSION / "dist", target / "dist", ignore=shutil.ignore_patterns("test"))
        for name in ("package.json", "README.md", "icon.png"):
            shutil.copy(EXTENSION / name, target / name)

    def _start(self) -> subprocess.Popen[bytes]:
        entry = HOME / "code-server/node_modules/code-server/out/node/entry.js"
        folders = {"user-data-dir": self._data, "extensions-dir": self._extensions}
        flags = [
            *("--auth", "none", "--bind-addr", f"127.0.0.1:{self.port}"),
            *("--config", str(self._data / "config.yaml")),
            *(part for name, path in folders.items() for part in (f"--{name}", str(path))),
            *("--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"),
            "--disable-getting-started-override",
        ]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("VSCODE_")}
        return subprocess.Popen(
            [str(HOME / "node/node"), str(entry), *flags, str(self.workspace)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=environment,
            start_new_session=True,
        )

    def _wait(self) -> None:
        end = monotonic() + DEADLINE
        while not self._answers():
            assert self._process.poll() is None, "code-server ended"
            assert monotonic() < end, "code-server didn't answer in time"
            sleep(0.2)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5):
                return True
        except OSError:
            return False

    def close(self) -> None:
        """End it, and what it started."""
        self._process.terminate()
        self._process.wait(20)
        self._log.close()

    # -- what was said -----------------------------------------------------------------------

    def messages(self) -> list[dict[str, Any]]:
        """All that the recorder wrote down: ``from``, ``at`` and ``message`` of each."""
        if not self.frames.exists():
            return []
        return [json.loads(line) for line in self.frames.read_text("utf-8").splitlines()]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
