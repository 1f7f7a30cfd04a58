"""Which document owns which sequence of a model's cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from specls.engine.carry import Parking
from specls.engine.interface import TokenModel
from specls.engine.session import NOWHERE, Session, common_prefix, reusable
from specls.engine.spill import Counts, Spill
from specls.errors import ContextFull

_WORTH_SHARING = 16
"""Tokens: a common beginning this much longer than what a session has itself is shared."""


@dataclass(frozen=True)
class Owned:
    """The name of a document of one of several owners, who may have others of the same name.

    Each has a session of its own. Outside of the cache, states are kept by the document alone:
    what somebody has of it is mostly what another one needs.
    """

    owner: int
    document: object


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

    def open(
        self,
        document: object,
        room: int,
        prompt: Sequence[int] = (),
        movable: range = NOWHERE,
        *,
        exactly: bool = True,
    ) -> Session:
        """The document's session, with room for ``room`` tokens in all; others may make way.

        If that saves decoding some of ``prompt``, it begins with what another session has of it;
        ``movable`` and ``exactly`` are for :meth:`Session.sync`.

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
        if not session.tokens:
            self._restore(document, session)
        self._share(session, prompt, movable, exactly=exactly)
        self._make_room(session, room)
        return session

    def _restore(self, document: object, session: Session) -> None:
        """Take the document's state back, if there is one that fits."""
        kept = self._spill.look(_kept(document))
        if kept is None or len(kept.tokens) > self._model.capacity:
            return
        if (spilled := self._spill.take(_kept(document))) is not None:
            self._make_room(session, len(spilled.tokens))
            session.restore(spilled)

    def _share(
        self, session: Session, prompt: Sequence[int], movable: range, *, exactly: bool
    ) -> None:
        """Let a session begin with what another one has of ``prompt``, if that saves work.

        What may be carried over isn't shared: it must be a session's own.
        """
        own = session.reusable(prompt, movable, exactly=exactly)
        best, length = self._shareable(prompt, movable, own)
        if best is not None and best is not session:
            session.share(best, length)

    def _make_room(self, session: Session, room: int) -> None:
        """Let others make way until the session can hold ``room`` tokens."""
        while self._taken(session) + room > self._model.capacity:
            if self._parking.tokens and self._parking.owner is not session:
                self._parking.clear()
                continue
            others = (item for item in self._sessions.items() if item[1] is not session)
            if (victim := next(others, None)) is None:
                self._parking.clear()
                return
            self._put_away(*victim)

    def _shareable(
        self, prompt: Sequence[int], movable: range, own: int
    ) -> tuple[Session | None, int]:
        """The session that has so much more of ``prompt`` than ``own`` that it's worth sharing."""
        beginning = prompt[: movable.start or len(prompt) - 1]
        best, length = None, own + _WORTH_SHARING - 1
        if length >= len(beginning):  # as at every key: nobody can have so much more
            return None, own
        for session in self._sessions.values():
            common = common_prefix(session.tokens[: session.exact], beginning)
            if common > length:
                best, length = session, common
        return best, length if best else own

    def reusable(
        self, document: object, prompt: Sequence[int], movable: range, *, exactly: bool
    ) -> int:
        """How many tokens of ``prompt`` needn't be decoded. Changes nothing.

        They're in the document's session, or spilled, or shared by another session.
        """
        session = self._sessions.get(document)
        own = 0
        if session is not None and session.tokens:
            own = session.reusable(prompt, movable, exactly=exactly)
        elif (kept := self._spill.look(_kept(document))) is not None:
            own = common_prefix(kept.tokens[: kept.exact], prompt)
            if not exactly and self._model.can_shift:
                own = reusable(kept, prompt, movable)
        return self._shareable(prompt, movable, own)[1]

    def held(self, document: object) -> list[int]:
        """The tokens that the document's session has, or its spilled state. Changes nothing."""
        session = self._sessions.get(document)
        if session is not None and session.tokens:
            return list(session.tokens)
        kept = self._spill.look(_kept(document))
        return list(kept.tokens) if kept else []

    def approximate(self, document: object) -> bool:
        """Whether the document's session holds tokens that were carried over."""
        session = self._sessions.get(document)
        return session is not None and session.exact < len(session.tokens)

    def take_over(self, document: object) -> None:
        """Give the document what was built beside its session, instead of that."""
        session = self._sessions.pop(Beside(document))
        self._spill.forget(_kept(document))
        self._release(document)
        self._sessions[document] = session

    def drop(self, document: object) -> None:
        """Forget the document's session and its spilled state."""
        self._spill.drop(_kept(document))
        self._release(document)

    def forget_kept(self) -> None:
        """Forget all that is kept outside of the cache, in memory and on disk."""
        self._spill.empty()

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
        if session is None or disk is None or disk.age(_kept(document)) < seconds:
            return
        there = disk.look(_kept(document))
        known = common_prefix(there.tokens, session.tokens) if there else 0
        if len(session.tokens) - known >= least:
            self._spill.save(_kept(document), session.spill())

    def finish(self, least: int, seconds: float) -> None:
        """Write to disk what's worth it, within so many seconds. The table isn't used any more."""
        for document in reversed(self._sessions):
            if not isinstance(document, Beside):
                self.save(document, least, 0)
        self._spill.close(seconds)

    def abandon(self) -> None:
        """Write nothing more to disk. The table isn't used any more."""
        if self._spill.second is not None:
            self._spill.second.close(0)

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
            self._put_away(*next(iter(self._sessions.items())))
        session = Session(self._model, self._free.pop(), self._parking)
        self._sessions[document] = session
        return session

    def _taken(self, session: Session) -> int:
        """How many cells are not the session's to use: the others', and what's parked."""
        others = sum(each.cells for each in self._sessions.values() if each is not session)
        return others + len(self._parking.tokens) - session.shared

    def _put_away(self, document: object, session: Session) -> None:
        """Keep a session's state outside of the cache, where that's wanted."""
        if session.tokens and self._spill.keeps and not isinstance(document, Beside):
            self._spill.put(_kept(document), session.spill())
        self._release(document)


def _kept(document: object) -> object:
    """The name under which a document's state is kept outside of the cache."""
    return document.document if isinstance(document, Owned) else document
