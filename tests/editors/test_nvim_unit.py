"""The Neovim plugin against a stub server, in each Neovim; its format, lint and help."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.rawclient import ROOT
from tests.editors.nvim import FOLDER, PLUGIN, VERSIONS, program

pytestmark = pytest.mark.editors


def run(command: Sequence[str | Path], folder: Path = PLUGIN) -> str:
    """What a command prints; it has to succeed."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_units(version: str) -> None:
    """All tests of the plugin's own folder pass."""
    output = run([program(version), "--clean", "--headless", "-l", "tests/run.lua"])
    closing = output.strip().splitlines()[-1]
    passed, failed = (int(part.split()[0]) for part in closing.split(", "))
    assert failed == 0
    assert passed == output.count("ok - ")
    assert passed >= sum(
        spec.read_text("utf-8").count("\ntest(") for spec in PLUGIN.glob("tests/*_spec.lua")
    )


def test_luacheck() -> None:
    """Luacheck finds nothing."""
    assert "0 warnings / 0 errors" in run(["luacheck", "--no-color", "."])


def test_stylua() -> None:
    """StyLua would change nothing."""
    script = ROOT / "tests" / "editors" / "stylua.mjs"
    assert run(["node", script, FOLDER / "stylua" / "node_modules", PLUGIN]) == ""


def test_modules_are_small() -> None:
    """No module has more than 250 lines."""
    lengths = {
        path.name: len(path.read_text().splitlines()) for path in PLUGIN.glob("lua/**/*.lua")
    }
    assert {name: length for name, length in lengths.items() if length > 250} == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_help(version: str, tmp_path: Path) -> None:
    """The help file's tags are those kept beside it, one for each option and function."""
    text = (PLUGIN / "doc" / "specls.txt").read_text("utf-8")
    (tmp_path / "specls.txt").write_text(text, "utf-8")
    run([program(version), "--clean", "--headless", "-c", f"helptags {tmp_path}", "-c", "qa!"])
    kept = (PLUGIN / "doc" / "tags").read_text("utf-8")
    assert kept == (tmp_path / "tags").read_text("utf-8"), "run :helptags in editors/nvim/doc"
    tags = {line.split("\t")[0] for line in (tmp_path / "tags").read_text("utf-8").splitlines()}
    config = (PLUGIN / "lua" / "specls" / "config.lua").read_text("utf-8")
    fields = config.split("---@class specls.Config")[1].split("---@type")[0]
    options = {line.split()[1].rstrip("?") for line in fields.splitlines() if "@field" in line}
    assert options == {tag.removeprefix("specls-option-") for tag in tags if "-option-" in tag}
    api = (PLUGIN / "lua" / "specls" / "init.lua").read_text("utf-8")
    functions = {f"specls.{part.split('(')[0]}()" for part in api.split("\nfunction M.")[1:]}
    assert functions == {tag for tag in tags if tag.startswith("specls.") and tag.endswith("()")}
    links = set(re.findall(r"\|(specls[\w.()-]*)\|", text))
    assert links <= tags
