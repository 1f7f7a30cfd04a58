"""The service: which request runs, what happens to the others, and whether models are there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from time import perf_counter
from typing import Any

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.core import CancelToken
from specls.errors import Cancelled, SpeclsError
from specls.service.background import Background, Errand, Kind
from specls.service.completion import (
    Completion,
    Origin,
    Request,
    accepted,
    complete,
    grow,
    type_through,
)
from specls.service.interface import Loader, Runtime
from specls.service.shown import ShownSuggestions
from specls.service.worker import Priority, Worker
from specls.settings import Settings, camel

logger = logging.getLogger(__name__)

_LIVE = frozenset(
    {"max_tokens", "prefix_tokens", "suffix_tokens", "prompt_layout", "cold_budget_ms", "prefetch"}
)
"""Settings that the next request follows; a change of any other loads the models anew."""


class State(Enum):
    """Whether completions can be had."""

    IDLE = "idle"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True)
class Status:
    """The state, the loaded share (0 to 1) while loading, and what the user should be told."""

    state: State
    progress: float = 0.0
    message: str = ""
    notices: tuple[str, ...] = ()


@dataclass
class Counters:
    """What became of the requests. Each request is counted once."""

    received: int = 0
    answered: int = 0
    """With or without a suggestion."""
    empty: int = 0
    """Answered, and there was nothing to suggest."""
    typed_through: int = 0
    """Answered with what was left of a suggestion shown before."""
    superseded: int = 0
    cancelled: int = 0
    unavailable: int = 0
    """Came while no model was loaded."""
    failed: int = 0


@dataclass(frozen=True)
class _Running:
    """A request on its way: ``superseded`` is done as soon as nobody wants its answer."""

    cancel: CancelToken
    answer: asyncio.Future[Completion]
    superseded: asyncio.Future[None]

    def supersede(self) -> None:
        self.cancel.cancel()
        if not self.superseded.done():
            self.superseded.set_result(None)


class CompletionService:
    """Answers requests with the newest of a document first. Used from one event loop.

    The models live on a worker thread; the loop never waits for them but in coroutines.
    """

    def __init__(self, load: Loader) -> None:
        self._load = load
        self.on_status: Callable[[Status], None] = lambda _status: None
        """Called on the event loop whenever the state changes."""
        self._worker = Worker()
        self._runtime: Runtime | None = None
        self._running: dict[str, _Running] = {}
        self._loads = 0
        self.settings = Settings()
        self.status = Status(State.IDLE)
        self.counters = Counters()
        self.last: Completion | None = None
        self.last_wait_seconds = 0.0
        self._shown = ShownSuggestions()
        self._background = Background(
            self._worker, lambda: self._runtime, lambda: bool(self._running)
        )

    # -- models ------------------------------------------------------------------------------

    async def configure(self, settings: Settings) -> None:
        """Follow new settings; load the models when none are there or others are asked for."""
        before, self.settings = self.settings, settings
        unloaded = self.status.state in {State.IDLE, State.FAILED}
        if unloaded or _needs_load(before, settings):
            await self._reload()

    async def _reload(self) -> None:
        """Replace the models. A later call overtakes this one."""
        self._loads += 1
        number, settings = self._loads, self.settings
        loop = asyncio.get_running_loop()
        self._stop_all()
        self._shown.clear()
        self._tell(Status(State.LOADING))

        def progress(share: float) -> bool:
            if number != self._loads:
                return False
            loop.call_soon_threadsafe(self._progressed, number, share)
            return True

        def replace() -> tuple[str, ...]:
            if number != self._loads:
                raise Cancelled("Other settings came meanwhile.")
            self._unload()
            self._runtime = runtime = self._load(settings, progress)
            return tuple(runtime.notices)

        try:
            notices = await asyncio.wrap_future(self._worker.submit(Priority.LOAD, replace))
        except SpeclsError as error:
            self._loaded(number, Status(State.FAILED, message=str(error)))
        except Exception:
            logger.exception("Loading the models failed in a way that specls doesn't know")
            message = "Loading the models failed; the log of specls says how."
            self._loaded(number, Status(State.FAILED, message=message))
        else:
            self._loaded(number, Status(State.READY, 1.0, notices=notices))

    def _unload(self) -> None:
        """On the worker thread: free the models that are there."""
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.close()

    def _loaded(self, number: int, status: Status) -> None:
        if number == self._loads:
            self._tell(status)

    def _progressed(self, number: int, share: float) -> None:
        if number == self._loads and self.status.state is State.LOADING:
            self._tell(Status(State.LOADING, share))

    def _tell(self, status: Status) -> None:
        self.status = status
        self.on_status(status)

    # -- requests ----------------------------------------------------------------------------

    async def complete(
        self, snapshot: Snapshot, position: Position, *, fresh: bool = False
    ) -> Completion | None:
        """A completion at ``position``, or None when there is none to be had now.

        A suggestion that was shown and still fits is the answer, unless ``fresh`` is asked for.
        None means: no model is loaded, a newer request or a change of the document made this one
        pointless, or the engine failed (the log says how). Cancelling the coroutine stops the
        computation within one micro-batch and keeps what it had decoded.
        """
        self.counters.received += 1
        if self.status.state is not State.READY:
            self.counters.unavailable += 1
            return None
        self.supersede(snapshot.uri)
        started = perf_counter()
        if not fresh and (rest := self._shown.find(snapshot, position)):
            return self._answered(type_through(rest, perf_counter() - started))
        self._background.forget(Kind.PREFETCH, snapshot.uri)
        request = Request(snapshot, position, self.settings)
        running = self._start(request)
        self._running[snapshot.uri] = running
        try:
            await asyncio.wait(
                (running.answer, running.superseded), return_when=asyncio.FIRST_COMPLETED
            )
        except asyncio.CancelledError:
            self.counters.cancelled += 1
            raise
        finally:
            running.cancel.cancel()
            if self._running.get(snapshot.uri) is running:
                del self._running[snapshot.uri]
            self._complete_window(request)
        completion = self._outcome(running)
        if completion is not None:
            self._plan_ahead(request, completion)
        return completion

    def _complete_window(self, request: Request) -> None:
        """Have the window of a place completed, if it was kept small and while nobody waits."""

        def grow_window(runtime: Runtime, cancel: CancelToken) -> None:
            grow(runtime, request, cancel)

        self._background.want(Kind.GROW, request.snapshot.uri, Errand(grow_window))
        self._background.go_on()

    def _plan_ahead(self, request: Request, completion: Completion) -> None:
        """Remember what is shown, and have done what the next request may need."""
        uri, text = request.snapshot.uri, completion.text
        if text:
            self._shown.remember(request.snapshot, request.position, text)
        if text and request.settings.prefetch:
            following = accepted(request, text)

            def complete_following(runtime: Runtime, cancel: CancelToken) -> Completion:
                return complete(runtime, following, cancel)

            def show_later(completion: Completion) -> None:
                if completion.text:
                    where = (following.snapshot, following.position)
                    self._shown.remember(*where, completion.text)

            errand = Errand(complete_following, show_later)
            self._background.want(Kind.PREFETCH, uri, errand)
        self._background.go_on()

    def _start(self, request: Request) -> _Running:
        self._background.pause()
        cancel = CancelToken()
        queued = perf_counter()

        def job() -> Completion:
            self.last_wait_seconds = perf_counter() - queued
            if self._runtime is None:
                raise Cancelled("The models were unloaded.")
            return complete(self._runtime, request, cancel)

        answer = asyncio.wrap_future(self._worker.submit(Priority.REQUEST, job))
        answer.add_done_callback(_retrieve)
        return _Running(cancel, answer, asyncio.get_running_loop().create_future())

    def _outcome(self, running: _Running) -> Completion | None:
        overtaken = running.superseded.done() or not running.answer.done()
        if overtaken or isinstance(running.answer.exception(), Cancelled):
            self.counters.superseded += 1
            return None
        try:
            completion = running.answer.result()
        except SpeclsError as error:
            logger.warning("A completion failed: %s", error)
            self.counters.failed += 1
            return None
        return self._answered(completion)

    def _answered(self, completion: Completion) -> Completion:
        self.counters.answered += 1
        self.counters.empty += not completion.text
        self.counters.typed_through += completion.origin is Origin.TYPE_THROUGH
        self.last = completion
        return completion

    def supersede(self, uri: str) -> None:
        """Stop the request that runs for a document: its answer isn't wanted any more."""
        if (running := self._running.pop(uri, None)) is not None:
            running.supersede()

    def close(self, uri: str) -> None:
        """The document was closed: stop its request and free its part of the cache."""
        self.supersede(uri)
        self._shown.forget(uri)
        for kind in Kind:
            self._background.forget(kind, uri)

        def forget() -> None:
            if self._runtime is not None:
                self._runtime.engine.close(uri)
                self._runtime.engine.close(("spare", uri))
                self._runtime.prompts.forget(uri)

        self._worker.submit(Priority.CLOSE, forget)

    def _stop_all(self) -> None:
        self._background.clear()
        for uri in list(self._running):
            self.supersede(uri)

    # -- the rest ----------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """The numbers behind ``specls/stats``, ready for JSON. Times are in milliseconds."""
        runtime = self._runtime
        last = None
        if self.last is not None:
            last = {
                "origin": self.last.origin.value,
                **self.last.stats.as_dict(),
                "waitMs": round(1000 * self.last_wait_seconds, 2),
                "totalMs": round(1000 * self.last.seconds, 2),
            }
        return {
            "state": self.status.state.value,
            "message": self.status.message,
            "models": dict(runtime.models) if runtime else {},
            "requests": {
                camel(item.name): getattr(self.counters, item.name) for item in fields(Counters)
            },
            "decodedTokens": runtime.engine.target.decoded_tokens if runtime else 0,
            "lastCompletion": last,
        }

    def shutdown(self, timeout: float) -> bool:
        """Stop everything and free the models; False if that takes more than ``timeout`` seconds.

        Callable without a running loop.
        """
        self._loads += 1  # whatever is being loaded now is given up
        self._stop_all()
        return self._worker.stop(self._unload, timeout)


def _needs_load(before: Settings, after: Settings) -> bool:
    names = (item.name for item in fields(Settings) if item.name not in _LIVE)
    return any(getattr(before, name) != getattr(after, name) for name in names)


def _retrieve(answer: asyncio.Future[Completion]) -> None:
    """Look at an exception that nobody waits for, or asyncio complains about it."""
    if not answer.cancelled():
        answer.exception()
