"""What may be read of a workspace as context, and reading it, on the engine's thread.

That are open documents, files that the document at hand imports, and files in which somebody was
lately. Never what is excluded or may hold secrets, nor what git ignores; of files that aren't open
only those in the workspace's folders, and no large ones. Paths of such files, as the model sees
them, are those in the workspace's folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from specls.context.chunks import Chunk, Wish, around, chunked
from specls.context.document import Snapshot
from specls.context.imports import imported
from specls.context.text import Position, Text
from specls.core import CancelToken
from specls.service.exclude import Exclusion
from specls.service.folders import Folders, Names, Place
from specls.service.ignored import Ignored

MOST_BYTES = 1 << 18
"""Of a file. What is larger is data, or was made by a program."""

_MOST_DOCUMENTS = 32
_MOST_FILES = 16
"""Open documents, and others, that are looked at for one place."""

_MOST_LINES = 4096
"""Of a document, in which imports are looked for."""

_NOTEBOOK = ".ipynb"
"""On disk it's JSON with pictures in it; open ones are told as their cells."""

_MOST_CACHED = 256
"""Files whose chunks are kept."""


@dataclass(frozen=True)
class View:
    """What is open, and where somebody was, at one moment."""

    exclusion: Exclusion
    documents: tuple[Snapshot, ...] = ()
    """The open ones, those seen last at the end."""
    visited: tuple[tuple[str, int], ...] = ()
    """URIs and lines, the last at the end."""
    roots: tuple[str, ...] = ()
    """The URIs of the workspace's folders."""


@dataclass(frozen=True)
class Pool:
    """What can be chosen from for one place."""

    chunks: tuple[Chunk, ...]
    wish: Wish
    repository: str
    """What the workspace's folder is called."""
    path: str
    """What the document is called."""


class Workspace:
    """Reads, and remembers what it read. Used from the engine's thread, while nobody waits."""

    def __init__(self) -> None:
        self._ignored = Ignored()
        self._documents: dict[str, tuple[Text, str, tuple[Chunk, ...]]] = {}
        self._files: dict[str, tuple[tuple[int, int], tuple[Chunk, ...]]] = {}

    def pool(self, view: View, snapshot: Snapshot, position: Position, cancel: CancelToken) -> Pool:
        """All that may be told to the model at a place.

        Raises:
            Cancelled: ``cancel`` was set. What was read is remembered.
        """
        folders = Folders(view.roots)
        here = folders.place_of(snapshot.uri)
        others = [
            each
            for each in reversed(view.documents)
            if each.uri != snapshot.uri and self.reason(view, each, folders) is None
        ]
        imports = _imports(snapshot, here, folders, others)
        lately = (folders.place_of(uri).file for uri, _ in reversed(view.visited))
        chunks = dict[str, tuple[Chunk, ...]]()
        for other in others[:_MOST_DOCUMENTS]:
            cancel.raise_if_cancelled()
            chunks[folders.place_of(other.uri).shown] = self._chunks_of(other, folders)
        for file in _once([*imports, *lately], _MOST_FILES):
            cancel.raise_if_cancelled()
            place = folders.place_of_file(file)
            if place.shown not in chunks and file != here.file:
                chunks[place.shown] = self._chunks_of_file(view, place, snapshot.language)
        self._forget_closed(view)
        imported_paths = frozenset(folders.place_of_file(file).shown for file in imports)
        wish = Wish(around(snapshot.text, position), imported_paths, _visited(view, folders))
        every = tuple(chunk for each in chunks.values() for chunk in each)
        return Pool(every, wish, here.repository, here.shown)

    def reason(self, view: View, snapshot: Snapshot, folders: Folders) -> str | None:
        """Why an open document isn't shown to the model elsewhere; None if it is."""
        excluded = view.exclusion.reason(snapshot.uri, snapshot.language)
        place = folders.place_of(snapshot.uri)
        if excluded is None and place.file is not None:  # it may be opened through a link
            excluded = view.exclusion.reason(quote(str(place.file)), snapshot.language)
        if excluded is not None or place.file is None or place.root is None:
            return excluded
        return "git ignores it" if self._ignored(place.file, place.root) else None

    def _chunks_of(self, snapshot: Snapshot, folders: Folders) -> tuple[Chunk, ...]:
        known, shown = self._documents.get(snapshot.uri), folders.place_of(snapshot.uri).shown
        if known is None or known[0] is not snapshot.text or known[1] != shown:
            known = (snapshot.text, shown, chunked(shown, snapshot.text, MOST_BYTES))
            self._documents[snapshot.uri] = known
        return known[2]

    def _forget_closed(self, view: View) -> None:
        for uri in self._documents.keys() - {each.uri for each in view.documents}:
            del self._documents[uri]

    def _chunks_of_file(self, view: View, place: Place, language: str) -> tuple[Chunk, ...]:
        """The chunks of a file that isn't open, if it may be read and is text."""
        if place.file is None or place.root is None:
            return ()
        if view.exclusion.reason(quote(str(place.file)), language) is not None:
            return ()
        if view.exclusion.reason_in(place.root, place.shown, language) is not None:
            return ()
        if self._ignored(place.file, place.root):
            return ()
        try:
            status = place.file.stat()
            key = (status.st_mtime_ns, status.st_size)
            known = self._files.pop(str(place.file), None)
            if known is None or known[0] != key:
                known = (key, _read(place, status.st_size))
        except (OSError, ValueError):
            return ()
        self._files[str(place.file)] = known
        while len(self._files) > _MOST_CACHED:
            del self._files[next(iter(self._files))]
        return known[1]


def _read(place: Place, size: int) -> tuple[Chunk, ...]:
    """A file in chunks; none if it's large, or no text that people write."""
    if place.file is None or not place.file.is_file() or size > MOST_BYTES:
        return ()
    if place.file.suffix == _NOTEBOOK:
        return ()
    with place.file.open("rb") as file:
        raw = file.read(MOST_BYTES)
    if b"\0" in raw:
        return ()
    return chunked(place.shown, Text(raw.decode("utf-8")), MOST_BYTES)


def _imports(
    snapshot: Snapshot, here: Place, folders: Folders, others: Sequence[Snapshot]
) -> list[Path]:
    """The files in the workspace that a document imports, those others that are open included."""
    if here.inside is None:
        return []
    names = Names(folders, here, {folders.place_of(each.uri).file for each in others})
    beginning = "".join(snapshot.text.lines(0, _MOST_LINES))
    found = imported(snapshot.language, beginning, here.inside, names)
    files = (folders.full(here, name) for name in found)
    return [file for file in files if file is not None]


def _once(files: Sequence[Path | None], most: int) -> list[Path]:
    """Each file once, at the most so many."""
    return list(islice(dict.fromkeys(file for file in files if file is not None), most))


def _visited(view: View, folders: Folders) -> Mapping[str, Sequence[int]]:
    lines: dict[str, list[int]] = {}
    for uri, line in view.visited:
        lines.setdefault(folders.place_of(uri).shown, []).append(line)
    return lines
