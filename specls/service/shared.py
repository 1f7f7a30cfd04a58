"""What all connections of a process share: the engine's thread, the models, whose turn it is."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from specls.service.background import Background
from specls.service.interface import Loader, Runtime
from specls.service.models import Models, State, Status
from specls.service.recovery import AGAIN, OFF, Recovery, is_crash
from specls.service.watch import STUCK, Watch
from specls.service.worker import Worker
from specls.settings import Settings

logger = logging.getLogger(__name__)

_OTHERS_CHOSE = (
    "Another editor window loaded the models with other settings, and one engine serves all "
    "windows: this window uses what is loaded. Change a setting here, or close the other windows "
    "and open this one again, to load what these settings ask for."
)


class Member(Protocol):
    """One connection, as the others see it. Used from the event loop."""

    @property
    def busy(self) -> bool:
        """Whether requests of it run."""

    def unloading(self) -> None:
        """The models make way for others: stop what uses them."""

    def loaded(self) -> None:
        """Other models are there, or those that were before."""

    def tell(self, status: Status) -> None:
        """The state of the models changed."""


class Shared:
    """One engine for all connections. Used from one event loop.

    A connection that comes while others are there takes what is loaded. Whoever changes a setting
    that needs a load afterwards loads for all (docs/decisions/0012).
    """

    def __init__(self, load: Loader) -> None:
        self.worker = Worker()
        self.models = Models(load, self.worker)
        self.models.on_status = self._tell
        self.models.on_freeing = self._free
        self.background = Background(self.worker, lambda: self.models.runtime, self._busy)
        self._members: dict[Member, Settings | None] = {}
        """Who is connected, with the settings that it came to, once it told them."""
        self._asked = Settings()
        """What was loaded last, or tried."""
        self._numbers = itertools.count()
        self.recovery = Recovery()
        self._loading: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.worker.on_error = self._failed
        self.watch = Watch(self._beat, self._stuck, self.models.go_on)

    def join(self, member: Member) -> int:
        """Take a connection in; a number that is its own."""
        self._members[member] = None
        return next(self._numbers)

    def leave(self, member: Member) -> None:
        """A connection ended."""
        self._members.pop(member, None)

    async def follow(self, member: Member, settings: Settings) -> str | None:
        """Load the models when the settings of a connection ask for others.

        What comes back is why that isn't done, to be told to its user.
        """
        before, self._members[member] = self._members.get(member), settings
        others = any(known for each, known in self._members.items() if each is not member)
        loaded = self.models.status.state not in {State.IDLE, State.FAILED}
        wants = self.models.wants(self._asked, settings)
        if loaded and others and before is None:
            return _OTHERS_CHOSE if wants else None
        if not wants or (before is not None and not self.models.wants(before, settings)):
            return None
        self._asked = settings
        await self._begin()
        return None

    async def reload(self, member: Member, settings: Settings) -> None:
        """Load what a connection's settings ask for, even if it's loaded already."""
        self._asked = self._members[member] = settings
        await self._begin(anew=True)

    async def _begin(self, *, anew: bool = False) -> None:
        """Load, also when whoever asked for it leaves meanwhile."""
        self.recovery.forget()
        self._loading = asyncio.ensure_future(self._load(anew=anew))
        await asyncio.shield(self._loading)

    async def _load(self, *, anew: bool = False) -> None:
        self._loop = asyncio.get_running_loop()
        await self.models.load(self._asked, anew=anew)
        for each in tuple(self._members):
            each.loaded()

    def _free(self) -> None:
        for each in tuple(self._members):
            each.unloading()

    # -- crashes -----------------------------------------------------------------------------

    def _failed(self, error: BaseException) -> None:
        """On the worker: a job raised something."""
        if self._loop is not None and is_crash(error):
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                self._loop.call_soon_threadsafe(self._crashed, error)

    def _crashed(self, error: BaseException) -> None:
        """Load the models anew after a while, or give up. What else the same engine did is moot."""
        logger.error("The engine crashed", exc_info=error)
        if not self.models.answers:
            return
        again = Status(State.FAILED, message=AGAIN)

        def restart() -> None:
            if self.models.status is again:  # nobody asked for another load meanwhile
                self._loading = asyncio.ensure_future(self._load())

        if self.models.status.state is State.LOADING:
            self.models.crashed(again)
            return
        more = self.recovery.crashed(restart)
        self.models.crashed(again if more else Status(State.OFF, message=OFF))

    def _beat(self) -> object:
        """What changes while the engine gets on; None while it has nothing to do."""
        job, runtime = self.worker.job, self.models.runtime
        if job is None or runtime is None:
            return None
        return job, runtime.engine.target.decoded_tokens

    def _stuck(self) -> None:
        if self.models.answers:
            logger.error("The engine doesn't get on.")
            self._free()
            self.models.pause(Status(State.FAILED, message=STUCK))

    def _busy(self) -> bool:
        return any(each.busy for each in self._members)

    def _tell(self, status: Status) -> None:
        for each, known in tuple(self._members.items()):
            if known is not None:  # else its client isn't ready to hear of it
                each.tell(status)

    def shutdown(self, timeout: float) -> bool:
        """Stop everything and free the models; False if that takes more than ``timeout`` seconds.

        Callable without a running loop.
        """
        self._free()
        return self.models.stop(timeout)


def viewer(owner: int) -> Callable[[Runtime], Runtime]:
    """What makes of the loaded models what a connection uses: its documents are its own.

    To be called from the worker.
    """
    whole = mine = None

    def view(runtime: Runtime) -> Runtime:
        nonlocal whole, mine
        if mine is None or whole is not runtime:
            engine, prompts = runtime.engine.seen_by(owner), runtime.prompts.for_others()
            whole, mine = runtime, replace(runtime, engine=engine, prompts=prompts)
        return mine

    return view
