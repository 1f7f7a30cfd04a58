"""What the extension for VS Code says of the server is what the server says of itself."""

from __future__ import annotations

import json
from typing import Any

from specls.settings import pages
from tests.e2e.rawclient import ROOT

FOLDER = ROOT / "editors" / "vscode"


def manifest() -> Any:
    return json.loads((FOLDER / "package.json").read_text("utf-8"))


def test_the_settings_are_the_servers() -> None:
    """`specls settings --format vscode | node scripts/settings.mjs` brings them up to date."""
    groups = manifest()["contributes"]["configuration"]
    (suggestions,) = [group for group in groups if group["title"] == "Suggestions"]
    assert suggestions["properties"] == json.loads(pages.vscode())


def test_the_lock_file_names_no_registry() -> None:
    """Where packages come from is the business of the machine that installs them."""
    lock = json.loads((FOLDER / "package-lock.json").read_text("utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []


def test_a_workspace_that_is_not_trusted_names_no_program() -> None:
    """Settings that name a program or a model file are the user's own there."""
    restricted = manifest()["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    assert {"specls.server.path", "specls.model", "specls.draftModel"} <= set(restricted)
