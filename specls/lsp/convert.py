"""Between LSP's values and ours."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lsprotocol import types

from specls.context.document import Snapshot
from specls.context.text import Encoding, Position, character_of, line_ending

_LONGEST_COVERED = 500
_WORD = re.compile(r"\w*\Z")


@dataclass(frozen=True)
class Spot:
    """Where a completion is wanted, and what accepting it replaces.

    ``snapshot`` and ``position`` are what the model completes; ``start`` to ``end`` is the range
    in the client's document, on one line, and ``covered`` is what stands there when the selected
    entry of the client's menu counts as typed.
    """

    snapshot: Snapshot
    position: Position
    start: Position
    end: Position
    covered: str


def spot_of(
    snapshot: Snapshot,
    position: Position,
    selected: types.SelectedCompletionInfo | None,
    encoding: Encoding,
) -> Spot:
    """The spot for a request at ``position``.

    The range reaches from the beginning of the line to the cursor, since clients want one that
    covers the typed word (VS Code flashes otherwise when a word is accepted, Neovim inserts twice
    what is typed meanwhile); in a very long line from the beginning of the word.

    An entry selected in the client's completion menu is treated as if it were typed already.
    """
    end, typed = position, ""
    if selected is not None:
        text = snapshot.text
        start = text.clamp(selected.range.start.line, selected.range.start.character, encoding)
        stop = text.clamp(selected.range.end.line, selected.range.end.character, encoding)
        if start.line == stop.line == position.line and "\n" not in selected.text:
            snapshot = replace(snapshot, text=text.replace(start, stop, selected.text))
            end, typed = stop, selected.text
            position = Position(start.line, start.column + len(typed))
    head = snapshot.text.content(position.line)[: position.column]
    first = 0
    if len(head) > _LONGEST_COVERED:
        match = _WORD.search(head[-_LONGEST_COVERED:])
        word = len(match[0]) if match else 0
        first = min(len(head) - word, len(head) - len(typed))
    return Spot(snapshot, position, Position(position.line, first), end, head[first:])


def inline_item(
    spot: Spot, original: Snapshot, text: str, encoding: Encoding
) -> types.InlineCompletionItem:
    r"""The item for one completion: ``text`` comes with ``\n``, and leaves as the file has it."""
    line = original.text.content(spot.end.line)

    def place(position: Position) -> types.Position:
        return types.Position(position.line, character_of(line, position.column, encoding))

    insert = spot.covered + text.replace("\n", line_ending(original.text, spot.end.line))
    covered = types.Range(place(spot.start), place(spot.end))
    return types.InlineCompletionItem(insert_text=insert, range=covered)
