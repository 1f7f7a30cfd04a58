"""The models on this machine: which are there, where, and whether they are what they should be."""

from __future__ import annotations

import difflib
import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from specls.catalogue.entries import Catalogue, ModelEntry, load_catalogue
from specls.catalogue.files import (
    ModelFiles,
    Record,
    is_gguf,
    models_folder,
    sha256_of,
    size_of,
)
from specls.catalogue.results import CheckedModel, ResolvedModel, State
from specls.errors import ModelDamaged, ModelError, ModelNotFetched, UnknownModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class ModelStore:
    """The models' folder, seen through the catalogue.

    Any thread may use it; only :meth:`remove` and the records of checks change files. It uses no
    network.
    """

    def __init__(self, folder: Path | None = None, catalogue: Catalogue | None = None) -> None:
        self.folder = folder or models_folder()
        self.catalogue = catalogue or load_catalogue()

    def files(self, entry: ModelEntry) -> ModelFiles:
        """Where the model's files lie, whether they exist or not."""
        return ModelFiles(self.folder, entry.file)

    def entry(self, name: str) -> ModelEntry:
        """The catalogue's entry with the id ``name``.

        Raises:
            UnknownModel: there is none; the message names those that are spelt nearly so.
        """
        entry = self.catalogue.get(name)
        if entry is None:
            raise UnknownModel(self._unknown(name))
        return entry

    def resolve(self, name: str) -> ResolvedModel:
        """The file that ``name`` (an id, or a path, ``~`` allowed) stands for.

        An id's file is hashed if it changed since its last check, which takes seconds for each
        gigabyte; else it costs no more than a look at its size and first bytes.

        Raises:
            UnknownModel: neither an id nor a file.
            ModelNotFetched: an id whose file isn't here.
            ModelDamaged: the file isn't a GGUF, or not the one of the catalogue.
        """
        entry = self.catalogue.get(name)
        if entry is not None:
            self.check(entry)
            return ResolvedModel(self.files(entry).model, entry, name)
        path = self._own_file(name)
        return ResolvedModel(path, None, name)

    def path(self, name: str) -> Path:
        """The path of :meth:`resolve`, which see for what it raises."""
        return self.resolve(name).path

    def check(
        self,
        entry: ModelEntry,
        *,
        again: bool = False,
        on_bytes: Callable[[int], None] | None = None,
    ) -> bool:
        """Whether the model's file is known to be right: False if no hash to compare with exists.

        With ``again`` it is hashed although it didn't change since the last check. ``on_bytes``
        hears how many bytes are hashed. A good file is remembered.

        Raises:
            ModelNotFetched: the file isn't here.
            ModelDamaged: it has another size or hash, isn't a GGUF, or can't be read.
        """
        files = self.files(entry)
        record = Record.read(files.record)
        with _readable(files.model):
            self._check_outside(entry, files, record)
            expected = entry.sha256 or (record.sha256 if record else None)
            if record is not None and record.sha256 == expected and record.describes(files.model):
                if not again:
                    return True
            elif expected is None:
                return False
            before = Record.of(files.model, expected)
            if sha256_of(files.model, on_bytes) != expected:
                raise _damage(entry, files.model, "its sha256 is wrong")
        before.write(files.record)
        return True

    def verify(self, name: str, on_bytes: Callable[[int], None] | None = None) -> CheckedModel:
        """Read the whole file behind ``name`` (an id or a path) and compare its hash.

        ``on_bytes`` hears how many bytes are done.

        Raises:
            UnknownModel, ModelNotFetched, ModelDamaged: as for :meth:`resolve`.
        """
        entry = self.catalogue.get(name)
        path = self.files(entry).model if entry else self._own_file(name)
        if entry is not None and self.check(entry, again=True, on_bytes=on_bytes):
            record = Record.read(self.files(entry).record)
            known = entry.sha256 or (record.sha256 if record else "")
            return CheckedModel(path, size_of(path), known, compared=True)
        with _readable(path):
            return CheckedModel(path, size_of(path), sha256_of(path, on_bytes), compared=False)

    def state(self, entry: ModelEntry) -> State:
        """How much of the model is here, without reading it."""
        files = self.files(entry)
        record = Record.read(files.record)
        try:
            self._check_outside(entry, files, record)
        except ModelNotFetched:
            return State.PARTIAL if files.partials() else State.ABSENT
        except (ModelDamaged, OSError):
            return State.DAMAGED
        known = record is not None and record.describes(files.model)
        return State.FETCHED if known else State.UNCHECKED

    def remove(self, name: str) -> int:
        """Delete the model ``name`` (an id, or a path in the folder); returns the bytes freed.

        Raises:
            UnknownModel: neither an id nor a file.
            ModelNotFetched: there is nothing to delete.
            ModelError: the path lies outside the folder, or the model is being fetched right now.
        """
        entry = self.catalogue.get(name)
        if entry is not None:
            return self._remove_all(self.files(entry), entry)
        path = self._existing(name)
        if path.resolve().parent != self.folder.resolve():
            raise ModelError(
                f"{path} isn't in the models' folder {self.folder}. specls removes nothing that "
                "it didn't fetch: delete the file yourself."
            )
        return self._remove_all(ModelFiles(self.folder, path.name), None)

    def _remove_all(self, files: ModelFiles, entry: ModelEntry | None) -> int:
        # Imported here, for the server never removes anything.
        from filelock import FileLock, Timeout  # noqa: PLC0415

        doomed = [path for path in (files.model, *files.partials()) if path.is_file()]
        if not doomed and entry is not None:
            raise ModelNotFetched(f"{entry.id} isn't on this machine: there is nothing to remove.")
        try:
            with FileLock(files.lock, timeout=0):
                freed = sum(size_of(path) for path in doomed)
                for path in doomed:
                    path.unlink(missing_ok=True)
                with suppress(OSError):  # without its model it says nothing
                    files.record.unlink(missing_ok=True)
                shutil.rmtree(files.work, ignore_errors=True)
        except Timeout:
            raise ModelError(f"{files.name} is being fetched right now; nothing removed.") from None
        except OSError as error:
            raise ModelError(f"{files.model} can't be removed: {error.strerror}") from error
        return freed

    def _check_outside(self, entry: ModelEntry, files: ModelFiles, record: Record | None) -> None:
        if not files.model.is_file():
            raise ModelNotFetched(
                f"{entry.id} isn't on this machine yet. `{_pull(entry)}` fetches it.",
                remedy=_pull(entry),
            )
        found = files.model.stat().st_size
        expected = entry.bytes or (record.bytes if record else None)
        if expected is not None and found != expected:
            problem = f"it has {found:,} bytes instead of {expected:,}"
            raise _damage(entry, files.model, problem)
        if not is_gguf(files.model):
            raise _damage(entry, files.model, "it isn't a GGUF file")

    def _own_file(self, name: str) -> Path:
        path = self._existing(name)
        with _readable(path):
            if not is_gguf(path):
                raise ModelDamaged(f"{path} isn't a GGUF file: its first bytes say so.")
        return path

    def _existing(self, name: str) -> Path:
        path = Path(name).expanduser().absolute()
        if path.is_dir():
            raise UnknownModel(f"{path} is a folder; a model is one GGUF file.")
        if not path.is_file():
            raise UnknownModel(self._unknown(name))
        return path

    def _unknown(self, name: str) -> str:
        looks_like_path = os.sep in name or "/" in name or name.lower().endswith(".gguf")
        if looks_like_path:
            return f"There is no file {Path(name).expanduser().absolute()}."
        close = difflib.get_close_matches(name.lower(), self.catalogue.ids, n=3, cutoff=0.5)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        return (
            f"There is no model {name!r}.{hint} `specls models list` shows all ids; "
            "for a GGUF file of your own give its path, such as ~/models/mine.gguf."
        )


def _pull(entry: ModelEntry) -> str:
    return f"specls models pull {entry.id}"


def _damage(entry: ModelEntry, path: Path, problem: str) -> ModelDamaged:
    return ModelDamaged(
        f"{path} isn't {entry.id} as it should be: {problem}. `{_pull(entry)}` fetches it again.",
        remedy=_pull(entry),
    )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelDamaged(f"{path} can't be read: {error.strerror or error}") from error
