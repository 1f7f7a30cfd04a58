"""What kind of place the cursor is in, read from the text around it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specls.context.window import Window

CLOSERS = frozenset(")]}\"'`;:,")
"""What editors insert by themselves behind the cursor, or what merely ends a line."""


def only_closes(tail: str) -> bool:
    """Whether what stands behind the cursor is nothing but punctuation that closes, or blank."""
    return set(tail) <= CLOSERS | {" ", "\t"}


_PAIRS = {")": "(", "]": "[", "}": "{"}


class Shape(Enum):
    """How much a completion may add."""

    LINE = "line"
    """The rest of this line."""
    STATEMENT = "statement"
    """The rest of this line, and the block that it opens."""
    BLOCK = "block"
    """Lines, as long as they belong to this indentation."""


@dataclass(frozen=True)
class Place:
    """The line that the cursor is in, cut at the cursor, and the lines around it.

    Those are the nearest ones that aren't blank.
    """

    head: str
    tail: str
    next_line: str
    last_line: str = ""

    @property
    def indentation(self) -> str:
        """The white space that the line begins with."""
        return self.head[: len(self.head) - len(self.head.lstrip())]

    @property
    def shape(self) -> Shape:
        """One line in the middle of one; behind a finished beginning what it begins; else lines."""
        if self.tail.strip():
            return Shape.LINE
        return Shape.STATEMENT if self.head.strip() else Shape.BLOCK


def place_of(window: Window) -> Place:
    """The place at the middle of a window."""
    above, _, head = window.before.rpartition("\n")
    tail, _, below = window.after.partition("\n")
    next_line = next((line for line in below.split("\n") if line.strip()), "")
    last_line = above.rstrip().rpartition("\n")[2]
    return Place(head, tail, next_line, last_line)


def open_brackets(text: str) -> list[str]:
    """The brackets of ``text`` that it doesn't close, and before them the closing ones too many.

    Brackets in strings and comments count like any others: good enough to see where a statement
    goes on, and the same for every language.
    """
    stack: list[str] = []
    for char in text:
        if char in "([{":
            stack.append(char)
        elif char in _PAIRS:
            if stack and stack[-1] == _PAIRS[char]:
                stack.pop()
            else:
                stack.append(char)
    return stack


def closed_behind(text: str, head: str, tail: str) -> int | None:
    """Where ``text``, written between ``head`` and ``tail``, closes what ``tail`` closes already.

    That's the first bracket or quote which ends something that ``head`` left open, while the same
    stands right behind the cursor. None when there's no such place.
    """
    closer = tail.lstrip()[:1]
    if closer in _PAIRS:
        return _closing_bracket(text, closer)
    if closer and closer in "\"'`" and _quotes(head, closer) % 2:
        at = text.find(closer)
        while at > 0 and text[at - 1] == "\\":
            at = text.find(closer, at + 1)
        return at if at >= 0 else None
    return None


def _closing_bracket(text: str, closer: str) -> int | None:
    depth = 0
    for at, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in _PAIRS:
            if depth == 0:
                return at if char == closer else None
            depth -= 1
    return None


def _quotes(line: str, quote: str) -> int:
    return line.replace("\\" + quote, "").count(quote)


def goes_on(line: str) -> bool:
    """Whether a line can't be the end of a statement: it opens a block, or hangs."""
    line = line.rstrip()
    return line.endswith((":", "{", "(", "[", ",", "\\", "=>", "->", "=", "+", "&&", "||", "."))
