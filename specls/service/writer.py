"""From tokens to the text that may be shown."""

from __future__ import annotations

import codecs
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp

from specls.context import filters
from specls.context.place import Place, Shape
from specls.context.stop import end_of
from specls.core import Source
from specls.engine.decode import Token
from specls.service.tokenizer import Tokenizer

_BLANKS = 16
"""So many blanks that repeat what stands before the cursor, and nothing comes any more."""


@dataclass(frozen=True)
class Span:
    """A stretch of completed text from one source."""

    text: str
    source: Source


class Writer:
    """Collects tokens as text: bytes become characters as soon as they are whole.

    The first ``skip`` bytes were spelt again by healing and stand in the document already. A token
    that the model gives a lower probability than ``confidence`` ends the text, as does a rule.
    """

    def __init__(
        self, tokenizer: Tokenizer, skip: int, place: Place, confidence: float = 0.0
    ) -> None:
        self._tokenizer = tokenizer
        self._first_skip = self._skip = skip
        self._place = place
        self._confidence = confidence
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._tokens: list[Token] = []
        self._lengths: list[int] = []
        """Of the text before each token."""
        self._spans: list[Span] = []
        self._raw = ""
        self._text = ""
        """What was written, as the file would have it."""
        self._end: int | None = None
        self.doubts = False
        """Whether it ends where the model wasn't sure any more."""

    @property
    def ended(self) -> bool:
        """Whether a stop rule or a doubt ended the text."""
        return self._end is not None

    @property
    def has_lines(self) -> bool:
        """Whether a whole line was written that can be shown without what follows it."""
        return self._place.shape is not Shape.PAIR and "\n" in self._text.lstrip()

    @property
    def whole_lines(self) -> str:
        """What may be shown before it's known how it goes on: the lines that are complete."""
        if not self.has_lines:
            return ""
        whole = self._text[: self._text.rfind("\n")]
        return filters.shown(whole, self._place)

    def add(self, step: Iterable[Token]) -> None:
        """Go on with these tokens."""
        for token in step:
            if self._is_doubtful(token):
                self._end = _before_doubt(self._text)
                self.doubts = True
                return
            self._tokens.append(token)
            self._lengths.append(len(self._text))
            piece = self._tokenizer.piece(token.id)
            text = self._decoder.decode(piece[self._skip :])
            self._skip = max(self._skip - len(piece), 0)
            if text:
                self._raw += text
                self._grow(filters.fitted(self._raw, self._place), token.source)
        self._end = end_of(self._text, self._place)
        if not self._text and len(self._raw) > _BLANKS:
            self._end = 0

    def _grow(self, text: str, source: Source) -> None:
        kept = len(self._text)
        while not text.startswith(self._text[:kept]):
            kept -= 1
        self._spans = list(_cut(self._spans, kept))
        self._spans.append(Span(text[kept:], source))
        self._text = text

    def _is_doubtful(self, token: Token) -> bool:
        # Not so where the probability isn't known.
        return exp(token.log_probability) < self._confidence

    def drop_last_line(self, *, even_the_only_one: bool = False) -> None:
        """End before the last line, which isn't complete; it's kept where it's the only one."""
        at = max(self._text[: self._end].rfind("\n"), 0)
        if even_the_only_one or self._text[:at].strip():
            self._end = at

    def shown(self) -> tuple[Span, ...]:
        """What may be shown of the text."""
        return tuple(_cut(self._spans, self._length))

    @property
    def _length(self) -> int:
        return len(filters.shown(self._text[: self._end], self._place))

    @property
    def tokens_shown(self) -> int:
        """How many of the tokens begin within what may be shown."""
        return bisect_left(self._lengths, self._length)

    def fork(self, at: int) -> Writer:
        """A writer with the first ``at`` tokens of this one."""
        other = Writer(self._tokenizer, self._first_skip, self._place, self._confidence)
        other.add(self._tokens[:at])
        return other


def _before_doubt(text: str) -> int:
    """Where a text ends whose next token is doubtful: before the word that it's part of.

    Of several lines, a last one that isn't complete isn't shown.
    """
    kept = text.rstrip()
    end = kept.rfind("\n")
    if kept[: max(end, 0)].strip() and "\n" not in text[len(kept) :]:
        return end
    while kept == text and kept and (kept[-1].isalnum() or kept[-1] == "_"):
        text = kept = kept[:-1]
    return len(kept)


def _cut(spans: Iterable[Span], length: int) -> Iterator[Span]:
    for span in spans:
        if length <= 0:
            return
        if span.text:
            yield Span(span.text[:length], span.source)
        length -= len(span.text)
