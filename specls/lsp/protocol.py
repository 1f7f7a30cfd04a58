"""The protocol's own notions: a session that begins and ends, and the open documents.

Documents are followed by :class:`Documents`, in time proportional to the edit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from typing import Any

from cattrs import Converter
from lsprotocol import types
from pygls.protocol import default_converter, lsp_method

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.lsp.documents import Documents
from specls.lsp.exchange import Exchange
from specls.lsp.messages import is_uri
from specls.lsp.notebooks import Effects, Notebooks
from specls.lsp.params import InlineCompletionRequest, add_to
from specls.lsp.triggers import Triggers

logger = logging.getLogger(__name__)


def make_converter(triggers: Triggers) -> Converter:
    """The converter of pygls, lenient where clients in use are sloppy, and else strict."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    converter.register_structure_hook(types.InlineCompletionTriggerKind, triggers.read)
    add_to(converter)
    converter.register_structure_hook(str, _text)
    return converter


def _text(value: object, _type: type) -> str:
    """A text; cattrs would make one of anything, as ``None`` of null."""
    if not isinstance(value, str):
        raise TypeError
    return value


class Protocol(Exchange):
    """See the module."""

    def __init__(self, server: Any, converter: Converter) -> None:
        self.documents = Documents()
        self.notebooks = Notebooks()
        self.documents.elsewhere = self.notebooks.get
        self.on_open: Callable[[Snapshot], None] = lambda _snapshot: None
        self.on_change: Callable[[Snapshot, Position | None], None] = lambda _snapshot, _end: None
        self.on_close: Callable[[str], None] = lambda _uri: None
        self.on_exit: Callable[[int], None] = lambda _code: None
        self.on_greeting: Callable[[types.InitializeParams], None] = lambda _params: None
        """May raise what refuses the client."""
        super().__init__(server, converter)

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """The type of a message; inline completion's is our own."""
        if method == types.TEXT_DOCUMENT_INLINE_COMPLETION:
            return InlineCompletionRequest
        return super().get_message_type(method)

    def greeted(self, params: types.InitializeParams) -> None:
        """See :meth:`Exchange.greeted`."""
        self.on_greeting(params)

    # -- the life of a session ---------------------------------------------------------------

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(
        self, params: types.InitializeParams
    ) -> Generator[Any, Any, types.InitializeResult]:
        """Shake hands; a folder that is no URI is left out, since pygls would fail on it."""
        params.root_uri = params.root_uri if is_uri(params.root_uri) else None
        return (yield from super().lsp_initialize(params))

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_args: object) -> None:  # type: ignore[override]
        """Cancel what runs; from now on all is refused but exit."""
        self._shutdown = True
        for future in list(self._request_futures.values()):
            future.cancel()

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_args: object) -> None:  # type: ignore[override]
        """End the process: 0 after a shutdown, else 1."""
        self.on_exit(0 if self._shutdown else 1)

    # -- documents ---------------------------------------------------------------------------

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take the document in, unless a notebook has it already."""
        if self.notebooks.owner(params.text_document.uri) is None:
            self.on_open(self.documents.opened(params))

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply the changes."""
        uri = params.text_document.uri
        if (notebook := self.notebooks.owner(uri)) is not None:
            encoding = self.documents.encoding
            self._follow(notebook.edit(uri, params.content_changes, encoding))
            return
        changed = self.documents.changed(params)
        if changed is not None:
            self.on_change(*changed)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget the document."""
        self.documents.closed(params)
        self.on_close(params.text_document.uri)

    # -- notebooks ---------------------------------------------------------------------------

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Take the notebook in."""
        self._follow(self.notebooks.opened(params))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(
        self, params: types.DidChangeNotebookDocumentParams
    ) -> None:
        """Apply the changes."""
        self._follow(self.notebooks.changed(params, self.documents.encoding))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(
        self, params: types.DidCloseNotebookDocumentParams
    ) -> None:
        """Forget the notebook."""
        self._follow(self.notebooks.forget(params.notebook_document.uri))

    def _follow(self, effects: Effects) -> None:
        for uri in effects.closed:
            self.on_close(uri)
        for snapshot in effects.opened:
            self.on_open(snapshot)
        for change in effects.changed:
            self.on_change(*change)

    # -- what can't be understood ------------------------------------------------------------

    def misunderstood(self, method: str, params: object) -> None:
        """Take a document whose text isn't known any more for closed."""
        if method == types.NOTEBOOK_DOCUMENT_DID_CHANGE and isinstance(params, dict):
            self._forget_notebook(params.get("notebookDocument"))
        if method != types.TEXT_DOCUMENT_DID_CHANGE:
            return
        item = params.get("textDocument") if isinstance(params, dict) else None
        uri = item.get("uri") if isinstance(item, dict) else None
        if isinstance(uri, str) and self.documents.get(uri) is not None:
            logger.warning("A change wasn't understood, so its document must be opened anew.")
            self.documents.forget(uri)
            self.on_close(uri)

    def _forget_notebook(self, item: object) -> None:
        uri = item.get("uri") if isinstance(item, dict) else None
        if isinstance(uri, str) and self.notebooks.is_open(uri):
            logger.warning("A change wasn't understood, so its notebook must be opened anew.")
            self._follow(self.notebooks.forget(uri))
