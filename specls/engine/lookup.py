"""Drafts that cost nothing: what an earlier suggestion said, and what the open documents say."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from specls.core import CancelToken, Source
from specls.engine.ngrams import NGrams

Tokens = npt.NDArray[np.int32]

_LONGEST = 16
"""Tokens: longer matches aren't told apart."""

LONG_MATCH = 8
"""Tokens: from this on a match is a long one."""

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


def continuation(text: Sequence[int], follows: Sequence[int], limit: int) -> list[int]:
    """What most of the matches go on with; of several as frequent, the first of ``follows``."""
    count = Counter(text[place] for place in follows)
    start = max(follows, key=lambda place: count[text[place]])
    return list(text[start : start + limit])


def before_stop(draft: list[int], stops: frozenset[int]) -> list[int]:
    """The draft up to the first token that ends a text."""
    return next((draft[:at] for at, token in enumerate(draft) if token in stops), draft)


class LookupDrafter:
    """Copies what followed the last few tokens when they stood earlier in an open document.

    The longest match wins; the document's own text counts before that of others, and what
    followed most often, or else latest, is taken. Source: Saxena 2023, "Prompt Lookup Decoding";
    here over the prompts of all open documents, the text after the cursor included. Each has an
    index that follows its changes.

    A long match is right far more often than a short one. So there are two of these, which count as
    two sources: one for long matches, which are tried although short ones were wrong.
    """

    def __init__(
        self,
        stop_ids: frozenset[int] = frozenset(),
        shortest: int = 3,
        longest: int = _LONGEST,
        source: Source = Source.LOOKUP,
    ) -> None:
        """Matches have ``shortest`` to ``longest`` tokens, else there's no idea.

        A draft ends before a stop token.
        """
        self.source = source
        self._stops = stop_ids
        self._shortest = shortest
        self._longest = longest
        self._texts: OrderedDict[object, NGrams] = OrderedDict()
        """By document, the one of the last generation at the end."""
        self._own = NGrams(shortest)

    def begin(self, document: object, prompt: Sequence[int]) -> None:
        """Look through this document first: see :class:`Drafter`."""
        self._own = self._texts.setdefault(document, NGrams(self._shortest))
        self._texts.move_to_end(document)
        self._own.replace(prompt)
        if len(self._texts) > _DOCUMENTS:
            self._texts.popitem(last=False)

    def propose(
        self,
        tokens: Sequence[int],
        limit: int,
        cancel: CancelToken | None = None,
        drafted: Sequence[int] = (),
    ) -> list[int]:
        """What followed the longest match: see :class:`Drafter`."""
        del cancel
        self._own.extend(tokens[len(self._own.tokens) :])
        end = end_of(tokens, drafted)
        best, draft = 0, list[int]()
        for text in reversed(self._texts.values()):
            follows, length = text.matches(end, _LONGEST)
            if length > best:
                best, draft = length, continuation(text.tokens, follows, limit)
        return before_stop(draft, self._stops) if best <= self._longest else []

    def finish(self, tokens: Sequence[int], new: int) -> None:
        """What was written may be looked up as well: see :class:`Drafter`."""
        del new
        self._own.replace(tokens)

    def forget(self, document: object) -> None:
        """The document was closed."""
        self._texts.pop(document, None)


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
