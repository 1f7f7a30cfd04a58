"""A part of a prompt that is carried over to the next one instead of being decoded again.

When text is inserted before the suffix, the suffix's tokens stay the same and only move. Their KV
is taken along, which is an approximation: it was computed behind the older prefix. The first few
tokens remember where the prefix ended, so they are always decoded anew. How good the approximation
is: docs/decisions/0006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from specls.engine.interface import TokenModel

ANEW = 3
"""Tokens at the beginning of what could be carried over that are decoded anew. Measured with none:
the model repeats what was typed."""

_LEAST = 16
"""Tokens: less isn't worth moving, which costs as much as decoding some."""


@dataclass(frozen=True)
class Match:
    """``length`` tokens from position ``start`` of what is held stand from ``to`` in the prompt."""

    start: int
    to: int
    length: int


def find_match(held: Sequence[int], old: range, prompt: Sequence[int], new: range) -> Match | None:
    """The longest stretch of ``held`` in ``old`` that the prompt has in ``new``, if worth moving.

    The first few tokens of the stretch are left out: see :data:`ANEW`.
    """
    before, after = held[old.start : old.stop], prompt[new.start : new.stop]
    # With autojunk, since text that repeats itself would take seconds; then nothing is found.
    matcher = SequenceMatcher(None, before, after, autojunk=True)
    found = matcher.find_longest_match(0, len(before), 0, len(after))
    if found.size - ANEW < _LEAST:
        return None
    return Match(old.start + found.a + ANEW, new.start + found.b + ANEW, found.size - ANEW)


class Parking:
    """A spare sequence in which a stretch waits while what comes before it is decoded."""

    def __init__(self, model: TokenModel, sequence: int) -> None:
        self._model = model
        self._sequence = sequence
        self.owner: object = None
        self.tokens: list[int] = []
        """What is parked: none most of the time."""
        self.start = 0
        """The position of its first token."""

    def park(self, owner: object, sequence: int, start: int, tokens: Sequence[int]) -> None:
        """Take a stretch of a sequence in, instead of what is there."""
        self.clear()
        self._model.copy(sequence, self._sequence, start, start + len(tokens))
        self.owner, self.start, self.tokens = owner, start, list(tokens)

    def leave(self, sequence: int, match: Match) -> None:
        """Put the stretch where the prompt has it, in this sequence. Nothing stays parked."""
        self._model.shift(self._sequence, match.to - match.start)
        self._model.copy(self._sequence, sequence, match.to, match.to + match.length)
        self.clear()

    @property
    def places(self) -> range:
        """The positions of what is parked."""
        return range(self.start, self.start + len(self.tokens))

    def clear(self) -> None:
        """Give up what is parked."""
        if self.tokens:
            self._model.truncate(self._sequence, 0)
            self.owner, self.tokens = None, []
