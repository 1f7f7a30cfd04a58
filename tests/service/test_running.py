"""Who waits for a request that runs, and what is told while it does."""

from __future__ import annotations

import asyncio

import pytest

from specls.service.unwanted import Deletions
from specls.settings import Settings
from tests.service.scripted import Bench, place, says, until

BLOCK = "if x:\n    |"
LINES = "a = 1\n    b = 2\n    c = 3"


@pytest.fixture
async def ready(bench: Bench) -> Bench:
    """A bench with a model that writes three lines, and nothing done ahead."""
    await bench.service.configure(Settings(prefetch=False, alternatives=1))
    bench.model.script = says(LINES)
    return bench


class Asked:
    """Requests at one place of one version of a document, held until ``go``."""

    def __init__(self, bench: Bench, text: str = BLOCK) -> None:
        self.bench = bench
        self.where = place(text)
        bench.go.clear()
        bench.busy.clear()

    def ask(self, *, fresh: bool = False) -> asyncio.Task[str | None]:
        async def complete() -> str | None:
            completion = await self.bench.service.complete(*self.where, fresh=fresh)
            return None if completion is None else completion.text

        return asyncio.create_task(complete())

    async def work(self) -> None:
        """Wait until the engine works on it."""
        await until(self.bench.busy.is_set)

    @property
    def counts(self) -> dict[str, int]:
        """How many requests were answered, superseded and cancelled."""
        counts = self.bench.service.stats()["requests"]
        return {name: counts[name] for name in ("answered", "superseded", "cancelled")}


async def test_two_at_one_place_get_one_answer(ready: Bench) -> None:
    """Who asks again while it's computed gets the same answer, and nothing is computed twice."""
    asked = Asked(ready)
    first = asked.ask()
    await asked.work()
    second = asked.ask()
    await asyncio.sleep(0)
    ready.go.set()
    assert [await first, await second] == [LINES, LINES]
    assert asked.counts == {"answered": 2, "superseded": 0, "cancelled": 0}
    assert ready.last.generated_tokens == len(LINES)


@pytest.mark.parametrize("number", [0, 1])
async def test_one_of_two_may_go(ready: Bench, number: int) -> None:
    """When one of two is cancelled the other one is answered."""
    asked = Asked(ready)
    both = [asked.ask()]
    await asked.work()
    both.append(asked.ask())
    await asyncio.sleep(0)
    both[number].cancel()
    await asyncio.sleep(0)
    ready.go.set()
    assert await both[1 - number] == LINES
    assert asked.counts == {"answered": 1, "superseded": 0, "cancelled": 1}


async def test_it_stops_when_both_go(ready: Bench) -> None:
    """When both are cancelled the engine stops."""
    asked = Asked(ready)
    both = [asked.ask()]
    await asked.work()
    both.append(asked.ask())
    await asyncio.sleep(0)
    for each in both:
        each.cancel()
    await asyncio.gather(*both, return_exceptions=True)
    assert not ready.service.busy
    ready.go.set()
    await until(lambda: ready.service.idle)
    assert asked.counts == {"answered": 0, "superseded": 0, "cancelled": 2}
    assert ready.model.decoded_tokens < 100 + len(LINES)


async def test_a_change_supersedes_both(ready: Bench) -> None:
    """A change of the document answers both with nothing, at once."""
    asked = Asked(ready)
    both = [asked.ask()]
    await asked.work()
    both.append(asked.ask())
    await asyncio.sleep(0)
    ready.service.changed(asked.where[0])
    assert await asyncio.gather(*both) == [None, None]
    assert asked.counts == {"answered": 0, "superseded": 2, "cancelled": 0}
    ready.go.set()


@pytest.mark.parametrize(("first", "superseded"), [("explicit", 0), ("automatic", 1)])
async def test_who_asked_explicitly_gets_more(ready: Bench, first: str, superseded: int) -> None:
    """An explicit request's answer is one to an automatic one, and not the other way round."""
    asked = Asked(ready)
    one = asked.ask(fresh=first == "explicit")
    await asked.work()
    other = asked.ask(fresh=first != "explicit")
    await asyncio.sleep(0)
    ready.go.set()
    assert [await one, await other] == [None if superseded else LINES, LINES]
    assert asked.counts["superseded"] == superseded


# -- told while it's written -----------------------------------------------------------------


async def told(bench: Bench, text: str = BLOCK, *, fresh: bool = False) -> list[str]:
    """What is told early, then the answer."""
    lines: list[str] = []
    completion = await bench.service.complete(*place(text), fresh=fresh, early=lines.append)
    return [*lines, completion.text if completion else "nothing"]


async def test_whole_lines_are_told(ready: Bench) -> None:
    """First that it's written, then the lines that are whole, then the answer has them all."""
    assert await told(ready) == ["", "a = 1", "a = 1\n    b = 2", LINES]


async def test_of_one_line_nothing_is_told_early(ready: Bench) -> None:
    """A suggestion of one line is told when it's there."""
    ready.model.script = says("1, 2]")
    assert await told(ready, "x = [|") == ["", "1, 2]"]


async def test_what_is_known_is_told_at_once(ready: Bench) -> None:
    """A suggestion that is there already has no beginning."""
    await told(ready)
    assert await told(ready) == [LINES]


async def test_nothing_is_told_to_who_is_gone(ready: Bench) -> None:
    """After a cancellation nothing is told any more, although the engine had begun."""
    asked, lines = Asked(ready), list[str]()
    waiting = asyncio.create_task(ready.service.complete(*asked.where, early=lines.append))
    await asked.work()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    ready.go.set()
    await until(lambda: ready.service.idle)
    await asyncio.sleep(0)
    assert lines == []


@pytest.mark.parametrize(("kind", "lines"), [("automatic", [""]), ("explicit", ["", "a = 1"])])
async def test_what_was_deleted_is_not_told(
    ready: Bench, kind: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the last change deleted isn't shown line by line either, unless it's asked for."""
    monkeypatch.setattr(Deletions, "restores", lambda *args: args[3].startswith("a = 1"))
    ready.model.script = says("a = 1\n    b")
    assert (await told(ready, fresh=kind == "explicit"))[:-1] == lines
