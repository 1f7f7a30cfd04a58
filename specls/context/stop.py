"""Where a completion ends, decided on the text as it comes, so that no token is wasted.

The model's own end-of-middle token comes first; these rules say stop where it says nothing.
"""

from __future__ import annotations

from specls.context.loops import loop_start
from specls.context.place import (
    CLOSERS,
    Place,
    Shape,
    closed_behind,
    goes_on,
    open_brackets,
)


def end_of(text: str, place: Place) -> int | None:
    """How much of ``text``, written at ``place``, belongs to the completion.

    None while it may go on. Only what is certain whatever follows is cut: a line whose indentation
    isn't known yet decides nothing.
    """
    if (start := loop_start(text)) is not None:
        return start
    if place.shape is Shape.LINE:
        ends = (text.find("\n"), closed_behind(text, place.head, place.tail))
        return min((end for end in ends if end is not None and end >= 0), default=None)
    start = 0
    while (at := text.find("\n", start)) >= 0:
        if _ends_before(text, start, at, place):
            return max(start - 1, 0)
        if _ends_after(text[:at], text[start:at], place):
            return at
        start = at + 1
    if _ends_before(text, start, None, place):
        return max(start - 1, 0)
    return None


def _ends_before(text: str, start: int, stop: int | None, place: Place) -> bool:
    """Whether the line from ``start`` (to ``stop``, if it's complete) is one too many."""
    line = text[start:stop]
    if start == 0 or not line.strip():
        return False
    if stop is not None and _repeats(line, place.next_line):
        return True
    if line.startswith(place.indentation):
        deeper = line[len(place.indentation) :][:1].isspace()
        if place.shape is Shape.BLOCK or deeper:
            return False
    return not _closes(line, place.head + text[:start])


def _ends_after(text: str, line: str, place: Place) -> bool:
    """Whether the completion is whole with ``line``, the last of ``text``."""
    first = "\n" not in text
    if not line.strip() and not first:
        return bool(text.strip()) and not open_brackets(text)
    if place.shape is Shape.STATEMENT and first:
        written = place.head + text
        return not goes_on(written) and not open_brackets(text)
    return False


def _closes(line: str, before: str) -> bool:
    """Whether a line begins by closing what was opened before it."""
    return line.lstrip()[0] in ")]}" and bool(open_brackets(before))


def _repeats(line: str, next_line: str) -> bool:
    """Whether a line is the next one of the document, unless that's only punctuation."""
    wanted = next_line.strip()
    return line.strip() == wanted and not set(wanted) <= CLOSERS
