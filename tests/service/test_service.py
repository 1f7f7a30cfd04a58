"""Which request is answered, with what, and what happens to the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from specls.engine.spill import Spill
from specls.errors import ContextFull, LoadFailed
from specls.service import ahead
from specls.service.models import State
from specls.service.worker import Priority
from specls.settings import Settings
from tests.service.scripted import DEADLINE, LONG, Bench, place, says, until


async def test_a_request_is_answered(bench: Bench) -> None:
    """With a model loaded, a completion comes, and the counters tell."""
    await bench.service.configure(Settings())
    assert await bench.complete() == "hello"
    assert bench.states == [State.LOADING, State.LOADING, State.READY]
    assert bench.service.models.status.notices == ("mind the gap",)
    stats = bench.service.stats()
    assert stats["requests"]["answered"] == 1
    assert stats["models"] == {"target": "qwen2.5-coder-1.5b"}
    assert stats["lastCompletion"]["generatedTokens"] == 5


async def test_what_was_shown_is_shown_again(bench: Bench) -> None:
    """The same request again, or one that types on, decodes nothing; an explicit one does."""
    await bench.service.configure(Settings(prefetch=False))
    assert await bench.complete() == "hello"
    decoded = bench.model.decoded_tokens
    assert await bench.complete() == "hello"
    assert bench.model.decoded_tokens == decoded
    assert bench.service.stats()["lastCompletion"]["origin"] == "cache"
    assert await bench.complete("x = 1\nhe|") == "llo"
    assert bench.service.stats()["lastCompletion"]["origin"] == "typeThrough"
    assert bench.service.stats()["requests"]["withoutModel"] == 2
    assert await bench.complete(fresh=True) == "hello"
    assert bench.model.decoded_tokens > decoded


async def test_a_new_place_is_answered_from_a_small_window(bench: Bench) -> None:
    """The first answer comes from a small window; the whole one is read while nobody waits."""
    await bench.service.configure(Settings())
    assert await bench.complete(LONG + "|") == "hello"
    assert bench.last.partial_window
    assert bench.last.prompt_tokens <= 212
    await until(lambda: bench.service._background.idle)
    assert await bench.complete(LONG + "h|", fresh=True) == "ello"
    assert not bench.last.partial_window
    assert not bench.last.anchor_moved
    assert bench.last.prompt_tokens > 1400
    assert bench.last.prefilled_tokens <= 4


def hold_the_reading(bench: Bench) -> None:
    """From the 128th token of the second sequence on, passes wait for ``go``; ``busy`` tells."""
    bench.busy.clear()

    def hold() -> None:
        if len(bench.model.held.get(1, [])) >= 128:
            bench.busy.set()
            assert bench.go.wait(DEADLINE)

    bench.go.clear()
    bench.model.on_decode = hold


async def test_moving_on_keeps_what_was_read_above(bench: Bench) -> None:
    """At a new place further down, the text above isn't read again for a small window."""
    settings = Settings(prefetch=False, prefix_tokens=2500, suffix_reuse="exact")
    await bench.service.configure(settings)
    assert bench.service.models.runtime is not None
    below = "".join(f"y{number} = {number}\n" for number in range(60))
    await bench.complete(LONG + "|" + below)
    await until(lambda: bench.service._background.idle)
    bench.service.models.runtime.engine.prefill_rate.value = 0.0
    further = below.index("y4 ")
    assert await bench.complete(LONG + below[:further] + "|" + below[further:]) == "hello"
    assert bench.last.anchor_moved
    assert bench.last.partial_window
    assert bench.last.reused_tokens > 1500
    assert bench.last.prefilled_tokens <= 208


async def test_a_request_interrupts_the_reading_of_a_window(bench: Bench) -> None:
    """A request that comes meanwhile is next, and the reading goes on afterwards where it was."""
    await bench.service.configure(Settings())
    hold_the_reading(bench)
    await bench.complete(LONG + "|")
    await until(bench.busy.is_set)
    other = asyncio.create_task(bench.complete(uri="file:///b"))
    await asyncio.sleep(0)
    read = len(bench.model.held[1])
    seen: list[int] = []
    bench.model.on_decode = lambda: seen.append(len(bench.model.held[1]))
    bench.go.set()
    assert await other == "hello"
    # The pass that was held raised, being cancelled; the request's own came next.
    assert seen[0] == read
    await until(lambda: bench.service._background.idle)
    assert await bench.complete(LONG + "h|", fresh=True) == "ello"
    assert bench.last.prefilled_tokens <= 4


