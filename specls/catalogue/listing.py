"""The catalogue as rows for programs: `specls models list --json`, and `specls/models`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specls.catalogue.files import size_of
from specls.catalogue.results import State
from specls.catalogue.store import ModelStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specls.catalogue.entries import ModelEntry

_PRESENT = (State.FETCHED, State.UNCHECKED)
"""What a look at the file finds nothing wrong with; a hash is compared when it's loaded."""


@dataclass(frozen=True)
class Row:
    """One model. ``kind`` is ``target`` or ``draft``."""

    id: str
    name: str
    """For people: the id with the number of parameters and the quantisation."""
    kind: str
    bytes: int | None
    """None if only the hub knows it, and the file isn't here."""
    licence: str
    present: bool
    """Whether it can be loaded."""
    state: str
    """``no``, ``in part``, ``damaged``, ``unchecked`` or ``yes``."""
    drafts: tuple[str, ...]
    """Ids of models that can draft for it."""

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**asdict(self), "drafts": list(self.drafts)}


def rows(store: ModelStore, files: Sequence[str] = ()) -> list[Row]:
    """All models of the catalogue, in its order, and then ``files`` that aren't among them.

    Looks at files, and reads none whole.
    """
    own = [name for name in files if store.catalogue.get(name) is None]
    return [*(_row(store, entry) for entry in store.catalogue), *map(_own_row, own)]


def _own_row(name: str) -> Row:
    """A file that somebody has, by its path."""
    path = Path(name).expanduser()
    return Row(
        id=name,
        name=path.name,
        kind="target",
        bytes=size_of(path) or None,
        licence="",
        present=path.is_file(),
        state=(State.UNCHECKED if path.is_file() else State.ABSENT).value,
        drafts=(),
    )


def _row(store: ModelStore, entry: ModelEntry) -> Row:
    state = store.state(entry)
    return Row(
        id=entry.id,
        name=f"{entry.id} ({entry.parameters}, {entry.quantisation})",
        kind=entry.role,
        bytes=entry.bytes or size_of(store.files(entry).model) or None,
        licence=entry.licence,
        present=state in _PRESENT,
        state=state.value,
        drafts=entry.drafts,
    )
