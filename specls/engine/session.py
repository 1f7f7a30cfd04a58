"""The tokens of one document in one model's cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specls.core import CancelToken
from specls.engine.carry import Match, Parking, find_match
from specls.engine.interface import TokenModel
from specls.engine.spill import Holding, Spilled
from specls.errors import ContextFull

NOWHERE = range(0)
"""A prompt without a part that could be carried over."""


@dataclass(frozen=True)
class Synced:
    """How many tokens of a prompt were there already, and how many had to be decoded.

    ``carried`` of the reused ones were taken over from another place of an older prompt.
    """

    reused: int
    prefilled: int
    carried: int = 0


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """How many tokens two rows have in common at their beginning."""
    shorter = min(len(left), len(right))
    if list(left[:shorter]) == list(right[:shorter]):
        return shorter
    return next(at for at in range(shorter) if left[at] != right[at])


def reusable(held: Holding, prompt: Sequence[int], movable: range) -> int:
    """How many tokens of ``prompt`` a model that can shift needn't decode if it holds this."""
    kept = common_prefix(held.tokens, prompt)
    match = _movable_match(held, prompt, movable, kept)
    return kept + (match.length if match else 0)


def _movable_match(held: Holding, prompt: Sequence[int], movable: range, kept: int) -> Match | None:
    """What is held behind the first ``kept`` tokens and can be carried over into ``movable``."""
    old = range(max(held.movable.start, kept), min(held.movable.stop, len(held.tokens)))
    return find_match(held.tokens, old, prompt, range(max(movable.start, kept), movable.stop))


