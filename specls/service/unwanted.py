"""Where a suggestion that nobody asked for would only be in the way."""

from __future__ import annotations

from dataclasses import dataclass

from specls.context.document import Snapshot
from specls.context.text import Position, Text

_LEAST = 4
"""Characters, blanks not counted: who deletes fewer at once may be about to type them right."""


def is_inside_a_word(snapshot: Snapshot, position: Position) -> bool:
    """Whether letters stand on both sides of a place: then somebody is changing a word."""
    line = snapshot.text.content(position.line)
    around = line[max(position.column - 1, 0) : position.column + 1]
    return position.column > 0 and len(around) == 2 and all(map(_is_of_a_word, around))  # noqa: PLR2004


def _is_of_a_word(char: str) -> bool:
    return char.isalnum() or char == "_"


@dataclass(frozen=True)
class _Deletion:
    """A text that isn't there any more, and the document without it."""

    text: str
    snapshot: Snapshot
    position: Position


class Deletions:
    """What was deleted last in each document, until the next change. Used from the event loop.

    Who deletes a piece of text, or takes an accepted suggestion back, doesn't want it suggested.
    """

    def __init__(self) -> None:
        self._last: dict[str, _Deletion] = {}

    def changed(self, before: Snapshot | None, after: Snapshot, end: Position | None) -> None:
        """A document was changed, at one place that ends at ``end`` now, or at several."""
        self.forget(after.uri)
        if before is None or end is None:
            return
        text = deleted(before.text, after.text, end)
        if len("".join(text.split())) >= _LEAST:
            self._last[after.uri] = _Deletion(text, after, end)

    def restores(self, snapshot: Snapshot, position: Position, text: str) -> bool:
        """Whether a suggestion brings back what was deleted here with the last change."""
        last = self._last.get(snapshot.uri)
        if last is None or last.position != position or last.snapshot.text != snapshot.text:
            return False
        gone, text = last.text.strip(), text.strip()
        return bool(text) and (text.startswith(gone) or gone.startswith(text))

    def forget(self, uri: str) -> None:
        """The document was closed, or changed again."""
        self._last.pop(uri, None)


def deleted(before: Text, after: Text, at: Position) -> str:
    """What stood at a place and is gone, if a change did nothing else; else empty.

    Costs as much as the change.
    """
    lines = len(before) - len(after)
    if lines < 0 or at.line + lines >= len(before):
        return ""
    gone = list(before.lines(at.line, at.line + lines + 1))
    rest = after.line(at.line)
    head, tail = rest[: at.column], rest[at.column :]
    if not (gone[0].startswith(head) and gone[-1].endswith(tail)):
        return ""
    gone[-1] = gone[-1][: len(gone[-1]) - len(tail)]
    gone[0] = gone[0][at.column :]
    return "".join(gone)
