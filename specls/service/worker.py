"""The engine's thread: the only one that touches a model."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import IntEnum
from typing import Any, TypeVar

T = TypeVar("T")


class Priority(IntEnum):
    """What comes first when several jobs wait; equal ones run in the order they came."""

    STOP = 0
    LOAD = 1
    CLOSE = 2
    REQUEST = 3
    BACKGROUND = 4


class Worker:
    """Runs jobs one after the other on a thread of its own, the most important first."""

    def __init__(self, name: str = "specls-engine") -> None:
        self.on_error: Callable[[BaseException], None] = lambda _error: None
        """Called on the worker's thread with what a job raised, once its future has it; a load's
        errors are the business of whoever asked for it."""
        self._jobs: queue.PriorityQueue[tuple[int, int, Callable[[], None]]]
        self._jobs = queue.PriorityQueue()
        self._order = itertools.count()
        self.job: int | None = None
        """The number of the job that runs."""
        # A daemon: a client that dies while a graph is computed must not keep the process.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, priority: Priority, job: Callable[[], T]) -> Future[T]:
        """Queue a job; the future gets its result or exception. Callable from any thread.

        Cancelling the future before the job began means that it never begins.
        """
        future: Future[T] = Future()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                _settle(future, job)
                if priority is not Priority.LOAD and (error := future.exception()) is not None:
                    self.on_error(error)

        self._jobs.put((priority, next(self._order), run))
        return future

    def stop(self, last: Callable[[], None], timeout: float | None = None) -> bool:
        """Run one last job after the one that runs now, and end; what waits is dropped.

        Returns whether the thread ended within ``timeout`` seconds (None: as long as it takes).
        """
        self._jobs.put((Priority.STOP, next(self._order), last))
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        priority = None
        while priority != Priority.STOP:
            priority, self.job, job = self._jobs.get()
            job()
            self.job = None
            del job  # it would be kept, and all that it knows, until another one comes


def _settle(future: Future[Any], job: Callable[[], Any]) -> None:
    try:
        result = job()
    except StopIteration as error:  # asyncio takes no such exception from a future
        future.set_exception(RuntimeError(f"a job ended with {error!r}"))
    except BaseException as error:  # noqa: BLE001 - whoever waits for the future gets it
        future.set_exception(error)
    else:
        future.set_result(result)
