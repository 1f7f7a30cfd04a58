"""One connection's requests: which one runs, and what happens to the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.core import CancelToken
from specls.errors import Cancelled
from specls.service.ahead import Ahead
from specls.service.completion import Completion, Early, Origin, Request, complete, known
from specls.service.held import Held
from specls.service.opened import OpenDocuments
from specls.service.outcomes import Outcomes
from specls.service.running import Running
from specls.service.shared import Shared
from specls.service.shown import Found, ShownSuggestions
from specls.service.unwanted import Deletions, is_inside_a_word
from specls.service.worker import Priority


class Requests:
    """At most one runs for each document, the newest. Used from the event loop."""

    def __init__(
        self,
        shared: Shared,
        documents: OpenDocuments,
        held: Held,
        shown: ShownSuggestions,
        ahead: Ahead,
        on_running: Callable[[], None],
    ) -> None:
        """``on_running`` is called when a request began to run or ended."""
        self._shared = shared
        self._documents = documents
        self._held = held
        self._shown = shown
        self._ahead = ahead
        self._on_running = on_running
        self.outcomes = Outcomes()
        self._running: dict[str, Running] = {}
        self._deletions = Deletions()

    @property
    def busy(self) -> bool:
        """Whether any runs."""
        return bool(self._running)

    # -- what makes them pointless -----------------------------------------------------------

    def supersede(self, uri: str) -> None:
        """Stop the request that runs for a document: its answer isn't wanted any more."""
        if (running := self._running.pop(uri, None)) is not None:
            running.supersede()

    def stop_all(self) -> None:
        """Stop all that run."""
        for uri in list(self._running):
            self.supersede(uri)

    def changed(self, before: Snapshot | None, after: Snapshot, position: Position | None) -> None:
        """A document was changed, perhaps at one place: a request for it is pointless now."""
        self.supersede(after.uri)
        self._deletions.changed(before, after, position)

    def forget(self, uri: str) -> None:
        """Nothing is completed in a document any more: it was closed or excluded."""
        self.supersede(uri)
        self._shown.forget(uri)
        self._deletions.forget(uri)

    # -- how they are answered ---------------------------------------------------------------

    async def complete(
        self, snapshot: Snapshot, position: Position, *, fresh: bool, early: Early | None
    ) -> Completion | None:
        """A completion at ``position``, or None when there is none to be had now.

        A suggestion that was shown and still fits is the answer, unless ``fresh`` is asked for:
        then alternatives come with it. While one is written, ``early`` is told its whole lines.
        None means: the document is excluded, no model is loaded, nobody asked and it's inside of a
        word or would bring back what was just deleted, a newer request or a change of the document
        made this one pointless, or the engine failed (the log says how). Cancelling the
        coroutine stops the computation within one micro-batch and keeps what it had decoded.
        """
        started = perf_counter()
        completion = await self._complete(snapshot, position, fresh=fresh, early=early)
        if completion is not None:
            self.outcomes.latency.add(perf_counter() - started)
        return completion

    async def _complete(
        self, snapshot: Snapshot, position: Position, *, fresh: bool, early: Early | None
    ) -> Completion | None:
        self.outcomes.counters.received += 1
        if not self._can_answer(snapshot):
            return None
        settings = self._documents.settings_of(snapshot.uri)
        wanted = settings.alternatives if fresh else 1
        request = Request(snapshot, position, settings, wanted, explicit=fresh)
        running = self._running.get(snapshot.uri)
        if running is not None and running.serves(request):
            return await self._wait(running)
        self.supersede(snapshot.uri)
        started = perf_counter()
        if fresh:
            return await self._decode(request, early)
        found = self._shown.find(snapshot, position)
        if self._is_unwanted(snapshot, position, found.rest if found else ""):
            self.outcomes.counters.unwanted += 1
            return None
        if found:
            self._ahead.expect(request, found.rest)
            return self.outcomes.answered(
                known(found.rest, _origin(found), perf_counter() - started)
            )
        return await self._decode(request, early)

    def _can_answer(self, snapshot: Snapshot) -> bool:
        """Whether anything is completed in this document, and there's a model for it."""
        if not self._documents.is_enabled(snapshot):
            self.outcomes.counters.excluded += 1
            return False
        if not self._shared.models.answers:
            self.outcomes.counters.unavailable += 1
            return False
        return True

    def _is_unwanted(self, snapshot: Snapshot, position: Position, text: str) -> bool:
        """Whether a suggestion that nobody asked for would be in the way."""
        restores = self._deletions.restores(snapshot, position, text)
        return restores or is_inside_a_word(snapshot, position)

    async def _decode(self, request: Request, early: Early | None) -> Completion | None:
        """A completion from the model."""
        uri = request.snapshot.uri
        self._documents.asked(uri, request.position)
        self._ahead.asked(request)
        self._running[uri] = running = self._start(request, early)
        self._on_running()
        return await self._wait(running)

    async def _wait(self, running: Running) -> Completion | None:
        """The answer to a request that runs; it's stopped when nobody waits any more."""
        running.waiting += 1
        try:
            await running.wait()
        except asyncio.CancelledError:
            self.outcomes.counters.cancelled += 1
            raise
        finally:
            running.waiting -= 1
            if not running.waiting:
                self._done(running)
        completion = self.outcomes.of(running)
        if completion is not None and completion.origin is Origin.DECODED:
            self._shared.recovery.worked()
        return self._wanted(running.request, completion)

    def _done(self, running: Running) -> None:
        uri = running.request.snapshot.uri
        running.cancel.cancel()
        if self._running.get(uri) is running:
            del self._running[uri]
            self._ahead.done(running.request)
        else:
            self._ahead.go_on()
        self._on_running()

    def _wanted(self, request: Request, completion: Completion | None) -> Completion | None:
        """A completion that is shown from now on, unless it would be in the way."""
        if completion is None or not completion.text:
            return completion
        where = request.snapshot, request.position
        if not request.explicit and self._deletions.restores(*where, completion.text):
            return replace(completion, text="", spans=())
        self._ahead.shown(request, completion.text, completion.alternatives)
        return completion

    def _start(self, request: Request, early: Early | None) -> Running:
        cancel, queued = CancelToken(), perf_counter()
        tell = self._telling(request, cancel, early) if early else None

        def job() -> Completion:
            self.outcomes.last_wait_seconds = perf_counter() - queued
            if (runtime := self._held.runtime) is None:
                raise Cancelled("The models were unloaded.")
            return complete(runtime, request, cancel, tell)

        self._shared.watch.begin()
        answer = asyncio.wrap_future(self._shared.worker.submit(Priority.REQUEST, job))
        answer.add_done_callback(_retrieve)
        return Running(request, cancel, answer, asyncio.get_running_loop().create_future())

    def _telling(self, request: Request, cancel: CancelToken, early: Early) -> Early:
        """What the engine's thread calls, so that ``early`` is called on the event loop."""
        loop = asyncio.get_running_loop()
        where = request.snapshot, request.position

        def tell(lines: str) -> None:
            restores = not request.explicit and self._deletions.restores(*where, lines)
            if not cancel.cancelled and not restores:
                early(lines)

        def from_the_thread(lines: str) -> None:
            loop.call_soon_threadsafe(tell, lines)

        return from_the_thread


def _origin(found: Found) -> Origin:
    if found.shown.ahead:
        return Origin.PREFETCH
    return Origin.CACHE if found.whole else Origin.TYPE_THROUGH


def _retrieve(answer: asyncio.Future[Completion]) -> None:
    """Look at an exception that nobody waits for, or asyncio complains about it."""
    if not answer.cancelled():
        answer.exception()
