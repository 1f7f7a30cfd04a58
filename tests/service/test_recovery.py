"""What becomes of the engine, and of the requests, when it crashes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from specls.errors import Cancelled, ContextFull, DecodeFailed
from specls.service.models import State
from specls.service.recovery import AGAIN, DELAYS, OFF, Recovery, is_crash
from specls.service.service import CompletionService
from specls.settings import Settings
from tests.service.scripted import Bench, place, until

QUIET = Settings(prefetch=False)


class Clock:
    """A clock that stands still, and what is to happen later."""

    def __init__(self) -> None:
        self.now = 0.0
        self.planned: list[tuple[float, Callable[[], None]]] = []

    def __call__(self) -> float:
        return self.now

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        self.planned.append((seconds, action))

    def recovery(self) -> Recovery:
        return Recovery(self, self.later)

    @property
    def delays(self) -> list[float]:
        return [seconds for seconds, _ in self.planned]


@pytest.fixture
def clock(bench: Bench) -> Clock:
    """The clock of ``bench``'s recovery."""
    clock = Clock()
    bench.service._shared.recovery = clock.recovery()
    return clock


class Broken:
    """Passes that fail."""

    def __init__(self, bench: Bench, error: Exception) -> None:
        self.bench = bench
        self.error = error

    def __enter__(self) -> None:
        def fail() -> None:
            raise self.error

        self.bench.model.on_decode = fail

    def __exit__(self, *_exception: object) -> None:
        self.bench.model.on_decode = lambda: None


async def crash(bench: Bench, error: Exception | None = None) -> None:
    """Ask in a new document while each pass fails; wait until that was noticed."""
    with Broken(bench, error or ZeroDivisionError("in the engine")):
        uri = f"file:///{len(bench.loaded)}"
        try:
            assert await bench.service.complete(*place("x = |", uri)) is None
        except ZeroDivisionError:
            assert error is None
        await until(lambda: bench.service.models.status.state is not State.READY)


async def restarted(bench: Bench, clock: Clock) -> None:
    """Let the time until the restart pass."""
    loads = len(bench.loaded)
    bench.model.cells.clear()  # a model that's loaded anew holds nothing
    clock.planned[-1][1]()
    await until(lambda: bench.service.models.status.state is State.READY)
    assert len(bench.loaded) == loads + 1


@pytest.mark.parametrize(
    ("error", "crash"),
    [
        (DecodeFailed("code -3"), True),
        (AssertionError(), True),
        (MemoryError(), True),
        (ContextFull("too long"), False),
        (Cancelled("given up"), False),
    ],
)
def test_what_a_crash_is(error: Exception, *, crash: bool) -> None:
    """What llama.cpp reports and what nobody foresaw is one; what depends on the request isn't."""
    assert is_crash(error) == crash


@pytest.mark.parametrize("error", [None, DecodeFailed("code -3")])
async def test_a_crash_loads_the_models_anew(
    bench: Bench, clock: Clock, error: Exception | None
) -> None:
    """After a crash nothing is completed until the models were loaded again, a second later."""
    await bench.service.configure(QUIET)
    await crash(bench, error)
    assert (bench.service.models.status.state, bench.service.models.status.message) == (
        State.FAILED,
        AGAIN,
    )
    assert await bench.complete("y = |") is None
    assert clock.delays == [1.0]
    await restarted(bench, clock)
    assert bench.closed == 1
    assert await bench.complete("y = |") == "hello"


async def test_three_crashes_in_a_row_are_enough(bench: Bench, clock: Clock) -> None:
    """The third crash switches specls off, and nothing is planned any more."""
    await bench.service.configure(QUIET)
    for _ in DELAYS:
        await crash(bench)
        await restarted(bench, clock)
    await crash(bench)
    assert (bench.service.models.status.state, bench.service.models.status.message) == (
        State.OFF,
        OFF,
    )
    assert clock.delays == [1.0, 10.0]
    assert bench.service.stats()["state"] == "off"
    assert await bench.complete("z = |") is None
    await bench.service.configure(Settings(prefetch=False, max_tokens=7))
    assert bench.service.models.status.state is State.OFF


async def test_another_model_is_another_try(bench: Bench, clock: Clock) -> None:
    """When specls is off, settings that ask for other models load them; the count begins anew."""
    await bench.service.configure(QUIET)
    for _ in DELAYS:
        await crash(bench)
        await restarted(bench, clock)
    await crash(bench)
    await bench.service.configure(Settings(prefetch=False, model="another"))
    assert await bench.complete("z = |") == "hello"
    await crash(bench)
    assert clock.delays == [1.0, 10.0, 1.0]


async def test_an_answer_ends_the_row(bench: Bench, clock: Clock) -> None:
    """A success a minute after the crash makes the next crash the first one again."""
    await bench.service.configure(QUIET)
    await crash(bench)
    await restarted(bench, clock)
    clock.now = 61.0
    assert await bench.complete("y = |") == "hello"
    await crash(bench)
    assert clock.delays == [1.0, 1.0]


async def test_an_answer_soon_after_a_crash_proves_nothing(bench: Bench, clock: Clock) -> None:
    """A document that always crashes the engine switches it off, though others are answered."""
    await bench.service.configure(QUIET)
    for _ in DELAYS:
        await crash(bench)
        await restarted(bench, clock)
        assert await bench.complete("y = |") == "hello"
    await crash(bench)
    assert bench.service.models.status.state is State.OFF


async def test_settings_that_change_meanwhile_load_once(bench: Bench, clock: Clock) -> None:
    """A load that somebody asked for before the restart came is the only one."""
    await bench.service.configure(QUIET)
    await crash(bench)
    await bench.service.configure(Settings(prefetch=False, model="another"))
    clock.planned[-1][1]()
    assert await bench.complete("y = |") == "hello"
    assert [each.model for each in bench.loaded] == [QUIET.model, "another"]


async def test_a_crash_in_the_background_is_one(bench: Bench, clock: Clock) -> None:
    """What nobody waits for may crash as well, and is treated the same."""
    await bench.service.configure(QUIET)
    with Broken(bench, ZeroDivisionError("in the background")):
        bench.service.opened(place("x = 1\n" * 50 + "|")[0])
        await until(lambda: bench.service.models.status.state is State.FAILED)
    await restarted(bench, clock)
    assert await bench.complete("y = |") == "hello"


async def test_all_connections_lose_the_engine_and_get_it_back(bench: Bench, clock: Clock) -> None:
    """A crash that one connection's request caused is told to all, and healed for all."""
    other = CompletionService(bench.service._shared)
    states: list[State] = []
    other.on_status = lambda status: states.append(status.state)
    await bench.service.configure(QUIET)
    await other.configure(QUIET)
    states.clear()
    await crash(bench)
    await restarted(bench, clock)
    assert states == [State.FAILED, State.LOADING, State.LOADING, State.READY]
    completion = await other.complete(*place("y = |"))
    assert completion is not None
    assert completion.text == "hello"


async def test_after_a_crash_nothing_is_kept(bench: Bench, clock: Clock) -> None:
    """An engine that crashed is discarded, not closed: its sessions may be wrong."""
    discarded: list[bool] = []
    await bench.service.configure(QUIET)
    runtime = bench.service.models.runtime
    assert runtime is not None
    object.__setattr__(runtime, "discard", lambda: discarded.append(True))
    await crash(bench)
    await until(lambda: bool(discarded))
    assert (discarded, bench.closed, clock.delays) == ([True], 0, [1.0])
