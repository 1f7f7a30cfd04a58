"""Replacing the models: who answers meanwhile, and what is used when that fails."""

from __future__ import annotations

import asyncio

import pytest

from specls.engine.llama.memory import available_bytes
from specls.errors import DecodeFailed, LoadFailed, NoMemory
from specls.service.models import State
from specls.service.service import CompletionService
from specls.settings import Settings
from tests.fakes import ScriptedModel
from tests.service.scripted import Bench, says, until

OLD, NEW, LARGE = (Settings(model=name, prefetch=False) for name in ("old", "new", "large"))


@pytest.fixture
async def ready(bench: Bench) -> Bench:
    """A service with the old model, which writes ``hello``; the next one writes ``farewell``."""
    await bench.service.configure(OLD)
    assert await bench.complete() == "hello"
    bench.model = ScriptedModel(says("farewell"), micro_batch=64)
    return bench


def held(bench: Bench, settings: Settings) -> asyncio.Task[str | None]:
    """Begin to load other models, which waits."""
    bench.may_load.clear()
    return asyncio.create_task(bench.service.configure(settings))


async def loading(bench: Bench, count: int = 2) -> None:
    """Wait until the loader was called so often."""
    await until(lambda: len(bench.loaded) == count)


def name(bench: Bench) -> object:
    """The model that is loaded."""
    return bench.service.stats()["models"].get("target")


async def test_the_old_model_answers_while_the_new_one_is_loaded(ready: Bench) -> None:
    """Requests are answered during the load, and by the new model when it's there."""
    change = held(ready, NEW)
    await loading(ready)
    assert ready.service.models.status.state is State.LOADING
    assert await ready.complete("y = 1\n|") == "hello"
    assert ready.closed == 0
    ready.may_load.set()
    await change
    assert (name(ready), ready.closed) == ("new", 1)
    assert await ready.complete("y = 1\n|") == "farewell"


async def test_what_does_not_fit_has_the_old_one_freed_first(ready: Bench) -> None:
    """Without memory for both nothing is answered during the load, and the user is told."""
    change = held(ready, LARGE)
    await loading(ready)
    assert ready.closed == 1
    assert await ready.complete("y = 1\n|") is None
    ready.may_load.set()
    await change
    assert ready.service.models.status.notices == (
        (
            "There isn't enough memory for large beside old: nothing was completed while it was "
            "loaded."
        ),
        "mind the gap",
    )
    assert await ready.complete("y = 1\n|") == "farewell"


async def test_what_turns_out_not_to_fit_is_loaded_alone(ready: Bench) -> None:
    """Memory that runs out beside the old model is tried again without it."""
    ready.failures["new"] = NoMemory("No memory for new.")
    await ready.service.configure(NEW)
    assert [each.model for each in ready.loaded] == ["old", "new", "new"]
    assert (name(ready), ready.closed) == ("new", 1)


async def test_what_can_not_be_loaded_leaves_the_old_one(ready: Bench) -> None:
    """A load that fails is told with its reason and remedy, and the old model goes on."""
    ready.failures["new"] = LoadFailed("new is broken.", remedy="specls models pull new")
    await ready.service.configure(NEW)
    status = ready.service.models.status
    assert (status.state, status.message) == (State.READY, "new is broken.")
    assert status.remedy == "specls models pull new"
    assert status.notices == ("new is broken. The models that were loaded before are still used.",)
    assert (name(ready), ready.closed) == ("old", 0)
    assert await ready.complete("y = 1\n|") == "hello"


async def test_what_made_way_for_nothing_is_loaded_again(ready: Bench) -> None:
    """The old model comes back when the one that it made way for can't be loaded."""
    ready.failures["large"] = LoadFailed("large is broken.")
    await ready.service.configure(LARGE)
    assert [each.model for each in ready.loaded] == ["old", "large", "old"]
    assert ready.service.models.status.notices == (
        "large is broken. The models that were loaded before were loaded again.",
    )
    assert await ready.complete("y = 1\n|") == "farewell"


async def test_when_nothing_can_be_loaded_the_first_reason_is_told(ready: Bench) -> None:
    """With neither the new model nor the old one, the state is that of the new one's failure."""
    ready.failures["large"] = LoadFailed("large is broken.")
    ready.failures["old"] = LoadFailed("old is broken, too.")
    await ready.service.configure(LARGE)
    status = ready.service.models.status
    assert (status.state, status.message) == (State.FAILED, "large is broken.")
    assert await ready.complete("y = 1\n|") is None


