"""The files that a benchmark types in."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from specls.context.document import Snapshot
from specls.context.text import Text
from specls.errors import SettingsError

LANGUAGES = {
    ".c": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cs": "csharp",
    ".go": "go",
    ".h": "c",
    ".hpp": "cpp",
    ".java": "java",
    ".js": "javascript",
    ".kt": "kotlin",
    ".lua": "lua",
    ".php": "php",
    ".py": "python",
    ".rb": "ruby",
    ".rs": "rust",
    ".swift": "swift",
    ".ts": "typescript",
    ".tsx": "typescriptreact",
}

_SKIPPED = frozenset({"build", "dist", "node_modules", "site-packages", "target", "test", "venv"})
_BYTES = range(2_000, 200_000)
_LEAST_LINES = 60


@dataclass(frozen=True)
class Sources:
    """Source files below a folder, in a fixed order."""

    folder: Path
    paths: Sequence[Path]

    def by_language(self) -> dict[str, Sources]:
        """The files of each language, the languages in alphabetical order."""
        found: dict[str, list[Path]] = {}
        for path in self.paths:
            found.setdefault(LANGUAGES[path.suffix], []).append(path)
        return {language: Sources(self.folder, found[language]) for language in sorted(found)}

    def draw(self, choice: random.Random) -> Iterator[Snapshot]:
        """Documents in an order that ``choice`` decides, each file once."""
        for path in choice.sample(self.paths, len(self.paths)):
            text = _read(path)
            if text is not None and len(text) >= _LEAST_LINES:
                yield Snapshot(path.as_uri(), 1, LANGUAGES[path.suffix], text)


def standard_library() -> Sources:
    """The Python files of this machine's standard library."""
    return _below(Path(sysconfig.get_path("stdlib")), {".py"})


def repository(folder: Path) -> Sources:
    """The source files of any folder.

    Raises:
        SettingsError: it holds none.
    """
    sources = _below(folder, set(LANGUAGES))
    if not sources.paths:
        raise SettingsError(
            f"{folder} holds no source files of {_BYTES.start} to {_BYTES.stop} bytes."
        )
    return sources


def _below(folder: Path, suffixes: set[str]) -> Sources:
    folder = folder.resolve()
    found = (path for path in folder.rglob("*") if path.suffix in suffixes)
    return Sources(folder, sorted(path for path in found if _wanted(path, folder)))


def _wanted(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts[:-1]
    if any(part in _SKIPPED or part.startswith(".") for part in parts):
        return False
    return path.is_file() and path.stat().st_size in _BYTES


def _read(path: Path) -> Text | None:
    """The text with LF line endings; None where it's no text."""
    try:
        return Text(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
