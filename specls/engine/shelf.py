"""States of documents on disk: what is restored after a restart instead of being read again.

One file per document, in a folder per model and build. A file is written beside its place and then
renamed, so a process that dies leaves no half of one. What doesn't fit together is ignored.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import zlib
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic, time
from typing import BinaryIO

import numpy as np

from specls.engine.spill import Holding, Spilled

logger = logging.getLogger(__name__)

_MAGIC = b"specls state 1\n"
_LONGEST_HEADER = 4096
_FOLDERS, _FILES = "[0-9a-f]" * 16, "[0-9a-f]" * 32
_SUFFIX, _PART = ".state", ".part"
_ABSENT = (FileNotFoundError, NotADirectoryError)
_DAMAGED = (OSError, ValueError, OverflowError, RecursionError)

_PART_SECONDS = 3600.0
"""A part that's older was left by a process that died."""


@dataclass(frozen=True)
class Kept:
    """What a file says about itself: a :class:`Holding` whose KV is on disk."""

    tokens: list[int]
    exact: int
    movable: range
    state: int
    """The state's size in bytes; it stands at the end of the file."""

    @property
    def header(self) -> bytes:
        """All but the state, as it's written."""
        header = {
            "tokens": len(self.tokens),
            "exact": self.exact,
            "movable": [self.movable.start, self.movable.stop],
            "state": self.state,
        }
        return json.dumps(header).encode() + b"\n" + _bytes_of(self.tokens)


class Shelf:
    """At most so many bytes of states in a folder; the ones used the longest time ago go first.

    What is there already and doesn't fit is deleted at once; with a budget of 0 that's everything.

    Several processes may share the folder. Files are written on a thread of its own; everything
    else is called from the engine's.
    """

    def __init__(self, folder: Path, budget: int, model: str) -> None:
        """``budget`` in bytes. ``model`` names all that a state depends on besides its tokens."""
        self._root = folder
        self._folder = folder / hashlib.sha256(model.encode()).hexdigest()[:16]
        self._budget = budget
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="specls-shelf")
        self._writing: dict[str, Future[None]] = {}
        self._unwritten: dict[str, Spilled] = {}
        self._lock = Lock()
        self._written: dict[str, float] = {}
        self._known: dict[str, Kept | None] = {}
        self._told = False
        # The budget may be smaller than it was.
        self._writing[""] = self._writer.submit(self._tidy, budget)

    def age(self, document: object) -> float:
        """Seconds since this process wrote the document's state; infinite if it never did."""
        return monotonic() - self._written.get(_name(document), -np.inf)

    def put(self, document: object, spilled: Spilled) -> None:
        """Have a state written, unless it's larger than the budget. Doesn't wait."""
        if len(spilled.state) > self._budget:
            return
        name = _name(document)
        kept = Kept(spilled.tokens, spilled.exact, spilled.movable, len(spilled.state))
        self._known[name], self._written[name] = kept, monotonic()
        with self._lock:
            self._unwritten[name] = spilled
        self._writing[name] = self._writer.submit(self._write, name, kept, spilled)

    def look(self, document: object) -> Holding | None:
        """What is there for a document, without its state."""
        name = _name(document)
        if (unwritten := self._unwritten.get(name)) is not None:
            return unwritten
        if name not in self._known:
            self._known[name] = self._header(name)
        return self._known[name]

    def load(self, document: object) -> Spilled | None:
        """The document's state, which stays on disk; None, and a line in the log, if it's damaged.

        One that isn't written yet is given back as it is.
        """
        name = _name(document)
        if (unwritten := self._unwritten.get(name)) is not None:
            return unwritten
        if self.look(document) is None:
            return None
        spilled = self._read(name)
        if spilled is None:
            self._known[name] = None
        return spilled

    def forget(self, document: object) -> None:
        """Delete the document's state, also one that's being written. Doesn't wait."""
        name = _name(document)
        with self._lock:
            self._unwritten.pop(name, None)
        self._written.pop(name, None)
        self._known[name] = None
        self._writing[name] = self._writer.submit(self._delete, name)

    def empty(self) -> None:
        """Delete the states of all documents, of other models as well. Doesn't wait."""
        with self._lock:
            names = [*self._unwritten, *self._known]
            self._unwritten.clear()
        self._written.clear()
        self._known.update(dict.fromkeys(names))
        self._writing[""] = self._writer.submit(self._tidy, 0)

    def close(self, seconds: float) -> None:
        """Wait at most so long for what's being written; drop what isn't begun by then."""
        wait(list(self._writing.values()), seconds)
        self._writer.shutdown(wait=False, cancel_futures=True)

    # -- files -------------------------------------------------------------------------------

    def _write(self, name: str, kept: Kept, spilled: Spilled) -> None:
        """On the writer's thread."""
        state = spilled.state
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._tidy(self._budget - kept.state)
            self._write_file(self._path(name), (_MAGIC, kept.header, state, _checksum(kept, state)))
            self._tidy(self._budget)
            self._known[name] = kept
        except OSError as error:
            self._known.pop(name, None)
            self._written.pop(name, None)
            self._tell("The state of a document can't be written: %s.", error.strerror or error)
        finally:
            with self._lock:
                if self._unwritten.get(name) is spilled:
                    del self._unwritten[name]

    def _delete(self, name: str) -> None:
        """On the writer's thread, behind what is written there."""
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            self._tell("The state of a document can't be deleted: %s.", error.strerror or error)

    def _write_file(self, path: Path, pieces: Iterable[bytes]) -> None:
        """Readable by its owner alone: it's what somebody wrote."""
        number, part = tempfile.mkstemp(_PART, path.stem, self._folder)
        try:
            with os.fdopen(number, "wb") as file:
                for piece in pieces:
                    file.write(piece)
            Path(part).replace(path)
        except OSError:
            Path(part).unlink(missing_ok=True)
            raise

    def _tidy(self, budget: int) -> None:
        """Delete the files used the longest time ago until the rest fits, and parts left over.

        Only files that look like ours: the folder may be somebody's.
        """
        for path, status in self._files(_PART):
            if time() - status.st_mtime > _PART_SECONDS:
                path.unlink(missing_ok=True)
        for path, status in sorted(self._files(_SUFFIX), key=lambda item: -item[1].st_mtime):
            budget -= status.st_size
            if budget < 0:
                path.unlink(missing_ok=True)
                self._known.pop(path.stem, None)

    def _files(self, suffix: str) -> list[tuple[Path, os.stat_result]]:
        """Other processes may delete some meanwhile."""
        found = []
        for path in self._root.glob(f"{_FOLDERS}/{_FILES}*{suffix}"):
            with suppress(FileNotFoundError):
                found.append((path, path.stat()))
        return found

    def _header(self, name: str) -> Kept | None:
        try:
            with self._path(name).open("rb") as file:
                return _read_header(file)
        except _ABSENT:
            pass
        except _DAMAGED as error:
            self._ignore(name, error)
        return None

    def _read(self, name: str) -> Spilled | None:
        path = self._path(name)
        try:
            with path.open("rb") as file:
                kept = _read_header(file)
                state = _read_state(file, kept)
            os.utime(path)
        except _ABSENT:
            return None
        except _DAMAGED as error:
            self._ignore(name, error)
            return None
        return Spilled(kept.tokens, state, kept.exact, kept.movable)

    def _tell(self, message: str, reason: object) -> None:
        """Say what is wrong with the folder, once."""
        if not self._told:
            self._told = True
            logger.warning(message, reason)

    def _ignore(self, name: str, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) else error
        logger.warning("A saved state is ignored and deleted: %s.", reason)
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError:
            logger.debug("It can't be deleted.")

    def _path(self, name: str) -> Path:
        return self._folder / (name + _SUFFIX)


