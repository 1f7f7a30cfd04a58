"""Where runs of tokens stand in a text that changes mostly at its end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from specls.engine.session import common_prefix

_MOST = 64
"""Of a run that stands in more places, the latest are looked at."""


class NGrams:
    """An index of all runs of some length. A change costs as much as what's behind it."""

    def __init__(self, length: int) -> None:
        """Runs have ``length`` tokens, at least one."""
        self._length = length
        self.tokens: list[int] = []
        self._behind: dict[tuple[int, ...], list[int]] = {}
        """The indices of what follows each run, in rising order."""

    def replace(self, tokens: Sequence[int]) -> None:
        """Hold these tokens instead: what both begin with stays."""
        kept = common_prefix(self.tokens, tokens)
        self._truncate(kept)
        self.extend(tokens[kept:])

    def extend(self, tokens: Sequence[int]) -> None:
        """Hold these tokens as well."""
        first = max(len(self.tokens) + 1, self._length)
        self.tokens.extend(tokens)
        for end in range(first, len(self.tokens) + 1):
            run = tuple(self.tokens[end - self._length : end])
            self._behind.setdefault(run, []).append(end)

    def _truncate(self, length: int) -> None:
        for end in range(len(self.tokens), max(length, self._length - 1), -1):
            run = tuple(self.tokens[end - self._length : end])
            places = self._behind[run]
            places.pop()
            if not places:
                del self._behind[run]
        del self.tokens[length:]

    def matches(self, end: Sequence[int], longest: int) -> tuple[list[int], int]:
        """The indices of what followed the longest occurrences of ``end``, the latest first.

        And how many tokens of ``end`` they match: at least those of a run, at most ``longest``; 0
        where there are none.
        """
        places = self._behind.get(tuple(end[len(end) - self._length :]), ())
        found, best = list[int](), 0
        for place in islice(reversed(places), _MOST):
            if place == len(self.tokens):
                continue  # nothing follows it
            length = self._matched(place, end, min(longest, len(end), place))
            if length > best:
                found, best = [], length
            if length == best:
                found.append(place)
        return found, best

    def _matched(self, place: int, end: Sequence[int], most: int) -> int:
        length = self._length
        while length < most and self.tokens[place - length - 1] == end[-length - 1]:
            length += 1
        return length
