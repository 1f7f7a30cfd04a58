"""Suggestions in the completion menu, for editors that show none inline."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import closing
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.lsp.convert import Offer, Spot, first_line, inline_item, place_in, word_before
from specls.lsp.documents import Documents
from specls.lsp.inline import InlineCompletion
from specls.lsp.menu import Menu
from specls.lsp.progress import Notify, WorkDone, in_words
from specls.service.service import CompletionService

OPTIONS = types.CompletionOptions(work_done_progress=True)
"""Without trigger characters: where no word is being typed, a menu would open with nothing in it
but the suggestion, and the Enter that was meant as the end of the line would accept it."""


class Fallback:
    """Answers textDocument/completion for one connection."""

    def __init__(
        self,
        documents: Documents,
        service: CompletionService,
        notify: Notify,
        inline: InlineCompletion,
    ) -> None:
        self._documents = documents
        self._service = service
        self._notify = notify
        self._inline = inline
        self._menu = Menu()
        self._has_inline = False
        self._bound = False
        self.setting = "auto"
        """The setting ``completionFallback``."""

    def meet(self, params: types.InitializeParams) -> None:
        """Read what the client says about itself."""
        client, info = params.capabilities.text_document, params.client_info
        self._has_inline = client is not None and client.inline_completion is not None
        self._menu = Menu.of(client.completion if client else None, info.name if info else "")

    @property
    def wanted(self) -> bool:
        """Whether suggestions come in the menu; not if they come inline, unless that's asked for.

        Some clients show inline completions without announcing it, and are known by asking.
        """
        if self.setting != "auto":
            return self.setting == "always"
        return not (self._has_inline or self._inline.asked)

    def bind(self, server: LanguageServer) -> None:
        """Have the server answer the method; announced if that's before the handshake's end."""
        if self._bound:
            return
        self._bound = True

        @server.feature(types.TEXT_DOCUMENT_COMPLETION, OPTIONS)
        def completion(
            params: types.CompletionParams,
        ) -> Coroutine[Any, Any, types.CompletionList]:
            return self.answer(params)

    def answer(self, params: types.CompletionParams) -> Coroutine[Any, Any, types.CompletionList]:
        """Take the documents as they are now; the coroutine computes.

        Raises:
            JsonRpcInvalidParams: the document isn't open.
        """
        where = place_in(self._documents, params.text_document.uri, params.position)
        return self._compute(*where, params.work_done_token)

    async def _compute(
        self, snapshot: Snapshot, position: Position, token: types.ProgressToken | None
    ) -> types.CompletionList:
        if not self.wanted:
            return types.CompletionList(is_incomplete=False, items=[])
        with closing(WorkDone(self._notify, token, "reading")) as work:

            def see(lines: str) -> None:
                work.report(in_words(lines))

            early: Callable[[str], None] | None = None if token is None else see
            completion = await self._service.complete(snapshot, position, early=early)
        text = completion.text if completion else ""
        # What is suggested depends on all that's typed, so that each key asks again.
        return types.CompletionList(is_incomplete=True, items=self._items(snapshot, position, text))

    def _items(
        self, snapshot: Snapshot, position: Position, text: str
    ) -> list[types.CompletionItem]:
        """The entries: all of a suggestion, and its first line where that can stand alone."""
        line = snapshot.text.content(position.line)
        word, behind = word_before(line[: position.column]), line[position.column :]
        start = Position(position.line, position.column - len(word))
        spot = Spot(snapshot, position, start, position, word)
        texts = dict.fromkeys((text,) if behind.strip() else (text, first_line(text)))
        offers = [self._offer(spot, each) for each in texts if each]
        entries = [self._menu.entry(offer, rank) for rank, offer in enumerate(offers)]
        return [entry for entry in entries if entry is not None]

    def _offer(self, spot: Spot, text: str) -> Offer:
        item = inline_item(spot, spot.snapshot, text, self._documents.encoding)
        return self._inline.offered(Offer(spot.snapshot, spot, text, item))
