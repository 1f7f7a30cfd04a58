"""An engine that doesn't get on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from specls.service.models import State
from specls.service.watch import SECONDS, STUCK, Watch
from specls.settings import Settings
from tests.service.scripted import Bench, until


class Hours:
    """What is to happen later."""

    def __init__(self) -> None:
        self.planned: list[Callable[[], None]] = []

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        assert seconds == SECONDS
        self.planned.append(action)

    def pass_by(self) -> None:
        (action,) = self.planned
        self.planned.clear()
        action()


def test_who_gets_on_is_left_alone() -> None:
    """While the beat changes nothing is told, and once there's no work nobody looks any more."""
    hours, beats, told = Hours(), iter([1, 2, 3, None]), list[str]()
    watch = Watch(lambda: next(beats), lambda: told.append("stuck"), lambda: None, hours.later)
    watch.begin()
    watch.begin()
    for _ in range(4):
        hours.pass_by()
    assert (told, hours.planned) == ([], [])


def test_a_stop_is_told_once_and_so_is_its_end() -> None:
    """The same beat twice is a stop; another one, or none, ends it."""
    hours, beats, told = Hours(), iter([1, 1, 1, 2, 2, None]), list[str]()
    watch = Watch(
        lambda: next(beats), lambda: told.append("stuck"), lambda: told.append("free"), hours.later
    )
    watch.begin()
    for _ in range(6):
        hours.pass_by()
    assert told == ["stuck", "free", "stuck", "free"]


async def test_requests_are_answered_while_the_engine_hangs(bench: Bench) -> None:
    """The request that hangs and those behind it get nothing; when it gets on, all is well."""
    hours, shared = Hours(), bench.service._shared
    shared.watch = Watch(shared._beat, shared._stuck, shared.models.go_on, hours.later)
    await bench.service.configure(Settings(prefetch=False))
    bench.go.clear()
    bench.busy.clear()
    hanging = asyncio.ensure_future(bench.complete("x = |"))
    await until(bench.busy.is_set)
    hours.pass_by()
    hours.pass_by()
    assert await hanging is None
    status = bench.service.models.status
    assert (status.state, status.message) == (State.FAILED, STUCK)
    assert await bench.complete("y = |") is None
    bench.go.set()
    await until(lambda: shared.worker.job is None)
    hours.pass_by()
    assert bench.service.models.status.state is State.READY
    assert await bench.complete("y = |") == "hello"
