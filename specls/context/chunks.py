"""Pieces of other files that are like the surroundings of a cursor.

Similar pieces are those that share words with them, rare words above all. Nothing is parsed, and
all languages are treated alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum, log, sqrt

from specls.context.text import Position, Text
from specls.context.window import Count, plain

_LINES = 32
"""About how many lines a chunk has."""

_MARGIN = 8
"""How many lines more or less it may have, so that it ends where something ends."""

_MOST_CHARACTERS = 128 * _LINES
"""A chunk with more is data or was made by a program."""

_ABOVE, _BELOW = 24, 8
"""The lines around a cursor that others are compared with."""

_ALIKE = 0.5
"""Chunks that share this part of their lines say the same."""

_IMPORTED = 0.5
"""A chunk of an imported file comes first if it's at least so good, compared with the best."""

_LEAST = 0.25
"""A chunk must be so good, compared with the best: another one costs more than it tells."""

_VISITED = 1.25
"""How much better a chunk counts in which somebody was a while ago."""

_KEPT = 0.75
"""What was chosen before stays while it's at least so good, compared with what would be now."""

_WORD = re.compile(r"[^\W\d]\w+")


@dataclass(frozen=True)
class Chunk:
    r"""Some lines of a file, with ``\n`` at their ends. ``path`` is what the model is told."""

    path: str
    first: int = field(compare=False)
    """The number of its first line, from 0."""
    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, each once."""
        return words(self.text)

    @cached_property
    def lines(self) -> frozenset[str]:
        """What its lines say, indentation and blank ones left out."""
        return _contents(self.text)

    @property
    def last(self) -> int:
        """The number of its last line."""
        return self.first + self.text.count("\n") - 1


def words(text: str) -> frozenset[str]:
    """The names and words of a text, of two characters at least."""
    return frozenset(_WORD.findall(text))


def chunked(path: str, text: Text, most: int) -> tuple[Chunk, ...]:
    """A file in chunks; what has more than ``most`` characters in all isn't looked at further."""
    chunks, lines = list[Chunk](), list[str]()
    start = 0
    for number in range(len(text)):
        line = text.line(number)
        most -= len(line)
        if most < 0:
            break
        lines.append(plain(line))
        if len(lines) == _LINES + _MARGIN:
            stop = _end(lines)
            chunks.extend(_chunk(path, start, lines[:stop]))
            start, lines = start + stop, lines[stop:]
    chunks.extend(_chunk(path, start, lines))
    return tuple(chunks)


def _end(lines: Sequence[str]) -> int:
    """Where a chunk ends that begins with these lines: before something at the outermost level."""

    def goodness(stop: int) -> tuple[bool, bool, int]:
        blank_before, following = not lines[stop - 1].strip(), lines[stop]
        outermost = bool(following.strip()) and not following[0].isspace()
        return blank_before and outermost, blank_before, -abs(stop - _LINES)

    return max(range(_LINES - _MARGIN, len(lines)), key=goodness)


def _chunk(path: str, start: int, lines: Sequence[str]) -> Iterable[Chunk]:
    """The chunk of some lines without the blank ones around them, unless nothing is left."""
    filled = [at for at, line in enumerate(lines) if line.strip()]
    if filled:
        first, last = filled[0], filled[-1]
        text = "".join(lines[first : last + 1]).rstrip("\n") + "\n"
        if len(text) <= _MOST_CHARACTERS:
            yield Chunk(path, start + first, text)


def around(text: Text, position: Position) -> str:
    """The lines around a place that chunks are compared with."""
    lines = text.lines(position.line - _ABOVE, position.line + _BELOW + 1)
    return plain("".join(line[-_MOST_CHARACTERS:] for line in lines))


@dataclass(frozen=True)
class Wish:
    """What chunks are chosen for."""

    around: str
    """The text around the cursor."""
    imported: frozenset[str] = frozenset()
    """The paths of the files that are imported."""
    visited: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Lines in which somebody was lately, by path."""


def choose(
    pool: Sequence[Chunk], wish: Wish, budget: int, count: Count, before: Sequence[Chunk] = ()
) -> tuple[Chunk, ...]:
    """The best of ``pool`` that have together at most ``budget`` tokens, the best one last.

    What was chosen ``before`` stays if it's all in the pool still and nearly as good: for the
    model, a change means that it reads everything anew.
    """
    scores = _scores(pool, wish)
    chosen = _fitting(_ranked(scores, wish), wish, budget, count)
    kept = (
        bool(before) and all(chunk in scores for chunk in before) and _fits(before, budget, count)
    )
    if kept and _total(before, scores) >= _KEPT * _total(chosen, scores):
        return tuple(before)
    return tuple(reversed(chosen))


def cost(chunk: Chunk, count: Count) -> int:
    """The tokens of a chunk with its path and the marker before it."""
    return count(f"{chunk.path}\n{chunk.text}") + 1


def _fits(chunks: Iterable[Chunk], budget: int, count: Count) -> bool:
    return sum(cost(chunk, count) for chunk in chunks) <= budget


def _total(chunks: Iterable[Chunk], scores: Mapping[Chunk, float]) -> float:
    return fsum(scores[chunk] for chunk in chunks)


def _scores(pool: Sequence[Chunk], wish: Wish) -> dict[Chunk, float]:
    """How much each chunk has in common with the surroundings: a word counts if few have it."""
    seen_in = Counter(word for chunk in pool for word in chunk.words)
    weights = {word: log((1 + len(pool)) / number) for word, number in seen_in.items()}
    here = words(wish.around)
    return {chunk: _score(chunk, here, weights) * _bonus(chunk, wish) for chunk in pool}


def _score(chunk: Chunk, here: frozenset[str], weights: Mapping[str, float]) -> float:
    # Exact sums: the order of a set isn't the same in each process.
    common = fsum(weights[word] for word in chunk.words & here)
    return common / sqrt(fsum(weights[word] for word in chunk.words) or 1.0)


def _bonus(chunk: Chunk, wish: Wish) -> float:
    visited = wish.visited.get(chunk.path, ())
    return _VISITED if any(chunk.first <= line <= chunk.last for line in visited) else 1.0


def _ranked(scores: Mapping[Chunk, float], wish: Wish) -> list[Chunk]:
    """Those that have something in common, imported ones first if they're good at all."""
    best = max(scores.values(), default=0.0)
    least, enough = _LEAST * best, _IMPORTED * best

    def rank(chunk: Chunk) -> tuple[bool, float, str, int]:
        score = scores[chunk]
        first = chunk.path in wish.imported and score >= enough
        return not first, -score, chunk.path, chunk.first

    return sorted(
        (chunk for chunk in scores if scores[chunk] > 0 and scores[chunk] >= least), key=rank
    )


def _fitting(ranked: Iterable[Chunk], wish: Wish, budget: int, count: Count) -> list[Chunk]:
    """Of the best, those that fit and say something new."""
    chosen: list[Chunk] = []
    said = [_contents(wish.around)]
    for chunk in ranked:
        if len(chunk.text) < budget * 8 and not any(_alike(chunk.lines, each) for each in said):
            tokens = cost(chunk, count)
            if tokens <= budget:
                chosen.append(chunk)
                said.append(chunk.lines)
                budget -= tokens
        if budget <= _LINES:
            break
    return chosen


def _alike(lines: frozenset[str], others: frozenset[str]) -> bool:
    return len(lines & others) >= _ALIKE * min(len(lines), len(others)) > 0


def _contents(text: str) -> frozenset[str]:
    stripped = (line.strip() for line in text.split("\n"))
    return frozenset(line for line in stripped if len(line) > 1)
