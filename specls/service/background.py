"""Work that is done while nobody waits, and that never delays a request."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from specls.core import CancelToken
from specls.errors import Cancelled, SpeclsError
from specls.service.interface import Runtime
from specls.service.worker import Priority, Worker

logger = logging.getLogger(__name__)


class Kind(IntEnum):
    """What is done first when several things are to be done."""

    FOLLOW = 0
    """Decode what was typed."""
    GROW = 1
    """Read the whole window of a place that was answered from a small one."""
    SETTLE = 2
    """Decode exactly what was carried over, and anchor anew where the anchor is far."""
    WARM = 3
    """Restore a document that was opened, or read its beginning."""
    PREFETCH = 4
    """Complete the text as it will be when the suggestion that is shown was accepted."""
    SAVE = 5
    """Write a document's state to disk."""


Name = tuple[int, str]
"""What a document is called: its owner's number, and its URI."""


@dataclass(frozen=True)
class Errand:
    """One piece of work.

    ``work`` runs on the worker, and again from its beginning after it was stopped; ``done`` gets
    its result on the event loop.
    """

    work: Callable[[Runtime, CancelToken], Any]
    done: Callable[[Any], None] = lambda _result: None


class Background:
    """The errands of all documents, at most one of a kind each. Used from the event loop.

    Each owner of documents uses a :class:`Part`.

    One is worked on at a time. A request stops it within a micro-batch; what was decoded is kept
    in its session, and :meth:`go_on` begins it again there.
    """

    def __init__(
        self,
        worker: Worker,
        runtime: Callable[[], Runtime | None],
        busy: Callable[[], bool],
    ) -> None:
        """``runtime`` is asked on the worker; ``busy`` tells whether requests wait."""
        self._worker = worker
        self._runtime = runtime
        self._busy = busy
        self._errands: dict[tuple[Kind, Name], Errand] = {}
        self._cancel: CancelToken | None = None
        self._run: Errand | None = None
        self._kind = Kind.FOLLOW

    @property
    def idle(self) -> bool:
        """Whether nothing is left to be done."""
        return not self._errands and self._cancel is None

    def want(self, kind: Kind, document: Name, errand: Errand) -> None:
        """Have something done for a document, instead of the same kind wanted before."""
        self._errands.pop((kind, document), None)
        self._errands[kind, document] = errand

    @property
    def wanted(self) -> tuple[tuple[Kind, Name], ...]:
        """What is to be done, for which documents."""
        return tuple(self._errands)

    def forget(self, kind: Kind, document: Name) -> None:
        """It isn't wanted any more."""
        errand = self._errands.pop((kind, document), None)
        if errand is not None and errand is self._run:
            self.pause()

    def pause(self) -> None:
        """Leave the processor to a request."""
        if self._cancel is not None:
            self._cancel.cancel()

    def go_on(self) -> None:
        """Run the next errand, unless a request waits; stop one that is less important."""
        if not self._errands or self._busy():
            return
        key = self._next()
        if self._cancel is not None:
            if key[0] < self._kind:
                self.pause()
            return
        self._kind = key[0]
        self._run = errand = self._errands[key]
        self._cancel = cancel = CancelToken()
        loop = asyncio.get_running_loop()

        def job() -> Any:
            cancel.raise_if_cancelled()
            runtime = self._runtime()
            return None if runtime is None else errand.work(runtime, cancel)

        def done(future: Future[Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(self._done, key, errand, future)

        self._worker.submit(Priority.BACKGROUND, job).add_done_callback(done)

    def _next(self) -> tuple[Kind, Name]:
        """Of the most important kind, the newest."""
        first = min(kind for kind, _ in self._errands)
        return next(key for key in reversed(self._errands) if key[0] == first)

    def _done(self, key: tuple[Kind, Name], errand: Errand, future: Future[Any]) -> None:
        self._cancel = self._run = None
        error = future.exception()
        if not isinstance(error, Cancelled):
            wanted = self._errands.get(key) is errand
            if wanted:
                del self._errands[key]
            if isinstance(error, SpeclsError):
                logger.warning("Work in the background failed: %s", error)
            elif error is not None:
                logger.error("Work in the background failed", exc_info=error)
            elif wanted:
                errand.done(future.result())
        self.go_on()


class Part:
    """The errands of one owner's documents, among those of all. Used from the event loop."""

    def __init__(
        self, background: Background, owner: int, view: Callable[[Runtime], Runtime]
    ) -> None:
        """``view`` makes of what's loaded what the owner's errands are given, on the worker."""
        self._background = background
        self._owner = owner
        self._view = view

    @property
    def idle(self) -> bool:
        """Whether nothing is left to be done, for nobody."""
        return self._background.idle

    def want(self, kind: Kind, uri: str, errand: Errand) -> None:
        """Have something done for a document: see :meth:`Background.want`."""

        def work(runtime: Runtime, cancel: CancelToken) -> Any:
            return errand.work(self._view(runtime), cancel)

        self._background.want(kind, (self._owner, uri), replace(errand, work=work))

    def wanted(self, kind: Kind) -> list[str]:
        """The documents for which something of a kind is to be done."""
        return [uri for each, uri in self._mine() if each is kind]

    def forget(self, kind: Kind, uri: str) -> None:
        """It isn't wanted any more."""
        self._background.forget(kind, (self._owner, uri))

    def clear(self) -> None:
        """Stop, and want nothing any more."""
        for kind, uri in self._mine():
            self.forget(kind, uri)
        self.pause()

    def pause(self) -> None:
        """Leave the processor to a request."""
        self._background.pause()

    def go_on(self) -> None:
        """Run the next errand, whosoever it is: see :meth:`Background.go_on`."""
        self._background.go_on()

    def _mine(self) -> list[tuple[Kind, str]]:
        wanted = self._background.wanted
        return [(kind, uri) for kind, (owner, uri) in wanted if owner == self._owner]
