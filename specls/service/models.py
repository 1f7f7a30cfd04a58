"""The loaded models: replaced when other settings ask for others, while the old ones answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from specls.errors import Cancelled, NoMemory
from specls.service.interface import Loader, Runtime
from specls.service.status import State, Status, told
from specls.service.worker import Priority, Worker
from specls.settings import Settings, differ_in_models

T = TypeVar("T")

logger = logging.getLogger(__name__)

__all__ = ["Models", "State", "Status"]


class Models:
    """Loads, replaces and frees. Used from the event loop, but for :attr:`runtime`.

    Models are loaded on a thread of their own, while those before go on answering where memory
    allows it. Then the worker replaces them between two jobs.
    """

    def __init__(self, load: Loader, worker: Worker) -> None:
        self._load = load
        self._worker = worker
        self._loader = Worker("specls-loader")
        self._number = 0
        self._loaded: Settings | None = None
        """What was loaded last, and worked."""
        self.runtime: Runtime | None = None
        """What is loaded; only the worker changes it, and only the worker uses the engine."""
        self.answers = False
        """Whether models are there for a request, perhaps while others are loaded."""
        self.status = Status(State.IDLE)
        self.on_status: Callable[[Status], None] = lambda _status: None
        """Called on the event loop whenever the state changes."""
        self.on_freeing: Callable[[], None] = lambda: None
        """Called on the event loop before models are freed that are in use."""

    @property
    def names(self) -> tuple[str | None, str | None]:
        """The target and the draft that answer."""
        models = self.runtime.models if self.runtime is not None else {}
        target, draft = models.get("target"), models.get("draftName")
        return (str(target) if target else None, str(draft) if draft else None)

    async def listing(self) -> list[dict[str, Any]]:
        """All models that can be named, and which of them answer."""
        used = [name for name in self.names if name is not None]
        rows = await asyncio.to_thread(self._load.listing, used)
        return [{**row, "current": row["id"] in used} for row in rows]

    def wants(self, before: Settings, after: Settings) -> bool:
        """Whether a change of the settings needs a load: what failed is tried again."""
        return self.status.state in {State.IDLE, State.FAILED} or differ_in_models(before, after)

    async def load(self, settings: Settings, *, anew: bool = False) -> None:
        """Replace the models. A later call overtakes this one, which is then given up.

        What is loaded already stays, unless it's to be loaded ``anew``.
        """
        self._number += 1
        number = self._number
        if not anew and await self._is_loaded(settings):
            self._tell(number, Status(State.READY, 1.0))
            return
        self._tell(number, Status(State.LOADING))
        try:
            status = await self._replace(number, settings)
        except Exception as error:  # noqa: BLE001 - it's told, and the old models go on
            status = await self._fall_back(number, settings, error)
        self._tell(number, status)

    async def _is_loaded(self, settings: Settings) -> bool:
        """Whether just these models answer."""
        if not self.answers:
            return False
        await self._on_worker(lambda: None)  # which may be replacing them
        return self._loaded is not None and not differ_in_models(self._loaded, settings)

    async def _replace(self, number: int, settings: Settings) -> Status:
        """Load, beside what is loaded if both fit; the new status.

        Raises:
            SpeclsError: the models can't be loaded, or it isn't wanted any more.
        """
        build = partial(self._build, number, settings, asyncio.get_running_loop())
        fits = await self._on_loader(partial(self._check, number, settings))
        freed = "" if fits or not self.answers else await self._make_way(settings)
        try:
            runtime = await self._on_loader(build)
        except NoMemory:
            if not self.answers:
                raise
            freed = await self._make_way(settings)
            runtime = await self._on_loader(build)
        notices = (*([freed] if freed else ()), *runtime.notices)
        await self._on_worker(partial(self._swap, number, settings, runtime))
        return Status(State.READY, 1.0, notices=notices)

    async def _make_way(self, settings: Settings) -> str:
        """Free what is loaded, since it and the new models are too much; what to tell of it."""
        old, _ = self.names
        self.free()
        await self._on_worker(self.unload)
        return (
            f"There isn't enough memory for {settings.model} beside {old}: nothing was completed "
            "while it was loaded."
        )

    def free(self) -> None:
        """Have nobody use what is loaded any more."""
        self.answers = False
        self.on_freeing()

    async def _fall_back(self, number: int, settings: Settings, error: Exception) -> Status:
        """The models can't be loaded: those before go on, loaded again if they made way."""
        if number != self._number:
            return self.status
        message, remedy = told(error)
        used = "are still used"
        if not self.answers and self._loaded and differ_in_models(self._loaded, settings):
            used = "were loaded again"
            try:
                await self._replace(number, self._loaded)
            except Exception as again:  # noqa: BLE001 - the first error is the one that matters
                logger.warning("The models before can't be loaded either: %s", again)
                return Status(State.FAILED, message=message, remedy=remedy)
        elif not self.answers:
            return Status(State.FAILED, message=message, remedy=remedy)
        notice = f"{message} The models that were loaded before {used}."
        return Status(State.READY, 1.0, message, remedy, (notice,))

    async def _on_loader(self, job: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._loader.submit(Priority.LOAD, job))

    async def _on_worker(self, job: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._worker.submit(Priority.LOAD, job))

    # -- on the loader's thread ---------------------------------------------------------------

    def _check(self, number: int, settings: Settings) -> bool:
        """Whether the models fit beside what is loaded.

        Raises:
            SpeclsError: they aren't there, or aren't wanted any more.
        """
        self._raise_if_overtaken(number)
        self._load.check(settings)
        return self._loaded is None or self._load.fits(settings, self._loaded)

    def _build(self, number: int, settings: Settings, loop: asyncio.AbstractEventLoop) -> Runtime:
        self._raise_if_overtaken(number)

        def progress(share: float) -> bool:
            status = Status(State.LOADING, share)
            with suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(self._tell, number, status)
            return number == self._number

        return self._load(settings, progress)

    def _raise_if_overtaken(self, number: int) -> None:
        if number != self._number:
            raise Cancelled("Other settings came meanwhile.")

    # -- on the worker ------------------------------------------------------------------------

    def _swap(self, number: int, settings: Settings, runtime: Runtime) -> None:
        if number != self._number:
            runtime.close()
            self._raise_if_overtaken(number)
        self.unload()
        self.runtime, self._loaded = runtime, settings

    def unload(self) -> None:
        """On the worker: free what is loaded."""
        runtime, self.runtime = self.runtime, None
        if runtime is not None:
            runtime.close()

    def pause(self, status: Status) -> None:
        """The engine doesn't get on: nothing is asked of it until :meth:`go_on`."""
        self.answers = False
        self._tell(self._number, status)

    def go_on(self) -> None:
        """The engine gets on again."""
        if self.status.state is State.FAILED and self.runtime is not None:
            self.answers = True
            self._tell(self._number, Status(State.READY, 1.0))

    def crashed(self, status: Status) -> None:
        """The engine can't be trusted any more: free it, and keep nothing of what it held.

        ``status`` is that from now on, unless other models are being loaded.
        """
        self._loaded = None
        self.free()
        self._worker.submit(Priority.LOAD, self._discard)
        if self.status.state is not State.LOADING:
            self._number += 1
            self._tell(self._number, status)

    def _discard(self) -> None:
        """On the worker: free what crashed."""
        runtime, self.runtime = self.runtime, None
        try:
            if runtime is not None:
                (runtime.discard or runtime.close)()
        except Exception:
            logger.exception("The engine that crashed couldn't be freed")

    def stop(self, timeout: float) -> bool:
        """Give up a load that runs and free everything; False if that takes longer.

        Nothing is told of it. ``timeout`` is in seconds.
        """
        self._number += 1
        end = monotonic() + timeout
        freed = self._worker.stop(self.unload, timeout)
        return self._loader.stop(lambda: None, max(end - monotonic(), 0.0)) and freed

    def _tell(self, number: int, status: Status) -> None:
        if number != self._number:
            return
        if status.state is not State.LOADING:
            self.answers = status.state is State.READY
        self.status = status
        self.on_status(status)
