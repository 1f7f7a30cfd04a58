"""Which part of a document the model sees, measured in tokens.

The work is proportional to the window, never to the document: lines are taken from the cursor
outwards until a budget is spent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from specls.context.document import Snapshot
from specls.context.text import Position, Text

_MAX_STEP = 64
"""The window's first line moves in steps of a quarter of the window or this many lines, so that it
stays where it is while lines are added below, and what the model has read of it stays valid."""

_LONGEST_STEPS = 32
"""A line too long for the budget is cut in steps of a quarter of it, in characters; of one much
longer, this many steps are looked at."""

_LONGEST_TOKEN = 128
"""Characters: no token of a usual vocabulary is longer."""

_BOM = "\ufeff"


@dataclass(frozen=True)
class Window:
    r"""The text around a position, with line endings as ``\n`` and without a byte order mark."""

    before: str
    after: str
    start: Position = field(default=Position(0, 0), compare=False)
    """Where ``before`` begins in the document."""


Count = Callable[[str], int]
"""How many tokens a text has."""


def cut(
    snapshot: Snapshot, position: Position, prefix_tokens: int, suffix_tokens: int, count: Count
) -> Window:
    """The window around ``position``: at most so many tokens before it and after it.

    Counting line by line may find a few tokens more than the model will see, never fewer.
    """
    text = snapshot.text
    line = text.line(position.line)
    head = _start_of_line(line[: position.column], prefix_tokens, count)
    tail = _end_of_line(line[position.column :], suffix_tokens, count)
    before, after = [], []
    if len(head) == position.column and prefix_tokens > 0:
        before = _lines_before(text, position.line, prefix_tokens - count(head), count)
    if len(tail) == len(line) - position.column:
        after = _lines_after(text, position.line, suffix_tokens - count(tail), count)
    first = Position(position.line - len(before), 0)
    if len(head) < position.column:
        first = Position(position.line, position.column - len(head))
    return Window(plain("".join((*before, head))), plain("".join((tail, *after))), first)


def plain(text: str) -> str:
    """The text as a model sees it: LF at the end of lines, no byte order mark."""
    return text.removeprefix(_BOM).replace("\r\n", "\n").replace("\r", "\n")


def _start_of_line(head: str, budget: int, count: Count) -> str:
    """The end of ``head`` that fits, cut at a step so that its beginning stays while typing."""
    if budget <= 0:
        return ""
    step = _line_step(budget)
    start = max(len(head) - step * _LONGEST_STEPS, 0)
    while start < len(head) and count(head[start:]) > budget:
        start += step
    return head[_aligned(start, len(head)) :]


def _end_of_line(tail: str, budget: int, count: Count) -> str:
    if budget <= 0:
        return ""
    step = _line_step(budget)
    tail = tail[: step * _LONGEST_STEPS]
    while tail and count(tail) > budget:
        tail = tail[:-step]
    return tail


def _line_step(budget: int) -> int:
    """In characters, so that some steps fit into the budget whatever a token spells."""
    return max(budget // 4, 1)


def _lines_before(text: Text, stop: int, budget: int, count: Count) -> list[str]:
    """The lines above that fit, from the first whose number the step divides."""
    first = stop
    while first > 0:
        budget -= cost(text.line(first - 1), budget, count)
        if budget < 0:
            break
        first -= 1
    return list(text.lines(_aligned(first, stop, _MAX_STEP), stop))


def cost(line: str, budget: int, count: Count) -> int:
    """The tokens of a line; of one that's surely too long, only that it's more than ``budget``."""
    return budget + 1 if len(line) > _LONGEST_TOKEN * max(budget, 1) else count(line)


def _aligned(first: int, stop: int, most: int = sys.maxsize) -> int:
    """``first`` moved towards ``stop``, by a quarter at the most, to where it stays for a while.

    That is a multiple of a power of two, which is a quarter of the way or ``most``.
    """
    step = min(most, 1 << max((stop - first) // 4, 1).bit_length() - 1)
    return -(-first // step) * step


def _lines_after(text: Text, line: int, budget: int, count: Count) -> list[str]:
    last = line + 1
    while last < len(text):
        budget -= cost(text.line(last), budget, count)
        if budget < 0:
            break
        last += 1
    return list(text.lines(line + 1, last))
