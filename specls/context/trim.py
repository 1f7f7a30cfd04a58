"""What is taken off a finished completion before anybody sees it."""

from __future__ import annotations

from specls.context.place import CLOSERS, Place, open_brackets


def trimmed_length(text: str, place: Place) -> int:
    """How much of ``text`` may be shown; 0 when it's blank or only repeats what stands there."""
    text = text.rstrip()
    length = len(text) - _overlap(text, place.tail)
    text = text[:length].rstrip() if not place.tail.strip() else text[:length]
    repeats = any(_repeats(text, line, place) for line in (place.next_line, place.last_line))
    return 0 if repeats or not text.strip() else len(text)


def _overlap(text: str, tail: str) -> int:
    """How many characters at the end of ``text`` stand behind the cursor already.

    Closing brackets that the text itself opened are its own, even when the same stand behind it.
    """
    tail = tail.rstrip()
    for size in range(min(len(text), len(tail)), 0, -1):
        if text.endswith(tail[:size]):
            rest = text[:-size]
            own = set(tail[:size]) <= CLOSERS and _is_own(rest, tail[:size])
            return 0 if own else size
    return 0


def _is_own(rest: str, ending: str) -> bool:
    """Whether ``ending`` closes what ``rest`` opened."""
    opened = [char for char in open_brackets(rest) if char in "([{"]
    closing = [char for char in ending if char in ")]}"]
    if closing:
        return len(opened) >= len(closing)
    return any(rest.count(quote) % 2 for quote in ending if quote in "\"'`")


def _repeats(text: str, line: str, place: Place) -> bool:
    """Whether a completion of one line makes what the line above or below says anyway."""
    written = (place.head + text).strip()
    return written == line.strip() and not set(written) <= CLOSERS
