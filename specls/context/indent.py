"""What a file's lines are indented with, and new lines made to be like them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

_BLANK = re.compile(r"[ \t]*")

_WIDE = 8
"""No step of indentation is longer, in blanks; what is, aligns with something above."""


def indentation(line: str) -> str:
    """The blanks and tabs that a line begins with."""
    match = _BLANK.match(line)
    return match[0] if match else ""


def unit_of(text: str) -> str:
    """One step of indentation in a text: a tab, or some blanks; empty where none is to be seen.

    Lines that begin with a blank and an asterisk (comments) are no steps.
    """
    widths = Counter(_steps(text.split("\n")))
    return widths.most_common(1)[0][0] if widths else ""


def _steps(lines: Iterable[str]) -> Iterator[str]:
    """By what each line that isn't blank is deeper than the one above it."""
    above = ""
    for line in lines:
        if not line.strip():
            continue
        own = indentation(line)
        step = own[len(above) :] if own.startswith(above) else ""
        if step[:1] == "\t":
            yield "\t"
        elif 1 < len(step) <= _WIDE and set(step) == {" "}:
            yield step
        above = own


def adapted(text: str, base: str, unit: str, *, opened: bool) -> str:
    r"""The lines of ``text`` behind the first, indented with the file's ``unit``.

    ``base`` is the indentation of the line that the text begins in, and ``opened`` whether that
    line's end opens a block: then a step of the text's own can be told from the line behind it.
    The last line is left alone as long as it's nothing but blanks.
    """
    if not unit or "\n" not in text:
        return text
    first, *lines = text.split("\n")
    step = _step_of(lines, base, unit) if opened else ""
    return "\n".join([first, *(_like(line, base, unit, step) for line in lines)])


def _step_of(lines: list[str], base: str, unit: str) -> str:
    """What the text takes for a step, if it's blanks like the file's, but others; else empty."""
    first = next((line for line in lines if line.strip()), "")
    deeper = indentation(first)[len(base) :] if first.startswith(base) else ""
    other = deeper != unit and 1 < len(deeper) <= _WIDE
    return deeper if other and set(deeper + unit) == {" "} else ""


def _like(line: str, base: str, unit: str, step: str) -> str:
    """A line as the file would have it."""
    own = indentation(line)
    if own == line:
        return line
    if unit == "\t":
        blanks = len(own) - len(own.lstrip(" "))
        tabs = blanks // 4 if blanks % 4 == 0 else blanks // 2
        return "\t" * tabs + own[blanks:] + line[len(own) :]
    own = own.replace("\t", unit)
    if step and own.startswith(base):
        deeper = len(own) - len(base)
        own = base + unit * (deeper // len(step)) + " " * (deeper % len(step))
    return own + line[len(indentation(line)) :]


def dedented(text: str, surplus: str) -> str:
    """The text without so much of the indentation of its lines, as far as they have it."""
    if not surplus:
        return text
    return "\n".join(line.removeprefix(surplus) for line in text.split("\n"))
