"""A document as it stood at one moment."""

from __future__ import annotations

from dataclasses import dataclass, replace

from specls.context.text import Encoding, Position, Text


@dataclass(frozen=True)
class Change:
    """One content change of a client: a range in the client's own counting, or the whole text."""

    text: str
    start: tuple[int, int] | None = None
    end: tuple[int, int] | None = None


@dataclass(frozen=True)
class Snapshot:
    """One version of a document. It never changes; a change makes the next one."""

    uri: str
    version: int
    language: str
    text: Text
    part: range | None = None
    """Which lines the client's document has, where it isn't the whole: a cell of a notebook."""

    def clamp(self, line: int, character: int, encoding: Encoding) -> Position:
        """The place in the text for one in the client's document, moved into that."""
        if self.part is None:
            return self.text.clamp(line, character, encoding)
        if line < 0:
            return Position(self.part.start, 0)
        if line >= len(self.part):
            last = self.part[-1]
            return Position(last, len(self.text.content(last)))
        return self.text.clamp(self.part.start + line, character, encoding)

    def line_of(self, position: Position) -> int:
        """The line in the client's document."""
        return position.line - (self.part.start if self.part else 0)

    def changed(self, changes: list[Change], version: int, encoding: Encoding) -> Snapshot:
        """The next version: all changes applied in order, each to the result of the one before."""
        text = self.text
        for change in changes:
            if change.start is None or change.end is None:
                text = Text(change.text)
                continue
            start = text.clamp(*change.start, encoding)
            end = text.clamp(*change.end, encoding)
            text = text.replace(start, end, change.text)
        return replace(self, version=version, text=text)
