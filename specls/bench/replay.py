"""Editing that is replayed: the changes of documents, and what a file really has at each cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice

from specls.context.document import Change, Snapshot
from specls.context.text import Encoding, Position, Text

_TRUTH_LINES = 64


class Kind(Enum):
    """What a step does before the completion is asked for."""

    OPEN = "open"
    """Nothing: the first request in this document."""
    KEY = "key"
    """One character is typed or deleted."""
    BLOCK = "block"
    """Several characters come or go in one change."""


@dataclass(frozen=True)
class Step:
    """One change of a document, and the place at which a completion is asked for then."""

    kind: Kind
    document: int
    """Which of the replay's documents."""
    change: Change | None
    position: Position
    truth: str
    """What the original file has from this place on."""


@dataclass(frozen=True)
class Replay:
    """Documents as they are at first, and the steps of one editing script in them."""

    script: str
    documents: Sequence[Snapshot]
    steps: Sequence[Step]

    def states(self) -> Iterator[tuple[Step, Snapshot]]:
        """Each step with its document as it is when the completion is asked for."""
        documents = list(self.documents)
        for step in self.steps:
            before = documents[step.document]
            changes = [] if step.change is None else [step.change]
            after = before.changed(changes, before.version + len(changes), Encoding.UTF32)
            documents[step.document] = after
            yield step, after


@dataclass(frozen=True)
class Spot:
    """A place in a file from which the rest of a line is typed."""

    original: Snapshot
    start: Position
    number: int = field(default=0)
    """Of the document in its replay."""

    @property
    def rest(self) -> str:
        """What the line has there."""
        return self.original.text.content(self.start.line)[self.start.column :]

    def shortened(self) -> Snapshot:
        """The document without the rest of the line."""
        end = Position(self.start.line, self.start.column + len(self.rest))
        return self._with(self.original.text.replace(self.start, end, ""))

    def cut_off(self) -> Snapshot:
        """The document that ends here."""
        last = len(self.original.text) - 1
        end = Position(last, len(self.original.text.content(last)))
        return self._with(self.original.text.replace(self.start, end, ""))

    def _with(self, text: Text) -> Snapshot:
        return Snapshot(self.original.uri, 1, self.original.language, text)

    def at(self, offset: int) -> Position:
        """The place ``offset`` characters behind the start, in the same line."""
        return Position(self.start.line, self.start.column + offset)

    def asked(self, offset: int, kind: Kind, change: Change | None = None) -> Step:
        """A completion is asked for at ``offset``."""
        position = self.at(offset)
        truth = truth_at(self.original.text, position)
        return Step(kind, self.number, change, position, truth)

    def typed(self, start: int) -> Iterator[Step]:
        """The characters of the line from ``start`` on are typed."""
        for offset in range(start, len(self.rest)):
            where = _pair(self.at(offset))
            change = Change(self.rest[offset], where, where)
            yield self.asked(offset + 1, Kind.KEY, change)

    def deleted(self, start: int, stop: int) -> Iterator[Step]:
        """The characters before ``start`` are deleted back to ``stop``, key by key."""
        for offset in range(start - 1, stop - 1, -1):
            yield self.removed(offset, offset + 1, Kind.KEY)

    def removed(self, start: int, stop: int, kind: Kind) -> Step:
        """A stretch of the line goes in one change."""
        change = Change("", _pair(self.at(start)), _pair(self.at(stop)))
        return self.asked(start, kind, change)


def truth_at(text: Text, position: Position) -> str:
    """What a file has from ``position`` on, as far as a completion may reach."""
    lines = list(text.lines(position.line, position.line + _TRUTH_LINES))
    return "".join((lines[0][position.column :], *lines[1:]))


def first(steps: Iterator[Step], count: int) -> list[Step]:
    """At most so many steps."""
    return list(islice(steps, max(count, 0)))


def _pair(position: Position) -> tuple[int, int]:
    return position.line, position.column
