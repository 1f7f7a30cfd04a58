"""Drafts that cost nothing: what an earlier suggestion said, and what the open documents say."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from specls.core import CancelToken, Source

Tokens = npt.NDArray[np.int32]

_LONGEST = 16
"""Tokens: longer matches aren't told apart."""

_DOCUMENTS = 16
"""How many documents are looked through; with full windows that's 30,000 tokens."""

_SUGGESTIONS = 4
"""How many earlier suggestions of a document are remembered."""

_BEFORE = 32
"""How many tokens before a suggestion are remembered with it, to find the way back into it."""


def end_of(tokens: Sequence[int], drafted: Sequence[int]) -> list[int]:
    """The last tokens of both together, as many as matter."""
    return [*tokens[max(len(tokens) - _LONGEST, 0) :], *drafted][-_LONGEST:]


def matches(history: Tokens, end: Sequence[int]) -> tuple[Tokens, int]:
    """The indices of what followed the longest occurrences of ``end`` in ``history``.

    And how many tokens of ``end`` they match. Compares arrays, a token of ``end`` after the other.
    """
    found, length = np.empty(0, dtype=np.int32), 0
    follows = np.arange(1, len(history), dtype=np.int32)
    for back in range(1, min(_LONGEST, len(end)) + 1):
        follows = follows[follows >= back]
        follows = follows[history[follows - back] == end[-back]]
        if not len(follows):
            break
        found, length = follows, back
    return found, length


def continuation(history: Tokens, follows: Tokens, limit: int) -> list[int]:
    """What most of the matches go on with; of several as frequent, the latest."""
    following = history[follows]
    values, counts = np.unique(following, return_counts=True)
    frequent = values[counts == counts.max()]
    start = int(follows[np.isin(following, frequent)][-1])
    tokens: list[int] = history[start : start + limit].tolist()
    return tokens


def before_stop(draft: list[int], stops: frozenset[int]) -> list[int]:
    """The draft up to the first token that ends a text."""
    return next((draft[:at] for at, token in enumerate(draft) if token in stops), draft)


class LookupDrafter:
    """Copies what followed the last few tokens when they stood earlier in an open document.

    The longest match wins; the document's own text counts before that of others, and what
    followed most often, or else latest, is taken. Source: Saxena 2023, "Prompt Lookup Decoding";
    here over the prompts of all open documents, the text after the cursor included.
    """

    source = Source.LOOKUP

    def __init__(self, stop_ids: frozenset[int] = frozenset(), shortest: int = 3) -> None:
        """Matches have at least ``shortest`` tokens; a draft ends before a stop token."""
        self._stops = stop_ids
        self._shortest = shortest
        self._others: OrderedDict[object, Tokens] = OrderedDict()
        self._document: object = None
        self._history = np.empty(0, dtype=np.int32)
        self._length = 0

    def begin(self, document: object, prompt: Sequence[int]) -> None:
        """Start over with this prompt: see :class:`Drafter`."""
        self._document = document
        self._length = 0
        self._extend(prompt)

    def propose(
        self,
        tokens: Sequence[int],
        limit: int,
        cancel: CancelToken | None = None,
        drafted: Sequence[int] = (),
    ) -> list[int]:
        """What followed the longest match: see :class:`Drafter`."""
        del cancel
        self._extend(tokens[self._length :])
        end = end_of(tokens, drafted)
        best, draft = self._shortest - 1, list[int]()
        for history in self._histories():
            follows, length = matches(history, end)
            if length > best:
                best, draft = length, continuation(history, follows, limit)
        return before_stop(draft, self._stops)

    def finish(self, tokens: Sequence[int], new: int) -> None:
        """Remember the document's text, for it and for others."""
        del new
        self._others[self._document] = np.array(tokens, dtype=np.int32)
        self._others.move_to_end(self._document)
        if len(self._others) > _DOCUMENTS:
            self._others.popitem(last=False)

    def forget(self, document: object) -> None:
        """The document was closed."""
        self._others.pop(document, None)

    def _histories(self) -> Iterable[Tokens]:
        yield self._history[: self._length]
        for document, history in reversed(self._others.items()):
            if document != self._document:
                yield history

    def _extend(self, tokens: Sequence[int]) -> None:
        end = self._length + len(tokens)
        if end > len(self._history):
            grown = np.empty(2 * end, dtype=np.int32)
            grown[: self._length] = self._history[: self._length]
            self._history = grown
        self._history[self._length : end] = tokens
        self._length = end


class PreviousDrafter:
    """Goes on with an earlier suggestion where that still fits.

    After an edit most of what was suggested before comes again: behind what was inserted, without
    what was deleted. Two tokens that stand in a suggestion are enough to find the way back into
    it, or one that stands there once.
    """

    source = Source.PREVIOUS

    def __init__(self, stop_ids: frozenset[int] = frozenset()) -> None:
        """A draft ends before a stop token."""
        self._stops = stop_ids
        self._suggestions: dict[object, deque[Tokens]] = {}
        self._document: object = None

    def begin(self, document: object, prompt: Sequence[int]) -> None:
        """Look at this document's suggestions: see :class:`Drafter`."""
        del prompt
        self._document = document

    def propose(
        self,
        tokens: Sequence[int],
        limit: int,
        cancel: CancelToken | None = None,
        drafted: Sequence[int] = (),
    ) -> list[int]:
        """The rest of the suggestion that fits best, else the newest: see :class:`Drafter`."""
        del cancel
        end = end_of(tokens, drafted)
        best, draft = 0, list[int]()
        for suggestion in self._suggestions.get(self._document, ()):
            follows, length = matches(suggestion, end)
            sure = length > 1 or (length == 1 and len(follows) == 1)
            if sure and length > best:
                start = int(follows[-1])
                best, draft = length, suggestion[start : start + limit].tolist()
        return before_stop(draft, self._stops)

    def finish(self, tokens: Sequence[int], new: int) -> None:
        """Remember what was written, and what stands before it."""
        if not new:
            return
        written = np.array(tokens[max(len(tokens) - new - _BEFORE, 0) :], dtype=np.int32)
        kept = self._suggestions.setdefault(self._document, deque(maxlen=_SUGGESTIONS))
        kept.appendleft(written)

    def forget(self, document: object) -> None:
        """The document was closed."""
        self._suggestions.pop(document, None)
