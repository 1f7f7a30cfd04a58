"""The target, its drafters and the documents' sessions under one roof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from specls.core import CancelToken, Source
from specls.engine.branches import Branches, Doubt, Doubts
from specls.engine.decode import Generation, Healing, Limits
from specls.engine.interface import Controller, Drafter, TokenModel
from specls.engine.session import NOWHERE, Synced
from specls.engine.sessions import Beside, Owned, SessionTable
from specls.engine.spill import Counts, Spill
from specls.metrics import Rate

_WORTH_SAVING = 256
"""Tokens: a state on disk is written anew when it has lost so many."""

_SAVED_SECONDS = 300.0
"""How often a document's state is written at the most: a full one has tens of MiB."""

_FINISH_SECONDS = 5.0


class Engine:
    """Writes on behind a prompt, for one document at a time, on the thread that owns the models."""

    def __init__(
        self,
        target: TokenModel,
        drafters: Mapping[Source, Drafter],
        controller: Controller,
        spill: Spill | None = None,
    ) -> None:
        """``drafters`` holds at least the sources that the controller may plan.

        ``spill`` keeps the states of documents that make way in the target's cache.
        """
        self.target = target
        self.drafters = drafters
        self.prefill_rate = Rate()
        self.controller = controller
        self._sessions = SessionTable(target, spill)
        self._owner: int | None = None

    def seen_by(self, owner: int) -> Engine:
        """The same models and cache, for somebody whose documents may be called as others' are."""
        other = copy(self)
        other._owner = owner  # noqa: SLF001 - it's one of us
        return other

    def _name(self, document: object) -> object:
        """What a document is called among those of everybody."""
        return document if self._owner is None else Owned(self._owner, document)

    def generate(
        self,
        document: object,
        prompt: Sequence[int],
        limits: Limits,
        cancel: CancelToken,
        healing: Healing | None = None,
        movable: range = NOWHERE,
        language: str = "",
        *,
        exactly: bool = True,
        doubts: Doubts | None = None,
    ) -> Generation:
        """A generation behind ``prompt`` (at least one token), to be iterated on this thread.

        Another generation must not begin before this one was iterated or dropped. ``movable`` and
        ``exactly`` tell what of the prompt may be carried over: see :meth:`Session.sync`;
        ``language`` is for the controller, and ``doubts`` notes where :meth:`branches` may begin.

        Raises:
            ContextFull: prompt and answer are larger than the whole context.
        """
        document = self._name(document)
        room = len(prompt) + limits.max_tokens + 1 + (healing.tokens if healing else 0)
        session = self._sessions.open(document, room, prompt, movable, exactly=exactly)
        self.controller.begin(language)
        sure = prompt[: len(prompt) - healing.tokens] if healing else prompt
        for drafter in self.drafters.values():
            drafter.begin(document, sure)
        return Generation(
            self.target,
            session,
            self.drafters,
            self.controller,
            prompt,
            limits,
            cancel,
            healing,
            self.prefill_rate.observe,
            movable,
            exactly=exactly,
            doubts=doubts,
        )

    def branches(
        self,
        document: object,
        generation: Generation,
        doubts: Sequence[Doubt],
        limits: Limits,
        cancel: CancelToken,
    ) -> Branches:
        """Other ways to go on than a generation's, which was the document's last, to be iterated.

        Raises:
            ContextFull: they are larger than what the context has room for.
        """
        doubts = doubts[: len(self.target.forks)]
        base, longest = generation.base, limits.max_tokens
        held = max(generation.stats.prompt_tokens + generation.stats.generated_tokens, base)
        session = self._sessions.open(self._name(document), held + len(doubts) * longest + 1)
        return Branches(self.target, session, base, doubts, longest, limits.stop_ids, cancel)

    def reusable(
        self,
        document: object,
        prompt: Sequence[int],
        movable: range = NOWHERE,
        *,
        exactly: bool = True,
    ) -> int:
        """How many tokens of ``prompt`` needn't be decoded for the document."""
        return self._sessions.reusable(self._name(document), prompt, movable, exactly=exactly)

    def held(self, document: object) -> list[int]:
        """The tokens that are there for the document, in the cache or spilled. Changes nothing."""
        return self._sessions.held(self._name(document))

    def prefill(
        self,
        document: object,
        prompt: Sequence[int],
        cancel: CancelToken,
        movable: range = NOWHERE,
        *,
        exactly: bool = True,
    ) -> Synced:
        """Make the document's session hold ``prompt``, and generate nothing.

        Raises:
            Cancelled: what was decoded until then is kept, and a later call goes on there.
            ContextFull, DecodeFailed: as :meth:`TokenModel.decode`.
        """
        return self._prefill(self._name(document), prompt, cancel, movable, exactly=exactly)

    def _prefill(
        self,
        name: object,
        prompt: Sequence[int],
        cancel: CancelToken,
        movable: range,
        *,
        exactly: bool = True,
    ) -> Synced:
        session = self._sessions.open(name, len(prompt) + 1, prompt, movable, exactly=exactly)
        return session.sync(prompt, cancel, movable=movable, exactly=exactly)

    def approximate(self, document: object) -> bool:
        """Whether the document's session holds tokens that were carried over."""
        return self._sessions.approximate(self._name(document))

    def prepare(
        self, document: object, prompt: Sequence[int], cancel: CancelToken, movable: range = NOWHERE
    ) -> None:
        """Decode ``prompt`` exactly, beside the document's session, and let it take its place.

        Raises:
            Cancelled: the document's session is as it was. A later call goes on here.
            ContextFull, DecodeFailed: as :meth:`TokenModel.decode`.
        """
        name = self._name(document)
        self._prefill(Beside(name), prompt, cancel, movable)
        self._sessions.take_over(name)

    def wake(self, document: object) -> list[int]:
        """Restore the document's state if it was spilled; the tokens that its session has."""
        return list(self._sessions.open(self._name(document), 0).tokens)

    def save(self, document: object) -> None:
        """Write the document's state to disk, now and then."""
        self._sessions.save(self._name(document), _WORTH_SAVING, _SAVED_SECONDS)

    def finish(self) -> None:
        """Write to disk what is worth it. Nothing else may be called afterwards."""
        self._sessions.finish(_WORTH_SAVING, _FINISH_SECONDS)

    def abandon(self) -> None:
        """Keep nothing: the sessions may be wrong. Nothing else may be called afterwards."""
        self._sessions.abandon()

    @property
    def spill_counts(self) -> Counts:
        """What became of spilled states."""
        return self._sessions.counts

    def with_controller(self, controller: Controller) -> Engine:
        """The same models and sessions under another controller, for comparisons."""
        other = copy(self)
        other.controller = controller
        return other

    def sequence(self, document: object) -> int:
        """The number of the document's sequence in the target's cache."""
        return self._sessions.open(self._name(document), 0).sequence

    def drop(self, document: object) -> None:
        """Forget a document, and all that is kept of it in memory."""
        name = self._name(document)
        self._sessions.drop(name)
        for drafter in self.drafters.values():
            drafter.forget(name)

    def forget_kept(self) -> None:
        """Forget all that is kept outside of the cache, in memory and on disk, for everybody."""
        self._sessions.forget_kept()

    def close(self, document: object) -> None:
        """Give back what a document took in the cache; its state may be kept elsewhere."""
        name = self._name(document)
        self._sessions.close(name)
        for drafter in self.drafters.values():
            drafter.forget(name)
