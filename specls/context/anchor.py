"""A prompt that stays while somebody types.

Prefix and suffix are frozen at an anchor, the beginning of a line some lines above the cursor.
What follows up to the cursor goes behind the middle marker, so a key costs its own tokens and the
suffix isn't read again. The model still fills in a middle; that middle begins with text that it's
given, and it goes on better behind some whole lines than behind nothing (bench/README.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from specls.context.document import Snapshot
from specls.context.place import only_closes
from specls.context.text import Position
from specls.context.window import Count, Window, cost, cut, plain

_MOST_LINES = 30
_MOST_CHARACTERS = 3200
"""How far the cursor may go from the anchor before a new one is made."""

_ABOVE = 4
"""How many lines above the cursor a new anchor is made: at the most half of those that there are,
and as many as a quarter of the window's tokens has room for."""

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
    lines: int = field(compare=False)
    """How many lines the document had when it was last seen from here."""
    whole: bool
    """Whether the document ends with ``suffix``."""
    partial: bool = False
    """Whether the window was kept small to answer sooner, and is to be completed."""
    pushed: bool = False
    """Whether lines above the window were added or removed since it was cut."""


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
    *,
    renew: bool = False,
) -> Anchored:
    """The place seen from ``anchor`` if it still holds, else from a new one some lines above.

    With ``renew`` it's a new one in any case.

    ``budget`` is the most tokens before and behind the cursor for a new anchor.
    """
    for known in () if renew else _where_it_may_be(anchor, snapshot):
        typed = typed_since(known, snapshot, position)
        if typed is not None:
            return _seen(known, snapshot, position, typed, moved=False)
    made = _made(snapshot, position, budget, count, anchor)
    typed = _between(snapshot, made.at, position)
    return _seen(made, snapshot, position, typed, moved=True)


def is_seen(anchor: Anchor, snapshot: Snapshot, position: Position) -> bool:
    """Whether ``anchor`` holds at this place: :func:`follow` would stay with it."""
    places = _where_it_may_be(anchor, snapshot)
    return any(typed_since(each, snapshot, position) is not None for each in places)


def is_stale(anchor: Anchor, position: Position) -> bool:
    """Whether a new anchor is due: this one is far above, or the window may begin elsewhere."""
    return anchor.pushed or 2 * (position.line - anchor.at.line) >= _MOST_LINES


def _where_it_may_be(anchor: Anchor | None, snapshot: Snapshot) -> Iterator[Anchor]:
    """The anchor where it was, and where it is if lines were added or removed above it."""
    if anchor is None:
        return
    lines = len(snapshot.text)
    more = lines - anchor.lines
    anchor = replace(anchor, lines=lines)
    yield anchor
    start, at = anchor.start, anchor.at
    if more and start.line + more >= 0:
        start = Position(start.line + more, start.column)
        at = Position(at.line + more, at.column)
        yield replace(anchor, start=start, at=at, pushed=True)


def typed_since(anchor: Anchor, snapshot: Snapshot, position: Position) -> str | None:
    """What stands between the anchor and the cursor; None when anything else has changed.

    Compares the window's own lines, whatever the size of the document.
    """
    near = 0 <= position.line - anchor.at.line <= _MOST_LINES
    if not near or position.line >= len(snapshot.text):
        return None
    before = _between(snapshot, anchor.start, position)
    typed = before[len(anchor.prefix) :]
    if not before.startswith(anchor.prefix) or len(typed) > _MOST_CHARACTERS:
        return None
    # Text that was added behind the end of the document must be seen.
    behind = _behind(snapshot, position, len(anchor.suffix) + anchor.whole)
    return typed if behind == anchor.suffix else None


def _made(
    snapshot: Snapshot,
    position: Position,
    budget: tuple[int, int],
    count: Count,
    last: Anchor | None,
) -> Anchor:
    at, left = _place(snapshot, position, budget[0], count)
    start, before = _prefix(snapshot, at, left, count, last)
    after = cut(snapshot, position, 0, budget[1], count).after
    tail = snapshot.text.content(position.line)[position.column :]
    suffix = after[len(tail) :] if only_closes(tail) else after
    whole = _behind(snapshot, position, len(suffix) + 1) == suffix
    return Anchor(start, at, before, suffix, len(snapshot.text), whole)


def _place(
    snapshot: Snapshot, position: Position, budget: int, count: Count
) -> tuple[Position, int]:
    """Where a new anchor is made, and what is left of the budget for what stands before it."""
    head = snapshot.text.content(position.line)[: position.column]
    if len(head) > _LONGEST_HEAD:
        return position, budget
    budget = max(budget - count(head), 0)
    line, left, characters = position.line, budget // 4, _MOST_CHARACTERS // 4
    while line > max(position.line - _ABOVE, (position.line + 1) // 2):
        above = snapshot.text.line(line - 1)
        characters -= len(above)
        taken = cost(above, left, count)
        if taken > left or characters < 0:
            break
        line, left = line - 1, left - taken
    column = 0 if line < position.line else len(head) - len(head.lstrip())
    return Position(line, column), budget - (budget // 4 - left)


def _prefix(
    snapshot: Snapshot, at: Position, budget: int, count: Count, last: Anchor | None
) -> tuple[Position, str]:
    """Where the window begins, and its text up to ``at``: where the last one began, if that does.

    What the model has read of a prefix stays valid while its beginning stays.
    """
    for known in _where_it_may_be(None if last is None or last.partial else last, snapshot):
        if _begins(known, snapshot, at, budget, count):
            return known.start, _between(snapshot, known.start, at)
    window = cut(snapshot, at, budget, 0, count)
    return window.start, window.before


def _begins(known: Anchor, snapshot: Snapshot, at: Position, budget: int, count: Count) -> bool:
    """Whether a window from where that of ``known`` begins up to ``at`` fits, and isn't small."""
    start = known.start
    if not 0 < at.line - start.line <= budget:
        return False
    first = snapshot.text.content(start.line)[start.column :]
    if plain(first) != known.prefix.partition("\n")[0]:
        return False
    left = budget
    for line in range(start.line, at.line + 1):
        left -= cost(snapshot.text.line(line), left, count)
        if left < 0:
            return False
    return start.line == 0 or budget - left >= budget // 2


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
