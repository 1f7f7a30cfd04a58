"""The states of documents that had to make way in a model's cache: in memory, then on disk."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Holding(Protocol):
    """Tokens with KV, be it in a cache or spilled. See :class:`Session` for the names."""

    @property
    def tokens(self) -> Sequence[int]:
        """What it is, from position 0 on."""

    @property
    def exact(self) -> int:
        """How many of them are exact."""

    @property
    def movable(self) -> range:
        """Which of them may be carried over."""


@dataclass(frozen=True)
class Spilled:
    """What a sequence held, and its state as the model wrote it. See :class:`Session`."""

    tokens: list[int]
    state: bytes
    exact: int
    movable: range


class SecondStage(Protocol):
    """Where states go that don't fit into memory: see :class:`specls.engine.shelf.Shelf`."""

    def put(self, document: object, spilled: Spilled) -> None:
        """Keep a state, as long as there's room."""

    def look(self, document: object) -> Holding | None:
        """What is there for a document."""

    def load(self, document: object) -> Spilled | None:
        """The document's state."""

    def forget(self, document: object) -> None:
        """Drop the document's state."""

    def empty(self) -> None:
        """Drop the states of all documents."""

    def age(self, document: object) -> float:
        """How many seconds ago the document's state was put there."""

    def close(self, seconds: float) -> None:
        """Finish what's begun, within so many seconds."""


@dataclass
class Counts:
    """What became of states."""

    spilled: int = 0
    restored: int = 0
    restored_from_disk: int = 0
    saved: int = 0
    """Handed on to be written to disk."""

    def as_dict(self) -> dict[str, int]:
        """The numbers as ``specls/stats`` shows them."""
        return {
            "spilled": self.spilled,
            "restored": self.restored,
            "restoredFromDisk": self.restored_from_disk,
            "saved": self.saved,
        }


class Spill:
    """At most so many bytes of states; the ones put in first go on to the second stage.

    Restoring a state takes a fraction of decoding its tokens again (docs/decisions/0005).
    """

    def __init__(self, budget: int, second: SecondStage | None = None) -> None:
        """``budget`` in bytes; 0 keeps nothing in memory."""
        self.budget = budget
        self.second = second
        self.counts = Counts()
        self.size = 0
        """How many bytes are kept in memory."""
        self._kept: OrderedDict[object, Spilled] = OrderedDict()

    @property
    def keeps(self) -> bool:
        """Whether there's any use in putting something in."""
        return self.budget > 0 or self.second is not None

    def put(self, document: object, spilled: Spilled) -> None:
        """Keep a state, as long as there's room."""
        self.forget(document)
        self.counts.spilled += 1
        if len(spilled.state) > self.budget:
            self.save(document, spilled)
            return
        self._kept[document] = spilled
        self.size += len(spilled.state)
        while self.size > self.budget:
            oldest = next(iter(self._kept))
            self.save(oldest, self._kept[oldest])
            self.forget(oldest)

    def save(self, document: object, spilled: Spilled) -> None:
        """Put a state on disk, unless it's there."""
        if self.second is None:
            return
        there = self.second.look(document)
        if there is None or list(there.tokens) != spilled.tokens or there.exact != spilled.exact:
            self.counts.saved += 1
            self.second.put(document, spilled)

    def look(self, document: object) -> Holding | None:
        """What is kept for a document; it stays where it is."""
        if (spilled := self._kept.get(document)) is not None:
            return spilled
        return self.second.look(document) if self.second else None

    def take(self, document: object) -> Spilled | None:
        """The document's state, which is kept no longer in memory."""
        spilled = self._kept.get(document)
        self.forget(document)
        self.counts.restored += spilled is not None
        if spilled is None and self.second is not None:
            spilled = self.second.load(document)
            self.counts.restored_from_disk += spilled is not None
        return spilled

    def forget(self, document: object) -> None:
        """Drop a document's state from memory, if there is one."""
        if (spilled := self._kept.pop(document, None)) is not None:
            self.size -= len(spilled.state)

    def drop(self, document: object) -> None:
        """Forget a document's state, on disk as well."""
        self.forget(document)
        if self.second is not None:
            self.second.forget(document)

    def empty(self) -> None:
        """Forget the states of all documents, on disk as well."""
        self._kept.clear()
        self.size = 0
        if self.second is not None:
            self.second.empty()

    def close(self, seconds: float) -> None:
        """Put all on disk, as far as that is done within so many seconds."""
        if self.second is not None:
            for document, spilled in reversed(self._kept.items()):
                self.save(document, spilled)
            self.second.close(seconds)