class Session:
    """One sequence of a model's cache, and the list of the tokens that it holds.

    :attr:`tokens` is always what the cache holds, also after a cancelled or failed pass.
    """

    def __init__(self, model: TokenModel, sequence: int, parking: Parking | None = None) -> None:
        """Without a ``parking``, nothing is carried over."""
        self._model = model
        self._parking = parking
        self.sequence = sequence
        self.tokens: list[int] = []
        self.exact = 0
        """How many tokens at the beginning were decoded behind just the tokens before them; the
        rest was carried over, or decoded behind what was."""
        self.movable = NOWHERE
        """Which tokens may be carried over when what stands before them changes."""
        self.restored = 0
        """How many of the tokens came back from a spilled state and weren't used since."""
        self._donor: Session | None = None
        self._receivers: list[Session] = []
        self.shared = 0
        """How many cells at the beginning belong to another session as well, which counts them."""

    @property
    def cells(self) -> int:
        """How many cells of the cache it takes, those not counted that it shares with a donor."""
        return len(self.tokens) - self.shared

    def reusable(self, prompt: Sequence[int], movable: range, *, exactly: bool) -> int:
        """How many tokens of ``prompt`` :meth:`sync` wouldn't decode. Changes nothing."""
        if exactly:
            return common_prefix(self.tokens[: self.exact], prompt)
        kept = common_prefix(self.tokens, prompt)
        match, _ = self._find(prompt, movable, kept)
        return kept + (match.length if match else 0)

    def sync(
        self,
        prompt: Sequence[int],
        cancel: CancelToken | None = None,
        scored: int = 1,
        movable: range = NOWHERE,
        *,
        exactly: bool = True,
    ) -> Synced:
        """Make the cache hold ``prompt``: keep the common beginning, decode the rest.

        The last ``scored`` tokens (at least one, at most a micro-batch) are always decoded, since
        their scores are wanted. Micro-batches that finished before a cancellation stay. Unless all
        has to be computed ``exactly``, the tokens of the prompt in ``movable`` are carried over
        from where they stood before, if that's less work.

        Raises:
            Cancelled, ContextFull, DecodeFailed: as :meth:`TokenModel.decode`.
        """
        try:
            return self._sync(prompt, cancel, scored, movable, exactly=exactly)
        except ContextFull:
            self._drop_parked()
            raise

    def _sync(
        self,
        prompt: Sequence[int],
        cancel: CancelToken | None,
        scored: int,
        movable: range,
        *,
        exactly: bool,
    ) -> Synced:
        held = self.tokens[: self.exact] if exactly else self.tokens
        kept = min(common_prefix(held, prompt), len(prompt) - scored)
        match = None
        if not exactly and movable.stop <= len(prompt) - scored:
            match = self._match(prompt, movable, kept)
        self.truncate(kept)
        if match is not None:
            self._carry_over(prompt, match, cancel)
        self._drop_parked()
        self.movable = movable
        self._decode(prompt, scored, cancel)
        carried = match.length if match else 0
        return Synced(kept + carried, len(prompt) - kept - carried, carried)

    def _decode(self, prompt: Sequence[int], scored: int, cancel: CancelToken | None) -> None:
        """Decode what of ``prompt`` isn't there, micro-batch by micro-batch."""
        while (start := len(self.tokens)) < len(prompt):
            if cancel is not None:
                cancel.raise_if_cancelled()
            stop = self._next_stop(start, len(prompt), scored)
            last = stop == len(prompt)
            self.append(prompt[start:stop], scored=scored if last else 0, cancel=cancel)

    def _next_stop(self, start: int, length: int, scored: int) -> int:
        """Where the micro-batch from ``start`` ends, so that the scored tokens share the last."""
        stop = start + max(self._model.prefill_batch, scored)
        return length if stop >= length else min(stop, length - scored)

    # -- carrying over -----------------------------------------------------------------------

    def _match(self, prompt: Sequence[int], movable: range, kept: int) -> Match | None:
        """What can be carried over into ``movable``; parked, so that the rest may be truncated."""
        match, parked = self._find(prompt, movable, kept)
        if match is not None and not parked and self._parking is not None:
            moved = self.tokens[match.start : match.start + match.length]
            self._parking.park(self, self.sequence, match.start, moved)
        return match

    def _find(self, prompt: Sequence[int], movable: range, kept: int) -> tuple[Match | None, bool]:
        """What can be carried over, and whether it's parked already: of what's held comes first."""
        parking = self._parking
        if parking is None or not self._model.can_shift or kept >= movable.stop:
            return None, False
        if match := _movable_match(self, prompt, movable, kept):
            return match, False
        if parking.owner is not self:
            return None, False
        held = [*[-1] * parking.start, *parking.tokens]
        new = range(max(movable.start, kept), movable.stop)
        return find_match(held, parking.places, prompt, new), True

    def _carry_over(self, prompt: Sequence[int], match: Match, cancel: CancelToken | None) -> None:
        """Decode what comes before the match, then put it behind that.

        When it's cancelled, the match stays parked for the next time.
        """
        assert self._parking is not None
        self.movable = NOWHERE
        self._decode(prompt[: match.to], 0, cancel)
        self._parking.leave(self.sequence, match)
        self.tokens.extend(prompt[match.to : match.to + match.length])

    def _drop_parked(self) -> None:
        if self._parking is not None and self._parking.owner is self:
            self._parking.clear()

    # -- the sequence ------------------------------------------------------------------------

    def append(self, tokens: Sequence[int], scored: int, cancel: CancelToken | None = None) -> None:
        """Decode at most one micro-batch behind what is there.

        Raises:
            Cancelled, ContextFull, DecodeFailed: as :meth:`TokenModel.decode`.
        """
        self._model.decode(self.sequence, len(self.tokens), tokens, scored, cancel)
        if self.exact == len(self.tokens):
            self.exact += len(tokens)
        self.tokens.extend(tokens)

    def share(self, other: Session, length: int) -> None:
        """Hold the first ``length`` tokens of another session, instead of what is held.

        Both hold the same cells then, so they mustn't reach into what may be carried over.
        """
        self.truncate(0)
        self._model.copy(other.sequence, self.sequence, 0, length)
        self.tokens = other.tokens[:length]
        self.exact = min(other.exact, length)
        self.movable = NOWHERE
        self._receive(other, length)

    def _receive(self, donor: Session | None, shared: int) -> None:
        """Share the first ``shared`` cells with ``donor`` from now on, and with nobody else."""
        if self._donor is not None:
            self._donor._receivers.remove(self)  # noqa: SLF001 - one of us
        self._donor, self.shared = (donor, shared) if donor and shared else (None, 0)
        if self._donor is not None:
            self._donor._receivers.append(self)  # noqa: SLF001

    def truncate(self, length: int) -> None:
        """Forget everything after the first ``length`` tokens."""
        if length < len(self.tokens):
            self._model.truncate(self.sequence, length)
            del self.tokens[length:]
            self.exact = min(self.exact, length)
            self._give_up(length)

    def _give_up(self, length: int) -> None:
        """Cells behind the first ``length`` aren't shared with this session any more."""
        longer = [each for each in self._receivers if each.shared > length]
        if longer:
            # The one that shares most takes this session's part towards the others.
            heir = max(longer, key=lambda each: each.shared)
            for receiver in longer:
                if receiver is not heir:
                    receiver._receive(heir, receiver.shared)  # noqa: SLF001 - one of us
            beyond = min(heir.shared, self.shared)
            heir._receive(*((self._donor, beyond) if beyond > length else (self, length)))  # noqa: SLF001
        if self.shared > length:
            self._receive(self._donor, length)

    def release(self) -> None:
        """Hold nothing any more."""
        self._drop_parked()
        self.truncate(0)

    # -- spilling ----------------------------------------------------------------------------

    def spill(self) -> Spilled:
        """What the sequence holds, to be restored later. Changes nothing."""
        state = self._model.save(self.sequence)
        return Spilled(list(self.tokens), state, self.exact, self.movable)

    def restore(self, spilled: Spilled) -> None:
        """Hold what was spilled; nothing, if the model can't take it back. The session is empty."""
        if self._model.restore(self.sequence, spilled.state):
            self.tokens = list(spilled.tokens)
            self.exact, self.movable = spilled.exact, spilled.movable
            self.restored = len(self.tokens)
