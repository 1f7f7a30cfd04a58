"""Token healing: the last typed tokens are taken back and spelt again by the model.

A cursor in the middle of a word cuts it where the model's tokens have no boundary, and behind such
a cut the model writes worse. So the tokens of the last word are dropped, and the first new tokens
must spell its bytes and may go on as they like. Source: Lundberg 2023, "The Art of Prompt Design:
Prompt Boundaries and Token Healing" (guidance).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from specls.service.tokenizer import Tokenizer

MOST = 8
"""The most tokens that are taken back."""

_BLANKS = frozenset({b" ", b"\t"})

_LAST_WORD = re.compile(r"(?:[^\S\r\n]?\w+|[^\S\r\n]?[^\w\s]+|\s*[^\S\r\n])\Z")
"""What byte-pair vocabularies never merge across, roughly: a word or a run of signs with the blank
before it, or white space. The end of a line is as good a boundary as any: spelling it anew makes
answers worse (bench/README.md)."""


class Spelling:
    """A vocabulary sorted by bytes, to find the tokens that fit to given bytes."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        pieces = ((tokenizer.piece(token), token) for token in range(tokenizer.size))
        ordered = sorted(pair for pair in pieces if pair[0])
        self._tokenizer = tokenizer
        self._pieces = [piece for piece, _ in ordered]
        self._ids = np.array([token for _, token in ordered], dtype=np.int32)
        dense = [token for piece, token in ordered if piece[:1] not in _BLANKS]
        self.dense = np.array([*dense, *tokenizer.stop_ids], dtype=np.int32)
        """The tokens that don't begin with a blank, and those that end a text."""
        self._fitting = lru_cache(maxsize=256)(self._find)

    def fitting(self, rest: bytes, *, exact: bool = False) -> npt.NDArray[np.int32]:
        """The tokens that begin with ``rest``, and those that ``rest`` begins with.

        With ``exact``, none in which a blank follows ``rest``. Every byte is a token of its own in
        a byte-level vocabulary, so there's always one.
        """
        return self._fitting(rest, exact)

    def _find(self, rest: bytes, exact: bool) -> npt.NDArray[np.int32]:  # noqa: FBT001
        shorter = [self._range(rest[:size], rest[:size] + b"\0") for size in range(1, len(rest))]
        longer = [self._range(rest, _after(rest))]
        if exact:
            tab, blank = rest + b"\t", rest + b" "
            longer = [
                self._range(rest, tab),
                self._range(_after(tab) or tab, blank),
                self._range(_after(blank) or blank, _after(rest)),
            ]
        return np.concatenate([*longer, *shorter])

    def _range(self, first: bytes, stop: bytes | None) -> npt.NDArray[np.int32]:
        start = bisect_left(self._pieces, first)
        end = len(self._pieces) if stop is None else bisect_left(self._pieces, stop)
        return self._ids[start:end]

    def taken_back(self, tokens: Sequence[int]) -> int:
        """How many tokens at the end of ``tokens`` belong to its last word, at most :data:`MOST`.

        Counted in whole tokens: one that reaches over the word's beginning is taken back as well.
        """
        tail = [self._tokenizer.piece(token) for token in tokens[-MOST:]]
        text = b"".join(tail).decode("utf-8", "replace")
        match = _LAST_WORD.search(text)
        if match is None:
            return 0
        missing = len(match[0].encode())
        count = 0
        while missing > 0 and count < len(tail):
            count += 1
            missing -= len(tail[-count])
        return count

    def bound_to(self, rest: bytes) -> Bound:
        """The constraint that new tokens spell ``rest`` first."""
        return Bound(self, self._tokenizer, rest)


class Bound:
    """See :class:`specls.engine.interface.Constraint`."""

    def __init__(self, spelling: Spelling, tokenizer: Tokenizer, rest: bytes) -> None:
        self.rest = rest
        # An indentation is as deep as the editor made it: nothing may make it deeper.
        self._exact = not rest.strip() and b"\n" in rest
        self._spelling = spelling
        self._tokenizer = tokenizer

    def allowed(self, new: Sequence[int]) -> npt.NDArray[np.int32] | None:
        """The tokens that go on spelling; None once all is spelt."""
        written = 0
        for token in new:
            written += len(self._tokenizer.piece(token))
        if written < len(self.rest):
            return self._spelling.fitting(self.rest[written:], exact=self._exact)
        exactly = written == len(self.rest) and self._exact
        return self._spelling.dense if exactly and len(new) else None


def _after(prefix: bytes) -> bytes | None:
    """The smallest bytes that are larger than everything that begins with ``prefix``."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
