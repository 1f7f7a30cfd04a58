"""One suggestion, and how much of it came into the document."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from specls.context.difference import Difference
from specls.context.document import Snapshot
from specls.context.remains import Remains, Stretch
from specls.context.text import Position, Text
from specls.service.fates import Fate
from specls.service.shown import Shown, rest_of

_TEXTS = 16
"""Alternatives remembered per suggestion."""

_LEAST = 3
"""Characters, blanks not counted: who types is seldom so fast that as many come with one change."""


@dataclass(frozen=True)
class Step:
    """What one change brought of a suggestion, and where it stands."""

    start: int
    """How much of the suggestion was there before, in characters."""
    text: str
    rest: str
    """What is left to come."""
    stretch: Stretch

    @property
    def at_once(self) -> bool:
        """Whether it was hardly typed: some characters, and whole words of them."""
        ends_inside = _is_of_a_word(self.text[-1:]) and _is_of_a_word(self.rest[:1])
        return len("".join(self.text.split())) >= _LEAST and not ends_inside


class Suggestion:
    """What is offered at one place of a document: one text at a time, perhaps others instead.

    Places in it are counted in characters from its beginning, typed or not.
    """

    def __init__(self, snapshot: Snapshot, position: Position, text: str) -> None:
        self.uri = snapshot.uri
        self.language = snapshot.language
        self.shown = False
        self.assumed = False
        """Whether it counts as shown since the client doesn't say what it shows."""
        self.fate: Fate | None = None
        self.fits = True
        """Whether the document is as if a part of it was typed, and nothing else."""
        self.typed = 0
        """How much of it is in the document, whoever brought it there."""
        self.finished = False
        self.claimed = 0
        """Up to here the client says that it was accepted, while the document doesn't show it."""
        self.untaken: Remains | None = None
        """Where the last step stands, if it wasn't taken for an acceptance."""
        self.newest = snapshot.text
        self._snapshot = snapshot
        self._position = position
        self._texts: deque[str] = deque([text], _TEXTS)

    def offers(self, snapshot: Snapshot, position: Position, text: str) -> str | None:
        """The whole that ``text`` is the rest of, if it's offered for this suggestion.

        At the same place of the same document, any text is an alternative of it.
        """
        if position == self._position and snapshot.text == self._snapshot.text:
            if text not in self._texts:
                # What goes on where another text ended takes its place.
                others = [each for each in self._texts if not text.startswith(each)]
                self._texts = deque([*others, text], _TEXTS)
            return self._goes_on(snapshot.text, 0, text)
        for whole in self._texts:
            if rest_of(self.of(whole), snapshot, position) == text:
                typed = self._characters(whole, position)
                return self._goes_on(snapshot.text, typed, whole[:typed] + text)
        return None

    def _goes_on(self, newest: Text, typed: int, whole: str) -> str:
        self.fits, self.finished = True, False
        self.newest, self.typed = newest, typed
        return whole

    def follow(
        self, before: Snapshot, after: Snapshot, change: Difference, end: Position | None
    ) -> Step | None:
        """What a change brought of it, if it did; ``end`` is where the client ended it."""
        self.newest = after.text
        if self.untaken is not None:
            self.untaken = self.untaken.moved(change, before.text, after.text)
        if not self.fits:
            return None
        at = change.new_end if end is None else end
        for whole in self._texts:
            rest = rest_of(self.of(whole), after, at)
            if rest is not None:
                return self._step(whole, rest, at)
        if self._is_elsewhere(change):
            self._move(before, after, change)
        else:
            self.fits = False
        return None

    def _step(self, whole: str, rest: str, at: Position) -> Step | None:
        start, self.typed = self.typed, self._characters(whole, at)
        self.finished = not rest
        if self.typed <= start:
            return None
        stretch = Stretch(self._place(whole[:start]), at)
        self.untaken = Remains((stretch,))
        return Step(start, whole[start : self.typed], rest, stretch)

    def _is_elsewhere(self, change: Difference) -> bool:
        """Whether a change touched no line that the suggestion has text on."""
        last = self._place(self._texts[0][: self.typed])
        first = Position(self._position.line, 0)
        return change.end.line < first.line or change.start.line > last.line

    def _move(self, before: Snapshot, after: Snapshot, change: Difference) -> None:
        """The same suggestion in a document that changed elsewhere."""
        typed = self._texts[0][: self.typed]
        start, end = self._position, self._place(typed)
        if rest_of(self.of(self._texts[0]), before, end) is None:
            self.fits = False
            return
        if change.end <= start:
            start, end = change.moved(start), change.moved(end)
        self._snapshot = replace(after, text=after.text.replace(start, end, ""))
        self._position = start

    def release(self) -> None:
        """Only its fate may change from now on: forget the document."""
        self.fits, self.untaken = False, None
        self.newest = Text()
        self._snapshot = replace(self._snapshot, text=self.newest)
        self._texts.clear()

    def of(self, text: str) -> Shown:
        """One of its texts, as it's offered where nothing of it is typed."""
        return Shown(self._snapshot, self._position, text)

    def _characters(self, whole: str, at: Position) -> int:
        """How much of a text stands before a place, when it stands at its beginning."""
        lines = whole.split("\n")
        number = at.line - self._position.line
        column = at.column - (0 if number else self._position.column)
        return sum(len(line) + 1 for line in lines[:number]) + column

    def _place(self, typed: str) -> Position:
        """Where a beginning of it ends."""
        lines = typed.split("\n")
        column = len(lines[-1]) + (self._position.column if len(lines) == 1 else 0)
        return Position(self._position.line + len(lines) - 1, column)


def _is_of_a_word(char: str) -> bool:
    return char.isalnum() or char == "_"
