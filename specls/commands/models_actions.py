"""What each subcommand of `specls models` does and prints."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from specls.catalogue.files import in_words, size_of
from specls.catalogue.listing import rows
from specls.catalogue.results import State
from specls.catalogue.store import ModelStore
from specls.commands.progress import JsonProgress, progress_on_stderr
from specls.errors import ModelDamaged, ModelNotFetched, SettingsError, SpeclsError
from specls.settings import Settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from specls.catalogue.entries import ModelEntry
    from specls.catalogue.sources import Progress

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""

_WIDE = 140
"""The width that holds every column of the list whole."""


def show(arguments: argparse.Namespace) -> int:
    """Print the catalogue as a table, or as one object for programs."""
    store = ModelStore()
    if arguments.json:
        models = [row.as_dict() for row in rows(store)]
        _print(json.dumps({"models": models, "folder": str(store.folder)}))
    else:
        _show_table(store)
    return 0


def _show_table(store: ModelStore) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        # A pipe has no width: cells mustn't be broken for the program that reads them.
        console.width = _WIDE
    table = Table(box=None, pad_edge=False)
    for name in ("id", "role", "size", "quant.", "licence", "fetched"):
        table.add_column(name, no_wrap=True)
    table.add_column("drafts")
    for entry in store.catalogue:
        table.add_row(
            entry.id,
            entry.role,
            _size(entry, store),
            entry.quantisation,
            entry.licence,
            _state(entry, store),
            _drafts(entry, short=console.width < _WIDE),
        )
    console.print(table)
    console.print(f"Folder: {store.folder}", soft_wrap=True, markup=False)


def _drafts(entry: ModelEntry, *, short: bool) -> str:
    # In a narrow terminal a draft goes without what its id begins with like the target's.
    family = entry.id.rpartition("-")[0] + "-" if short else ""
    return ", ".join(draft.removeprefix(family) for draft in entry.drafts) or "-"


def _size(entry: ModelEntry, store: ModelStore) -> str:
    size = entry.bytes or size_of(store.files(entry).model)
    return in_words(size) if size else f"? ({entry.parameters})"


def _state(entry: ModelEntry, store: ModelStore) -> str:
    state = store.state(entry)
    if state is not State.PARTIAL:
        return str(state.value)
    kept = sum(size_of(path) for path in store.files(entry).partials())
    return f"{100 * kept // entry.bytes} %" if entry.bytes else in_words(kept)


def pull(arguments: argparse.Namespace) -> int:
    """Fetch the models that were asked for, one after the other."""
    store = ModelStore()
    names = [*arguments.ids, *(_default_pair(store) if arguments.default else ())]
    if not names:
        raise SettingsError(
            f"Which model? The default pair is {' and '.join(_default_pair(store))}: "
            "`specls models pull --default` fetches it; `specls models list` shows all."
        )
    entries = [store.entry(name) for name in dict.fromkeys(names)]
    one = _pull_one_in_json if arguments.json else _pull_one
    return next((code for entry in entries if (code := one(store, entry))), 0)


def _pull_one_in_json(store: ModelStore, entry: ModelEntry) -> int:
    """The same; how it ended is the last line, whatever stderr says of it."""
    progress = JsonProgress(entry.id, sys.stdout, sys.stderr)
    try:
        code = _fetch(store, entry, progress)
    except SpeclsError as error:
        progress.end("failed", str(error))
        raise
    progress.end("interrupted" if code else "done")
    return code


def _pull_one(store: ModelStore, entry: ModelEntry) -> int:
    with progress_on_stderr() as progress:
        return _fetch(store, entry, progress)


def _fetch(store: ModelStore, entry: ModelEntry, progress: Progress) -> int:
    # Imported here, for only this one needs the network's libraries.
    from specls.catalogue.fetch import pull as fetch  # noqa: PLC0415

    try:
        fetch(store, entry, progress)
    except KeyboardInterrupt:
        kept = sum(size_of(path) for path in store.files(entry).partials())
        _say(
            f"Interrupted. {in_words(kept)} of {entry.id} are kept: "
            f"`specls models pull {entry.id}` continues from there."
        )
        return INTERRUPTED
    return 0


def _default_pair(store: ModelStore) -> list[str]:
    target = Settings().model
    draft = store.entry(target).auto_draft
    return [target, *([draft] if draft else [])]


def verify(arguments: argparse.Namespace) -> int:
    """Compare hashes and print a line for each model; 1 if one is damaged."""
    store = ModelStore()
    names = arguments.ids or _fetched(store)
    if not names:
        _say(f"No model is in {store.folder}.")
    good = [_verify_one(store, name) for name in names]
    return 0 if all(good) else 1


def _verify_one(store: ModelStore, name: str) -> bool:
    try:
        _print(_verified(store, name))
    except ModelDamaged as error:
        _print(f"{name}: DAMAGED. {error}")
        return False
    return True


def _fetched(store: ModelStore) -> list[str]:
    here = (State.DAMAGED, State.UNCHECKED, State.FETCHED)
    return [entry.id for entry in store.catalogue if store.state(entry) in here]


def _verified(store: ModelStore, name: str) -> str:
    entry = store.catalogue.get(name)
    size = size_of(store.files(entry).model if entry else Path(name).expanduser())
    with progress_on_stderr() as progress:
        found = store.verify(name, lambda done: progress.report(name, done, size))
    if found.compared:
        return f"{name}: good, {in_words(found.bytes)}, sha256 {found.sha256}"
    return f"{name}: nothing to compare with, {in_words(found.bytes)}, sha256 {found.sha256}" + (
        f" (`specls models pull {name}` asks the hub)" if entry else ""
    )


def path(arguments: argparse.Namespace) -> int:
    """Print the path and nothing else."""
    _print(str(ModelStore().path(arguments.id)))
    return 0


def remove(arguments: argparse.Namespace) -> int:
    """Delete the models and say what that freed."""
    store = ModelStore()
    missing = [error for name in arguments.ids if (error := _remove_one(store, name))]
    if missing:
        raise missing[0]
    return 0


def _remove_one(store: ModelStore, name: str) -> ModelNotFetched | None:
    try:
        freed = store.remove(name)
    except ModelNotFetched as error:
        return error
    _print(f"{name}: removed, {in_words(freed)} freed")
    return None


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


ACTIONS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "list": show,
    "pull": pull,
    "verify": verify,
    "path": path,
    "rm": remove,
}
