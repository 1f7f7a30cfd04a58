"""Drafts by a small model. Those that cost nothing: ``engine.lookup``."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from specls.core import CancelToken, Source
from specls.engine.interface import Logits, TokenModel
from specls.engine.sessions import SessionTable
from specls.errors import EngineError

logger = logging.getLogger(__name__)


class ModelDrafter:
    """Lets a small model of the same vocabulary write ahead, greedily.

    Its own cache follows lazily: a document's tokens are decoded by it only when it's asked.
    """

    source = Source.DRAFT

    def __init__(
        self, model: TokenModel, stop_ids: frozenset[int] = frozenset(), least: float = 0.4
    ) -> None:
        """A draft ends before a stop token, and before one of a probability under ``least``."""
        self.model = model
        """Its cache is the drafter's own."""
        self._stops = stop_ids
        self._least = least
        self._sessions = SessionTable(model)
        self._document: object = None

    def begin(self, document: object, prompt: Sequence[int]) -> None:
        """Remember whose turn it is: see :class:`Drafter`."""
        del prompt
        self._document = document

    def finish(self, tokens: Sequence[int], new: int) -> None:
        """What the session holds may be of use again."""

    def forget(self, document: object) -> None:
        """Free the document's sequence."""
        self._sessions.close(document)

    def propose(
        self,
        tokens: Sequence[int],
        limit: int,
        cancel: CancelToken | None = None,
        drafted: Sequence[int] = (),
    ) -> list[int]:
        """Decode up to ``limit`` tokens with the draft model: see :class:`Drafter`.

        A failure of the draft model (no room, an error) means no idea; the log tells.
        """
        try:
            return self._write([*tokens, *drafted], limit, cancel)
        except EngineError as error:
            logger.warning("The draft model failed: %s", error)
            return []

    def _write(self, tokens: Sequence[int], limit: int, cancel: CancelToken | None) -> list[int]:
        session = self._sessions.open(self._document, len(tokens) + limit)
        session.sync(tokens, cancel)
        draft: list[int] = []
        while True:
            token = self.model.best(0)
            if token in self._stops or top_probability(self.model.logits(0)) < self._least:
                return draft
            draft.append(token)
            if len(draft) >= limit:
                return draft
            session.append([token], scored=1, cancel=cancel)


def top_probability(logits: Logits) -> float:
    """The probability of the best token of a row, at temperature 1."""
    return float(1.0 / np.exp(logits - logits.max()).sum())
