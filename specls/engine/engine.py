"""The target, its drafters and the documents' sessions under one roof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from specls.core import CancelToken, Source
from specls.engine.decode import Generation, Healing, Limits
from specls.engine.interface import Controller, Drafter, TokenModel
from specls.engine.session import NOWHERE, Synced
from specls.engine.sessions import SessionTable
from specls.engine.spill import Spill
from specls.metrics import Rate


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
        self._controller = controller
        self._sessions = SessionTable(target, spill)

    def generate(
        self,
        document: object,
        prompt: Sequence[int],
        limits: Limits,
        cancel: CancelToken,
        healing: Healing | None = None,
        movable: range = NOWHERE,
        *,
        exactly: bool = True,
    ) -> Generation:
        """A generation behind ``prompt`` (at least one token), to be iterated on this thread.

        Another generation must not begin before this one was iterated or dropped. ``movable`` and
        ``exactly`` tell what of the prompt may be carried over: see :meth:`Session.sync`.

        Raises:
            ContextFull: prompt and answer are larger than the whole context.
        """
        room = len(prompt) + limits.max_tokens + 1 + (healing.tokens if healing else 0)
        session = self._sessions.open(document, room)
        self._sessions.share(session, prompt, movable.start or len(prompt) - 1)
        sure = prompt[: len(prompt) - healing.tokens] if healing else prompt
        for drafter in self.drafters.values():
            drafter.begin(document, sure)
        return Generation(
            self.target,
            session,
            self.drafters,
            self._controller,
            prompt,
            limits,
            cancel,
            healing,
            self.prefill_rate.observe,
            movable,
            exactly=exactly,
        )

    def reusable(
        self,
        document: object,
        prompt: Sequence[int],
        movable: range = NOWHERE,
        *,
        exactly: bool = True,
    ) -> int:
        """How many tokens of ``prompt`` needn't be decoded for the document."""
        return self._sessions.reusable(document, prompt, movable, exactly=exactly)

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
        session = self._sessions.open(document, len(prompt) + 1)
        self._sessions.share(session, prompt, movable.start or len(prompt) - 1)
        return session.sync(prompt, cancel, movable=movable, exactly=exactly)

    def approximate(self, document: object) -> bool:
        """Whether the document's session holds tokens that were carried over."""
        return self._sessions.approximate(document)

    def rename(self, document: object, other: object) -> None:
        """Let ``other`` have the session of ``document``, and forget the one it had."""
        self._sessions.rename(document, other)

    def with_controller(self, controller: Controller) -> Engine:
        """The same models and sessions under another controller, for comparisons."""
        other = copy(self)
        other._controller = controller  # noqa: SLF001 - it's one of us
        return other

    def sequence(self, document: object) -> int:
        """The number of the document's sequence in the target's cache."""
        return self._sessions.open(document, 0).sequence

    def close(self, document: object) -> None:
        """Forget a document and give back what its tokens took."""
        self._sessions.close(document)
        for drafter in self.drafters.values():
            drafter.forget(document)
