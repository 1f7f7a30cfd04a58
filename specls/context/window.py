"""Which part of a document the model sees, measured in tokens.

The work is proportional to the window, never to the document: lines are taken from the cursor
outwards until a budget is spent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from specls.context.document import Snapshot
from specls.context.text import Position, Text

_MAX_STEP = 64
"""The window's first line moves in steps of a quarter of the window or this many lines, so that it
stays where it is while lines are added below, and what the model has read of it stays valid."""

_LINE_STEP = 512
"""The same within a line too long for the budget, in characters."""

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
    longest = _LINE_STEP * max(1, budget // 64)
    if len(head) > longest:
        head = head[-(-(len(head) - longest) // _LINE_STEP) * _LINE_STEP :]
    while len(head) > _LINE_STEP and count(head) > budget:
        head = head[_LINE_STEP:]
    return head


def _end_of_line(tail: str, budget: int, count: Count) -> str:
    longest = _LINE_STEP * max(1, budget // 64)
    tail = tail[:longest]
    while len(tail) > _LINE_STEP and count(tail) > budget:
        tail = tail[:-_LINE_STEP]
    return tail if budget > 0 else ""


def _lines_before(text: Text, stop: int, budget: int, count: Count) -> list[str]:
    """The lines above that fit, from the first whose number the step divides."""
    first = stop
    while first > 0:
        budget -= count(text.line(first - 1))
        if budget < 0:
            break
        first -= 1
    step = min(_MAX_STEP, 1 << max((stop - first) // 4, 1).bit_length() - 1)
    return list(text.lines(-(-first // step) * step, stop))


def _lines_after(text: Text, line: int, budget: int, count: Count) -> list[str]:
    last = line + 1
    while last < len(text):
        budget -= count(text.line(last))
        if budget < 0:
            break
        last += 1
    return list(text.lines(line + 1, last))
