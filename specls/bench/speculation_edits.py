"""Small edits of somebody who was shown a suggestion and does something else first."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from specls.context.document import Snapshot
from specls.context.text import Position, split_lines

Place = tuple[Snapshot, Position]

Edit = Callable[[Snapshot, Position, str], Place]
"""The document and the cursor after an edit where that text was suggested."""

_NEAR = 80
"""Characters of a suggestion that are typed at the most."""

_COMMENTS = {"lua": "--", "python": "#", "ruby": "#"}
_NAME = re.compile(r"[^\W\d]\w{2,}")
_NO_NAMES = frozenset(keyword.kwlist) | {"self", "this", "const", "let", "var", "func"}


def line_above(snapshot: Snapshot, position: Position, suggestion: str) -> Place:
    """A comment is written above the cursor's line, and nothing of the suggestion is typed."""
    del suggestion
    content = snapshot.text.content(position.line)
    indentation = content[: len(content) - len(content.lstrip())]
    comment = f"{indentation}{_COMMENTS.get(snapshot.language, '//')} the usual case\n"
    top = Position(position.line, 0)
    text = snapshot.text.replace(top, top, comment)
    return replace(snapshot, text=text), Position(position.line + 1, position.column)


def renamed(snapshot: Snapshot, position: Position, suggestion: str) -> Place:
    """The suggestion is typed up to a name that it has twice, and another name is given."""
    found = list(_NAME.finditer(suggestion))
    words = [match[0] for match in found]
    for match in found:
        if match.start() < _NEAR and match[0] not in _NO_NAMES and words.count(match[0]) > 1:
            return typed(snapshot, position, f"{suggestion[: match.start()]}new_{match[0]}")
    return line_above(snapshot, position, suggestion)


def replaced(snapshot: Snapshot, position: Position, suggestion: str) -> Place:
    """The suggestion is typed up to its second name, and one from above is put in its place."""
    above = "".join(snapshot.text.lines(position.line - 10, position.line))
    names = [name for name in _NAME.findall(above) if name not in _NO_NAMES]
    found = [each for each in _NAME.finditer(suggestion) if each[0] not in _NO_NAMES][1:2]
    for match in found:
        others = [name for name in names if name != match[0]]
        if others and match.start() < _NEAR:
            return typed(snapshot, position, suggestion[: match.start()] + others[-1])
    return line_above(snapshot, position, suggestion)


EDITS: Mapping[str, Edit] = {
    "line above": line_above,
    "renamed": renamed,
    "replaced": replaced,
}
"""By name, in the order in which places take them."""


def typed(snapshot: Snapshot, position: Position, text: str) -> Place:
    """The document in which ``text`` was typed at the cursor."""
    lines = split_lines(text)
    column = len(lines[-1]) + (position.column if len(lines) == 1 else 0)
    changed = replace(snapshot, text=snapshot.text.replace(position, position, text))
    return changed, Position(position.line + len(lines) - 1, column)
