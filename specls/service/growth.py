"""Completing small windows in the background, while nobody waits for an answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Future

from specls.core import CancelToken
from specls.errors import Cancelled, SpeclsError
from specls.service.completion import Request, grow
from specls.service.interface import Runtime
from specls.service.worker import Priority, Worker

logger = logging.getLogger(__name__)


class Growth:
    """The places whose window is to be completed. Used from the event loop.

    One is worked on at a time, the newest first. A request stops the work within a micro-batch;
    what was done is kept, and :meth:`go_on` continues there.
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
        self._wanted: dict[str, Request] = {}
        self._cancel: CancelToken | None = None

    def want(self, request: Request) -> None:
        """The place of ``request`` was answered from a small window."""
        self._wanted.pop(request.snapshot.uri, None)
        self._wanted[request.snapshot.uri] = request

    def forget(self, uri: str) -> None:
        """The document was closed."""
        if self._wanted.pop(uri, None) is not None:
            self.pause()

    def clear(self) -> None:
        """Stop, and want nothing any more."""
        self._wanted.clear()
        self.pause()

    def pause(self) -> None:
        """Leave the processor to a request."""
        if self._cancel is not None:
            self._cancel.cancel()

    def go_on(self) -> None:
        """Work on the newest place, unless a request waits or one is worked on."""
        if not self._wanted or self._cancel is not None or self._busy():
            return
        request = next(reversed(self._wanted.values()))
        self._cancel = cancel = CancelToken()
        loop = asyncio.get_running_loop()

        def job() -> None:
            if (runtime := self._runtime()) is not None:
                grow(runtime, request, cancel)

        def done(future: Future[None]) -> None:
            error = future.exception()
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(self._done, request, error)

        self._worker.submit(Priority.BACKGROUND, job).add_done_callback(done)

    def _done(self, request: Request, error: BaseException | None) -> None:
        self._cancel = None
        if not isinstance(error, Cancelled):
            if self._wanted.get(request.snapshot.uri) is request:
                del self._wanted[request.snapshot.uri]
            if isinstance(error, SpeclsError):
                logger.warning("A window couldn't be completed: %s", error)
        self.go_on()
