"""The states of documents that had to make way in a model's cache, kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass


@dataclass(frozen=True)
class Spilled:
    """What a sequence held, and its state as the model wrote it. See :class:`Session`."""

    tokens: list[int]
    state: bytes
    exact: int
    movable: range


class Spill:
    """At most so many bytes of states; the ones put in first go first.

    Restoring a state takes a fraction of decoding its tokens again (docs/decisions/0005).
    """

    def __init__(self, budget: int) -> None:
        """``budget`` in bytes; 0 keeps nothing."""
        self.budget = budget
        self.size = 0
        """How many bytes are kept."""
        self._kept: OrderedDict[object, Spilled] = OrderedDict()

    def put(self, document: object, spilled: Spilled) -> None:
        """Keep a state, as long as there's room."""
        self.forget(document)
        if len(spilled.state) > self.budget:
            return
        self._kept[document] = spilled
        self.size += len(spilled.state)
        while self.size > self.budget:
            self.forget(next(iter(self._kept)))

    def look(self, document: object) -> Spilled | None:
        """The document's state, which stays where it is."""
        return self._kept.get(document)

    def take(self, document: object) -> Spilled | None:
        """The document's state, which is kept no longer."""
        spilled = self._kept.get(document)
        self.forget(document)
        return spilled

    def forget(self, document: object) -> None:
        """Drop a document's state, if there is one."""
        if (spilled := self._kept.pop(document, None)) is not None:
            self.size -= len(spilled.state)
