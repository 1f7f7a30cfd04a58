"""Inline completion: what is asked for, and the items of the answer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from specls.context.document import Snapshot
from specls.lsp.convert import Spot, inline_item, place_in, spot_of
from specls.lsp.documents import Documents
from specls.service.completion import Completion
from specls.service.service import CompletionService

_EXPLICIT = types.InlineCompletionTriggerKind.Invoked


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


class InlineCompletion:
    """Answers textDocument/inlineCompletion for one connection."""

    def __init__(self, documents: Documents, service: CompletionService) -> None:
        self._documents = documents
        self._service = service
        self.command: Callable[[Offer], types.Command | None] = lambda _offer: None
        """Makes the command that a client executes when a suggestion is accepted."""

    def answer(
        self, params: types.InlineCompletionParams
    ) -> Coroutine[Any, Any, types.InlineCompletionList]:
        """Take the documents as they are now; the coroutine computes.

        Raises:
            JsonRpcInvalidParams: the document isn't open.
        """
        uri, selected = params.text_document.uri, params.context.selected_completion_info
        snapshot, position = place_in(self._documents, uri, params.position)
        spot = spot_of(snapshot, position, selected, self._documents.encoding)
        return self._compute(snapshot, spot, fresh=params.context.trigger_kind is _EXPLICIT)

    async def _compute(
        self, snapshot: Snapshot, spot: Spot | None, *, fresh: bool
    ) -> types.InlineCompletionList:
        if spot is None:
            return types.InlineCompletionList(items=[])
        completion = await self._service.complete(spot.snapshot, spot.position, fresh=fresh)
        items = [self._item(snapshot, spot, text) for text in _texts(completion)]
        return types.InlineCompletionList(items=items)

    def _item(self, snapshot: Snapshot, spot: Spot, text: str) -> types.InlineCompletionItem:
        item = inline_item(spot, snapshot, text, self._documents.encoding)
        item.command = self.command(Offer(snapshot, spot, text, item))
        return item


def _texts(completion: Completion | None) -> tuple[str, ...]:
    """What is suggested, the most likely first."""
    if completion is None or not completion.text:
        return ()
    return (completion.text, *completion.alternatives)


def register(server: LanguageServer, inline: InlineCompletion) -> None:
    """Bind the method."""

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    def inline_completion(
        params: types.InlineCompletionParams,
    ) -> Coroutine[Any, Any, types.InlineCompletionList]:
        return inline.answer(params)
