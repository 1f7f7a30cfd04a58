"""The library under VS Code's client, on Node: another implementation of the whole protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.rawclient import DEADLINE, ROOT
from tests.e2e.scripted import COMMAND, OPTIONS

pytestmark = pytest.mark.e2e

FOLDER = ROOT / "tests" / "clients" / "node"
LIBRARY = FOLDER / "node_modules" / "vscode-languageserver-protocol"
CANCELLED = -32800


@pytest.fixture(scope="module")
def library() -> Path:
    """The folder of the client with its library, fetched as the lock file says."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node.js with npm isn't installed: apt install nodejs npm")
    wanted = json.loads((FOLDER / "package.json").read_text("utf-8"))["dependencies"]
    manifest = LIBRARY / "package.json"
    there = json.loads(manifest.read_text("utf-8")) if manifest.exists() else {}
    if there.get("version") != wanted[LIBRARY.name]:
        command = ["npm", "ci", "--silent", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=FOLDER, check=True, timeout=DEADLINE)
    return FOLDER


@pytest.fixture(scope="module")
def seen(library: Path) -> Any:
    """What the client saw when it talked to a server."""
    command = ["node", "client.mjs", *COMMAND]
    env = {**os.environ, "SPECLS_TEST_SETTINGS": json.dumps(OPTIONS), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=library, env=env, capture_output=True, text=True, check=False, timeout=DEADLINE
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_it_completes_and_cancels(seen: Any) -> None:
    """A change and a request behind it are counted in UTF-16; a cancelled request gets its code."""
    (item,) = seen["items"]
    assert item["insertText"] == " = x +'é 🤗'"
    start, end = item["range"]["start"], item["range"]["end"]
    assert (start, end) == ({"line": 0, "character": 2}, {"line": 0, "character": 8})
    assert seen["cancelled"] == CANCELLED


def test_it_is_asked_for_settings(seen: Any) -> None:
    """At the start and when they changed; they're followed."""
    assert seen["asked"] == ["specls", "specls"]
    assert seen["disabled"] == 0


def test_it_is_told_of_inline_completion_once(seen: Any) -> None:
    """A client that takes dynamic registrations is told of a method one way, not both."""
    assert seen["provider"] is None
    assert seen["registered"].count("textDocument/inlineCompletion") == 1


def test_the_server_ends_with_it(seen: Any) -> None:
    """After shutdown and exit the code is 0, and nobody had to be told anything."""
    assert (seen["code"], seen["messages"]) == (0, [])


def test_the_lock_file_names_no_registry() -> None:
    """Whoever fetches the library does so from the registry that he has."""
    assert "resolved" not in (FOLDER / "package-lock.json").read_text("utf-8")
