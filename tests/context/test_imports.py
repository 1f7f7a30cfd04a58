"""Which files a text imports."""

from __future__ import annotations

import pytest

from specls.context.imports import Listing, imported


def files(*paths: str) -> Listing:
    """The workspace that has just these files."""

    def listing(folder: str) -> list[str]:
        inside = (path.rpartition("/") for path in paths)
        return [name for place, _, name in inside if place == folder]

    return listing


@pytest.mark.parametrize(
    ("language", "text", "path", "there", "expected"),
    [
        ("python", "import app.models", "main.py", ["app/models.py"], ["app/models.py"]),
        ("python", "import os, app as a", "main.py", ["app/__init__.py"], ["app/__init__.py"]),
        ("python", "from app.store import Cart", "x/y.py", ["app/store.py"], ["app/store.py"]),
        ("python", "from app import store", "main.py", ["app/store.py"], ["app/store.py"]),
        ("python", "from .b import c", "p/a.py", ["p/b.py", "b.py"], ["p/b.py"]),
        ("python", "from .. import c", "p/q/a.py", ["p/c.py"], ["p/c.py"]),
        (
            "python",
            "from app import (\n    one,\n    two as zwei,\n)",
            "main.py",
            ["app/one.py", "app/two.py", "app/zwei.py"],
            ["app/one.py", "app/two.py"],
        ),
        ("python", "from app import x", "a/b.py", ["src/app/x.py"], ["src/app/x.py"]),
        ("typescript", "import { a } from './a'", "src/b.ts", ["src/a.ts"], ["src/a.ts"]),
        ("typescript", "import a from '../a.js'", "src/b.ts", ["a.ts"], ["a.ts"]),
        ("javascript", "const a = require('./a')", "b.js", ["a/index.js"], ["a/index.js"]),
        ("javascript", "import 'react'", "b.js", ["react.js"], []),
        ("typescriptreact", "export * from './ui'", "b.tsx", ["ui.tsx"], ["ui.tsx"]),
        (
            "go",
            'import (\n\t"fmt"\n\tx "example.org/mod/pkg/store"\n)',
            "cmd/main.go",
            ["pkg/store/a.go", "pkg/store/b.go", "cmd/util.go"],
            ["pkg/store/a.go", "pkg/store/b.go", "cmd/util.go"],
        ),
        ("rust", "mod parser;", "src/main.rs", ["src/parser.rs"], ["src/parser.rs"]),
        ("rust", "pub mod b;", "src/a.rs", ["src/a/b.rs", "src/b.rs"], ["src/a/b.rs"]),
        ("rust", "use crate::a::b::C;", "src/x/y.rs", ["src/a/b.rs"], ["src/a/b.rs"]),
        ("rust", "use super::z::Q;", "src/x/y.rs", ["src/x/z.rs"], ["src/x/z.rs"]),
        (
            "cpp",
            '#include "a/b.h"\n#include <c.h>',
            "src/x.cpp",
            ["src/a/b.h", "c.h"],
            ["src/a/b.h"],
        ),
        ("c", '#  include "b.h"', "src/x.c", ["include/b.h"], ["include/b.h"]),
        ("cobol", "import a", "b.py", ["a.py"], []),
    ],
)
def test_imports_name_files(
    language: str, text: str, path: str, there: list[str], expected: list[str]
) -> None:
    """The usual forms of import lead to the files that are there, and to no others."""
    assert imported(language, text, path, files(*there)) == expected


def test_nothing_is_looked_for_outside_of_the_workspace() -> None:
    """A relative import that leaves the workspace's folder names nothing."""
    asked: list[str] = []

    def listing(folder: str) -> list[str]:
        asked.append(folder)
        return ["b.py"]

    assert imported("python", "from ...b import c", "a.py", listing) == []
    assert imported("typescript", "import '../../../b.py'", "a/b.ts", listing) == []
    assert not any(".." in folder for folder in asked)


def test_a_file_doesn_t_import_itself() -> None:
    """The file's own name is left out, also where its package is named whole."""
    assert imported("go", "package a", "a/x.go", files("a/x.go", "a/y.go")) == ["a/y.go"]


@pytest.mark.parametrize(
    ("language", "word", "line", "path", "there"),
    [
        ("python", "import", "import b", "a.py", "b.py"),
        ("javascript", "import", "import './b'", "a.js", "b.js"),
        ("go", "import", 'import "b"', "a.go", "b/x.go"),
        ("rust", "pub", "mod b;", "src/main.rs", "src/b.rs"),
        ("c", "#", '#include "b.h"', "a.c", "b.h"),
    ],
)
def test_blanks_cost_no_time(language: str, word: str, line: str, path: str, there: str) -> None:
    """A file with many of them, which trying all ways to share them would take hours for."""
    blank = " " * 5000
    text = f"{word}{blank}\n{blank}\n" * 4 + "\n" * 9000 + f"{line}\n"
    assert imported(language, text, path, files(there)) == [there]
