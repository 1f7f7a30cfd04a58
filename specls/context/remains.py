"""What is left of a stretch of text while the document is edited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from specls.context.difference import Difference
from specls.context.text import Position, Text, split_lines

_LARGEST = 100_000
"""Characters: what was replaced by as much at once isn't looked into."""

_LARGEST_BLOCK = 2_000
"""Characters of changed lines: in more, words aren't looked for."""

_WORDS = re.compile(r"\w+|\r\n|[\r\n]|[^\S\r\n]+|[^\w\s]")

Block = tuple[int, int, int]
"""Where something stands in the old text, where it does in the new one, and how long it is."""


@dataclass(frozen=True)
class Stretch:
    """From a place to another one."""

    start: Position
    end: Position


@dataclass(frozen=True)
class Remains:
    """The stretches that are left, in order. What was put between them belongs to none."""

    stretches: tuple[Stretch, ...]

    def characters(self, text: Text) -> int:
        """How many characters they have in the text that they're places of; a line's end is one."""
        return sum(len(_between(text, each).replace("\r\n", "\n")) for each in self.stretches)

    def moved(self, change: Difference, before: Text, after: Text) -> Remains:
        """What is left after a change. A line or word that was replaced by itself is left."""
        kept = _Kept(change, before, after)
        return Remains(tuple(each for old in self.stretches for each in kept.of(old)))


class _Kept:
    """What a change keeps of a stretch."""

    def __init__(self, change: Difference, before: Text, after: Text) -> None:
        self._change = change
        self._texts = before, after
        self._blocks: list[Block] | None = None

    def of(self, old: Stretch) -> Iterator[Stretch]:
        change = self._change
        if old.start < change.start:
            yield Stretch(old.start, min(old.end, change.start))
        inner = Stretch(max(old.start, change.start), min(old.end, change.end))
        if inner.start < inner.end:
            yield from self._replaced(inner)
        if old.end > change.end:
            yield Stretch(change.moved(max(old.start, change.end)), change.moved(old.end))

    def _replaced(self, old: Stretch) -> Iterator[Stretch]:
        """What is left of a stretch inside of what was replaced."""
        change, (before, after) = self._change, self._texts
        whole = _between(before, Stretch(change.start, change.end))
        new = _between(after, Stretch(change.start, change.new_end))
        if self._blocks is None:
            self._blocks = list(_blocks(whole, new))
        first, last = (_offset(whole, change.start, each) for each in (old.start, old.end))
        for at, now, length in self._blocks:
            start, end = max(at, first), min(at + length, last)
            if start < end:
                shift = now - at
                yield Stretch(
                    _place(new, change.start, start + shift), _place(new, change.start, end + shift)
                )


def _blocks(old: str, new: str) -> Iterator[Block]:
    """What two texts have in common: lines, and words in lines that differ."""
    if max(len(old), len(new)) > _LARGEST:
        return
    lines, others = split_lines(old), split_lines(new)
    at = now = 0
    for kind, i, j, m, n in SequenceMatcher(None, lines, others).get_opcodes():
        ours, theirs = "".join(lines[i:j]), "".join(others[m:n])
        if kind == "equal":
            yield at, now, len(ours)
        elif kind == "replace" and max(len(ours), len(theirs)) <= _LARGEST_BLOCK:
            yield from ((at + a, now + b, size) for a, b, size in _words(ours, theirs))
        at, now = at + len(ours), now + len(theirs)


def _words(old: str, new: str) -> Iterator[Block]:
    words, others = _WORDS.findall(old), _WORDS.findall(new)
    at = now = 0
    for kind, i, j, m, n in SequenceMatcher(None, words, others).get_opcodes():
        ours, theirs = len("".join(words[i:j])), len("".join(others[m:n]))
        if kind == "equal":
            yield at, now, ours
        at, now = at + ours, now + theirs


def _between(text: Text, stretch: Stretch) -> str:
    start, end = stretch.start, stretch.end
    lines = list(text.lines(start.line, end.line + 1)) or [""]
    if end.line < len(text):
        lines[-1] = lines[-1][: end.column]
    lines[0] = lines[0][start.column :]
    return "".join(lines)


def _offset(text: str, start: Position, place: Position) -> int:
    """How many characters of a text that begins at ``start`` stand before a place."""
    if place.line == start.line:
        return place.column - start.column
    lines = split_lines(text)[: place.line - start.line]
    return sum(map(len, lines)) + place.column


def _place(text: str, start: Position, offset: int) -> Position:
    """Where an offset in a text that begins at ``start`` is."""
    lines = split_lines(text[:offset])
    column = len(lines[-1]) + (start.column if len(lines) == 1 else 0)
    return Position(start.line + len(lines) - 1, column)
