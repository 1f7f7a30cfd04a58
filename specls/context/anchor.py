"""A prompt that stays while somebody types.

Prefix and suffix are frozen at an anchor, the first character of a line behind its indentation.
What is typed since goes behind the middle marker, so a key costs its own tokens and the suffix
isn't read again. The model still fills in a middle; that middle begins with text that it's given.
"""

from __future__ import annotations

from dataclasses import dataclass

from specls.context.document import Snapshot
from specls.context.place import only_closes
from specls.context.text import Position
from specls.context.window import Count, Window, cut, plain

_MOST_LINES = 30
_MOST_CHARACTERS = 3200
"""How far the cursor may go from the anchor before a new one is made."""

_LONGEST_HEAD = 400
"""In a line with more characters before the cursor, the anchor is the cursor itself."""


@dataclass(frozen=True)
class Anchor:
    """What was frozen: the text from ``start`` to ``at``, and what stood behind the cursor.

    Punctuation that editors close by themselves isn't part of ``suffix``.
    """

    start: Position
    at: Position
    prefix: str
    suffix: str
    partial: bool = False
    """Whether the window was kept small to answer sooner, and is to be completed."""


@dataclass(frozen=True)
class Anchored:
    """A place seen from an anchor: what was typed since, and the text around the cursor."""

    anchor: Anchor
    typed: str
    window: Window
    moved: bool
    """Whether the anchor is a new one."""


def follow(
    anchor: Anchor | None,
    snapshot: Snapshot,
    position: Position,
    budget: tuple[int, int],
    count: Count,
) -> Anchored:
    """The place seen from ``anchor`` if it still holds, else from a new one at this line.

    ``budget`` is the most tokens before and behind the cursor for a new anchor.
    """
    typed = None if anchor is None else typed_since(anchor, snapshot, position)
    if anchor is not None and typed is not None:
        return _seen(anchor, snapshot, position, typed, moved=False)
    anchor = _made(snapshot, position, budget, count)
    typed = snapshot.text.content(position.line)[anchor.at.column : position.column]
    return _seen(anchor, snapshot, position, plain(typed), moved=True)


def typed_since(anchor: Anchor, snapshot: Snapshot, position: Position) -> str | None:
    """What stands between the anchor and the cursor; None when anything else has changed.

    Compares the window's own lines, whatever the size of the document.
    """
    if not 0 <= position.line - anchor.at.line <= _MOST_LINES:
        return None
    before = _between(snapshot, anchor.start, position)
    typed = before[len(anchor.prefix) :]
    if not before.startswith(anchor.prefix) or len(typed) > _MOST_CHARACTERS:
        return None
    behind = _behind(snapshot, position, len(anchor.suffix))
    return typed if behind == anchor.suffix else None


def _made(snapshot: Snapshot, position: Position, budget: tuple[int, int], count: Count) -> Anchor:
    head = snapshot.text.content(position.line)[: position.column]
    indentation = len(head) - len(head.lstrip())
    column = indentation if len(head) <= _LONGEST_HEAD else position.column
    at = Position(position.line, column)
    before = cut(snapshot, at, budget[0], 0, count)
    after = cut(snapshot, position, 0, budget[1], count).after
    tail = snapshot.text.content(position.line)[position.column :]
    suffix = after[len(tail) :] if only_closes(tail) else after
    return Anchor(before.start, at, before.before, suffix)


def _seen(
    anchor: Anchor, snapshot: Snapshot, position: Position, typed: str, *, moved: bool
) -> Anchored:
    tail = snapshot.text.content(position.line)[position.column :]
    after = tail + anchor.suffix if only_closes(tail) else anchor.suffix
    window = Window(anchor.prefix + typed, after, anchor.start)
    return Anchored(anchor, typed, window, moved)


def _between(snapshot: Snapshot, start: Position, end: Position) -> str:
    lines = list(snapshot.text.lines(start.line, end.line + 1))
    if not lines:
        return ""
    lines[-1] = lines[-1][: end.column]
    lines[0] = lines[0][start.column :]
    return plain("".join(lines))


def _behind(snapshot: Snapshot, position: Position, length: int) -> str:
    """The first ``length`` characters behind the cursor, closing punctuation left out."""
    tail = snapshot.text.line(position.line)[position.column :]
    content = tail.rstrip("\r\n")
    parts = [plain(tail[len(content) :] if only_closes(content) else tail)]
    line, have = position.line + 1, len(parts[0])
    while have < length and line < len(snapshot.text):
        parts.append(plain(snapshot.text.line(line)))
        have += len(parts[-1])
        line += 1
    return "".join(parts)[:length]
