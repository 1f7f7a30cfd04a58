"""What the model is told of other files: chosen while nobody waits, on the engine's thread."""

from __future__ import annotations

from collections.abc import Callable

from specls.context.chunks import choose
from specls.core import CancelToken
from specls.service.completion import Request, budget_of
from specls.service.interface import Runtime
from specls.service.parts import Head
from specls.service.prompts import PromptBuilder
from specls.service.workspace import View, Workspace

HEAD_SECONDS = 10.0
"""How long a head may take to read."""

_LEAST = 256
"""Tokens: a machine that reads fewer in that time is told nothing."""

Choice = Callable[[Runtime, CancelToken], "Head | None"]
"""What should stand before a document's prompts now."""


def no_head(_runtime: Runtime, _cancel: CancelToken) -> Head | None:
    """Nothing stands before any document."""
    return None


class Heads:
    """Chooses for each document, and stays with that until something else is much better."""

    def __init__(self, seconds: float = HEAD_SECONDS) -> None:
        """A head is so small that it's read in so many ``seconds``."""
        self._seconds = seconds
        self._workspace = Workspace()
        self._wanted: dict[str, Head] = {}
        """What was chosen and perhaps isn't read yet."""
        self._prompts: PromptBuilder | None = None
        """Of the models that it was chosen for."""

    def choose(
        self, request: Request, view: View, runtime: Runtime, cancel: CancelToken
    ) -> Head | None:
        """The head for a place: the very one that's there, unless a new one is due.

        Raises:
            Cancelled: ``cancel`` was set.
        """
        uri, prompts = request.snapshot.uri, runtime.prompts
        if prompts is not self._prompts:
            self._wanted.clear()
            self._prompts = prompts
        most = self._budget(request, runtime)
        if not prompts.dialect.tells_files or not most:
            self._wanted.pop(uri, None)
            return None
        pool = self._workspace.pool(view, request.snapshot, request.position, cancel)
        known = self._wanted.get(uri) or prompts.head(uri)
        before = known.chunks if known else ()
        chunks = choose(pool.chunks, pool.wish, most, prompts.count, before)
        if known is not None and chunks == known.chunks:
            return known
        if not chunks:
            self._wanted.pop(uri, None)
            return None
        head = prompts.make_head(chunks, pool.repository, pool.path)
        self._wanted[uri] = head
        return head

    def forget(self, uri: str) -> None:
        """The document was closed."""
        self._wanted.pop(uri, None)

    def clear(self) -> None:
        """What was chosen mayn't be shown any more, perhaps."""
        self._wanted.clear()

    def _budget(self, request: Request, runtime: Runtime) -> int:
        """Tokens of a head: what the settings allow, and what's read in a short while."""
        budget = budget_of(request.settings, runtime.engine.target.capacity)
        if not request.settings.cold_budget_ms:  # time doesn't matter
            return budget.workspace_tokens
        readable = self._seconds * runtime.engine.prefill_rate.value
        return int(min(budget.workspace_tokens, readable)) if readable >= _LEAST else 0
