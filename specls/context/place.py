"""What kind of place the cursor is in, read from the text around it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specls.context.indent import indentation, unit_of
from specls.context.syntax import Inside, open_brackets, scan
from specls.context.window import Window

CLOSERS = frozenset(")]}\"'`;:,")
"""What editors insert by themselves behind the cursor, or what merely ends a line."""

MULTILINE = ("auto", "never", "always")
"""What people can choose: what the text says, one line at the most, or lines wherever it's sane."""

MOST_LINES = 24
"""Lines of a suggestion, unless the settings say otherwise."""


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
    PAIR = "pair"
    """What belongs between a brace and the one behind the cursor: the rest of a line, or lines."""


@dataclass(frozen=True)
class Place:
    """The line that the cursor is in, cut at the cursor, and what is around it.

    The lines above and below are the nearest ones that aren't blank.
    """

    head: str
    tail: str
    next_line: str
    last_line: str = ""
    language: str = ""
    """The id that editors use; empty if it's unknown."""
    inside: Inside = Inside.CODE
    opener: str = ""
    """What begins the comment or string that the cursor is in."""
    unit: str = ""
    """One step of the file's indentation; empty where none is to be seen."""
    multiline: str = "auto"
    most_lines: int = MOST_LINES

    @property
    def indentation(self) -> str:
        """The white space that the line begins with."""
        return indentation(self.head)

    @property
    def shape(self) -> Shape:
        """One line in the middle of one; behind a finished beginning what it begins; else lines."""
        if self._is_pair():
            return Shape.PAIR
        if self.tail.strip() or self.multiline == "never":
            return Shape.LINE
        if not self.head.strip() or self.multiline == "always":
            return Shape.BLOCK
        return Shape.STATEMENT if self.inside is Inside.CODE else Shape.LINE

    def _is_pair(self) -> bool:
        """Whether an editor closed a brace behind the cursor, and nothing stands in between."""
        if self.multiline == "never" or self.inside is not Inside.CODE:
            return False
        between = self.head.rstrip().endswith("{") and self.tail.lstrip().startswith("}")
        return between and only_closes(self.tail)

    def left_open(self, text: str) -> tuple[str, ...]:
        """The brackets that ``text``, written here, leaves open, and closing ones too many."""
        return open_brackets(self.opener + text, self.language)

    def leaves(self, text: str) -> bool:
        """Whether ``text``, written in a comment or string of several lines, ends it."""
        if self.inside is not Inside.TEXT:
            return False
        return scan(self.opener + text, self.language).inside is not Inside.TEXT


def place_of(
    window: Window, language: str = "", multiline: str = "auto", most_lines: int = MOST_LINES
) -> Place:
    """The place at the middle of a window."""
    above, _, head = window.before.rpartition("\n")
    tail, _, below = window.after.partition("\n")
    next_line = next((line for line in below.split("\n") if line.strip()), "")
    last_line = above.rstrip().rpartition("\n")[2]
    found = scan(window.before, language)
    return Place(
        head,
        tail,
        next_line,
        last_line,
        language,
        found.inside,
        found.opener,
        unit_of(f"{window.before}{window.after}"),
        multiline,
        most_lines,
    )


def closed_behind(text: str, head: str, tail: str) -> int | None:
    """Where ``text``, written between ``head`` and ``tail``, closes what ``tail`` closes already.

    That's the first bracket or quote which ends something that ``head`` left open, while the same
    stands right behind the cursor. None when there's no such place.
    """
    closer = tail.lstrip()[:1]
    if closer in _PAIRS:
        return _closing_bracket(text, closer, max(missing_between(head, tail), 0))
    if closer and closer in "\"'`" and _quotes(head, closer) % 2:
        at = text.find(closer)
        while at > 0 and text[at - 1] == "\\":
            at = text.find(closer, at + 1)
        return at if at >= 0 else None
    return None


def _closing_bracket(text: str, closer: str, missing: int) -> int | None:
    """Where a text closes more than it opened and ``missing`` brackets that nobody closes."""
    depth = missing
    for at, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in _PAIRS:
            if depth == 0:
                return at if char == closer else None
            depth -= 1
    return None


def missing_between(head: str, tail: str) -> int:
    """How many brackets ``head`` opens more than ``tail`` closes.

    Those in strings count as well: a string may begin in the one and end in the other.
    """
    opened = sum(char not in _PAIRS for char in _unpaired(head))
    return opened - sum(char in _PAIRS for char in _unpaired(tail))


def _unpaired(line: str) -> list[str]:
    """The brackets of a line without a partner in it."""
    stack: list[str] = []
    for char in line:
        if char in "([{":
            stack.append(char)
        elif char in _PAIRS:
            if stack and stack[-1] == _PAIRS[char]:
                stack.pop()
            else:
                stack.append(char)
    return stack


def _quotes(line: str, quote: str) -> int:
    return line.replace("\\" + quote, "").count(quote)


def goes_on(line: str) -> bool:
    """Whether a line can't be the end of a statement: it opens a block, or hangs."""
    line = line.rstrip()
    return line.endswith((":", "{", "(", "[", ",", "\\", "=>", "->", "=", "+", "&&", "||", "."))


def opens(line: str) -> bool:
    """Whether a line opens a block, of which the next line is the first."""
    return line.rstrip().endswith((":", "{"))
