"""Which files of a workspace a text imports, by the simple forms of import of some languages.

Paths are those in the workspace's folder, with ``/``. Nothing is parsed: what looks like an import
in a string is taken for one, and what can't be found is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

Listing = Callable[[str], Collection[str]]
"""The names of the files in a folder (``""`` is the workspace's own); none if there's no such."""

_HERE = "./"

_SOURCE_FOLDERS = ("src", "include", "lib")
"""Folders of a project from which names often count."""

_MOST_PACKAGE_FILES = 8
"""So many files of a package are named by importing it, where a package is a folder."""

_MOST_CHARACTERS = 65536
"""Imports stand at the beginning of a file."""


@dataclass(frozen=True)
class Language:
    """How one language imports.

    ``named`` yields for each import the files that it may mean, the first that's there counts:
    with ``./`` or ``../`` from the file's own folder, else from a folder around it.
    """

    pattern: re.Pattern[str]
    named: Callable[[re.Match[str], str], Iterable[Sequence[str]]]
    always: tuple[str, ...] = ()
    """What belongs to each file without being imported."""


def imported(language: str, text: str, path: str, listing: Listing) -> list[str]:
    """The paths that the file ``path`` imports, each once, in the order of the text."""
    known = LANGUAGES.get(language)
    if known is None:
        return []
    found: dict[str, None] = {}
    imports = _alternatives(known, text[:_MOST_CHARACTERS], path)
    for alternatives in imports:
        found.update(dict.fromkeys(_first(alternatives, path, listing)))
    found.pop(path, None)
    return list(found)


def _alternatives(language: Language, text: str, path: str) -> Iterator[Sequence[str]]:
    for match in language.pattern.finditer(text):
        yield from language.named(match, path)
    if language.always:
        yield language.always


def _first(alternatives: Sequence[str], path: str, listing: Listing) -> list[str]:
    """The files of the first alternative that's there."""
    for name in alternatives:
        for full in _places(name, path):
            folder, _, file = full.rpartition("/")
            names = listing(folder)
            if file.startswith("*"):
                files = sorted(each for each in names if each.endswith(file[1:]))
                if files:
                    there = (f"{folder}/{each}".lstrip("/") for each in files)
                    return list(islice(there, _MOST_PACKAGE_FILES))
            elif file in names:
                return [full]
    return []


def _places(name: str, path: str) -> Iterator[str]:
    """Where a file of this name may be, seen from the file ``path``."""
    folder = path.rpartition("/")[0]
    if name.startswith("."):
        if (full := _joined(folder, name)) is not None:
            yield full
        return
    while folder:
        yield f"{folder}/{name}"
        folder = folder.rpartition("/")[0]
    yield name
    yield from (f"{source}/{name}" for source in _SOURCE_FOLDERS)


def _joined(folder: str, name: str) -> str | None:
    """A name with ``.`` and ``..`` from a folder; None where that leaves the workspace."""
    parts = folder.split("/") if folder else []
    for part in name.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


# -- the languages ---------------------------------------------------------------------------


def _python(match: re.Match[str], _path: str) -> Iterator[Sequence[str]]:
    """``from a.b import c`` may mean a module or something in one; ``import a.b, c`` modules."""
    if (modules := match["modules"]) is not None:
        for each in modules.split(","):
            yield _python_files("", each.split(" as ")[0].strip().replace(".", "/"))
        return
    module = match["module"].lstrip(".")
    dots = len(match["module"]) - len(module)
    up = _HERE + "../" * (dots - 1) if dots else ""
    module = module.replace(".", "/")
    names = re.findall(r"(?:^|[,(\n])[^\S\n]*(\w+)", match["names"])
    for name in names:
        inner = f"{module}/{name}" if module else name
        yield (f"{up}{inner}.py", f"{up}{inner}/__init__.py")
    yield _python_files(up, module)


def _python_files(up: str, module: str) -> Sequence[str]:
    if not module:
        return (f"{up}__init__.py",)
    return (f"{up}{module}.py", f"{up}{module}/__init__.py")


_SCRIPTS = (".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".vue", ".svelte")


def _javascript(match: re.Match[str], _path: str) -> Iterator[Sequence[str]]:
    """Relative names only: others are packages. TypeScript says ``.js`` and may mean ``.ts``."""
    name = match["name"]
    stem = re.sub(r"\.[mc]?jsx?$", "", name)
    files = [name, *(stem + ending for ending in _SCRIPTS)]
    yield [*files, *(f"{name}/index{ending}" for ending in _SCRIPTS)]


def _go(match: re.Match[str], _path: str) -> Iterator[Sequence[str]]:
    """A package is a folder; its path begins with the module's, which isn't a folder here."""
    parts = match["name"].split("/")
    yield ["/".join((*parts[at:], "*.go")) for at in range(len(parts))]


def _rust(match: re.Match[str], path: str) -> Iterator[Sequence[str]]:
    """``mod a;`` is a file beside this one or below; ``use crate::a::B`` something in one."""
    if (name := match["mod"]) is not None:
        stem = path.rpartition("/")[2].removesuffix(".rs")
        below = [f"./{stem}/{name}.rs", f"./{stem}/{name}/mod.rs"]
        beside = [f"./{name}.rs", f"./{name}/mod.rs"]
        yield beside + below if stem in {"mod", "lib", "main"} else below + beside
        return
    start, *parts = match["path"].split("::")
    ups = ("./", "../") if start == "super" else ("",)
    yield [
        up + "/".join(parts[:size]) + ending
        for size in range(len(parts), 0, -1)
        for up in ups
        for ending in (".rs", "/mod.rs")
    ]


def _c(match: re.Match[str], _path: str) -> Iterator[Sequence[str]]:
    yield (_HERE + match["name"], match["name"])


_PYTHON = Language(
    re.compile(
        r"^[ \t]*(?:from[ \t]+(?P<module>\.*[\w.]*)[ \t]+import[ \t]+"
        r"(?P<names>\([^)]*\)|[^\n#]+)|import[ \t]+(?P<modules>[\w., \t]+))",
        re.MULTILINE,
    ),
    _python,
)
_JAVASCRIPT = Language(
    re.compile(r"""\b(?:from|import|require)\s*(?:\(\s*)?["'](?P<name>\.[^"'\n]*)["']"""),
    _javascript,
)
_GO = Language(
    re.compile(
        r"""^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"(?P<name>[\w./-]+)"[ \t\r]*$""", re.MULTILINE
    ),
    _go,
    always=("./*.go",),
)
_RUST = Language(
    re.compile(
        r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:mod\s+(?P<mod>\w+)\s*;"
        r"|use\s+(?P<path>(?:crate|super)(?:::\w+)+))",
        re.MULTILINE,
    ),
    _rust,
)
_C = Language(re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?P<name>[^"\n]+)"', re.MULTILINE), _c)

LANGUAGES = {
    "python": _PYTHON,
    **dict.fromkeys(
        ("typescript", "typescriptreact", "javascript", "javascriptreact", "vue", "svelte"),
        _JAVASCRIPT,
    ),
    "go": _GO,
    "rust": _RUST,
    **dict.fromkeys(("c", "cpp", "objective-c", "objective-cpp", "cuda-cpp"), _C),
}
"""By the ids that editors use."""
