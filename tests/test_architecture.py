"""The layers of docs/architecture.md, held by walking the imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "specls"

_VALUES = {"specls.core", "specls.errors", "specls.metrics", "specls.settings"}

# What each part may import of specls; the longest matching name counts.
ALLOWED = {
    "specls": set(),
    "specls.__main__": {"specls.cli"},
    "specls.errors": set(),
    "specls.core": {"specls.errors"},
    "specls.metrics": {"specls.core"},
    "specls.settings": {"specls.settings", "specls.errors"},
    "specls.context": {"specls.context"},
    "specls.engine": {"specls.engine", "specls.core", "specls.errors", "specls.metrics"},
    "specls.engine.llama": {
        "specls.engine.llama",
        "specls.engine",
        "specls.core",
        "specls.errors",
    },
    "specls.service": {"specls.service", "specls.context", "specls.engine", *_VALUES},
    "specls.lsp": {"specls", "specls.lsp", "specls.service", "specls.context", *_VALUES},
    "specls.catalogue": {"specls", "specls.catalogue", *_VALUES},
    "specls.bench": {
        "specls.bench",
        "specls.app",
        "specls.service",
        "specls.context",
        "specls.engine",
        *_VALUES,
    },
    "specls.commands": {
        "specls",
        "specls.commands",
        "specls.app",
        "specls.serving",
        "specls.joining",
        "specls.bench",
        "specls.catalogue",
        "specls.service",
        "specls.context",
        *_VALUES,
    },
    "specls.measurements": set(),
    "specls.cli": {"specls", "specls.commands", "specls.errors"},
    "specls.joining": {"specls", "specls.errors"},
    "specls.serving": {"specls.app", "specls.lsp", "specls.service", *_VALUES},
    "specls.app": {
        "specls.service",
        "specls.engine",
        "specls.engine.llama",
        "specls.catalogue",
        "specls.measurements",
        *_VALUES,
    },
}

# Which parts alone may import a foreign package.
OWNED = {
    "llama_cpp": {"specls.engine.llama"},
    "pygls": {"specls.lsp"},
    "lsprotocol": {"specls.lsp"},
    "cattrs": {"specls.lsp"},
    "websockets": {"specls.lsp"},
    "numpy": {"specls.engine", "specls.service"},
    "huggingface_hub": {"specls.catalogue"},
    "filelock": {"specls.catalogue", "specls.joining"},
    "platformdirs": {"specls.catalogue", "specls.app", "specls.joining"},
    "rich": {"specls.commands", "specls.bench"},
    "psutil": {"specls.engine.llama", "specls.lsp"},
}

# context/ is pure: these of the standard library, and nothing that reads, writes or waits.
PURE = {
    "__future__",
    "bisect",
    "collections",
    "collections.abc",
    "dataclasses",
    "difflib",
    "enum",
    "functools",
    "itertools",
    "math",
    "re",
    "sys",
    "typing",
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, path


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports: at the top, in functions and for type checking."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            module = node.module or ""
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield inner if is_module(inner) else module


def is_module(name: str) -> bool:
    path = ROOT.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def part_of(name: str, parts: set[str]) -> str:
    """The longest of ``parts`` that is ``name`` or a package around it."""
    while name not in parts:
        name, _, _ = name.rpartition(".")
        assert name, "a part that the table doesn't know"
    return name


def violations(name: str, imported: str) -> Iterator[str]:
    parts = set(ALLOWED)
    ours = part_of(name, parts)
    top = imported.partition(".")[0]
    if top == "specls":
        theirs = part_of(imported, parts)
        if theirs not in ALLOWED[ours]:
            yield f"{name} imports {imported}"
    elif top in OWNED and not any(_inside(name, owner) for owner in OWNED[top]):
        yield f"{name} imports {imported}"
    elif _inside(name, "specls.context") and imported not in PURE:
        yield f"{name} imports {imported}, which is no pure text"


def _inside(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_imports_follow_the_layers() -> None:
    """No module imports what its layer must not know."""
    found = [
        problem
        for name, path in modules()
        for imported in imports(path)
        for problem in violations(name, imported)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("name", "imported"),
    [
        ("specls.lsp.server", "specls.engine.engine"),
        ("specls.lsp.server", "llama_cpp"),
        ("specls.engine.decode", "specls.context.fim"),
        ("specls.engine.decode", "specls.engine.llama.model"),
        ("specls.service.service", "specls.engine.llama.loader"),
        ("specls.service.service", "pygls.server"),
        ("specls.context.window", "os"),
        ("specls.context.window", "specls.engine.decode"),
        ("specls.catalogue.store", "specls.service.service"),
    ],
)
def test_the_rules_catch_what_they_forbid(name: str, imported: str) -> None:
    """A forbidden import is found."""
    assert list(violations(name, imported)) != []


def test_the_layers_have_no_cycle() -> None:
    """No module imports itself through others."""
    graph = {name: {each for each in imports(path) if is_module(each)} for name, path in modules()}
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " imports ".join((*above, name))
        if name not in done:
            for each in graph.get(name, ()):
                # A package's docstring module imports nothing; asking for it is no cycle.
                visit(each, (*above, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_every_test_says_what_it_shows() -> None:
    """Each test function has a docstring: one sentence of behaviour."""
    silent = [
        f"{path.name}: {node.name}"
        for path in sorted(Path(__file__).parent.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


def test_serving_loads_nothing_that_downloads() -> None:
    """The server imports no network client: the hub's library is for `specls models pull` only."""
    code = (
        "import sys, specls.app, specls.lsp.server, specls.service.service\n"
        "print(sorted({'huggingface_hub', 'httpx', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent
    )
    assert done.stdout.strip() == "[]"
