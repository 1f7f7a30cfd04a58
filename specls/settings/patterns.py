"""Patterns of git's ignore files, matched in time that no pattern can make long.

Repositories bring patterns along, and a regular expression with many stars tries all ways in which
a name can be shared among them: twenty stars freeze a server for years. Here each star takes as
little as it can and is never asked again, which finds whatever can be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

_STAR = "[^/]*"
"""What ``pathspec`` makes of a star; it looks the same nowhere else, since names have no ``/``."""

_ONE = "[^/]"
"""What it makes of a question mark."""


def spec_of(lines: Iterable[str]) -> GitIgnoreSpec:
    """What the lines of an ignore file match.

    Raises:
        ValueError: git wouldn't take one of them.
    """
    spec = GitIgnoreSpec.from_lines(lines)
    for pattern in spec.patterns:
        if pattern.regex is not None:
            pattern.regex = re.compile(_linear(pattern.regex.pattern))
    return spec


def _linear(expression: str) -> str:
    """The same expression, without going back to a star when another follows in the same name."""
    first, *others = expression.split(_STAR)
    parts = [first]
    for number, literal in enumerate(others):
        is_last = number == len(others) - 1 or "/" in literal.replace(_ONE, "")
        # An atomic group, as it's written for all versions of Python.
        parts.append(
            f"{_STAR}{literal}"
            if is_last
            else f"(?=(?P<star{number}>{_STAR}?{literal}))(?P=star{number})"
        )
    return "".join(parts)
