"""The loop: prefill, then draft, verify, accept, until something says stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import nan
from time import perf_counter

import numpy as np

from specls.core import CancelToken, FinishReason, Source
from specls.engine.branches import Doubts
from specls.engine.interface import (
    Allowed,
    Constraint,
    Controller,
    Drafter,
    Outcome,
    Part,
    TokenModel,
)
from specls.engine.sampling import (
    GREEDY,
    Distribution,
    Sampling,
    distribution,
)
from specls.engine.session import NOWHERE, Session
from specls.engine.verify import accepted_so_far, log_probability
from specls.metrics import GenerationStats


@dataclass(frozen=True)
class Token:
    """One new token and who came up with it."""

    id: int
    source: Source
    log_probability: float = nan
    """What the target says of it: 0 is certain. Nan unless ``Limits.rated`` asks for it."""


@dataclass(frozen=True)
class Limits:
    """Where a generation ends at the latest, and how it goes there."""

    max_tokens: int
    stop_ids: frozenset[int] = frozenset()
    sampling: Sampling = GREEDY
    """How each token is drawn; by default the best one is taken."""
    rated: bool = False
    """Whether each token is to tell its probability. Costs a look at all scores of a row."""


@dataclass(frozen=True)
class Healing:
    """The prompt's last ``tokens`` are chosen anew, bound to spell what they spell.

    A cursor inside a word leaves a token boundary that the model never saw; this takes it back.
    The new tokens of a generation then begin with the ones chosen anew.
    """

    tokens: int
    constraint: Constraint


@dataclass(frozen=True)
class _Draft:
    """What may come next; from one source after the other, the cheapest first."""

    parts: tuple[Part, ...] = ()
    tokens: tuple[int, ...] = ()

    def sources(self) -> Iterator[Source]:
        """Who came up with each token."""
        for part in self.parts:
            yield from repeat(part.source, part.drafted)


class Generation:
    """One run of the loop for one prompt. Iterating it does the work, step by step.

    Each step yields the new tokens of one target pass, at least one; the consumer may stop
    iterating after any step, and the session stays a valid prefix of what was computed.
    :attr:`stats` is filled in on the way.
    """

    def __init__(
        self,
        model: TokenModel,
        session: Session,
        drafters: Mapping[Source, Drafter],
        controller: Controller,
        prompt: Sequence[int],
        limits: Limits,
        cancel: CancelToken,
        healing: Healing | None = None,
        on_prefill: Callable[[int, float], None] | None = None,
        movable: range = NOWHERE,
        *,
        exactly: bool = True,
        doubts: Doubts | None = None,
    ) -> None:
        """``on_prefill`` hears how many tokens the prefill decoded, and in how many seconds.

        ``movable`` and ``exactly`` are for :meth:`Session.sync`; ``doubts`` notes what else the
        target might have said.
        """
        self._model = model
        self._session = session
        self._drafters = drafters
        self._controller = controller
        self._prompt = prompt
        self._limits = limits
        self._cancel = cancel
        self._healing = healing
        self._on_prefill = on_prefill or (lambda _tokens, _seconds: None)
        self._random = np.random.default_rng(limits.sampling.seed)
        self._movable = movable
        self._exactly = exactly
        self._doubts = doubts
        self._base = len(prompt) - (healing.tokens if healing else 0)
        self._tokens = list(prompt[: self._base])
        self.stats = GenerationStats(prompt_tokens=len(prompt))
        self.stats.healed_tokens = healing.tokens if healing else 0

    @property
    def base(self) -> int:
        """How many tokens of the session stand before the new ones."""
        return self._base

    def __iter__(self) -> Iterator[tuple[Token, ...]]:
        """Run. See the class.

        Raises:
            Cancelled, ContextFull, DecodeFailed: as :meth:`TokenModel.decode`.
        """
        try:
            yield from self._steps()
        finally:
            for drafter in self._drafters.values():
                drafter.finish(self._tokens, len(self._tokens) - self._base)

    def _steps(self) -> Iterator[tuple[Token, ...]]:
        step = self._prefill(perf_counter())
        decoding = perf_counter()
        while new := self._emit(step):
            yield new
            if self.stats.finish:
                break
            step = self._pass()
            self.stats.decoded_tokens += len(step)
            self.stats.decode_seconds = perf_counter() - decoding

    def _prefill(self, started: float) -> tuple[Token, ...]:
        """Decode the prompt; the first new tokens.

        With healing, the tokens that are chosen anew stand in the same batch as drafts of
        themselves: where the choice falls on them again, nothing is decoded twice.
        """
        rows = 1 + len(self._prompt) - self._base
        synced = self._session.sync(
            self._prompt, self._cancel, rows, self._movable, exactly=self._exactly
        )
        self.stats.reused_tokens = synced.reused
        self.stats.carried_tokens = synced.carried
        self.stats.approximate_tokens = len(self._prompt) - self._session.exact
        self.stats.restored_tokens = min(synced.reused, self._session.restored)
        self._session.restored = 0
        self.stats.prefill_seconds = perf_counter() - started
        self._on_prefill(synced.prefilled, self.stats.prefill_seconds)
        new: list[int] = []
        step: list[Token] = []
        for row in range(rows):
            allowed = self._allowed(new)
            new.append(self._choose(row, allowed))
            step.append(self._rated(row, new[row], Source.TARGET, allowed))
            self._note(row, new[:-1])
            if self._base + row < len(self._prompt) and new[row] != self._prompt[self._base + row]:
                break
        self._session.truncate(self._base + len(new) - 1)
        self.stats.first_token_seconds = perf_counter() - started
        return tuple(step)

    def _allowed(self, new: Sequence[int]) -> Allowed | None:
        """What may follow the new tokens; None: anything."""
        return self._healing.constraint.allowed(new) if self._healing else None

    def _rated(self, row: int, token: int, source: Source, allowed: Allowed | None) -> Token:
        """A token, with what its row says of it among those that are allowed."""
        if not self._limits.rated:
            return Token(token, source)
        return Token(token, source, log_probability(self._model.logits(row), token, allowed))

    def _choose(self, row: int, allowed: Allowed | None) -> int:
        """The token of a row among those that are allowed: the best, or a draw."""
        if not self._limits.sampling.greedy:
            return self._says(row, allowed).draw(self._random)
        if allowed is None:
            return self._model.best(row)
        return int(allowed[self._model.logits(row)[allowed].argmax()])

    def _says(self, row: int, allowed: Allowed | None = None) -> Distribution:
        return distribution(self._model.logits(row), self._limits.sampling, allowed)

    def _emit(self, step: tuple[Token, ...]) -> tuple[Token, ...]:
        """The part of a step that is within the limits; sets ``stats.finish`` when they end it."""
        new: list[Token] = []
        for token in step:
            if token.id in self._limits.stop_ids:
                self.stats.finish = FinishReason.END_OF_TEXT
                break
            new.append(token)
            # What only spells again what stands there already isn't new.
            self.stats.generated_tokens += self._is_free()
            self._tokens.append(token.id)
        if self.stats.finish is None and self.stats.generated_tokens >= self._limits.max_tokens:
            self.stats.finish = FinishReason.MAX_TOKENS
        return tuple(new)

    def _pass(self) -> tuple[Token, ...]:
        """One pass of the target: the last token and a draft in, what it accepts and one more."""
        self._cancel.raise_if_cancelled()
        new = self._tokens[self._base :]
        allowed = self._allowed(new)
        draft = self._draft() if allowed is None else _Draft()
        started = perf_counter()
        base = len(self._session.tokens)
        batch = [self._tokens[-1], *draft.tokens]
        self._session.append(batch, scored=len(batch), cancel=self._cancel)
        accepted, following = (
            self._verify(draft.tokens) if allowed is None else (0, self._choose(0, allowed))
        )
        seconds = perf_counter() - started
        for row in range(accepted + 1):
            self._note(row, [*new, *draft.tokens[:row]])
        self._session.truncate(base + 1 + accepted)
        self._observe(draft, accepted, seconds)
        taken = zip(range(accepted), draft.tokens, draft.sources(), strict=False)
        tokens = [self._rated(row, token, source, None) for row, token, source in taken]
        return (*tokens, self._rated(accepted, following, Source.TARGET, allowed))

    def _verify(self, draft: Sequence[int]) -> tuple[int, int]:
        """How many drafted tokens the last pass accepts, and the token behind them."""
        if self._limits.sampling.greedy:
            return accepted_so_far(draft, self._model.best)
        # Drafters are sure of what they say. So drawing from the target and comparing is
        # algorithm 1 of Leviathan et al., and draws what it would have drawn without drafts.
        return accepted_so_far(draft, lambda row: self._says(row).draw(self._random))

    def _note(self, row: int, new: Sequence[int]) -> None:
        """Note what else might have come behind the new tokens, where that may be anything."""
        if self._doubts is None:
            return
        if self._allowed(new) is None:
            self._doubts.note(len(new), self._model.logits(row))

    def _is_free(self) -> bool:
        """Whether any token may come next."""
        return self._allowed(self._tokens[self._base :]) is None

    def _draft(self) -> _Draft:
        """A draft, and as long as that promises more, what other drafters say behind it."""
        left = self._limits.max_tokens - self.stats.generated_tokens - 1
        room = min(left, self._model.most_scored - 1)
        draft = _Draft()
        while True:
            longer = self._longer(draft, room - len(draft.tokens))
            if len(longer.tokens) == len(draft.tokens):
                return longer
            draft = longer

    def _longer(self, draft: _Draft, room: int) -> _Draft:
        """The draft with what the first of the planned drafters that has an idea says behind it."""
        parts = list(draft.parts)
        for plan in self._controller.plans(draft.parts):
            limit = min(plan.limit, room)
            if limit < 1:
                continue
            started = perf_counter()
            drafter = self._drafters[plan.source]
            tokens = drafter.propose(self._tokens, limit, self._cancel, draft.tokens)
            parts.append(Part(plan.source, len(tokens), perf_counter() - started))
            if tokens:
                return _Draft(tuple(parts), (*draft.tokens, *tokens))
        return _Draft(tuple(parts), draft.tokens)

    def _observe(self, draft: _Draft, accepted: int, seconds: float) -> None:
        outcome = Outcome(draft.parts, accepted, seconds)
        self.stats.target_passes += 1
        self.stats.verifications += bool(draft.tokens)
        for part in draft.parts:
            if part.drafted:
                self.stats.count_drafted(part.source, part.drafted)
        for part, taken in outcome.verified():
            self.stats.count_verified(part.source, part.drafted, taken)
        self._controller.observe(outcome)