def _name(document: object) -> str:
    return hashlib.sha256(repr(document).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _bytes_of(tokens: list[int]) -> bytes:
    return np.array(tokens, dtype=np.int32).tobytes()


def _checksum(kept: Kept, state: bytes) -> bytes:
    """What stands at the end of a file."""
    return zlib.crc32(state, zlib.crc32(kept.header)).to_bytes(4, "little")


def _read_header(file: BinaryIO) -> Kept:
    """Magic, header and tokens; the file then stands at the state.

    Raises:
        ValueError: it isn't such a file.
    """
    if file.readline(len(_MAGIC)) != _MAGIC:
        raise ValueError("it isn't one of this version")
    header = json.loads(file.readline(_LONGEST_HEADER))
    try:
        count, movable = int(header["tokens"]), range(*map(int, header["movable"]))
        exact, state = int(header["exact"]), int(header["state"])
    except (KeyError, TypeError) as error:
        raise ValueError("its header is damaged") from error
    size = os.fstat(file.fileno()).st_size
    inside = 0 <= movable.start <= movable.stop <= count
    if not inside or not 0 <= exact <= count <= size or not 0 <= state <= size:
        raise ValueError("it's damaged")
    raw = file.read(4 * count)
    if len(raw) != 4 * count:
        raise ValueError("it's damaged")
    return Kept(np.frombuffer(raw, dtype=np.int32).tolist(), exact, movable, state)


def _read_state(file: BinaryIO, kept: Kept) -> bytes:
    """The rest of the file.

    Raises:
        ValueError: it isn't what was written.
    """
    state = file.read(kept.state)
    if len(state) != kept.state or file.read() != _checksum(kept, state):
        raise ValueError("it's damaged")
    return state
