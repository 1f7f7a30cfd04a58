"""Text that never changes: an edit makes a new one and shares what it left alone.

Lines are kept in chunks. An edit rebuilds the chunks that it touches and the table of chunks, so
a keystroke in a file of 10 MB costs microseconds, and whoever holds the old text keeps it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, chain, islice, takewhile

_CHUNK = 512
_Chunks = tuple[tuple[str, ...], ...]
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""Two halves of a character that came one by one: together they count as one, as in the client."""


class Encoding(Enum):
    """What a client counts when it says *character* (LSP 3.17, PositionEncodingKind)."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


@dataclass(frozen=True, order=True)
class Position:
    """A place between two characters: line and column from 0, the column in code points."""

    line: int
    column: int


def split_lines(text: str) -> list[str]:
    r"""Split into lines that keep their endings, at ``\n``, ``\r\n`` and ``\r`` only.

    There is always a last line without an ending; it's empty when the text ends with one.
    """
    if not text.isascii() and _HALVES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    lines = _LINES.findall(text)
    if not lines or lines[-1][-1] in "\r\n":
        lines.append("")
    return lines


def strip_ending(line: str) -> str:
    """The line without its line ending."""
    return line.rstrip("\r\n")


def column_of(line: str, character: int, encoding: Encoding) -> int:
    """The column in code points of an offset in code units.

    An offset past the end means the end; one inside a character means before it.
    """
    character = max(character, 0)
    if line.isascii() or encoding is Encoding.UTF32:
        return min(character, len(line))
    if encoding is Encoding.UTF16:
        raw = line.encode("utf-16-le", "surrogatepass")
        cut = min(2 * character, len(raw))
        if 0 < cut < len(raw) and _is_high(raw[cut - 1]) and _is_low(raw[cut + 1]):
            cut -= 2
        return len(raw[:cut].decode("utf-16-le", "surrogatepass"))
    raw = line.encode("utf-8", "surrogatepass")
    cut = min(character, len(raw))
    while 0 < cut < len(raw) and raw[cut] & 0xC0 == 0x80:  # noqa: PLR2004 - a continuation byte
        cut -= 1
    return len(raw[:cut].decode("utf-8", "surrogatepass"))


def character_of(line: str, column: int, encoding: Encoding) -> int:
    """The offset in code units of a column in code points."""
    head = line[:column]
    if head.isascii() or encoding is Encoding.UTF32:
        return len(head)
    if encoding is Encoding.UTF16:
        return len(head.encode("utf-16-le", "surrogatepass")) // 2
    return len(head.encode("utf-8", "surrogatepass"))


def _is_high(byte: int) -> bool:
    return 0xD8 <= byte <= 0xDB  # noqa: PLR2004 - the first half of a surrogate pair


def _is_low(byte: int) -> bool:
    return 0xDC <= byte <= 0xDF  # noqa: PLR2004 - the second half of a surrogate pair


class Text:
    """The lines of a document, with their endings."""

    __slots__ = ("_chunks", "_starts")

    def __init__(self, text: str = "") -> None:
        self._adopt(_chunked(split_lines(text)))

    def _adopt(self, chunks: tuple[tuple[str, ...], ...]) -> None:
        self._chunks = chunks
        # _starts[i] is the number of the first line of chunk i; the last entry is the line count.
        self._starts = (0, *accumulate(map(len, chunks)))

    def __len__(self) -> int:
        """How many lines there are (at least one)."""
        return self._starts[-1]

    def __str__(self) -> str:
        return "".join("".join(chunk) for chunk in self._chunks)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Text) or len(self) != len(other):
            return False
        if self._starts == other._starts:
            # Chunks that two versions share are the same objects, which tuples see at once.
            return self._chunks == other._chunks
        return str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def line(self, number: int) -> str:
        """Line ``number`` with its ending. Raises IndexError outside of the text."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        chunk = bisect_right(self._starts, number) - 1
        return self._chunks[chunk][number - self._starts[chunk]]

    def content(self, number: int) -> str:
        """Line ``number`` without its ending. Raises IndexError outside of the text."""
        return strip_ending(self.line(number))

    def lines(self, start: int, stop: int) -> Iterator[str]:
        """Lines ``start`` to ``stop`` (not included), clamped to the text."""
        for number in range(max(start, 0), min(stop, len(self))):
            yield self.line(number)

    def clamp(self, line: int, character: int, encoding: Encoding) -> Position:
        """The position for what a client sent, moved into the text when it lies outside."""
        if line < 0:
            return Position(0, 0)
        if line >= len(self):
            last = len(self) - 1
            return Position(last, len(self.content(last)))
        return Position(line, column_of(self.content(line), character, encoding))

    def replace(self, start: Position, end: Position, new: str) -> Text:
        """A text in which ``new`` stands where ``start`` to ``end`` stood.

        Both must lie in the text (:meth:`clamp`); in the wrong order they are swapped.
        """
        start, end = min(start, end), max(start, end)
        first, last = start.line, end.line
        joined = self.line(first)[: start.column] + new + self.line(last)[end.column :]
        if first and self.line(first - 1).endswith("\r"):
            # What follows may begin with \n, and then both are one line ending.
            first -= 1
            joined = self.line(first) + joined
        lines = split_lines(joined)
        if last < len(self) - 1 and lines[-1] == "":
            lines.pop()
        return self._spliced(first, last + 1, lines)

    def shared(self, other: Text) -> tuple[int, int]:
        """How many lines both begin with, and how many of the others both end with.

        Costs as much as what differs, where one was made from the other by an edit.
        """
        most = min(len(self), len(other))
        first = _common(self._chunks, other._chunks, most, iter)
        last = _common(self._chunks[::-1], other._chunks[::-1], most - first, reversed)
        return first, last

    def _spliced(self, first: int, stop: int, lines: Sequence[str]) -> Text:
        head = bisect_right(self._starts, first) - 1
        tail = bisect_right(self._starts, stop - 1) - 1
        before = self._chunks[head][: first - self._starts[head]]
        after = self._chunks[tail][stop - self._starts[tail] :]
        middle = _chunked([*before, *lines, *after])
        text = Text.__new__(Text)
        text._adopt(  # noqa: SLF001 - it's one of us
            (*self._chunks[:head], *middle, *self._chunks[tail + 1 :])
        )
        return text


def line_ending(text: Text, line: int) -> str:
    r"""The line ending that is used around a line: ``\n`` where nothing else is."""
    nearby = list(text.lines(max(line - 50, 0), line + 50))
    windows = sum(each.endswith("\r\n") for each in nearby)
    unix = sum(each.endswith("\n") for each in nearby) - windows
    mac = sum(each.endswith("\r") for each in nearby)
    best = max(windows, unix, mac)
    if best == unix:
        return "\n"
    return "\r\n" if best == windows else "\r"


def _common(
    one: _Chunks,
    other: _Chunks,
    most: int,
    order: Callable[[tuple[str, ...]], Iterator[str]],
) -> int:
    """How many lines two texts begin with, in an order of chunks and of the lines in each."""
    same = list(takewhile(lambda pair: pair[0] is pair[1], zip(one, other, strict=False)))
    count = sum(len(chunk) for chunk, _ in same)
    rest, others = (chain.from_iterable(map(order, each[len(same) :])) for each in (one, other))
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(rest, others, strict=False))
    return min(count + sum(1 for _ in islice(pairs, max(most - count, 0))), most)


def _chunked(lines: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    if len(lines) <= 2 * _CHUNK:
        return (tuple(lines),)
    return tuple(tuple(lines[at : at + _CHUNK]) for at in range(0, len(lines), _CHUNK))
