"""Where a completion ends, decided on the text as it comes, so that no token is wasted.

The model's own end-of-middle token comes first; these rules say stop where it says nothing.
"""

from __future__ import annotations

import re

from specls.context.indent import indentation
from specls.context.loops import loop_start
from specls.context.place import CLOSERS, Place, Shape, closed_behind, goes_on, only_closes, opens

_BLANK_LINES = 4
"""So many ends of lines in a row, and nothing comes any more."""

_BLANKS = 80
"""The same in blanks."""

_LEAST_TAIL = 4
"""Characters: so much of what stands behind the cursor isn't written again by chance."""

_LINES_OF_ANOTHER = 3
"""A line, a blank one, and what stands of the next."""


def end_of(text: str, place: Place) -> int | None:
    """How much of ``text``, written at ``place``, belongs to the completion.

    None while it may go on. Only what is certain whatever follows is cut: a line whose indentation
    isn't known yet decides nothing.
    """
    for rule in (loop_start, _nothing_comes):
        if (end := rule(text)) is not None:
            return end
    shape = place.shape
    if shape is Shape.LINE or (shape is Shape.PAIR and not _is_of_lines(text)):
        return _end_of_line(text, place)
    return _end_of_lines(text, place)


def _end_of_lines(text: str, place: Place) -> int | None:
    """Where a completion of several lines ends."""
    start = 0
    while (at := text.find("\n", start)) >= 0:
        if _ends_before(text, start, at, place):
            return _before(text, start, place)
        if _ends_after(text[:at], start, place):
            return at
        start = at + 1
    if _ends_before(text, start, None, place):
        return _before(text, start, place)
    return None


def _end_of_line(text: str, place: Place) -> int | None:
    """Where a completion of one line ends."""
    ends = [text.find("\n"), closed_behind(text, place.head, place.tail), tail_in(text, place)]
    return min((end for end in ends if end is not None and end >= 0), default=None)


def tail_in(text: str, place: Place) -> int | None:
    """Where a text writes the rest of the line that stands behind the cursor already."""
    tail = place.tail.strip()
    if len(tail) < _LEAST_TAIL or only_closes(tail):
        return None
    start = r"(?<!\w)" if tail[0].isalnum() or tail[0] == "_" else ""
    match = re.search(start + re.escape(tail), text)
    return match.start() if match else None


def _nothing_comes(text: str) -> int | None:
    """Where a text ends behind which only blanks and ends of lines come."""
    length = len(text.rstrip())
    blank = text[length:]
    return length if blank.count("\n") >= _BLANK_LINES or len(blank) >= _BLANKS else None


def _is_of_lines(text: str) -> bool:
    """Whether a text begins with the end of a line."""
    return text.lstrip(" \t")[:1] in ("", "\n")


def _before(text: str, start: int, place: Place) -> int:
    """The end of a completion whose line from ``start`` on is one too many."""
    if place.shape is Shape.PAIR and text[start:].lstrip()[:1] == "}":
        # The brace behind the cursor stands in a line of its own then.
        return start + len(indentation(text[start:]))
    return max(start - 1, 0)


def _ends_before(text: str, start: int, stop: int | None, place: Place) -> bool:
    """Whether the line from ``start`` (to ``stop``, if it's complete) is one too many."""
    line = text[start:stop]
    if not line.strip():
        return False
    whole = line if start else place.head + line
    if stop is not None and repeats(whole, place.next_line):
        return True
    if start == 0:
        return False
    if line.startswith(place.indentation):
        deeper = line[len(place.indentation) :][:1].isspace()
        if deeper or (place.shape is Shape.BLOCK and not _is_another(text, start, stop, place)):
            return False
    return not _closes(line, text[:start], place)


def _is_another(text: str, start: int, stop: int | None, place: Place) -> bool:
    """Whether a line of a block's own indentation, behind a blank one, begins something else.

    At the outermost level everything is something else; further in, what opens a block behind
    what opened one: the next method of a class.
    """
    above = text[:start].split("\n")
    if len(above) < _LINES_OF_ANOTHER or above[-2].strip() or place.left_open(text[:start]):
        return False
    if not place.indentation:
        return bool(text[:start].strip())
    return stop is not None and opens(above[0]) and opens(text[start:stop])


def _ends_after(text: str, start: int, place: Place) -> bool:
    """Whether the completion is whole with the line from ``start`` on, the last of ``text``."""
    if text.count("\n") + 1 >= place.most_lines and text.strip():
        return True
    if place.leaves(text):
        return True
    if place.shape is Shape.STATEMENT and start == 0:
        return not goes_on(place.head + text) and not place.left_open(text)
    return False


def _closes(line: str, text: str, place: Place) -> bool:
    """Whether a line behind ``text`` begins by closing what's open there, and nothing below does.

    Between two braces, the one behind the cursor closes the one before it.
    """
    closer = line.lstrip()[0]
    before = text if place.shape is Shape.PAIR else place.head + text
    if closer not in ")]}" or not any(char in "([{" for char in place.left_open(before)):
        return False
    below = place.next_line
    return indentation(below) != indentation(line) or below.lstrip()[:1] != closer


def repeats(line: str, other: str) -> bool:
    """Whether a line is another one, but for blanks and what ends it; punctuation doesn't count."""
    wanted = _core(other)
    if set(wanted) <= CLOSERS or indentation(line) != indentation(other):
        return False
    return _core(line) == wanted


def _core(line: str) -> str:
    return re.sub(r"\s+", "", line).rstrip(",;")
