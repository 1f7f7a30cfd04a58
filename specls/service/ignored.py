"""What git ignores: nothing of it is read as context, since much of it is made, or private."""

from __future__ import annotations

import os
from pathlib import Path

from pathspec import GitIgnoreSpec

from specls.settings.patterns import spec_of

_MOST_BYTES = 1 << 18
"""A longer file of patterns isn't one that a person wrote."""


class Ignored:
    """Asks the ``.gitignore`` files in and above the folder of a file. Reads each when it changed.

    A person's own ignore file for all repositories isn't looked at.
    """

    def __init__(self) -> None:
        self._specs: dict[Path, tuple[tuple[int, int], GitIgnoreSpec]] = {}
        self._tops: dict[Path, Path] = {}

    def __call__(self, path: Path, root: Path) -> bool:
        """Whether git ignores ``path``, which is in the folder ``root``."""
        top = self._top(root)
        parts = path.relative_to(top).parts
        if ".git" in parts:
            return True
        # What is in a folder that's ignored can't be allowed again.
        return any(
            self._ignores(top, parts[:size], len(parts)) for size in range(1, len(parts) + 1)
        )

    def _top(self, root: Path) -> Path:
        """The folder of the repository, or ``root`` where there's none."""
        if root not in self._tops:
            folders = (root, *root.parents)
            # Not as ``Path.exists``, which raises where somebody mayn't look.
            here = (each for each in folders if os.path.exists(each / ".git"))  # noqa: PTH110
            self._tops[root] = next(here, root)
        return self._tops[root]

    def _ignores(self, top: Path, parts: tuple[str, ...], whole: int) -> bool:
        """Whether the innermost file that says anything of a path ignores it."""
        ending = "" if len(parts) == whole else "/"
        for depth in range(len(parts) - 1, -1, -1):
            patterns = top.joinpath(*parts[:depth], ".gitignore")
            said = self._says(patterns, "/".join(parts[depth:]) + ending)
            if said is not None:
                return said
        return bool(self._says(top / ".git" / "info" / "exclude", "/".join(parts) + ending))

    def _says(self, patterns: Path, name: str) -> bool | None:
        try:
            status = patterns.stat()
            key = (status.st_mtime_ns, status.st_size)
            known = self._specs.get(patterns)
            if known is None or known[0] != key:
                known = self._specs[patterns] = (key, _read(patterns, status.st_size))
        except OSError:
            self._specs.pop(patterns, None)
            return None
        return known[1].check_file(name).include


def _read(patterns: Path, size: int) -> GitIgnoreSpec:
    if size > _MOST_BYTES:
        return spec_of([])
    text = patterns.read_bytes().decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if _is_pattern(line)]
    return spec_of(lines)


def _is_pattern(line: str) -> bool:
    """Whether git would take a line; one that's wrong counts for nothing, as there."""
    try:
        spec_of([line])
    except ValueError:
        return False
    return True


def inside(path: Path, root: Path) -> bool:
    """Whether a path is in a folder, both without links."""
    return path != root and os.path.commonpath((path, root)) == str(root)
