"""The open notebooks: their cells, and the documents that the cells of each language make up."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from specls.context.cells import Cell, Joined, cell_with
from specls.context.document import Change, Snapshot
from specls.context.text import Encoding, Position, Text
from specls.lsp.documents import change_of, end_of

logger = logging.getLogger(__name__)

SYNC = types.NotebookDocumentSyncOptions(
    notebook_selector=[types.NotebookDocumentFilterWithNotebook(notebook="*")], save=True
)
"""What the server wants to be told: all cells of all notebooks."""


@dataclass
class Effects:
    """What a message makes of the documents that the model sees."""

    opened: list[Snapshot] = field(default_factory=list)
    changed: list[tuple[Snapshot, Position | None]] = field(default_factory=list)
    """With the end of what was written, if that was at one place."""
    closed: list[str] = field(default_factory=list)


class Notebook:
    """One notebook. Each language that it has cells of makes a document of its own."""

    def __init__(self, params: types.DidOpenNotebookDocumentParams) -> None:
        document = params.notebook_document
        self.uri = document.uri
        self._version = document.version
        self._order = list(document.cells)
        self._cells: dict[str, Cell] = {}
        """All whose text is known."""
        self._joined: dict[str, Joined] = {}
        self._take_in(params.cell_text_documents)
        self._arrange()

    def get(self, uri: str) -> Snapshot | None:
        """The document that a cell is in; or one of those documents, by its own URI."""
        if (cell := self._cells.get(uri)) is not None:
            joined = self._joined.get(cell.language)
            if joined is not None and uri in joined:
                return self._snapshot(cell.language, joined.lines(uri))
        return next((each for each in self.snapshots if each.uri == uri), None)

    @property
    def cells(self) -> Iterable[str]:
        """The URIs of all cells."""
        return self._cells.keys()

    @property
    def snapshots(self) -> Iterator[Snapshot]:
        """The documents, the language of most cells last: it's the one that's at hand."""
        return map(self._snapshot, self._joined)

    def _snapshot(self, language: str, part: range | None = None) -> Snapshot:
        uri = f"{self.uri}#{quote(language)}"
        return Snapshot(uri, self._version, language, self._joined[language].text, part)

    def change(
        self, version: int, change: types.NotebookDocumentChangeEvent, encoding: Encoding
    ) -> Effects:
        """Follow a change: first which cells there are, then what's in them."""
        self._version = version
        effects, cells = Effects(), change.cells
        if cells is None:
            return effects
        if cells.structure is not None or cells.data:
            effects = self._restructure(cells)
        for content in cells.text_content or ():
            edited = self.edit(content.document.uri, content.changes, encoding)
            effects.changed += edited.changed
        return effects

    def _restructure(self, cells: types.NotebookDocumentCellChanges) -> Effects:
        before = {snapshot.uri: snapshot for snapshot in self.snapshots}
        if (structure := cells.structure) is not None:
            start = max(structure.array.start, 0)
            stop = start + max(structure.array.delete_count, 0)
            self._order[start:stop] = structure.array.cells or ()
            # A cell that gets another language is closed and opened.
            for closed in structure.did_close or ():
                self._cells.pop(closed.uri, None)
            self._take_in(structure.did_open or ())
        data = {cell.document: cell for cell in cells.data or ()}
        self._order = [data.get(cell.document, cell) for cell in self._order]
        self._arrange()
        after = {snapshot.uri: snapshot for snapshot in self.snapshots}
        return Effects(
            [snapshot for uri, snapshot in after.items() if uri not in before],
            [
                (snapshot, None)
                for uri, snapshot in after.items()
                if uri in before and before[uri].text != snapshot.text
            ],
            [uri for uri in before if uri not in after],
        )

    def edit(
        self,
        uri: str,
        changes: Sequence[types.TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> Effects:
        """Follow a change of what's in a cell."""
        if (cell := self._cells.get(uri)) is None:
            logger.warning("A change came for a cell that isn't there.")
            return Effects()
        inside = [joined for joined in self._joined.values() if uri in joined]
        end = None
        for event in changes:
            change = change_of(event)
            first, last = _replaced(change, cell.text, encoding)
            text = cell.text.replace(first, last, change.text)
            end = end_of(change, cell.text, text, encoding) if len(changes) == 1 else None
            cell = cell_with(cell, text)
            for joined in inside:
                joined.edit(cell, first, last, change.text)
        self._cells[uri] = cell
        return Effects(changed=list(self._edited(cell, end)))

    def _edited(
        self, cell: Cell, end: Position | None
    ) -> Iterator[tuple[Snapshot, Position | None]]:
        """The documents that a cell is in, its own last."""
        own = None
        for language, joined in self._joined.items():
            if cell.uri not in joined:
                continue
            if language == cell.language:
                own = joined
            else:
                yield self._snapshot(language), None
        if own is not None:
            first = own.lines(cell.uri).start
            moved = Position(end.line + first, end.column) if end is not None else None
            yield self._snapshot(cell.language), moved

    def _take_in(self, items: Iterable[types.TextDocumentItem]) -> None:
        for item in items:
            self._cells[item.uri] = Cell(item.uri, str(item.language_id), Text(item.text))

    def _arrange(self) -> None:
        """Join the cells anew, in their order; what isn't a cell any more is forgotten."""
        cells = {}
        for each in self._order:
            if (known := self._cells.get(each.document)) is not None:
                remark = each.kind is types.NotebookCellKind.Markup
                cells[known.uri] = Cell(known.uri, known.language, known.text, remark)
        self._cells = cells
        counts = Counter(cell.language for cell in cells.values() if not cell.remark)
        remarks = {cell.language: 0 for cell in cells.values() if cell.remark}
        languages = sorted({**remarks, **counts}.items(), key=lambda item: item[1])
        self._joined = {name: Joined(name, cells.values()) for name, _ in languages}


class Notebooks:
    """Follows the messages of notebookDocument/*."""

    def __init__(self) -> None:
        self._open: dict[str, Notebook] = {}

    def get(self, uri: str) -> Snapshot | None:
        """What a cell's document is part of; or that, by its own URI."""
        found = (notebook.get(uri) for notebook in self._open.values())
        return next((snapshot for snapshot in found if snapshot is not None), None)

    def is_open(self, uri: str) -> bool:
        """Whether there's such a notebook."""
        return uri in self._open

    def owner(self, uri: str) -> Notebook | None:
        """The notebook that a cell is in."""
        return next((each for each in self._open.values() if uri in each.cells), None)

    def opened(self, params: types.DidOpenNotebookDocumentParams) -> Effects:
        """Take a notebook in; one that was open already is replaced."""
        effects = self.forget(params.notebook_document.uri)
        notebook = self._open[params.notebook_document.uri] = Notebook(params)
        effects.opened += notebook.snapshots
        return effects

    def changed(self, params: types.DidChangeNotebookDocumentParams, encoding: Encoding) -> Effects:
        """Apply changes; nothing, and a line in the log, for a notebook that isn't open."""
        document = params.notebook_document
        if (notebook := self._open.get(document.uri)) is None:
            logger.warning("A change came for a notebook that isn't open.")
            return Effects()
        return notebook.change(document.version, params.change, encoding)

    def saved(self, uri: str) -> Iterable[Snapshot]:
        """The documents of a notebook that was saved."""
        notebook = self._open.get(uri)
        return () if notebook is None else notebook.snapshots

    def forget(self, uri: str) -> Effects:
        """A notebook was closed."""
        notebook = self._open.pop(uri, None)
        return Effects(closed=[each.uri for each in notebook.snapshots] if notebook else [])


def _replaced(change: Change, text: Text, encoding: Encoding) -> tuple[Position, Position]:
    """What a change replaces: all, if it doesn't say."""
    if change.start is None or change.end is None:
        last = len(text) - 1
        return Position(0, 0), Position(last, len(text.content(last)))
    ends = text.clamp(*change.start, encoding), text.clamp(*change.end, encoding)
    return min(ends), max(ends)


def register(
    server: LanguageServer, notebooks: Notebooks, saved: Callable[[Snapshot], None]
) -> None:
    """Bind the method that pygls doesn't handle; ``saved`` hears of each document."""

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveNotebookDocumentParams) -> None:
        for snapshot in notebooks.saved(params.notebook_document.uri):
            saved(snapshot)
