"""Between LSP's values and ours."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from specls.context.document import Snapshot
from specls.context.text import Encoding, Position, character_of, line_ending, split_lines
from specls.lsp.documents import Documents

_LONGEST_COVERED = 500
_PAIR = re.compile("[\U00010000-\U0010ffff]")
"""A character of two UTF-16 code units."""
_WORD = re.compile(r"\w*\Z")


@dataclass(frozen=True)
class Spot:
    """Where a completion is wanted, and what accepting it replaces.

    ``snapshot`` and ``position`` are what the model completes; ``start`` to ``end`` is the range
    in the client's document, on one line, and ``covered`` is the text that begins each item: what
    stands there, or the selected entry of the client's menu.
    """

    snapshot: Snapshot
    position: Position
    start: Position
    end: Position
    covered: str


@dataclass(frozen=True)
class Offer:
    r"""One suggestion on its way to the client; ``text`` comes with ``\n``.

    ``snapshot`` is the document as the client has it: that of ``spot`` may have a selected entry
    of the client's menu in it already.
    """

    snapshot: Snapshot
    spot: Spot
    text: str
    item: types.InlineCompletionItem


def place_in(documents: Documents, uri: str, position: types.Position) -> tuple[Snapshot, Position]:
    """The newest version of an open document, and the place in it that a client means.

    Raises:
        JsonRpcInvalidParams: the document isn't open.
    """
    snapshot = documents.get(uri)
    if snapshot is None:
        raise JsonRpcInvalidParams("The document isn't open: send textDocument/didOpen first.")
    where = (position.line, position.character)
    return snapshot, snapshot.clamp(*where, documents.encoding)


def spot_of(
    snapshot: Snapshot,
    position: Position,
    selected: types.SelectedCompletionInfo | None,
    encoding: Encoding,
) -> Spot | None:
    """The spot for a request at ``position``.

    The range reaches from the beginning of the line to the cursor, since clients want one that
    covers the typed word (VS Code flashes otherwise when a word is accepted, Neovim inserts twice
    what is typed meanwhile); in a very long line from the beginning of the word, and from behind
    the last emoji. VS Code (1.139) and Monaco count the code points of what's covered where they
    mean UTF-16 code units, and don't show an item that covers one of two units.

    An entry selected in the client's completion menu counts as typed already: the item extends its
    text and replaces its range, as the specification wants it. None if that can't be, since the
    range isn't on the line of the cursor.
    """
    if selected is not None:
        return _spot_of_entry(snapshot, position, selected, encoding)
    head = snapshot.text.content(position.line)[: position.column]
    first = 0 if len(head) <= _LONGEST_COVERED else len(head) - len(word_before(head))
    pairs = [match.end() for match in _PAIR.finditer(head, first)]
    first = pairs[-1] if pairs else first
    start = Position(position.line, first)
    return Spot(snapshot, position, start, position, head[first:])


def _spot_of_entry(
    snapshot: Snapshot,
    position: Position,
    selected: types.SelectedCompletionInfo,
    encoding: Encoding,
) -> Spot | None:
    text, (first, last) = snapshot.text, (selected.range.start, selected.range.end)
    ends = [snapshot.clamp(each.line, each.character, encoding) for each in (first, last)]
    start, end = sorted(ends)
    if not start.line == end.line == position.line:
        return None
    # What the client writes goes by its own document's line endings.
    typed = split_lines(selected.text)
    column = len(typed[-1]) + (start.column if len(typed) == 1 else 0)
    behind = Position(start.line + len(typed) - 1, column)
    with_entry = replace(snapshot, text=text.replace(start, end, selected.text))
    return Spot(with_entry, behind, start, end, selected.text)


def word_before(head: str) -> str:
    """The word that a text ends with, as far as it's looked at."""
    match = _WORD.search(head[-_LONGEST_COVERED:])
    return match[0] if match else ""


def inline_item(
    spot: Spot, original: Snapshot, text: str, encoding: Encoding
) -> types.InlineCompletionItem:
    r"""The item for one completion: ``text`` comes with ``\n``, and leaves as the file has it."""
    line = original.text.content(spot.end.line)

    def place(position: Position) -> types.Position:
        character = character_of(line, position.column, encoding)
        return types.Position(original.line_of(position), character)

    insert = spot.covered + text.replace("\n", line_ending(original.text, spot.end.line))
    covered = types.Range(place(spot.start), place(spot.end))
    return types.InlineCompletionItem(insert_text=insert, range=covered)


def first_line(text: str) -> str:
    """The first line that has something in it, with the blank ones before it."""
    body = text.lstrip()
    return text[: len(text) - len(body)] + body.partition("\n")[0]
