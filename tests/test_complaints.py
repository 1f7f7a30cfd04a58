"""The page of complaints names tests that exist, and leaves no complaint out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "complaints.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


@cache
def names_in(path: str) -> frozenset[str]:
    """The names of a module's tests."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(each.name for each in tree.body if isinstance(each, functions))


def test_every_named_test_exists() -> None:
    """A test that's renamed or gone is missed."""
    missing = [
        f"{path}::{name}"
        for path, name in NAMED
        if not (ROOT / path).is_file() or name not in names_in(path)
    ]
    assert missing == []


def test_every_complaint_has_a_row_with_a_test() -> None:
    """The 25 are numbered, each once, and each names a test."""
    rows = re.findall(r"^\| (\d+) \|.*$", PAGE, re.MULTILINE)
    assert [int(each) for each in rows] == list(range(1, 26))
    lines = [line for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [line for line in lines if "::test_" not in line] == []


def test_every_test_of_complaints_is_named() -> None:
    """What was written for a complaint is found from the page."""
    modules = sorted((ROOT / "tests" / "e2e").glob("test_complaints_*.py"))
    paths = [f"tests/e2e/{module.name}" for module in modules]
    tests = {(path, name) for path in paths for name in names_in(path) if name.startswith("test_")}
    assert sorted(tests - set(NAMED)) == []
