"""Several connections with one engine: what is shared, and what is each one's own."""

from __future__ import annotations

import asyncio

import pytest

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.engine.spill import Spill
from specls.service.models import State
from specls.service.service import CompletionService
from specls.settings import Settings
from tests.fakes import ScriptedModel
from tests.service.scripted import DEADLINE, LONG, Bench, place, says, until

QUIET = Settings(prefetch=False)


@pytest.fixture
async def other(bench: Bench) -> CompletionService:
    """Another connection's service, on the engine of ``bench``."""
    return CompletionService(bench.service._shared)


def opened(service: CompletionService, text: str) -> tuple[Snapshot, Position]:
    """Open a document; it, and where the bar stands."""
    where = place(text)
    service.opened(where[0])
    return where


async def text_of(service: CompletionService, where: tuple[Snapshot, Position]) -> str:
    completion = await service.complete(*where, fresh=True)
    assert completion is not None
    return completion.text


async def test_two_windows_have_the_same_file_open(bench: Bench, other: CompletionService) -> None:
    """Each connection's text is its own, though the URI is the same: two sessions, two prompts."""
    for service in (bench.service, other):
        await service.configure(QUIET)
    mine = opened(bench.service, "first = 1\n|")
    theirs = opened(other, "second = 2\n|")
    assert await text_of(bench.service, mine) == "hello"
    assert await text_of(other, theirs) == "hello"
    assert bench.loaded == [QUIET]
    held = [bytes(each for each in tokens if each < 256) for tokens in bench.model.held.values()]
    assert sum(b"first" in each and b"second" not in each for each in held) == 1
    assert sum(b"second" in each and b"first" not in each for each in held) == 1


async def test_the_same_text_in_two_windows_is_read_once(
    bench: Bench, other: CompletionService
) -> None:
    """What one connection's document has in the cache is shared by another's, cells and all."""
    settings = Settings(prefetch=False, cold_budget_ms=0, prompt_layout="cursor")
    for service in (bench.service, other):
        await service.configure(settings)
    await text_of(bench.service, opened(bench.service, LONG + "|"))
    decoded = bench.model.decoded_tokens
    await text_of(other, opened(other, LONG + "|"))
    assert decoded > 1400
    assert bench.model.decoded_tokens - decoded < 50


async def test_who_joins_takes_what_is_loaded(bench: Bench, other: CompletionService) -> None:
    """A second connection with other settings of the models is told so, and nothing is loaded."""
    assert await bench.service.configure(QUIET) is None
    told = await other.configure(Settings(model="another"))
    assert told is not None
    assert "Another editor window" in told
    assert bench.loaded == [QUIET]
    assert await other.configure(Settings(model="another", max_lines=2)) is None
    assert bench.loaded == [QUIET]


async def test_a_change_of_one_loads_for_all(bench: Bench, other: CompletionService) -> None:
    """Whoever changes a setting of the models later loads them; all are told, and go on."""
    states: list[State] = []
    other.on_status = lambda status: states.append(status.state)
    await bench.service.configure(QUIET)
    await other.configure(QUIET)
    where = opened(other, "x = 1\n|")
    assert await text_of(other, where) == "hello"
    bench.model = ScriptedModel(says("farewell"), micro_batch=64)
    changed = Settings(prefetch=False, model="another")
    assert await bench.service.configure(changed) is None
    assert bench.loaded == [QUIET, changed]
    assert states[-2:] == [State.LOADING, State.READY]
    completion = await other.complete(*where)
    assert completion is not None
    assert completion.text == "farewell"
    assert await other.configure(changed) is None
    assert bench.loaded == [QUIET, changed]


async def test_who_is_alone_decides(bench: Bench, other: CompletionService) -> None:
    """When the others have left, the settings of who comes next count."""
    await bench.service.configure(QUIET)
    bench.service.leave()
    wanted = Settings(model="another")
    assert await other.configure(wanted) is None
    assert bench.loaded == [QUIET, wanted]


async def test_leaving_frees_only_ones_own(bench: Bench, other: CompletionService) -> None:
    """A connection that ends takes its sessions along; the others' documents stay read."""
    bench.spill = Spill(0)
    for service in (bench.service, other):
        await service.configure(QUIET)
    mine = opened(bench.service, "first = 1\n|")
    await text_of(bench.service, mine)
    await text_of(other, opened(other, "second = 2\n|"))
    await until(lambda: bench.service.idle)
    other.leave()
    await text_of(bench.service, mine)  # the worker frees before it answers
    held = [bytes(each for each in tokens if each < 256) for tokens in bench.model.held.values()]
    assert sum(b"first" in each for each in held) == 1
    assert not any(b"second" in each for each in held)
    assert bench.service.last is not None
    assert bench.service.last.stats.prefilled_tokens <= 1


async def test_a_state_is_kept_for_whoever_opens_the_file_next(
    bench: Bench, other: CompletionService
) -> None:
    """What one connection read of a file and closed comes back when another one opens it."""
    bench.spill = Spill(1 << 20)
    for service in (bench.service, other):
        await service.configure(QUIET)
    await text_of(bench.service, opened(bench.service, LONG + "|"))
    await until(lambda: bench.service.idle)
    bench.service.close("file:///a")
    await text_of(other, opened(other, LONG + "|"))
    assert other.stats()["states"]["restored"] == 1


async def test_background_work_makes_way_for_every_connection(
    bench: Bench, other: CompletionService
) -> None:
    """While one connection's window is read in the background, another's request comes first."""
    for service in (bench.service, other):
        await service.configure(QUIET)

    def hold() -> None:
        if not (bench.service.busy or other.busy):
            bench.busy.set()
            assert bench.go.wait(DEADLINE)

    bench.busy.clear()
    bench.go.clear()
    bench.model.on_decode = hold
    await text_of(bench.service, opened(bench.service, LONG + "|"))
    await until(bench.busy.is_set)
    answer = asyncio.ensure_future(text_of(other, place("x = 1\n|", "file:///b")))
    await until(lambda: other.busy)
    bench.go.set()
    assert await answer == "hello"
    assert not bench.service.idle
    await until(lambda: bench.service.idle)
