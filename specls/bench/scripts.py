"""The editing scripts: how people change code, each as a replay in real files.

A script takes documents in random order, and makes a replay of at most ``keys`` steps beside the
first request in each document. The rest of a line is removed and typed again.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest

from specls.bench.replay import Kind, Replay, Spot, Step, first, truth_at
from specls.context.document import Change, Snapshot
from specls.context.text import Position
from specls.errors import SettingsError

Script = Callable[[Iterator[Snapshot], random.Random, int], Replay]

_ABOVE, _BELOW = 20, 10
"""Lines that a place has around it at least."""

_LEAST_REST = 8
_BLOCK = 3
_FILES = 3
_WORD = re.compile(r"\w{4,}")


def middle(documents: Iterator[Snapshot], choice: random.Random, keys: int) -> Replay:
    """The end of a line in the middle of a function is typed."""
    spot = _find(documents, choice, _inner_spot)
    steps = first(spot.typed(0), keys)
    return Replay("middle", [spot.shortened()], [spot.asked(0, Kind.OPEN), *steps])


def end(documents: Iterator[Snapshot], choice: random.Random, keys: int) -> Replay:
    """The end of a line is typed, and nothing follows in the file."""
    spot = _find(documents, choice, _inner_spot)
    steps = first(spot.typed(0), keys)
    return Replay("end", [spot.cut_off()], [spot.asked(0, Kind.OPEN), *steps])


def fix(documents: Iterator[Snapshot], choice: random.Random, keys: int) -> Replay:
    """The last characters of a word are deleted and typed again, and then the line goes on."""
    spot = _find(documents, choice, _word_spot)
    end_of_word = _WORD.match(spot.rest)
    assert end_of_word, "the spot is the start of a word"
    stop = end_of_word.end()
    back = min(stop - 1, max(keys // 3, 1))
    steps = [*spot.deleted(stop, stop - back), *spot.typed(stop - back)]
    opened = Spot(spot.original, spot.at(stop)).shortened()
    return Replay("fix", [opened], [spot.asked(stop, Kind.OPEN), *steps[: max(keys, 0)]])


def undo(documents: Iterator[Snapshot], choice: random.Random, keys: int) -> Replay:
    """Of what was typed some is undone at once, and typed again."""
    spot = _find(documents, choice, _inner_spot)
    typed = min(max(keys // 2, 1), len(spot.rest))
    left = typed // 2
    steps = first(spot.typed(0), typed)
    steps += [spot.removed(left, typed, Kind.BLOCK), *spot.typed(left)]
    shown = [spot.asked(0, Kind.OPEN), *steps[: max(keys, 0)]]
    return Replay("undo", [spot.shortened()], shown)


def paste(documents: Iterator[Snapshot], choice: random.Random, keys: int) -> Replay:
    """Three lines are pasted, and the line behind them is typed."""
    typed = _find(documents, choice, _line_spot)
    text, line = typed.original.text, typed.start.line
    top = Position(line - _BLOCK, 0)
    indentation = text.content(line)[: typed.start.column]
    block = "".join(text.lines(top.line, line)) + indentation
    opened = _without(typed.shortened(), top, typed.start)
    where = (top.line, 0)
    pasted = typed.asked(0, Kind.BLOCK, Change(block, where, where))
    steps = [pasted, *typed.typed(0)][: max(keys, 0)]
    return Replay("paste", [opened], [Step(Kind.OPEN, 0, None, top, truth_at(text, top)), *steps])


def switch(documents: Iterator[Snapshot], choice: random.Random, keys: int) -> Replay:
    """A line is typed in each of three files, each key in another one than the key before."""
    spots = [_find(documents, choice, _inner_spot, number) for number in range(_FILES)]
    turns = zip_longest(*(spot.typed(0) for spot in spots))
    steps = (step for turn in turns for step in turn if step is not None)
    opened = [spot.asked(0, Kind.OPEN) for spot in spots]
    return Replay("switch", [spot.shortened() for spot in spots], [*opened, *first(steps, keys)])


SCRIPTS: Mapping[str, Script] = {
    "middle": middle,
    "end": end,
    "fix": fix,
    "paste": paste,
    "undo": undo,
    "switch": switch,
}


def scripts_of(names: str) -> Sequence[str]:
    """The scripts that a list with commas names.

    Raises:
        SettingsError: it names one that doesn't exist, or none.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in SCRIPTS]
    if unknown or not wanted:
        raise SettingsError(f"--scripts: {names!r} isn't a list of {', '.join(SCRIPTS)}.")
    return wanted


def _without(document: Snapshot, start: Position, stop: Position) -> Snapshot:
    text = document.text.replace(start, stop, "")
    return Snapshot(document.uri, 1, document.language, text)


_Finder = Callable[[str, random.Random], int | None]
"""A column of a line where something may be typed, if it has one."""


def _find(
    documents: Iterator[Snapshot], choice: random.Random, column: _Finder, number: int = 0
) -> Spot:
    """A place in the next document that has one."""
    for document in documents:
        for line in _lines_of_code(document, choice):
            at = column(document.text.content(line), choice)
            if at is not None:
                return Spot(document, Position(line, at), number)
    raise SettingsError("The files hold too few places to type at; give a larger --repo.")


def _lines_of_code(document: Snapshot, choice: random.Random) -> Iterator[int]:
    """Lines inside of blocks, in random order; comments and strings are left out."""
    lines = range(_ABOVE, len(document.text) - _BELOW)
    for line in choice.sample(lines, len(lines)):
        content = document.text.content(line)
        if content[:1].isspace() and not content.lstrip().startswith(("#", "//", "*", '"', "'")):
            yield line


def _indentation(content: str) -> int:
    return len(content) - len(content.lstrip())


def _inner_spot(content: str, choice: random.Random) -> int | None:
    """Somewhere in the line, with something left to be typed."""
    start, stop = _indentation(content) + 1, len(content.rstrip()) - _LEAST_REST
    return choice.randrange(start, stop) if start < stop else None


def _word_spot(content: str, choice: random.Random) -> int | None:
    """The start of a word behind which the line goes on."""
    stop = len(content.rstrip())
    words = [word.start() for word in _WORD.finditer(content) if word.end() < stop]
    return choice.choice(words) if words else None


def _line_spot(content: str, _choice: random.Random) -> int | None:
    """The first character of a line that isn't short."""
    at = _indentation(content)
    return at if len(content.rstrip()) - at >= _LEAST_REST else None
