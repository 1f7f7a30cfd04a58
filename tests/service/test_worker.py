"""The engine's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from specls.service.worker import Priority, Worker

DEADLINE = 30.0


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    assert worker.stop(lambda: None, DEADLINE)


def test_jobs_run_one_after_the_other_on_one_thread(worker: Worker) -> None:
    """Every job runs on the same thread, which isn't the caller's."""
    futures = [worker.submit(Priority.REQUEST, threading.get_ident) for _ in range(5)]
    threads = {future.result(DEADLINE) for future in futures}
    assert len(threads) == 1
    assert threads != {threading.get_ident()}


def test_the_most_important_job_is_next(worker: Worker) -> None:
    """Of the jobs that wait, the most important runs first, and equal ones in their order."""
    begin, order = threading.Event(), list[str]()

    def note(name: str) -> Callable[[], None]:
        return lambda: order.append(name)

    first = worker.submit(Priority.REQUEST, lambda: begin.wait(DEADLINE))
    jobs = [(Priority.REQUEST, "b"), (Priority.REQUEST, "c"), (Priority.LOAD, "a")]
    futures = [worker.submit(priority, note(name)) for priority, name in jobs]
    begin.set()
    first.result(DEADLINE)
    for future in futures:
        future.result(DEADLINE)
    assert order == ["a", "b", "c"]


def test_a_job_s_error_reaches_its_future_alone(worker: Worker) -> None:
    """An exception is the future's, and the thread goes on."""

    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        worker.submit(Priority.REQUEST, fail).result(DEADLINE)
    assert worker.submit(Priority.REQUEST, lambda: 7).result(DEADLINE) == 7


def test_a_cancelled_job_never_begins(worker: Worker) -> None:
    """A future cancelled while it waits keeps its job from running."""
    begin, ran = threading.Event(), []
    worker.submit(Priority.REQUEST, lambda: begin.wait(DEADLINE))
    waiting = worker.submit(Priority.REQUEST, lambda: ran.append(1))
    assert waiting.cancel()
    begin.set()
    worker.submit(Priority.REQUEST, lambda: None).result(DEADLINE)
    assert ran == []


def test_stopping_runs_the_last_job_and_drops_what_waits() -> None:
    """The job that runs is finished, the last one is run, the waiting ones aren't."""
    worker, begin, started, done = Worker(), threading.Event(), threading.Event(), []

    def long() -> None:
        started.set()
        begin.wait(DEADLINE)
        done.append("long")

    worker.submit(Priority.REQUEST, long)
    worker.submit(Priority.REQUEST, lambda: done.append("waiting"))
    started.wait(DEADLINE)
    threading.Timer(0.05, begin.set).start()
    assert worker.stop(lambda: done.append("last"), DEADLINE)
    assert done == ["long", "last"]


def test_a_job_that_doesn_t_end_is_told() -> None:
    """Stopping says that the thread didn't end in time."""
    worker, begin, started = Worker(), threading.Event(), threading.Event()

    def long() -> None:
        started.set()
        begin.wait(DEADLINE)

    worker.submit(Priority.REQUEST, long)
    assert started.wait(DEADLINE)
    assert not worker.stop(lambda: None, 0.05)
    begin.set()
    assert worker.stop(lambda: None, DEADLINE)
