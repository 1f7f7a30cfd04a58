"""The loop: prefill, then draft, verify, accept, until something says stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from specls.core import CancelToken, FinishReason, Source
from specls.engine.interface import Controller, Drafter, Outcome, TokenModel
from specls.engine.session import Session
from specls.engine.verify import accepted_greedily
from specls.metrics import GenerationStats


@dataclass(frozen=True)
class Token:
    """One new token and who came up with it."""

    id: int
    source: Source


@dataclass(frozen=True)
class Limits:
    """Where a generation ends at the latest."""

    max_tokens: int
    stop_ids: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Draft:
    source: Source | None
    tokens: list[int]
    seconds: float


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
    ) -> None:
        self._model = model
        self._session = session
        self._drafters = drafters
        self._controller = controller
        self._prompt = prompt
        self._limits = limits
        self._cancel = cancel
        self._tokens = list(prompt)
        self.stats = GenerationStats(prompt_tokens=len(prompt))

    def __iter__(self) -> Iterator[tuple[Token, ...]]:
        """Run. See the class.

        Raises:
            Cancelled, ContextFull, DecodeFailed: as :meth:`TokenModel.decode`.
        """
        started = perf_counter()
        step: tuple[Token, ...] = (self._prefill(started),)
        decoding = perf_counter()
        while new := self._emit(step):
            yield new
            if self.stats.finish:
                break
            step = self._pass()
            self.stats.decode_seconds = perf_counter() - decoding

    def _prefill(self, started: float) -> Token:
        synced = self._session.sync(self._prompt, self._cancel)
        self.stats.reused_tokens = synced.reused
        self.stats.prefill_seconds = perf_counter() - started
        first = self._model.best(0)
        self.stats.first_token_seconds = perf_counter() - started
        return Token(first, Source.TARGET)

    def _emit(self, step: tuple[Token, ...]) -> tuple[Token, ...]:
        """The part of a step that is within the limits; sets ``stats.finish`` when they end it."""
        new: list[Token] = []
        for token in step:
            if token.id in self._limits.stop_ids:
                self.stats.finish = FinishReason.END_OF_TEXT
                break
            new.append(token)
        self._tokens.extend(token.id for token in new)
        self.stats.generated_tokens += len(new)
        if self.stats.finish is None and self.stats.generated_tokens >= self._limits.max_tokens:
            self.stats.finish = FinishReason.MAX_TOKENS
        return tuple(new)

    def _pass(self) -> tuple[Token, ...]:
        """One pass of the target: the last token and a draft in, what it accepts and one more."""
        self._cancel.raise_if_cancelled()
        draft = self._draft()
        started = perf_counter()
        base = len(self._session.tokens)
        batch = [self._tokens[-1], *draft.tokens]
        self._session.append(batch, scored=len(batch), cancel=self._cancel)
        choices = [self._model.best(row) for row in range(len(batch))]
        accepted = accepted_greedily(draft.tokens, choices)
        self._session.truncate(base + 1 + accepted)
        self._observe(draft, accepted, perf_counter() - started)
        source = draft.source or Source.TARGET
        tokens = [Token(each, source) for each in draft.tokens[:accepted]]
        return (*tokens, Token(choices[accepted], Source.TARGET))

    def _draft(self) -> _Draft:
        """A draft from the first of the planned drafters that has an idea."""
        started = perf_counter()
        left = self._limits.max_tokens - self.stats.generated_tokens - 1
        room = min(left, self._model.micro_batch - 1)
        for plan in self._controller.plans():
            limit = min(plan.limit, room)
            if limit < 1:
                continue
            tokens = self._drafters[plan.source].propose(self._tokens, limit, self._cancel)
            if tokens:
                return _Draft(plan.source, tokens, perf_counter() - started)
        return _Draft(None, [], perf_counter() - started)

    def _observe(self, draft: _Draft, accepted: int, seconds: float) -> None:
        self.stats.target_passes += 1
        drafted = len(draft.tokens)
        if draft.source is not None:
            self.stats.count_draft(draft.source, drafted, accepted)
        self._controller.observe(Outcome(draft.source, drafted, accepted, draft.seconds, seconds))
