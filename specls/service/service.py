"""The service: which request runs, what happens to the others, and whether models are there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from time import monotonic, perf_counter
from typing import Any

from specls.context.document import Snapshot
from specls.context.text import Encoding, Position
from specls.core import CancelToken
from specls.errors import Cancelled, SpeclsError
from specls.service.ahead import Ahead
from specls.service.background import Part
from specls.service.completion import (
    Completion,
    Early,
    Origin,
    Request,
    complete,
    known,
    parts_of,
)
from specls.service.counters import Counters, engine_numbers, numbers_of
from specls.service.exclude import Exclusion
from specls.service.heads import Choice, Heads
from specls.service.interface import Runtime
from specls.service.latency import Latency
from specls.service.models import Status
from specls.service.parts import Context, is_shown
from specls.service.running import Running
from specls.service.scopes import Scopes
from specls.service.shared import Shared, viewer
from specls.service.shown import Found, ShownSuggestions
from specls.service.suggestions import Suggestions
from specls.service.unwanted import Deletions, is_inside_a_word
from specls.service.visits import Visits
from specls.service.worker import Priority
from specls.service.workspace import View
from specls.settings import Settings

logger = logging.getLogger(__name__)


class CompletionService:
    """Answers one connection's requests, the newest of a document first. Used from one event loop.

    The models live on a worker thread; the loop never waits for them but in coroutines. They're
    shared with other connections; documents, settings and what was shown aren't.
    """

    def __init__(self, shared: Shared, clock: Callable[[], float] = monotonic) -> None:
        """``clock`` tells seconds, for what is looked at a while later."""
        self._shared = shared
        self._worker = shared.worker
        self.models = shared.models
        self.on_status: Callable[[Status], None] = lambda _status: None
        """Called on the event loop whenever the state of the models changes."""
        self.on_running: Callable[[], None] = lambda: None
        """Called on the event loop when a request began to run or ended."""
        self._scopes = Scopes()
        self._settled = False
        """Whether the settings are those of a person, and no longer the first ones."""
        self.counters = Counters()
        self.last: Completion | None = None
        self.last_wait_seconds = 0.0
        self._running: dict[str, Running] = {}
        self._asked: dict[str, Position] = {}
        """Where a completion was asked for last, in each document."""
        self.roots: tuple[str, ...] = ()
        """The URIs of the workspace's folders."""
        self._exclusion = Exclusion()
        self._open: dict[str, Snapshot] = {}
        self._newest: Snapshot | None = None
        """The document that was opened or changed last: most likely the one that's seen."""
        self._shown = ShownSuggestions()
        self.suggestions = Suggestions(clock)
        """What becomes of what is suggested."""
        self._latency = Latency()
        self._deletions = Deletions()
        self._visits = Visits()
        self._heads = Heads()
        """Of the worker alone."""
        owner = shared.join(self)
        self._view = viewer(owner)
        self._background = Part(shared.background, owner, self._view)
        self._ahead = Ahead(self._background, self._shown, self._choice)

    @property
    def idle(self) -> bool:
        """Whether no request runs and nothing is left to be done in the background."""
        return not self._running and self._background.idle

    @property
    def busy(self) -> bool:
        """Whether requests run."""
        return bool(self._running)

    async def configure(
        self, settings: Settings, folders: Mapping[str, Settings] | None = None
    ) -> str | None:
        """Follow new settings, and load the models: see :meth:`adopt` and :meth:`load_models`."""
        self.adopt(settings, folders)
        return await self.load_models()

    async def load_models(self) -> str | None:
        """Load the models that the settings ask for, unless they're there.

        What comes back is why others are used, if that's so.
        """
        self._settled = True
        return await self._shared.follow(self, self.settings)

    def adopt(self, settings: Settings, folders: Mapping[str, Settings] | None = None) -> None:
        """Follow new settings from now on, but for the models.

        ``folders`` are those of folders of the workspace, by their URIs, where they have some of
        their own.
        """
        before, self._scopes = self._scopes, Scopes(settings, folders)
        self.exclude()
        if self._settled and not self._scopes.excludes_as(before):
            self._worker.submit(Priority.CLOSE, self._forget_kept)
        if self._scopes != before:
            for uri in self._open:
                if not self.settings_of(uri).enabled:
                    self.supersede(uri)
            self.loaded()

    @property
    def settings(self) -> Settings:
        """Those that hold where no folder has others."""
        return self._scopes.base

    def settings_of(self, uri: str) -> Settings:
        """Those for a document."""
        return self._scopes.of(uri)

    def _works_in(self, uri: str) -> bool:
        """Whether something may be computed for a document."""
        return self.models.answers and self.settings_of(uri).enabled

    async def reload(self) -> None:
        """Load the models again, or try to."""
        await self._shared.reload(self, self.settings)

    def tell(self, status: Status) -> None:
        """The state of the models changed."""
        self.on_status(status)

    def unloading(self) -> None:
        """The models make way for others: stop what uses them."""
        self._stop_all()
        self._shown.clear()

    def loaded(self) -> None:
        """Other models are there, or other settings: have the newest document ready for them.

        A request that runs is answered by whichever it got.
        """
        self._shown.clear()
        self._ahead.clear()
        if self._newest is not None and self._works_in(self._newest.uri):
            self._ahead.opened(self._newest, self.settings_of(self._newest.uri))

    def exclude(self) -> None:
        """Follow what the settings exclude, and the workspace's folders; forget what is now."""
        self._exclusion = self._scopes.exclusion(self.roots)
        for uri in self.excluded():
            self._give_up(uri, kept=False)
        self._worker.submit(Priority.CLOSE, partial(self._forget_excluded, self._exclusion))

    def _forget_excluded(self, exclusion: Exclusion) -> None:
        """On the worker: forget what was read of documents that show something excluded."""
        self._heads.clear()
        if (runtime := self._runtime) is None:
            return
        for uri, head in runtime.prompts.heads.items():
            if not is_shown(head, exclusion):
                runtime.engine.drop(uri)
                runtime.prompts.forget(uri)

    def _forget_kept(self) -> None:
        """On the worker: forget what was read of closed documents, of which nobody knows the names.

        Some of them may be excluded now.
        """
        if (runtime := self._runtime) is not None:
            runtime.engine.forget_kept()

    def excluded(self) -> dict[str, str]:
        """The open documents in which nothing is completed, and why."""
        reasons = {uri: self._why_excluded(snapshot) for uri, snapshot in self._open.items()}
        return {uri: reason for uri, reason in reasons.items() if reason is not None}

    def _choice(self, request: Request) -> Choice:
        """How it's found out what should stand before a document, with what is open now."""
        documents = tuple(self._open.values())
        view = View(self._exclusion, documents, self._visits.all, self.roots)
        return partial(self._heads.choose, request, view)

    async def context(self, snapshot: Snapshot, position: Position) -> Context:
        """What the model would be given at a place now; nothing where it wouldn't be asked."""
        if (reason := self._why_excluded(snapshot)) is not None:
            return Context(excluded=reason)
        if not self.models.answers:
            return Context()
        request = Request(snapshot, position, self.settings_of(snapshot.uri))

        def look() -> Context:
            runtime = self._runtime
            return Context() if runtime is None else Context(parts_of(runtime, request))

        self._background.pause()
        try:
            return await asyncio.wrap_future(self._worker.submit(Priority.REQUEST, look))
        finally:
            self._background.go_on()

    def why_not(self, uri: str) -> str | None:
        """Why nothing is completed in a document that is open; None if that's not so."""
        if not self.settings_of(uri).enabled:
            return "the setting enabled is false"
        snapshot = self._open.get(uri)
        return None if snapshot is None else self._why_excluded(snapshot)

    def _is_enabled(self, snapshot: Snapshot) -> bool:
        enabled = self.settings_of(snapshot.uri).enabled
        return enabled and self._why_excluded(snapshot) is None

    def _why_excluded(self, snapshot: Snapshot) -> str | None:
        return self._exclusion.reason(snapshot.uri, snapshot.language)

    # -- requests ----------------------------------------------------------------------------

    async def complete(
        self,
        snapshot: Snapshot,
        position: Position,
        *,
        fresh: bool = False,
        early: Early | None = None,
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
            self._latency.add(perf_counter() - started)
        return completion

    async def _complete(
        self, snapshot: Snapshot, position: Position, *, fresh: bool, early: Early | None
    ) -> Completion | None:
        self.counters.received += 1
        if not self._can_answer(snapshot):
            return None
        settings = self.settings_of(snapshot.uri)
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
            self.counters.unwanted += 1
            return None
        if found:
            self._ahead.expect(request, found.rest)
            return self._answered(known(found.rest, _origin(found), perf_counter() - started))
        return await self._decode(request, early)

    def _can_answer(self, snapshot: Snapshot) -> bool:
        """Whether anything is completed in this document, and there's a model for it."""
        if not self._is_enabled(snapshot):
            self.counters.excluded += 1
            return False
        if not self.models.answers:
            self.counters.unavailable += 1
            return False
        return True

    def _is_unwanted(self, snapshot: Snapshot, position: Position, text: str) -> bool:
        """Whether a suggestion that nobody asked for would be in the way."""
        restores = self._deletions.restores(snapshot, position, text)
        return restores or is_inside_a_word(snapshot, position)

    async def _decode(self, request: Request, early: Early | None) -> Completion | None:
        """A completion from the model."""
        uri = request.snapshot.uri
        self._asked[uri] = request.position
        self._visits.add(uri, request.position)
        self._ahead.asked(request)
        self._running[uri] = running = self._start(request, early)
        self.on_running()
        return await self._wait(running)

    async def _wait(self, running: Running) -> Completion | None:
        """The answer to a request that runs; it's stopped when nobody waits any more."""
        running.waiting += 1
        try:
            await running.wait()
        except asyncio.CancelledError:
            self.counters.cancelled += 1
            raise
        finally:
            running.waiting -= 1
            if not running.waiting:
                self._done(running)
        return self._wanted(running.request, self._outcome(running))

    def _done(self, running: Running) -> None:
        uri = running.request.snapshot.uri
        running.cancel.cancel()
        if self._running.get(uri) is running:
            del self._running[uri]
            self._ahead.done(running.request)
        else:
            self._background.go_on()
        self.on_running()

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
            self.last_wait_seconds = perf_counter() - queued
            if (runtime := self._runtime) is None:
                raise Cancelled("The models were unloaded.")
            return complete(runtime, request, cancel, tell)

        self._shared.watch.begin()
        answer = asyncio.wrap_future(self._worker.submit(Priority.REQUEST, job))
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

    def _outcome(self, running: Running) -> Completion | None:
        error = running.answer.exception() if running.answer.done() else Cancelled()
        overtaken = running.superseded.done() and error is None
        if overtaken or isinstance(error, Cancelled):
            self.counters.superseded += 1
            return None
        try:
            completion = running.answer.result()
        except SpeclsError as error:
            logger.warning("A completion failed: %s", error)
            self.counters.failed += 1
            return None
        except Exception:
            self.counters.failed += 1
            raise
        return self._answered(completion)

    def _answered(self, completion: Completion) -> Completion:
        self.counters.answered += 1
        self.counters.empty += not completion.text
        self.counters.without_model += completion.origin is not Origin.DECODED
        self.counters.anchor_moves += completion.stats.anchor_moved
        self.last = completion
        if completion.origin is Origin.DECODED:
            self._shared.recovery.worked()
        return completion

    def supersede(self, uri: str) -> None:
        """Stop the request that runs for a document: its answer isn't wanted any more."""
        if (running := self._running.pop(uri, None)) is not None:
            running.supersede()

    # -- documents ---------------------------------------------------------------------------

    def opened(self, snapshot: Snapshot) -> None:
        """A document was opened: have it ready when a completion is asked for."""
        self.supersede(snapshot.uri)
        self._open[snapshot.uri] = snapshot
        self._warm(snapshot)

    def _warm(self, snapshot: Snapshot) -> None:
        if (reason := self._why_excluded(snapshot)) is not None:
            logger.info("Nothing is completed in %s: %s.", snapshot.uri, reason)
            return
        self._newest = snapshot
        if self._works_in(snapshot.uri):
            self._ahead.opened(snapshot, self.settings_of(snapshot.uri))

    def changed(self, snapshot: Snapshot, position: Position | None = None) -> None:
        """A document was changed, perhaps at one place: a request for it is pointless now."""
        self.supersede(snapshot.uri)
        before = self._open.get(snapshot.uri)
        self._deletions.changed(before, snapshot, position)
        if before is not None:
            self.suggestions.changed(before, snapshot, position)
        self._open[snapshot.uri] = snapshot
        if self._why_excluded(snapshot) is not None:
            return
        self._newest = snapshot
        # What was planned was planned for a text that is no more.
        self._ahead.forget(snapshot.uri)
        if position is not None:
            self._visits.add(snapshot.uri, position)
        if position is not None and self._works_in(snapshot.uri):
            self._ahead.changed(Request(snapshot, position, self.settings_of(snapshot.uri)))

    def focused(self, uri: object) -> bool:
        """A document is looked at: have it ready. False if it isn't open."""
        snapshot = self._open.get(uri) if isinstance(uri, str) else None
        if snapshot is not None and snapshot is not self._newest:
            self._warm(snapshot)
        return snapshot is not None

    def displayed(self, name: str) -> None:
        """A client shows an item: see to it that what follows is there when it's accepted."""
        shown = self.suggestions.displayed(name)
        if shown is None or shown.snapshot.uri not in self._open:
            return
        snapshot = shown.snapshot
        if self.models.answers and self._is_enabled(snapshot):
            settings = self.settings_of(snapshot.uri)
            self._ahead.expect(Request(snapshot, shown.position, settings), shown.text)

    def saved(self, snapshot: Snapshot) -> None:
        """A document was saved: make its state exact, where it was asked for last."""
        asked = self._asked.get(snapshot.uri)
        if asked is not None and self._works_in(snapshot.uri):
            position = snapshot.text.clamp(asked.line, asked.column, Encoding.UTF32)
            self._ahead.paused(Request(snapshot, position, self.settings_of(snapshot.uri)))

    def close(self, uri: str) -> None:
        """The document was closed: stop its request and free its part of the cache."""
        self._open.pop(uri, None)
        self.suggestions.closed(uri)
        self._give_up(uri, kept=True)

    def _give_up(self, uri: str, *, kept: bool) -> None:
        """Free what a document takes; what was read of it may be ``kept`` outside the cache."""
        self.supersede(uri)
        self._shown.forget(uri)
        self._deletions.forget(uri)
        self._ahead.forget(uri)
        self._asked.pop(uri, None)
        if self._newest is not None and self._newest.uri == uri:
            self._newest = None

        def forget() -> None:
            self._heads.forget(uri)
            if (runtime := self._runtime) is not None:
                (runtime.engine.close if kept else runtime.engine.drop)(uri)
                runtime.prompts.forget(uri)

        self._worker.submit(Priority.CLOSE, forget)

    def _stop_all(self) -> None:
        self._ahead.clear()
        for uri in list(self._running):
            self.supersede(uri)

    # -- the rest ----------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """The numbers behind ``specls/stats``, ready for JSON. Times are in milliseconds."""
        runtime, status = self.models.runtime, self.models.status
        last = self.last and numbers_of(self.last, self.last_wait_seconds)
        return {
            "state": status.state.value,
            "message": status.message,
            "models": dict(runtime.models) if runtime else {},
            "requests": self.counters.as_dict(),
            **(engine_numbers(runtime.engine) if runtime else {}),
            "suggestions": self.suggestions.as_dict(),
            "latency": self._latency.as_dict(),
            "excluded": self.excluded(),
            "idle": self.idle and not self._ahead.waits,
            "decodedTokens": runtime.engine.target.decoded_tokens if runtime else 0,
            "lastCompletion": last,
        }

    @property
    def _runtime(self) -> Runtime | None:
        """What is loaded, as this connection uses it; on the worker."""
        runtime = self.models.runtime
        return None if runtime is None else self._view(runtime)

    def leave(self) -> None:
        """The connection ended: free what its documents take. Others go on."""
        self._stop_all()
        for uri in list(self._open):
            self.close(uri)
        self._shared.leave(self)

    def shutdown(self, timeout: float) -> bool:
        """Stop everything, for all connections: see :meth:`Shared.shutdown`."""
        return self._shared.shutdown(timeout)


def _origin(found: Found) -> Origin:
    if found.shown.ahead:
        return Origin.PREFETCH
    return Origin.CACHE if found.whole else Origin.TYPE_THROUGH


def _retrieve(answer: asyncio.Future[Completion]) -> None:
    """Look at an exception that nobody waits for, or asyncio complains about it."""
    if not answer.cancelled():
        answer.exception()
