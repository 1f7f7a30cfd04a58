"""What the engine needs from a model, a drafter and a controller.

The engine knows token ids only. Everything here is called from the engine's one thread unless a
docstring says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from specls.core import CancelToken, Source

Logits = npt.NDArray[np.float32]
"""One row of scores, shape ``(vocabulary size,)``."""

Allowed = npt.NDArray[np.int32]
"""The ids of the tokens that may come."""


class TokenModel(Protocol):
    """A model with a key-value cache that holds several sequences of tokens, by number."""

    @property
    def capacity(self) -> int:
        """How many tokens the cache holds, all sequences together."""

    @property
    def sequences(self) -> int:
        """How many sequences there may be: their numbers run from 0 to this, not included.

        One more, of just this number, is there for tokens on their way from place to place.
        """

    @property
    def forks(self) -> Sequence[int]:
        """The numbers of sequences beyond these, for texts that go on from one in other ways.

        They're empty unless somebody is at it.
        """

    @property
    def micro_batch(self) -> int:
        """How many tokens one :meth:`decode` may have."""

    @property
    def most_scored(self) -> int:
        """How many tokens of one :meth:`decode` may be scored."""

    @property
    def prefill_batch(self) -> int:
        """How many tokens to give one :meth:`decode` when many are to be decoded. May change."""

    @property
    def decoded_tokens(self) -> int:
        """How many tokens were decoded since the model was loaded. May be read from any thread."""

    def decode(
        self,
        sequence: int,
        start: int,
        tokens: Sequence[int],
        scored: int,
        cancel: CancelToken | None = None,
    ) -> None:
        """Append ``tokens`` at position ``start`` (the length of the sequence) in one pass.

        Keeps the scores behind the last ``scored`` tokens for :meth:`logits`. When it raises, the
        sequence holds what it held before.

        Raises:
            Cancelled: ``cancel`` was set while the pass ran.
            ContextFull: the cache has no room.
            DecodeFailed: the model reported an error.
        """

    def decode_each(
        self, tokens: Sequence[tuple[int, int, int]], cancel: CancelToken | None = None
    ) -> None:
        """Append one token to each of some sequences, all in one pass, all of them scored.

        Each is given as the sequence's number, its length, and the token. The rows of
        :meth:`logits` are in this order. When it raises, the sequences hold what they held before.

        Raises:
            Cancelled, ContextFull, DecodeFailed: as :meth:`decode`.
        """

    def logits(self, row: int) -> Logits:
        """The scores behind the ``row``-th scored token of the last pass.

        A view of the model's own memory, overwritten by the next pass.
        """

    def best(self, row: int) -> int:
        """The token with the highest score in a row of :meth:`logits`."""

    def truncate(self, sequence: int, length: int) -> None:
        """Forget everything of the sequence from position ``length`` on."""

    @property
    def can_shift(self) -> bool:
        """Whether :meth:`shift` is possible with this kind of model and cache."""

    def copy(self, sequence: int, other: int, start: int, stop: int) -> None:
        """Let ``other`` hold what ``sequence`` has at positions ``start`` to ``stop``, too.

        Nothing is copied and no room is taken: both hold the same cells from then on. ``other``
        holds nothing there. Only a sequence that holds its cells alone may be shifted.
        """

    def shift(self, sequence: int, by: int) -> None:
        """Move all that the sequence holds by so many positions, forwards or (negative) back."""

    def save(self, sequence: int) -> bytes:
        """The state of a sequence, for :meth:`restore`. Changes nothing."""

    def restore(self, sequence: int, state: bytes) -> bool:
        """Make an empty sequence what another was when it was saved; False if that's impossible.

        After a failure the sequence is empty. Whoever restores keeps the tokens that it held.
        """


class Constraint(Protocol):
    """Which tokens may come next while something given must be spelt first (token healing)."""

    def allowed(self, new: Sequence[int]) -> Allowed | None:
        """The ids that may follow the new tokens ``new``, at least one; None: any may."""


class Drafter(Protocol):
    """Guesses what the target would write next. A wrong guess costs time, never correctness."""

    @property
    def source(self) -> Source:
        """The name under which its tokens are counted."""

    def begin(self, document: object, prompt: Sequence[int]) -> None:
        """A new generation for ``document`` starts behind ``prompt``. Cheap; decodes nothing."""

    def propose(
        self,
        tokens: Sequence[int],
        limit: int,
        cancel: CancelToken | None = None,
        drafted: Sequence[int] = (),
    ) -> list[int]:
        """At most ``limit`` tokens that may follow ``tokens`` (the prompt and all that is new).

        Or rather what others have ``drafted`` behind them. An empty list when it has no idea.
        ``tokens`` only grows between two calls of :meth:`begin`; what's drafted may be refused.

        Raises:
            Cancelled: ``cancel`` was set.
        """

    def finish(self, tokens: Sequence[int], new: int) -> None:
        """The generation ended: these were its tokens, the last ``new`` of them written by it."""

    def forget(self, document: object) -> None:
        """The document is gone: give back what was kept for it."""


@dataclass(frozen=True)
class Plan:
    """Where the next draft comes from and how long it may be, one choice of several in order."""

    source: Source
    limit: int


@dataclass(frozen=True)
class Part:
    """The tokens of a draft that came from one source, and the seconds that took.

    A source that was asked and had no idea has ``drafted`` none.
    """

    source: Source
    drafted: int
    seconds: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """What came of one pass of the target over the last token and a draft.

    The draft has ``parts``, one behind the other, or none; the first ``accepted`` of its tokens
    were accepted.
    """

    parts: tuple[Part, ...]
    accepted: int
    verify_seconds: float

    @property
    def drafted(self) -> int:
        """How many tokens were drafted."""
        return sum(part.drafted for part in self.parts)

    def verified(self) -> Iterator[tuple[Part, int]]:
        """Each part that the target came to, and how many of its tokens were accepted."""
        left = self.accepted
        for part in (each for each in self.parts if each.drafted):
            yield part, min(left, part.drafted)
            left -= part.drafted
            if left < 0:
                return


class Controller(Protocol):
    """Decides before each pass of the target whether and how to draft, and learns from it."""

    def begin(self, language: str) -> None:
        """A generation starts in a text of this language, as editors call it; perhaps unknown."""

    def plans(self, draft: Sequence[Part] = ()) -> Sequence[Plan]:
        """The drafters to ask, in order: the first that has an idea is taken. May be empty.

        With ``draft``, those that may go on behind it, in the same pass.
        """

    def observe(self, outcome: Outcome) -> None:
        """What became of the last plan. Changes what :meth:`plans` returns next."""
