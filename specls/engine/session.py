"""The tokens of one document in one model's cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specls.core import CancelToken
from specls.engine.interface import TokenModel
from specls.engine.spill import Spilled


@dataclass(frozen=True)
class Synced:
    """How many tokens of a prompt were there already, and how many had to be decoded."""

    reused: int
    prefilled: int


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """How many tokens two rows have in common at their beginning."""
    shorter = min(len(left), len(right))
    if list(left[:shorter]) == list(right[:shorter]):
        return shorter
    return next(at for at in range(shorter) if left[at] != right[at])


class Session:
    """One sequence of a model's cache, and the list of the tokens that it holds.

    :attr:`tokens` is always what the cache holds, also after a cancelled or failed pass.
    """

    def __init__(self, model: TokenModel, sequence: int) -> None:
        self._model = model
        self.sequence = sequence
        self.tokens: list[int] = []
        self.restored = 0
        """How many of the tokens came back from a spilled state and weren't used since."""

    def sync(
        self, prompt: Sequence[int], cancel: CancelToken | None = None, scored: int = 1
    ) -> Synced:
        """Make the cache hold ``prompt``: keep the common beginning, decode the rest.

        The last ``scored`` tokens (at least one, at most a micro-batch) are always decoded, since
        their scores are wanted. Micro-batches that finished before a cancellation stay.

        Raises:
            Cancelled, ContextFull, DecodeFailed: as :meth:`TokenModel.decode`.
        """
        kept = min(common_prefix(self.tokens, prompt), len(prompt) - scored)
        self.truncate(kept)
        start = kept
        while start < len(prompt):
            if cancel is not None:
                cancel.raise_if_cancelled()
            stop = self._next_stop(start, len(prompt), scored)
            last = stop == len(prompt)
            self.append(prompt[start:stop], scored=scored if last else 0, cancel=cancel)
            start = stop
        return Synced(kept, len(prompt) - kept)

    def _next_stop(self, start: int, length: int, scored: int) -> int:
        """Where the micro-batch from ``start`` ends, so that the scored tokens share the last."""
        stop = start + self._model.micro_batch
        return length if stop >= length else min(stop, length - scored)

    def append(self, tokens: Sequence[int], scored: int, cancel: CancelToken | None = None) -> None:
        """Decode at most one micro-batch behind what is there.

        Raises:
            Cancelled, ContextFull, DecodeFailed: as :meth:`TokenModel.decode`.
        """
        self._model.decode(self.sequence, len(self.tokens), tokens, scored, cancel)
        self.tokens.extend(tokens)

    def spill(self) -> Spilled:
        """What the sequence holds, to be restored later. Changes nothing."""
        return Spilled(list(self.tokens), self._model.save(self.sequence))

    def restore(self, spilled: Spilled) -> None:
        """Hold what was spilled; nothing, if the model can't take it back. The session is empty."""
        if self._model.restore(self.sequence, spilled.state):
            self.tokens = list(spilled.tokens)
            self.restored = len(self.tokens)

    def truncate(self, length: int) -> None:
        """Forget everything after the first ``length`` tokens."""
        if length < len(self.tokens):
            self._model.truncate(self.sequence, length)
            del self.tokens[length:]
