"""Where a text only says again what it just said."""

from __future__ import annotations

_LINE = 8
"""Characters: what's shorter is repeated often in good code (``0, 0, 0``)."""

_MOST = {1: 100}
"""How often a single character may stand in a row: rulers are made of them."""

_MOST_SHORT, _MOST_LONG = 30, 2
"""The same for a few characters, and for what's as long as a line."""


def loop_start(text: str) -> int | None:
    """Where the copies begin that are too many, if ``text`` ends in a loop; else None."""
    for length in range(1, len(text) // (_MOST_LONG + 1) + 1):
        most = _MOST.get(length, _MOST_SHORT if length < _LINE else _MOST_LONG)
        block = text[-length:]
        if block.strip() and text.endswith(block * (most + 1)) and not _is_made_of_less(block):
            copies = most + 1
            while text.endswith(block * (copies + 1)):
                copies += 1
            return len(text) - (copies - most) * length
    return None


def _is_made_of_less(block: str) -> bool:
    """Whether a shorter block makes this one: then that one's rule counts."""
    return block in (block + block)[1:-1]
