"""Where drafts come from: what the context says already, and a small model."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from specls.core import CancelToken, Source
from specls.engine.interface import Logits, TokenModel
from specls.engine.sessions import SessionTable
from specls.errors import EngineError

logger = logging.getLogger(__name__)


class LookupDrafter:
    """Copies what followed the last few tokens when they stood earlier in the context.

    The longest match wins, the latest of several as long. Source: Saxena 2023, "Prompt Lookup
    Decoding"; here over the whole prompt, the text after the cursor included.
    """

    source = Source.LOOKUP

    def __init__(
        self, stop_ids: frozenset[int] = frozenset(), shortest: int = 3, longest: int = 16
    ) -> None:
        """Matches have ``shortest`` to ``longest`` tokens; a draft ends before a stop token."""
        self._stops = stop_ids
        self._shortest = shortest
        self._longest = longest
        self._history = np.empty(0, dtype=np.int32)
        self._length = 0

    def begin(self, document: object, prompt: Sequence[int]) -> None:
        """Start over with this prompt: see :class:`Drafter`."""
        del document
        self._length = 0
        self._extend(prompt)

    def forget(self, document: object) -> None:
        """Nothing is kept per document."""

    def propose(
        self, tokens: Sequence[int], limit: int, cancel: CancelToken | None = None
    ) -> list[int]:
        """What followed the longest earlier match: see :class:`Drafter`."""
        del cancel
        self._extend(tokens[self._length :])
        history = self._history[: self._length]
        match = self._longest_match(history)
        if match is None:
            return []
        return self._until_stop(history[match : match + limit].tolist())

    def _extend(self, tokens: Sequence[int]) -> None:
        end = self._length + len(tokens)
        if end > len(self._history):
            grown = np.empty(2 * end, dtype=np.int32)
            grown[: self._length] = self._history[: self._length]
            self._history = grown
        self._history[self._length : end] = tokens
        self._length = end

    def _longest_match(self, history: npt.NDArray[np.int32]) -> int | None:
        """The index of what followed the longest earlier occurrence of the history's end."""
        found = None
        if not len(history):
            return found
        follows = np.arange(1, len(history))
        for back in range(1, self._longest + 1):
            follows = follows[follows >= back]
            follows = follows[history[follows - back] == history[len(history) - back]]
            if not len(follows):
                break
            if back >= self._shortest:
                found = int(follows[-1])
        return found

    def _until_stop(self, draft: list[int]) -> list[int]:
        for at, token in enumerate(draft):
            if token in self._stops:
                return draft[:at]
        return draft


class ModelDrafter:
    """Lets a small model of the same vocabulary write ahead, greedily.

    Its own cache follows lazily: a document's tokens are decoded by it only when it's asked.
    """

    source = Source.DRAFT

    def __init__(
        self, model: TokenModel, stop_ids: frozenset[int] = frozenset(), least: float = 0.4
    ) -> None:
        """A draft ends before a stop token, and before one of a probability under ``least``."""
        self._model = model
        self._stops = stop_ids
        self._least = least
        self._sessions = SessionTable(model)
        self._document: object = None

    def begin(self, document: object, prompt: Sequence[int]) -> None:
        """Remember whose turn it is: see :class:`Drafter`."""
        del prompt
        self._document = document

    def forget(self, document: object) -> None:
        """Free the document's sequence."""
        self._sessions.close(document)

    def propose(
        self, tokens: Sequence[int], limit: int, cancel: CancelToken | None = None
    ) -> list[int]:
        """Decode up to ``limit`` tokens with the draft model: see :class:`Drafter`.

        A failure of the draft model (no room, an error) means no idea; the log tells.
        """
        try:
            return self._write(tokens, limit, cancel)
        except EngineError as error:
            logger.warning("The draft model failed: %s", error)
            return []

    def _write(self, tokens: Sequence[int], limit: int, cancel: CancelToken | None) -> list[int]:
        session = self._sessions.open(self._document, len(tokens) + limit)
        session.sync(tokens, cancel)
        draft: list[int] = []
        while True:
            token = self._model.best(0)
            if token in self._stops or top_probability(self._model.logits(0)) < self._least:
                return draft
            draft.append(token)
            if len(draft) >= limit:
                return draft
            session.append([token], scored=1, cancel=cancel)


def top_probability(logits: Logits) -> float:
    """The probability of the best token of a row, at temperature 1."""
    return float(1.0 / np.exp(logits - logits.max()).sum())
