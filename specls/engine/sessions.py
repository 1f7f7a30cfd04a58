"""Which document owns which sequence of a model's cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from specls.engine.carry import Parking
from specls.engine.interface import TokenModel
from specls.engine.session import Session, common_prefix, reusable
from specls.engine.spill import Counts, Holding, Spill
from specls.errors import ContextFull

_WORTH_SHARING = 16
"""Tokens: a common beginning this much longer than what a session has itself is shared."""


@dataclass(frozen=True)
class Beside:
    """The name of a session that is built beside a document's, to take its place."""

    document: object


class SessionTable:
    """One session per open document, in the order of their last use.

    Documents share the cache. When it has no room for what a document needs, the ones that were
    not used for the longest time make way; with a spill their state is kept, and comes back when
    they are opened again.
    """

    def __init__(self, model: TokenModel, spill: Spill | None = None) -> None:
        self._model = model
        self._spill = spill or Spill(0)
        self._parking = Parking(model, model.sequences)
        self._sessions: OrderedDict[object, Session] = OrderedDict()
        self._free = list(reversed(range(model.sequences)))

    def __len__(self) -> int:
        """How many documents have a session."""
        return len(self._sessions)

    def open(self, document: object, room: int) -> Session:
        """The document's session, with room for ``room`` tokens in all; others may make way.

        Raises:
            ContextFull: ``room`` is more than the whole cache.
        """
        if room > self._model.capacity:
            raise ContextFull(
                f"{room} tokens don't fit into a context of {self._model.capacity}: raise "
                "contextTokens, or lower prefixTokens and suffixTokens."
            )
        session = self._sessions.get(document) or self._new(document)
        self._sessions.move_to_end(document)
        spilled = None if session.tokens else self._spill.take(document)
        held = len(spilled.tokens) if spilled else len(session.tokens)
        while self._others(session) + max(room, held) > self._model.capacity:
            self._evict()
        if spilled is not None and held <= self._model.capacity:
            session.restore(spilled)
        return session

    def share(self, session: Session, prompt: Sequence[int], limit: int) -> None:
        """Let a session begin with what another one has of ``prompt``, if that saves work.

        At most ``limit`` tokens are shared: what may be carried over must be a session's own.
        """
        best, length = self._longest(prompt[:limit])
        own = common_prefix(session.tokens, prompt)
        if best is not None and best is not session and length >= own + _WORTH_SHARING:
            session.share(best, length)

    def _longest(self, prompt: Sequence[int]) -> tuple[Session | None, int]:
        """The session that has the most of ``prompt``, and how many tokens that is."""
        best, length = None, 0
        for session in self._sessions.values():
            common = common_prefix(session.tokens[: session.exact], prompt)
            if common > length:
                best, length = session, common
        return best, length

    def reusable(
        self, document: object, prompt: Sequence[int], movable: range, *, exactly: bool
    ) -> int:
        """How many tokens of ``prompt`` needn't be decoded. Changes nothing.

        They're in the document's session, or spilled, or shared by another session.
        """
        session = self._sessions.get(document)
        held: Holding | None = session if session and session.tokens else self._spill.look(document)
        own = reusable(held, prompt, movable, exactly=exactly) if held else 0
        return max(own, self._longest(prompt[: movable.start or len(prompt) - 1])[1])

    def approximate(self, document: object) -> bool:
        """Whether the document's session holds tokens that were carried over."""
        session = self._sessions.get(document)
        return session is not None and session.exact < len(session.tokens)

    def take_over(self, document: object) -> None:
        """Give the document what was built beside its session, instead of that."""
        session = self._sessions.pop(Beside(document))
        self._spill.forget(document)
        self._release(document)
        self._sessions[document] = session

    def close(self, document: object) -> None:
        """Keep the document's state for the time when it's opened again, and free its sequence."""
        self._release(Beside(document))
        if (session := self._sessions.get(document)) is not None:
            self._put_away(document, session)

    def save(self, document: object, least: int, seconds: float) -> None:
        """Write the document's state to disk, if what's there is worth less by ``least`` tokens.

        Not if that was done less than so many seconds ago.
        """
        session, disk = self._sessions.get(document), self._spill.second
        if session is None or disk is None or disk.age(document) < seconds:
            return
        there = disk.look(document)
        known = common_prefix(there.tokens, session.tokens) if there else 0
        if len(session.tokens) - known >= least:
            self._spill.save(document, session.spill())

    def finish(self, least: int, seconds: float) -> None:
        """Write to disk what's worth it, within so many seconds. The table isn't used any more."""
        for document in reversed(self._sessions):
            if not isinstance(document, Beside):
                self.save(document, least, 0)
        self._spill.close(seconds)

    @property
    def counts(self) -> Counts:
        """What became of spilled states."""
        return self._spill.counts

    def _release(self, document: object) -> None:
        if (session := self._sessions.pop(document, None)) is not None:
            session.release()
            self._free.append(session.sequence)

    def _new(self, document: object) -> Session:
        if not self._free:
            self._evict()
        session = Session(self._model, self._free.pop(), self._parking)
        self._sessions[document] = session
        return session

    def _others(self, session: Session) -> int:
        parked = 0 if self._parking.owner is session else len(self._parking.tokens)
        return parked + sum(
            len(each.tokens) for each in self._sessions.values() if each is not session
        )

    def _evict(self) -> None:
        self._put_away(*next(iter(self._sessions.items())))

    def _put_away(self, document: object, session: Session) -> None:
        """Keep a session's state outside of the cache, where that's wanted."""
        if session.tokens and self._spill.keeps and not isinstance(document, Beside):
            self._spill.put(document, session.spill())
        self._release(document)
