"""Where files are: in the workspace's folders or not, and what the model is told of that."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from urllib.parse import urlsplit
from urllib.request import url2pathname

from specls.service.ignored import inside

_MOST_NAMES = 4096
"""Files of a folder that are looked at to find one that's imported."""

_UNPRINTABLE = dict.fromkeys(range(32))


@dataclass(frozen=True)
class Place:
    """Where a document is. ``file`` is without links, and there need be no such file."""

    file: Path | None
    root: Path | None
    """The innermost of the workspace's folders that it's in."""
    shown: str
    """What the model is told: never where the workspace's folder is."""

    @property
    def inside(self) -> str | None:
        """Its path in the workspace's folder, if it's in one."""
        return self.shown if self.root is not None else None

    @property
    def repository(self) -> str:
        """What the folder of the workspace is called, or that of the file."""
        folder = self.root or (self.file.parent if self.file else None)
        return (folder.name if folder else "").translate(_UNPRINTABLE) or "workspace"


class Folders:
    """The workspace's folders."""

    def __init__(self, roots: Sequence[str]) -> None:
        files = (file_of(root) for root in roots)
        resolved = {Path(os.path.realpath(file)) for file in files if file is not None}
        self._roots = sorted(resolved, key=lambda root: -len(str(root)))
        self._places: dict[str, Place] = {}

    def place_of(self, uri: str) -> Place:
        """Where a document is, by its URI."""
        if uri not in self._places:
            file = file_of(uri)
            self._places[uri] = self.place_of_file(file, "" if file else _name(uri))
        return self._places[uri]

    def place_of_file(self, file: Path | None, name: str = "") -> Place:
        """Where a file is; one that's somewhere else through a link is there."""
        if file is None:
            return Place(None, None, name.translate(_UNPRINTABLE))
        file = Path(os.path.realpath(file))
        root = next((each for each in self._roots if inside(file, each)), None)
        shown = file.relative_to(root).as_posix() if root else file.name
        return Place(file, root, shown.translate(_UNPRINTABLE))

    def full(self, here: Place, inside_root: str) -> Path | None:
        """The file with a path in the same folder of the workspace, if it's one of its own."""
        if here.root is None:
            return None
        place = self.place_of_file(here.root / inside_root)
        return place.file if place.root is not None else None


def _name(uri: str) -> str:
    """What the document of a URI is called; what's no URI is taken for a path."""
    try:
        return PurePath(urlsplit(uri).path).name
    except ValueError:
        return PurePath(uri).name


def file_of(uri: str) -> Path | None:
    """The file of a URI; None for what isn't one, as what was never saved."""
    try:
        parts = urlsplit(uri)
        if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
            return None
        path = url2pathname(parts.path)
        path.encode()  # half a character is in no path
    except ValueError:
        return None
    return Path(path) if os.path.isabs(path) and "\0" not in path else None  # noqa: PTH117


class Names:
    """The names of the files in the folders of a workspace: see ``imports.Listing``."""

    def __init__(self, folders: Folders, here: Place, opened: set[Path | None]) -> None:
        self._root = here.root
        self._folders = folders
        self._known: dict[str, Collection[str]] = {}
        self._opened: dict[str, set[str]] = {}
        for file in opened:
            place = folders.place_of_file(file)
            if file is not None and place.root == here.root:
                folder, _, name = place.shown.rpartition("/")
                self._opened.setdefault(folder, set()).add(name)

    def __call__(self, folder: str) -> Collection[str]:
        """The names of the files in a folder, given by its path in the workspace's."""
        if folder not in self._known:
            names = set(islice(self._files(folder), _MOST_NAMES))
            self._known[folder] = names | self._opened.get(folder, set())
        return self._known[folder]

    def _files(self, folder: str) -> Iterator[str]:
        if self._root is None:
            return
        try:
            with os.scandir(self._root / folder) as entries:
                for entry in islice(entries, _MOST_NAMES):
                    if entry.is_file():
                        yield entry.name
        except (OSError, ValueError):
            return
