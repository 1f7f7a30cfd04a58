"""What becomes of a finished completion before anybody sees it: a chain of pure functions.

Each takes a text and its place, and returns the text or a beginning of it. What changes more than
the end of a text is done while it's written, see :func:`fitted`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from specls.context.indent import adapted, dedented, indentation
from specls.context.place import CLOSERS, Place, Shape, goes_on, missing_between, only_closes, opens
from specls.context.stop import repeats
from specls.context.syntax import Inside, open_brackets

Filter = Callable[[str, Place], str]

_BROKEN = re.compile("[\ufffd\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""What no source file has: half a character, and control characters."""

_LEAST_BEGUN = 3
"""Characters of a line that may be the beginning of the next one by chance."""


def fitted(text: str, place: Place) -> str:
    r"""A text as its file would have it: ends of lines as ``\n``, the file's own indentation.

    For a text that still grows, what is returned grows as well; only blanks at its end may change.
    """
    text = text.replace("\r", "")
    text = _without_doubled_blanks(text, place)
    return adapted(text, place.indentation, place.unit, opened=opens(place.head))


def _without_doubled_blanks(text: str, place: Place) -> str:
    """What the cursor's line begins with, or the blank before the cursor, isn't written again."""
    if place.inside not in (Inside.CODE, Inside.COMMENT):
        return text
    if place.head.strip():
        return text.lstrip(" \t") if place.head[-1].isspace() else text
    surplus = _surplus(text, place)
    if surplus and indentation(text) == place.head:
        # What was written begins with the line, not with the cursor: the next lines are right.
        return text.removeprefix(surplus)
    return dedented(text, surplus)


def _surplus(text: str, place: Place) -> str:
    """By what the first line of a block would be deeper than the line above lets it be."""
    own = indentation(text)
    allowed = indentation(place.last_line)
    if opens(place.last_line):
        deeper = place.head.startswith(allowed) and len(place.head) > len(allowed)
        allowed = place.head if deeper else allowed + (place.unit or "    ")
    elif not place.last_line or _hangs(place) or not text[len(own) :][:1].isalnum():
        return ""
    whole = place.head + own
    if len(whole) <= len(allowed) or not whole.startswith(allowed):
        return ""
    return whole[max(len(allowed), len(place.head)) :]


def _hangs(place: Place) -> bool:
    """Whether the line above may be followed by a deeper one of the same statement."""
    return goes_on(place.last_line) or bool(open_brackets(place.last_line, place.language))


def whole_characters(text: str, _place: Place) -> str:
    """End before half a character, or a control character."""
    match = _BROKEN.search(text)
    return text[: match.start()] if match else text


def without_what_follows(text: str, place: Place) -> str:
    """End before what stands behind the cursor in its line.

    Closing brackets that the text itself opened are its own, even when the same stand behind it.
    """
    tail, bare = place.tail.rstrip(), text.rstrip()
    size = max(_overlap(bare, each, place) for each in (tail, tail.lstrip()))
    return bare[: len(bare) - size] if size else text


def _overlap(text: str, tail: str, place: Place) -> int:
    """How many characters at the end of ``text`` are the first of ``tail``."""
    for size in range(min(len(text), len(tail)), 0, -1):
        if text.endswith(tail[:size]):
            own = set(tail[:size]) <= CLOSERS and _is_own(text[:-size], tail[:size], place)
            return 0 if own else size
    return 0


def _is_own(rest: str, ending: str, place: Place) -> bool:
    """Whether ``ending`` closes what ``rest`` opened, or what nothing behind the cursor closes."""
    if closing := sum(char in ")]}" for char in ending):
        return missing_between(place.head + rest, place.tail) >= closing
    return any(rest.count(quote) % 2 for quote in ending if quote in "\"'`")


def without_blank_end(text: str, place: Place) -> str:
    """Without blanks and empty lines at the end, unless they part it from what follows."""
    if place.shape is Shape.PAIR and text.endswith("\n" + place.indentation) and text.strip():
        return text
    parts = place.tail.strip() and text.strip() and not place.tail[0].isspace()
    return text if parts else text.rstrip()


def without_the_next_line(text: str, place: Place) -> str:
    """Of several lines, without a last one that is the next line of the file, or begins like it."""
    kept, end, last = text.rpartition("\n")
    if not end:
        return text
    begun = len(last.strip()) >= _LEAST_BEGUN and place.next_line.startswith(last)
    return kept.rstrip() if begun or repeats(last, place.next_line) else text


def not_a_line_again(text: str, place: Place) -> str:
    """Nothing, if the first line would be the line above or below once more."""
    first, end, _ = text.partition("\n")
    line = (place.head + first).rstrip()
    above = line == place.last_line.rstrip() and not only_closes(line.strip())
    below = not end and repeats(line, place.next_line)
    return "" if first.strip() and (above or below) else text


def not_half_a_pair(text: str, place: Place) -> str:
    """Nothing, if lines between two braces don't leave the second one in a line of its own."""
    lines = place.shape is Shape.PAIR and "\n" in text
    return "" if lines and not text.endswith("\n" + place.indentation) else text


def not_blank(text: str, _place: Place) -> str:
    """Nothing rather than blanks."""
    return text if text.strip() else ""


FILTERS: tuple[Filter, ...] = (
    whole_characters,
    without_what_follows,
    without_blank_end,
    without_the_next_line,
    not_a_line_again,
    not_half_a_pair,
    not_blank,
)
"""In the order in which they're applied."""


def shown(text: str, place: Place) -> str:
    """What may be shown of a finished text: a beginning of it, perhaps nothing."""
    for each in FILTERS:
        text = each(text, place)
    return text