@pytest.mark.parametrize("end", ["superseded", "cancelled"])
async def test_a_window_grows_although_nobody_waited_for_the_answer(
    bench: Bench, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first request that was overtaken or cancelled has its window completed all the same."""
    monkeypatch.setattr(ahead, "_PAUSE_SECONDS", 0.01)
    await bench.service.configure(Settings())
    bench.go.clear()
    bench.busy.clear()
    first = asyncio.create_task(bench.complete(LONG + "|"))
    await until(bench.busy.is_set)
    if end == "superseded":
        bench.service.changed(*place(LONG + "|"))
        assert await first is None
    else:
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
    bench.go.set()
    await until(lambda: bench.service.idle and not bench.service._ahead._timers)
    assert await bench.complete(LONG + "h|") == "ello"
    assert not bench.last.partial_window
    assert bench.last.prompt_tokens > 1400


async def test_what_doesn_t_fit_any_more_is_anchored_anew(bench: Bench) -> None:
    """With a cache that the windows fill, a long way from the anchor still gets answers."""
    bench.model.capacity = 512
    await bench.service.configure(Settings(cold_budget_ms=0, prefetch=False, max_tokens=8))
    text = LONG
    answers = []
    for _ in range(12):
        answers.append(await bench.complete(text + "|"))
        text += "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n"
    assert None not in answers
    assert bench.service.counters.failed == 0


async def test_a_document_that_made_way_is_answered_from_a_small_window(bench: Bench) -> None:
    """When nothing of a document is in the cache any more, its place is a new one."""
    await bench.service.configure(Settings(prefetch=False))
    await bench.complete(LONG + "|")
    await until(lambda: bench.service._background.idle)
    assert bench.service._held.runtime is not None
    bench.service._held.runtime.engine.close("file:///a")
    bench.service._held.runtime.engine.prefill_rate.value = 0.0
    assert await bench.complete(LONG + "h|", fresh=True) == "ello"
    assert bench.last.partial_window
    assert bench.last.prefilled_tokens <= 212


async def test_a_failed_load_is_tried_again(bench: Bench) -> None:
    """Any change of the settings tries to load again what failed, the model being there now."""
    bench.failure = LoadFailed("no such file")
    await bench.service.configure(Settings())
    bench.failure = None
    await bench.service.configure(Settings(max_tokens=3))
    assert await bench.complete() == "hel"


async def test_closing_a_document_ends_the_reading_of_its_window(bench: Bench) -> None:
    """A closed document holds nothing, also when its window was being read."""
    await bench.service.configure(Settings())
    hold_the_reading(bench)
    await bench.complete(LONG + "|")
    await until(bench.busy.is_set)
    bench.service.close("file:///a")
    bench.go.set()
    assert await bench.complete(uri="file:///b") == "hello"
    held = {number: len(tokens) for number, tokens in bench.model.held.items() if tokens}
    assert len(held) == 1


async def test_what_follows_is_there_when_the_suggestion_is_accepted(bench: Bench) -> None:
    """While nobody waits, the text behind the suggestion is completed, and then shown at once."""
    bench.model.script = says("hello world")
    await bench.service.configure(Settings(max_tokens=5))
    assert await bench.complete() == "hello"
    await until(lambda: bench.service._background.idle)
    decoded = bench.model.decoded_tokens
    assert await bench.complete("x = 1\nhello|") == " worl"
    assert bench.service.stats()["lastCompletion"]["origin"] == "prefetch"
    assert bench.model.decoded_tokens == decoded


async def test_without_prefetch_nothing_is_done_ahead(bench: Bench) -> None:
    """With the setting off, an answered request leaves nothing to be done."""
    bench.model.script = says("hello world")
    await bench.service.configure(Settings(max_tokens=5, prefetch=False))
    assert await bench.complete() == "hello"
    decoded = bench.model.decoded_tokens
    await until(lambda: bench.service._background.idle)
    assert bench.model.decoded_tokens == decoded


async def test_a_prefetch_gives_way_to_another_key(bench: Bench) -> None:
    """Typing something else makes what was to be done ahead pointless."""
    bench.model.script = says("hello world")
    await bench.service.configure(Settings(max_tokens=5))
    bench.go.clear()
    first = asyncio.create_task(bench.complete())
    await until(bench.busy.is_set)
    bench.go.set()
    assert await first == "hello"
    assert await bench.complete("x = 1\nq|") == "hello"
    await until(lambda: bench.service._background.idle)
    assert await bench.complete("x = 1\nqhello|") == " worl"


async def test_without_a_budget_the_whole_window_is_read_at_once(bench: Bench) -> None:
    """With ``coldBudgetMs`` at 0 the first answer has the whole window."""
    await bench.service.configure(Settings(cold_budget_ms=0))
    await bench.complete(LONG + "|")
    assert bench.last.prompt_tokens > 1400
    assert not bench.last.partial_window


async def test_nothing_is_queued_while_loading(bench: Bench) -> None:
    """A request before the models are there is answered at once, with nothing."""
    bench.go.clear()
    loading = asyncio.create_task(bench.service.configure(Settings()))
    await until(lambda: bench.service.models.status.state is State.LOADING)
    assert await bench.complete() is None
    bench.go.set()
    await loading
    assert bench.service.counters.unavailable == 1
    assert await bench.complete() == "hello"


async def test_a_failed_load_is_told_and_answers_nothing(bench: Bench) -> None:
    """The reason is in the status, requests get nothing, and other settings may help."""
    bench.failure = LoadFailed("no such file")
    await bench.service.configure(Settings())
    assert bench.service.models.status.state is State.FAILED
    assert bench.service.models.status.message == "no such file"
    assert await bench.complete() is None
    bench.failure = None
    await bench.service.configure(Settings(model="other"))
    assert await bench.complete() == "hello"


async def test_an_unknown_load_error_is_no_traceback(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """An error that nobody foresaw is logged, and the user reads a sentence."""
    bench.failure = ZeroDivisionError("x")
    await bench.service.configure(Settings())
    assert (
        bench.service.models.status.message
        == "Loading the models failed; the log of specls says how."
    )
    assert "ZeroDivisionError" in caplog.text


async def test_the_newest_request_of_a_document_wins(bench: Bench) -> None:
    """Older requests are answered at once with nothing, and the newest with a completion."""
    await bench.service.configure(Settings())
    bench.go.clear()
    bench.busy.clear()
    older = [asyncio.create_task(bench.complete()) for _ in range(3)]
    await until(bench.busy.is_set)
    newest = asyncio.create_task(bench.complete())
    assert await asyncio.gather(*older) == [None, None, None]
    assert not newest.done()
    bench.go.set()
    assert await newest == "hello"
    assert bench.service.counters.superseded == 3


async def test_documents_don_t_supersede_each_other(bench: Bench) -> None:
    """Requests of two documents are both answered."""
    await bench.service.configure(Settings())
    both = (bench.complete(uri="file:///a"), bench.complete(uri="file:///b"))
    assert list(await asyncio.gather(*both)) == ["hello", "hello"]


async def test_a_change_of_the_document_ends_its_request(bench: Bench) -> None:
    """What was asked for an older version is answered with nothing, and computed no further."""
    await bench.service.configure(Settings())
    bench.go.clear()
    bench.busy.clear()
    request = asyncio.create_task(bench.complete())
    await until(bench.busy.is_set)
    bench.service.supersede("file:///a")
    assert await request is None
    decoded = bench.model.decoded_tokens
    bench.go.set()
    assert await bench.complete(uri="file:///b") == "hello"
    assert bench.model.held[0] == []
    assert bench.model.decoded_tokens - decoded == len(bench.model.held[1])


async def test_cancelling_stops_the_computation(bench: Bench) -> None:
    """A cancelled request's coroutine ends with CancelledError, and its pass is the last."""
    await bench.service.configure(Settings())
    bench.go.clear()
    bench.busy.clear()
    request = asyncio.create_task(bench.complete())
    await until(bench.busy.is_set)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    bench.go.set()
    assert await bench.complete("y = 1\n|") == "hello"
    assert bench.service.counters.cancelled == 1


async def test_a_failing_engine_answers_nothing(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """An engine error is logged, the request gets nothing, and the next one may work."""
    await bench.service.configure(Settings())

    def fail() -> None:
        raise ContextFull("no room")

    bench.model.on_decode = fail
    assert await bench.complete() is None
    assert "no room" in caplog.text
    bench.model.on_decode = lambda: None
    assert await bench.complete() == "hello"
    assert bench.service.counters.failed == 1


async def test_settings_that_need_no_load_apply_at_once(bench: Bench) -> None:
    """A new token limit is followed by the next request, with the same models."""
    await bench.service.configure(Settings())
    await bench.service.configure(Settings(max_tokens=3))
    assert await bench.complete() == "hel"
    assert len(bench.loaded) == 1


async def test_another_model_replaces_the_first(bench: Bench) -> None:
    """A change of the model frees the old one and loads the new one."""
    await bench.service.configure(Settings())
    await bench.service.configure(Settings(model="other"))
    assert [each.model for each in bench.loaded] == ["qwen2.5-coder-1.5b", "other"]
    assert bench.closed == 1
    assert await bench.complete() == "hello"


async def test_a_model_that_isn_t_there_replaces_nothing(bench: Bench) -> None:
    """A model that can't be had is told, and the one that was loaded goes on."""
    await bench.service.configure(Settings())
    await bench.service.configure(Settings(model="missing"))
    (notice,) = bench.service.models.status.notices
    assert notice.startswith("missing isn't on this machine yet. The models that were loaded")
    assert await bench.complete() == "hello"
    assert bench.closed == 0


async def test_quick_changes_end_with_the_last(bench: Bench) -> None:
    """Settings that change while models load end up as the last ones said, and nothing leaks."""
    bench.go.clear()
    changes = [
        asyncio.create_task(bench.service.configure(replace(Settings(), model=name)))
        for name in ("a", "b", "c")
    ]
    await until(lambda: bench.service.settings.model == "c")
    bench.go.set()
    await asyncio.gather(*changes)
    assert bench.service.models.status.state is State.READY
    assert bench.service.stats()["models"] == {"target": "c"}
    assert bench.closed == len(bench.loaded) - 1
    assert "b" not in [each.model for each in bench.loaded]


async def test_closing_a_document_frees_its_tokens(bench: Bench) -> None:
    """A closed document holds no tokens in the cache."""
    await bench.service.configure(Settings())
    await bench.complete()
    assert bench.model.held[0] != []
    bench.service.close("file:///a")
    await bench.complete(uri="file:///b")
    assert bench.model.held[0] != []
    assert len(bench.model.held) == 1


async def test_shutdown_frees_the_models() -> None:
    """After the shutdown the models are closed."""
    bench = Bench()
    await bench.service.configure(Settings())
    assert bench.service.shutdown(DEADLINE)
    assert bench.closed == 1


async def test_a_secret_is_never_read(bench: Bench) -> None:
    """In an excluded document nothing is decoded, whatever happens, and the reason is told."""
    await bench.service.configure(Settings())
    uri = "file:///project/.env"
    snapshot, position = place("TOKEN=|", uri)
    bench.service.opened(snapshot)
    bench.service.changed(snapshot, position)
    bench.service.saved(snapshot)
    assert await bench.complete("TOKEN=|", uri) is None
    await until(lambda: bench.service.idle)
    assert bench.model.decoded_tokens == 0
    stats = bench.service.stats()
    assert stats["requests"]["excluded"] == 1
    assert stats["excluded"][uri].startswith("it may hold secrets (.env)")
    bench.service.close(uri)
    assert bench.service.stats()["excluded"] == {}


async def test_what_is_excluded_later_is_forgotten(bench: Bench) -> None:
    """A document that is excluded after it was read leaves nothing in the cache."""
    await bench.service.configure(Settings(prefetch=False))
    uri = "file:///project/notes.py"
    bench.service.opened(place("x = 1\n|", uri)[0])
    assert await bench.complete("x = 1\n|", uri) == "hello"
    await until(lambda: bench.service.idle)
    await bench.service.configure(Settings(prefetch=False, exclude=("notes.*",)))
    assert await bench.complete("x = 1\n|", uri) is None
    await until(lambda: not bench.model.cells)
    await bench.service.configure(Settings(prefetch=False))
    assert await bench.complete("x = 1\n|", uri) == "hello"
    assert len(bench.loaded) == 1


@pytest.mark.parametrize(
    ("later", "kept"),
    [
        (Settings(prefetch=False), True),
        (Settings(prefetch=False, max_tokens=7), True),
        (Settings(prefetch=False, exclude=("notes.*",)), False),
        (Settings(prefetch=False, enable=(("python", False),)), False),
    ],
)
async def test_what_is_excluded_while_it_is_closed_is_forgotten(
    bench: Bench, later: Settings, *, kept: bool
) -> None:
    """Whatever is kept of closed documents goes when other things are excluded, and only then."""
    bench.spill = Spill(2**20)
    await bench.service.configure(Settings(prefetch=False))
    uri = "file:///project/notes.py"
    bench.service.opened(place("x = 1\n|", uri)[0])
    assert await bench.complete("x = 1\n|", uri) == "hello"
    bench.service.close(uri)
    await until(lambda: bench.service.idle and bench.spill is not None and bench.spill.size > 0)
    await bench.service.configure(later)
    behind = bench.service._shared.worker.submit(Priority.CLOSE, lambda: None)
    await asyncio.wrap_future(behind)
    assert (bench.spill.size > 0) is kept


async def test_patterns_begin_at_the_workspace_s_folders(bench: Bench) -> None:
    """When a folder is added, what its patterns exclude is excluded at once."""
    await bench.service.configure(Settings(exclude=("/build/",)))
    uri = "file:///project/build/x.py"
    bench.service.opened(place("x|", uri)[0])
    assert bench.service.excluded() == {}
    bench.service.roots = ("file:///project",)
    bench.service.exclude()
    assert list(bench.service.excluded()) == [uri]
