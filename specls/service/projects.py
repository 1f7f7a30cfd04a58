"""The project files of the workspace's folders: found and read, off the event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from specls.service.folders import file_of
from specls.settings.project import NAME, ProjectFile, read_project
from specls.settings.reading import Problem

_MOST_BYTES = 1 << 16
"""A longer file isn't one that a person wrote."""


def path_in(root: str) -> Path | None:
    """Where the project file of a folder is, by its URI, whether there is one or not."""
    folder = file_of(root)
    return folder / NAME if folder is not None else None


def texts_of(roots: Sequence[str]) -> dict[str, str | Problem]:
    """What the project files hold that there are, or why one can't be read. Reads them."""
    texts = {root: _text(path) for root in roots if (path := path_in(root)) is not None}
    return {root: text for root, text in texts.items() if text is not None}


def read_all(
    texts: Mapping[str, str | Problem],
    models: Mapping[str, bool],
    before: Mapping[str, ProjectFile],
) -> dict[str, ProjectFile]:
    """The project files by the URIs of their folders: see :func:`read_project`."""
    files = {}
    for root, text in texts.items():
        old = before.get(root, ProjectFile())
        if isinstance(text, Problem):
            files[root] = ProjectFile(old.values, (text,))
        else:
            files[root] = read_project(text, models, old)
    return files


def _text(path: Path) -> str | Problem | None:
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            return Problem("line 1", f"it's longer than {_MOST_BYTES} bytes, and isn't read")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return Problem(f"line {line}", "this isn't UTF-8")
    except OSError as error:
        return Problem("line 1", f"it can't be read: {error.strerror or error}")
