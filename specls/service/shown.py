"""Suggestions that were shown and still fit: answered without the model.

Somebody who types what is suggested, accepts it word by word, or deletes back into it sees the same
ghost text, at once. Keyed by the state of the whole document, not by the text before the cursor.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from specls.context import filters
from specls.context.document import Snapshot
from specls.context.place import Place, only_closes
from specls.context.stop import end_of
from specls.context.text import Position, strip_ending
from specls.context.window import plain

_KEPT = 16
"""Suggestions remembered per document."""


@dataclass(frozen=True)
class Shown:
    """A suggestion, and the document and place that it was made for."""

    snapshot: Snapshot
    position: Position
    text: str
    ahead: bool = False
    """Whether it was made before anybody asked, and wasn't shown yet."""


@dataclass(frozen=True)
class Found:
    """What is left of a suggestion, and of which."""

    rest: str
    shown: Shown

    @property
    def whole(self) -> bool:
        """Whether nothing was typed since."""
        return self.rest == self.shown.text


class ShownSuggestions:
    """The last suggestions of each document. Used from the event loop."""

    def __init__(self) -> None:
        self._shown: dict[str, deque[Shown]] = {}

    def remember(
        self, snapshot: Snapshot, position: Position, text: str, *, ahead: bool = False
    ) -> None:
        """A suggestion is shown now, or will be when somebody gets ``ahead`` to there."""
        kept = self._shown.setdefault(snapshot.uri, deque(maxlen=_KEPT))
        kept.appendleft(Shown(snapshot, position, text, ahead))

    def find(self, snapshot: Snapshot, position: Position) -> Found | None:
        """What is left of a suggestion that still fits here, the newest first; None if none does.

        Costs as much as the edit: what two versions share is recognised by identity.
        """
        for shown in self._shown.get(snapshot.uri, ()):
            rest = rest_of(shown, snapshot, position)
            if rest is not None:
                # Of one that was typed to its end there's no other that goes on.
                return Found(rest, shown) if rest else None
        return None

    def forget(self, uri: str) -> None:
        """The document was closed."""
        self._shown.pop(uri, None)

    def clear(self) -> None:
        """Other models answer from now on."""
        self._shown.clear()


def rest_of(shown: Shown, snapshot: Snapshot, position: Position) -> str | None:
    """What of ``shown`` is still to be typed at ``position``; None unless all else is as it was."""
    lines = position.line - shown.position.line
    if position < shown.position or lines > shown.text.count("\n"):
        return None
    typed = _typed(snapshot, shown.position, position)
    if typed is None or not shown.text.startswith(plain(typed)):
        return None
    line = snapshot.text.content(position.line)
    closed = _closed_by_the_editor(shown, line[position.column :])
    if closed is None:
        return None
    wanted = shown.snapshot.text.replace(shown.position, shown.position, typed + closed)
    if wanted != snapshot.text:
        return None
    rest = shown.text[len(plain(typed)) :]
    if not closed:
        return rest
    place = Place(line[: position.column], line[position.column :], "")
    return filters.shown(rest[: end_of(rest, place)], place)


def _typed(snapshot: Snapshot, start: Position, end: Position) -> str | None:
    """What stands between two places; None when the second is outside of the document."""
    if end.line >= len(snapshot.text):
        return None
    lines = list(snapshot.text.lines(start.line, end.line + 1))
    lines[-1] = lines[-1][: end.column]
    lines[0] = lines[0][start.column :]
    return "".join(lines)


def _closed_by_the_editor(shown: Shown, tail: str) -> str | None:
    """The punctuation that the editor put behind the cursor meanwhile; None if it's more."""
    before = strip_ending(shown.snapshot.text.line(shown.position.line))[shown.position.column :]
    if not tail.endswith(before):
        return None
    closed = tail[: len(tail) - len(before)]
    return closed if only_closes(closed) else None
