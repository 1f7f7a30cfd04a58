"""Inline completion: what is asked for, and the items of the answer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import closing
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from specls.context.document import Snapshot
from specls.lsp.convert import Offer, Spot, inline_item, place_in, spot_of
from specls.lsp.documents import Documents
from specls.lsp.params import InlineCompletionParams
from specls.lsp.progress import Notify, PartialItems, WorkDone, in_words
from specls.service.completion import Completion
from specls.service.service import CompletionService

_OPTIONS = types.InlineCompletionOptions(work_done_progress=True)
_EXPLICIT = types.InlineCompletionTriggerKind.Invoked


class InlineCompletion:
    """Answers textDocument/inlineCompletion for one connection."""

    def __init__(self, documents: Documents, service: CompletionService, notify: Notify) -> None:
        self._documents = documents
        self._service = service
        self._notify = notify
        self.command: Callable[[Offer], types.Command | None] = lambda _offer: None
        """Makes the command that a client executes when a suggestion is accepted."""
        self.asked = False
        """Whether the client ever asked."""

    def answer(
        self, params: InlineCompletionParams
    ) -> Coroutine[Any, Any, types.InlineCompletionList]:
        """Take the documents as they are now; the coroutine computes.

        Raises:
            JsonRpcInvalidParams: the document isn't open.
        """
        self.asked = True
        uri, selected = params.text_document.uri, params.context.selected_completion_info
        snapshot, position = place_in(self._documents, uri, params.position)
        spot = spot_of(snapshot, position, selected, self._documents.encoding)
        return self._compute(snapshot, spot, params)

    async def _compute(
        self, snapshot: Snapshot, spot: Spot | None, params: InlineCompletionParams
    ) -> types.InlineCompletionList:
        if spot is None:
            return types.InlineCompletionList(items=[])
        partly = PartialItems(
            self._notify, params.partial_result_token, partial(self._item, snapshot, spot)
        )
        with closing(WorkDone(self._notify, params.work_done_token, "reading")) as work:

            def see(lines: str) -> None:
                work.report(in_words(lines))
                partly.see(lines)

            wanted = params.partial_result_token is not None or params.work_done_token is not None
            completion = await self._service.complete(
                spot.snapshot,
                spot.position,
                fresh=params.context.trigger_kind is _EXPLICIT,
                early=see if wanted else None,
            )
            items = partly.answer(texts_of(completion))
        return types.InlineCompletionList(items=items)

    def _item(self, snapshot: Snapshot, spot: Spot, text: str) -> types.InlineCompletionItem:
        item = inline_item(spot, snapshot, text, self._documents.encoding)
        return self.offered(Offer(snapshot, spot, text, item)).item

    def offered(self, offer: Offer) -> Offer:
        """A suggestion that goes to the client now: its item gets a command."""
        offer.item.command = self.command(offer)
        return offer


def texts_of(completion: Completion | None) -> tuple[str, ...]:
    """What is suggested, the most likely first."""
    if completion is None or not completion.text:
        return ()
    return (completion.text, *completion.alternatives)


def register(server: LanguageServer, inline: InlineCompletion) -> None:
    """Bind the method."""

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, _OPTIONS)
    def inline_completion(
        params: InlineCompletionParams,
    ) -> Coroutine[Any, Any, types.InlineCompletionList]:
        return inline.answer(params)