async def test_a_change_that_is_taken_back_loads_nothing(ready: Bench) -> None:
    """Back to what is loaded: the load that runs is given up, and the old model stays."""
    change = held(ready, NEW)
    await loading(ready)
    await ready.service.configure(OLD)
    assert ready.service.models.status.state is State.READY
    ready.may_load.set()
    await change
    assert [each.model for each in ready.loaded] == ["old", "new"]
    assert (name(ready), ready.closed) == ("old", 0)
    assert ready.service.models.status.state is State.READY


async def test_after_a_failure_the_old_settings_load_nothing(ready: Bench) -> None:
    """What was loaded before a load that failed is there, and isn't loaded again."""
    ready.failures["new"] = LoadFailed("new is broken.")
    await ready.service.configure(NEW)
    await ready.service.configure(OLD)
    assert [each.model for each in ready.loaded] == ["old", "new"]
    assert ready.service.models.status.message == ""


async def test_reloading_loads_again(ready: Bench) -> None:
    """Somebody who asks for it gets the same settings loaded anew, and what failed is tried."""
    await ready.service.reload()
    assert [each.model for each in ready.loaded] == ["old", "old"]
    assert await ready.complete("y = 1\n|") == "farewell"
    ready.failures["new"] = LoadFailed("new is broken.")
    await ready.service.configure(NEW)
    await ready.service.reload()
    assert name(ready) == "new"
    assert ready.service.models.status.message == ""


async def test_a_request_on_its_way_is_answered_by_the_old_model(ready: Bench) -> None:
    """The models are replaced between two jobs: a request that runs gets its answer."""
    ready.service.models.on_freeing = lambda: pytest.fail("nobody is to be stopped")
    change = held(ready, NEW)
    await loading(ready)
    ready.go.clear()
    ready.busy.clear()
    request = asyncio.create_task(ready.complete("y = 1\n|"))
    await until(ready.busy.is_set)
    ready.may_load.set()
    ready.go.set()
    assert await request == "hello"
    await change
    assert name(ready) == "new"


async def test_a_crash_of_the_old_model_does_not_end_the_load(ready: Bench) -> None:
    """What crashes while another model is loaded is freed, and that one answers afterwards."""
    change = held(ready, NEW)
    await loading(ready)

    def fail() -> None:
        raise DecodeFailed("code -3")

    old = ready.service.models.runtime
    assert old is not None
    old.engine.target.on_decode = fail  # type: ignore[attr-defined]
    assert await ready.complete("y = 1\n|") is None
    await until(lambda: ready.closed == 1)
    assert await ready.complete("y = 1\n|") is None
    ready.may_load.set()
    await change
    assert await ready.complete("y = 1\n|") == "farewell"


async def test_a_load_goes_on_for_the_others(ready: Bench) -> None:
    """A connection that ends while it waits for models takes nothing from the others."""
    other = CompletionService(ready.service._shared)
    assert await other.configure(OLD) is None
    ready.may_load.clear()
    change = asyncio.create_task(other.configure(NEW))
    await loading(ready)
    change.cancel()
    with pytest.raises(asyncio.CancelledError):
        await change
    other.leave()
    ready.may_load.set()
    await until(lambda: name(ready) == "new")
    await until(lambda: ready.service.models.status.state is State.READY)


async def test_models_are_listed(ready: Bench) -> None:
    """All that can be named, and which of them answers."""
    await ready.service.configure(Settings(model="scripted"))
    assert await ready.service.models.listing() == [
        {"id": "scripted", "present": True, "current": True},
        {"id": "missing", "present": False, "current": False},
    ]


def test_a_container_has_less_memory_than_its_machine(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The limit of a container counts, and what it read of files doesn't; without one, neither."""
    folder = tmp_path_factory.mktemp("cgroup")
    free = available_bytes(folder)
    assert free > 10_000
    (folder / "memory.max").write_text("9000\n", "ascii")
    (folder / "memory.current").write_text("8000\n", "ascii")
    assert available_bytes(folder) == 1000
    (folder / "memory.stat").write_text("anon 5\ninactive_file 3000\n", "ascii")
    assert available_bytes(folder) == 4000
    (folder / "memory.max").write_text("max\n", "ascii")
    assert available_bytes(folder) > 10_000
