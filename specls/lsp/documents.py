"""The open documents, each as its newest snapshot."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lsprotocol import types

from specls.context.difference import difference
from specls.context.document import Change, Snapshot
from specls.context.text import Encoding, Position, Text, split_lines

logger = logging.getLogger(__name__)


class Documents:
    """Follows didOpen, didChange and didClose. A snapshot once given out never changes."""

    def __init__(self) -> None:
        self.encoding = Encoding.UTF16
        """What the client counts; set once, by initialize."""
        self._open: dict[str, Snapshot] = {}
        self.elsewhere: Callable[[str], Snapshot | None] = lambda _uri: None
        """Where documents are found that aren't opened each by itself."""

    def __len__(self) -> int:
        """How many documents are open."""
        return len(self._open)

    def get(self, uri: str) -> Snapshot | None:
        """The newest version of an open document."""
        return self.elsewhere(uri) or self._open.get(uri)

    def opened(self, params: types.DidOpenTextDocumentParams) -> Snapshot:
        """Take a document in; one that was open already is replaced."""
        item = params.text_document
        snapshot = Snapshot(item.uri, item.version, str(item.language_id), Text(item.text))
        self._open[item.uri] = snapshot
        return snapshot

    def changed(
        self, params: types.DidChangeTextDocumentParams
    ) -> tuple[Snapshot, Position | None] | None:
        """Apply changes; None, and a line in the log, for a document that isn't open.

        With the snapshot comes the end of what was written, if that was at one place.
        """
        item = params.text_document
        if (snapshot := self._open.get(item.uri)) is None:
            logger.warning("A change came for a document that isn't open.")
            return None
        changes = [change_of(each) for each in params.content_changes]
        before = snapshot.text
        snapshot = snapshot.changed(changes, item.version, self.encoding)
        self._open[item.uri] = snapshot
        if len(changes) != 1:
            return snapshot, None
        return snapshot, end_of(changes[0], before, snapshot.text, self.encoding)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        self.forget(params.text_document.uri)

    def forget(self, uri: str) -> None:
        """Take a document for closed."""
        self._open.pop(uri, None)


def change_of(event: types.TextDocumentContentChangeEvent) -> Change:
    """One change, as LSP says it."""
    if isinstance(event, types.TextDocumentContentChangePartial):
        start, end = event.range.start, event.range.end
        return Change(event.text, (start.line, start.character), (end.line, end.character))
    return Change(event.text)


def end_of(change: Change, before: Text, after: Text, encoding: Encoding) -> Position | None:
    """Where a change ends in what it makes of a text; None if it changes nothing.

    Of a client that sends all of the text, that's the end of what is new in it.
    """
    if change.start is None or change.end is None:
        if (found := difference(before, after)) is None:
            return None
        return after.clamp(found.new_end.line, found.new_end.column, Encoding.UTF32)
    start = min(before.clamp(*change.start, encoding), before.clamp(*change.end, encoding))
    lines = split_lines(change.text)
    column = len(lines[-1]) + (start.column if len(lines) == 1 else 0)
    return Position(start.line + len(lines) - 1, column)
