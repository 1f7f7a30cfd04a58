"""The loaded models: replaced when other settings ask for others, on the worker's thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from specls.errors import Cancelled, SpeclsError
from specls.service.interface import Loader, Runtime
from specls.service.worker import Priority, Worker
from specls.settings import DEFINITIONS, Settings
from specls.settings.definition import Scope

logger = logging.getLogger(__name__)

_RELOADED = tuple(each.field for each in DEFINITIONS if each.scope is Scope.MODELS)
"""Settings whose change loads the models anew; the next request follows any other."""


class State(Enum):
    """Whether completions can be had."""

    IDLE = "idle"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"
    OFF = "off"
    """Given up, until somebody asks for another try."""


@dataclass(frozen=True)
class Status:
    """The state, the loaded share (0 to 1) while loading, and what the user should be told."""

    state: State
    progress: float = 0.0
    message: str = ""
    """Why the models that were asked for can't be used."""
    remedy: str | None = None
    """What can be done about that: a command line, say."""
    notices: tuple[str, ...] = ()


class Models:
    """Loads, replaces and frees. Used from the event loop, but for :attr:`runtime`."""

    def __init__(self, load: Loader, worker: Worker) -> None:
        self._load = load
        self._worker = worker
        self._number = 0
        self.runtime: Runtime | None = None
        """What is loaded; only the worker changes it, and only the worker uses the engine."""
        self.status = Status(State.IDLE)
        self.on_status: Callable[[Status], None] = lambda _status: None
        """Called on the event loop whenever the state changes."""

    @property
    def names(self) -> tuple[str | None, str | None]:
        """The target and the draft that answer."""
        models = self.runtime.models if self.runtime is not None else {}
        target, draft = models.get("target"), models.get("draftName")
        return (str(target) if target else None, str(draft) if draft else None)

    def wants(self, before: Settings, after: Settings) -> bool:
        """Whether a change of the settings needs a load: what failed is tried again."""
        if self.status.state in {State.IDLE, State.FAILED}:
            return True
        return any(getattr(before, name) != getattr(after, name) for name in _RELOADED)

    async def load(self, settings: Settings) -> None:
        """Replace the models. A later call overtakes this one, which is then given up."""
        self._number += 1
        number, loop = self._number, asyncio.get_running_loop()
        self._tell(number, Status(State.LOADING))

        def progress(share: float) -> bool:
            status = Status(State.LOADING, share)
            loop.call_soon_threadsafe(self._tell, number, status)
            return number == self._number

        try:
            job = self._worker.submit(
                Priority.LOAD, lambda: self._replace(number, settings, progress)
            )
            status = Status(State.READY, 1.0, notices=await asyncio.wrap_future(job))
        except SpeclsError as error:
            status = Status(State.FAILED, message=str(error), remedy=error.remedy)
        except Exception:
            logger.exception("Loading the models failed in a way that specls doesn't know")
            message = "Loading the models failed; the log of specls says how."
            status = Status(State.FAILED, message=message)
        self._tell(number, status)

    def _replace(
        self, number: int, settings: Settings, progress: Callable[[float], bool]
    ) -> tuple[str, ...]:
        """On the worker: free the old models and load the new; what the user should be told."""
        if number != self._number:
            raise Cancelled("Other settings came meanwhile.")
        try:
            self._load.check(settings)
        except SpeclsError as error:
            if self.runtime is None:
                raise
            return (f"{error} The models that were loaded before are still used.",)
        self.unload()
        self.runtime = self._load(settings, progress)
        return tuple(self.runtime.notices)

    def unload(self) -> None:
        """On the worker: free what is loaded."""
        runtime, self.runtime = self.runtime, None
        if runtime is not None:
            runtime.close()

    def crashed(self, status: Status) -> None:
        """The engine can't be trusted any more: free it, and keep nothing of what it held."""
        self._number += 1
        self._worker.submit(Priority.LOAD, self._discard)
        self._tell(self._number, status)

    def _discard(self) -> None:
        """On the worker: free what crashed."""
        runtime, self.runtime = self.runtime, None
        try:
            if runtime is not None:
                (runtime.discard or runtime.close)()
        except Exception:
            logger.exception("The engine that crashed couldn't be freed")

    def give_up(self) -> None:
        """Let go of a load that runs now; nothing is told of it."""
        self._number += 1

    def _tell(self, number: int, status: Status) -> None:
        if number == self._number:
            self.status = status
            self.on_status(status)
