"""What is done before anybody asks, and that it never stands in the way."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from specls.engine.shelf import Shelf
from specls.engine.spill import Spill
from specls.service import ahead
from specls.service.completion import Origin
from specls.service.service import CompletionService
from specls.settings import Settings
from tests.fakes import MIDDLE, PREFIX, SUFFIX
from tests.service.scripted import DEADLINE, LONG, Bench, place, says, until

QUIET = Settings(prefetch=False)
TAIL = "".join(f"z{number}\n" for number in range(40))


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typing pauses after a moment."""
    monkeypatch.setattr(ahead, "_FOLLOW_SECONDS", 0.001)
    monkeypatch.setattr(ahead, "_PAUSE_SECONDS", 0.05)


def idle(service: CompletionService) -> bool:
    return service._background.idle and not service._ahead._timers


async def change(bench: Bench, text: str) -> None:
    """The document is changed where the bar stands, and nobody asks."""
    bench.service.changed(*place(text))
    await until(lambda: idle(bench.service))


async def test_typed_text_is_decoded_at_once(bench: Bench) -> None:
    """When the request comes, what was typed is there: only the last token is decoded."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\n|")
    await change(bench, "x = 1\nyyy|")
    assert bytes(bench.model.held[0][bench.model.held[0].index(MIDDLE) + 1 :]) == b"yyy"
    assert await bench.complete("x = 1\nyyy|", fresh=True) is not None
    assert bench.last.prefilled_tokens == 1


async def test_a_change_elsewhere_decodes_nothing(bench: Bench) -> None:
    """Where the cursor left its anchor, nothing is done before a request."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\ny = 2\n|")
    decoded = bench.model.decoded_tokens
    await change(bench, "a|x = 1\ny = 2\n")
    assert bench.model.decoded_tokens == decoded


async def test_a_document_without_a_session_costs_nothing(bench: Bench) -> None:
    """Typing in a file where no completion was asked for computes nothing."""
    await bench.service.configure(QUIET)
    await change(bench, "x = 1\nyyy|")
    assert bench.model.decoded_tokens == 0


async def test_a_request_needn_t_wait_for_a_change(bench: Bench) -> None:
    """A request that follows at once does the work itself; nothing is done twice."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\n|")
    decoded = bench.model.decoded_tokens
    bench.service.changed(*place("x = 1\nyyy|"))
    await bench.complete("x = 1\nyyy|", fresh=True)
    await until(lambda: idle(bench.service))
    new = bench.last.prefilled_tokens + bench.last.decoded_tokens
    assert bench.model.decoded_tokens == decoded + new


async def test_a_pause_makes_it_exact(bench: Bench) -> None:
    """A suffix that was carried over is decoded exactly when typing pauses."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\ny|\n" + TAIL)
    await bench.complete("x = 11\ny|\n" + TAIL, fresh=True)
    assert bench.last.carried_tokens > 0
    assert bench.last.approximate_tokens > 0
    await until(lambda: idle(bench.service))
    await bench.complete("x = 11\ny|\n" + TAIL, fresh=True)
    assert (bench.last.carried_tokens, bench.last.approximate_tokens) == (0, 0)
    assert bench.last.prefilled_tokens == 1


async def test_saving_makes_it_exact(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saving a file is as good as a pause."""
    monkeypatch.setattr(ahead, "_PAUSE_SECONDS", 1000.0)
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\ny|\n" + TAIL)
    await bench.complete("x = 11\ny|\n" + TAIL, fresh=True)
    assert bench.last.approximate_tokens > 0
    bench.service.saved(place("x = 11\ny|\n" + TAIL)[0])
    await until(lambda: bench.service._background.idle)
    await bench.complete("x = 11\ny|\n" + TAIL, fresh=True)
    assert bench.last.approximate_tokens == 0


async def test_a_pause_anchors_anew(bench: Bench) -> None:
    """Far below its anchor, the cursor gets a new one when typing pauses."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\n|\n" + TAIL)
    typed = "".join(f"w{number}\n" for number in range(20))
    await bench.complete("x = 1\n" + typed + "|\n" + TAIL)
    await until(lambda: idle(bench.service))
    (held,) = bench.model.held.values()
    below = "".join(f"w{number}\n" for number in range(16, 20))
    assert bytes(held[1 : held.index(SUFFIX)]).decode() + below == "x = 1\n" + typed
    assert bytes(held[held.index(MIDDLE) + 1 :]).decode() == below


async def test_lines_that_come_in_above_cost_nothing(bench: Bench) -> None:
    """An import that's added at the top of the file is read when typing pauses, and not before."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\ny|\n" + TAIL)
    await bench.complete("import a\nx = 1\ny|\n" + TAIL, fresh=True)
    assert bench.last.prefilled_tokens == 1
    await until(lambda: idle(bench.service))
    (held,) = bench.model.held.values()
    assert bytes(held[1 : held.index(SUFFIX)]).decode() == "import a\n"
    assert bytes(held[held.index(MIDDLE) + 1 :]).decode() == "x = 1\ny"


async def test_an_idle_server_does_nothing(bench: Bench) -> None:
    """After a pause all is exact and saved; another one decodes nothing."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\ny|\n" + TAIL)
    await until(lambda: idle(bench.service))
    decoded = bench.model.decoded_tokens
    await asyncio.sleep(0.2)
    assert bench.model.decoded_tokens == decoded
    assert idle(bench.service)


async def test_a_document_that_is_opened_is_read(bench: Bench) -> None:
    """The beginning of a file is there before the first request, as far as it's read quickly."""
    await bench.service.configure(QUIET)
    bench.service.opened(place("x = 1\ny = 2\n|")[0])
    await until(lambda: idle(bench.service))
    assert bench.model.held[0] == [PREFIX, *b"x = 1\ny = 2\n"]
    await bench.complete("x = 1\ny =| 2\n")
    assert bench.last.reused_tokens == len("x = 1\n") + 1


async def test_what_was_opened_before_the_models_were_there(bench: Bench) -> None:
    """A file that was opened while the models were loaded is read once they are, unless closed."""
    bench.service.opened(place("x = 1\n|")[0])
    bench.service.opened(place("y = 2\n|", "file:///b")[0])
    await bench.service.configure(QUIET)
    await until(lambda: idle(bench.service))
    assert bench.model.held == {0: [PREFIX, *b"y = 2\n"]}
    bench.service.close("file:///b")
    decoded = bench.model.decoded_tokens
    await bench.service.configure(Settings(prefetch=False, threads=3))
    await until(lambda: idle(bench.service))
    assert (len(bench.loaded), bench.model.decoded_tokens) == (2, decoded)


async def test_only_a_part_of_a_long_document_is_read(bench: Bench) -> None:
    """A file that's long is read as far as ten seconds go."""
    await bench.service.configure(QUIET)
    bench.service.opened(place(LONG + "|")[0])
    await until(lambda: idle(bench.service))
    assert 200 < bench.model.decoded_tokens <= 257


async def test_of_several_documents_the_last_is_read(bench: Bench) -> None:
    """When a session of many files is opened at once, only the last one is read."""
    await bench.service.configure(QUIET)
    bench.go.clear()
    for number in range(10):
        bench.service.opened(place(f"x = {number}\n|", f"file:///{number}")[0])
    bench.go.set()
    await until(lambda: idle(bench.service))
    held = [bytes(tokens[1:]) for tokens in bench.model.held.values()]
    assert len(held) <= 2  # the first may have begun
    assert b"x = 9\n" in held


async def test_a_request_comes_before_the_reading_of_a_document(bench: Bench) -> None:
    """A file that's being read is answered at once, and what was read of it is used."""
    await bench.service.configure(QUIET)
    assert bench.service.models.runtime is not None
    bench.service.models.runtime.engine.prefill_rate.value = 1000.0
    bench.busy.clear()
    bench.service.opened(place(LONG + "|")[0])
    await until(bench.busy.is_set)
    assert await bench.complete(LONG[:60] + "|" + LONG[60:]) is not None
    assert bench.last.reused_tokens > 0
    await until(lambda: idle(bench.service))


async def test_a_closed_document_ends_all_of_it(bench: Bench) -> None:
    """After a document was closed, no timer and no work of it is left."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\ny|\n" + TAIL)
    bench.service.changed(*place("x = 1\nyy|\n" + TAIL))
    bench.service.close("file:///a")
    assert not bench.service._ahead._timers
    await until(lambda: idle(bench.service))
    assert bench.model.cells == []


async def test_a_server_that_starts_anew_restores_a_document(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What was written while the first one ran is there for the second, although it never ended."""
    caplog.set_level(logging.WARNING)
    first = Bench()
    first.spill = Spill(1000, Shelf(tmp_path, 2**20, "model"))
    await first.service.configure(QUIET)
    await first.complete(LONG[:600] + "|\n" + TAIL)
    await until(lambda: bool(list(tmp_path.rglob("*.state"))))
    second = Bench()
    second.spill = Spill(1000, Shelf(tmp_path, 2**20, "model"))
    await second.service.configure(QUIET)
    second.service.opened(place(LONG[:600] + "|\n" + TAIL)[0])
    await until(lambda: idle(second.service))
    assert second.model.decoded_tokens == 0
    assert await second.complete(LONG[:600] + "|\n" + TAIL) is not None
    assert second.last.restored_tokens > 700
    assert second.last.prefilled_tokens <= 1
    assert second.service.stats()["states"]["restoredFromDisk"] == 1
    assert caplog.text == ""
    for bench in (first, second):
        assert bench.service.shutdown(DEADLINE)


async def test_where_nobody_asked_nothing_is_made_exact(bench: Bench) -> None:
    """Saving a file where no completion was asked for does nothing."""
    await bench.service.configure(QUIET)
    bench.service.saved(place("x|")[0])
    bench.service.changed(place("x|")[0], None)
    assert idle(bench.service)
    assert bench.model.decoded_tokens == 0


async def test_a_pause_that_is_over_stops_what_it_began(bench: Bench) -> None:
    """A text that is no more doesn't take the place of the newest one."""
    await bench.service.configure(QUIET)
    typed = "".join(f"w{number}\n" for number in range(20))
    await bench.complete("x = 1\n|\n" + TAIL)
    await bench.complete("x = 1\n" + typed + "|\n" + TAIL)
    bench.go.clear()
    bench.busy.clear()
    await until(bench.busy.is_set)  # the pause began to read it anew
    asked = asyncio.create_task(bench.complete("x = 1\nw0\n|\n" + TAIL))
    await asyncio.sleep(0)
    bench.go.set()
    assert await asked is not None
    await until(lambda: idle(bench.service))
    await bench.complete("x = 1\nw0\nw|\n" + TAIL)
    assert not bench.last.anchor_moved
    assert bench.last.prefilled_tokens <= 2


async def test_what_may_never_be_moves_no_anchor(bench: Bench) -> None:
    """Where the end of a suggestion is beyond the anchor's reach, nothing is completed there."""
    bench.model.script = says("a\nb\nc\nd")
    await bench.service.configure(Settings())
    typed = "".join(f"w{number}\n" for number in range(28))
    await bench.complete("x = 1\n|\n" + TAIL)
    await bench.complete("x = 1\n" + typed + "|\n" + TAIL)
    await until(lambda: bench.service._background.idle)
    await bench.complete("x = 1\n" + typed + "z|\n" + TAIL)
    assert not bench.last.anchor_moved
    assert bench.last.prefilled_tokens <= 2


async def test_saving_a_file_that_became_shorter(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """When a formatter removes the line that was asked for, saving it does no harm."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\n\n\n\n|")
    bench.service.saved(place("x = 1|")[0])
    await until(lambda: idle(bench.service))
    assert caplog.text == ""


async def test_a_late_end_of_a_request_plans_nothing(bench: Bench) -> None:
    """A request that ends after its document was changed or closed leaves no work and no timer."""
    await bench.service.configure(QUIET)
    bench.go.clear()
    bench.busy.clear()
    asked = asyncio.create_task(bench.complete("x = 1\ny|\n" + TAIL))
    await until(bench.busy.is_set)
    bench.service.close("file:///a")
    bench.go.set()
    assert await asked is None
    assert idle(bench.service)
    await until(lambda: bench.model.cells == [])


async def test_the_reading_of_a_document_goes_on_after_an_interruption(bench: Bench) -> None:
    """A file whose reading was stopped by a request elsewhere is read on, and not begun again."""
    await bench.service.configure(QUIET)
    bench.busy.clear()
    bench.go.clear()
    bench.service.opened(place(LONG + "|")[0])
    await until(bench.busy.is_set)
    asked = asyncio.create_task(bench.complete("y = 2\n|", "file:///other"))
    await asyncio.sleep(0)
    bench.go.set()
    assert await asked is not None
    await until(lambda: bench.service._background.idle)
    longest = max(bench.model.held.values(), key=len)
    assert len(longest) > 200
    assert bench.model.decoded_tokens < 2 * len(longest)


async def test_typed_text_needn_t_wait_for_other_work(bench: Bench) -> None:
    """What was typed is decoded before a window that is being read."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\n|", "file:///b")
    bench.busy.clear()
    await bench.complete(LONG + "|")
    await until(bench.busy.is_set)
    bench.service.changed(*place("x = 1\nyy|", "file:///b"))
    kinds = bench.service._shared.background
    await until(lambda: kinds._kind.name == "FOLLOW" or kinds.idle)
    await until(lambda: idle(bench.service))
    assert any(bytes(held[-2:]) == b"yy" for held in bench.model.held.values() if held[-1] < 256)


async def test_the_usual_layout_is_made_exact_as_well(bench: Bench) -> None:
    """Without an anchor, what was carried over is decoded exactly after a pause, too."""
    await bench.service.configure(Settings(prefetch=False, prompt_layout="cursor"))
    await bench.complete("x = 1\ny|\n" + TAIL)
    await bench.complete("w = 1\nx = 1\ny|\n" + TAIL, fresh=True)
    assert bench.last.approximate_tokens > 0
    await until(lambda: idle(bench.service))
    await bench.complete("w = 1\nx = 1\ny|\n" + TAIL, fresh=True)
    assert bench.last.approximate_tokens == 0


@pytest.mark.parametrize("end", ["close", "change"])
async def test_other_work_goes_on_however_a_request_ends(bench: Bench, end: str) -> None:
    """What waits for another document is done after a request was closed or changed away."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\ny|\n" + TAIL)
    await bench.complete("x = 11\ny|\n" + TAIL, fresh=True)
    assert bench.last.approximate_tokens > 0
    bench.go.clear()
    bench.busy.clear()
    other = asyncio.create_task(bench.complete("q|\n", "file:///b"))
    await until(bench.busy.is_set)
    await asyncio.sleep(0.1)  # the first document's pause begins meanwhile
    if end == "close":
        bench.service.close("file:///b")
    else:
        bench.service.changed(place("z|", "file:///b")[0])
    bench.go.set()
    assert await other is None
    await until(lambda: idle(bench.service))
    await bench.complete("x = 11\ny|\n" + TAIL, fresh=True)
    assert bench.last.approximate_tokens == 0


async def test_a_change_at_several_places_ends_what_was_planned(bench: Bench) -> None:
    """With several cursors or a whole new text, nothing is read of the old one."""
    await bench.service.configure(QUIET)
    await bench.complete("x = 1\ny|\n" + TAIL)
    await bench.complete("x = 11\ny|\n" + TAIL, fresh=True)
    decoded = bench.model.decoded_tokens
    bench.service.changed(place("import os|")[0])
    assert not bench.service._ahead._timers
    await until(lambda: idle(bench.service))
    assert bench.model.decoded_tokens == decoded


def expected(bench: Bench) -> str | None:
    """What the prefetch completes: the document as it will be."""
    following = bench.service._ahead._expected
    return None if following is None else str(following.snapshot.text)


async def test_who_types_a_suggestion_keeps_what_follows(bench: Bench) -> None:
    """A key of the suggestion is typed: what comes behind it is there when it's accepted."""
    await bench.service.configure(Settings())
    bench.service.opened(place("x = 1\n|")[0])
    await bench.complete("x = 1\n|")
    bench.model.script = says(" world")
    bench.service.changed(*place("x = 1\nh|"))
    assert await bench.service.complete(*place("x = 1\nh|")) is not None
    assert expected(bench) == "x = 1\nhello"
    await until(lambda: idle(bench.service))
    bench.service.changed(*place("x = 1\nhello|"))
    assert await bench.complete("x = 1\nhello|") == " world"
    assert bench.service.last is not None
    assert bench.service.last.origin is Origin.PREFETCH


async def test_what_follows_is_computed_once(bench: Bench) -> None:
    """It's known: neither the same request nor a report that it's shown computes it again."""
    await bench.service.configure(Settings())
    bench.service.opened(place("x = 1\n|")[0])
    text = await bench.complete("x = 1\n|")
    assert text == "hello"
    await until(lambda: idle(bench.service))
    decoded = bench.model.decoded_tokens
    name = bench.service.suggestions.offered(*place("x = 1\n|"), text)
    bench.service.displayed(name)
    assert await bench.complete("x = 1\n|") == text
    assert bench.service._background.idle
    assert bench.model.decoded_tokens == decoded


async def test_what_follows_the_alternative_that_is_looked_at(bench: Bench) -> None:
    """A client shows another item: what follows that one is computed."""
    await bench.service.configure(Settings())
    bench.service.opened(place("x = 1\n|")[0])
    await bench.complete("x = 1\n|")
    for text in ("hello", "other"):
        name = bench.service.suggestions.offered(*place("x = 1\n|"), text)
    bench.service.displayed(name)
    assert expected(bench) == "x = 1\nother"
    await until(lambda: idle(bench.service))


async def test_what_is_counted_later_wakes_nobody(bench: Bench) -> None:
    """Accepted text is looked at after half a minute, and nothing waits for that meanwhile."""
    await bench.service.configure(QUIET)
    bench.service.opened(place("x = 1\n|")[0])
    bench.service.suggestions.offered(*place("x = 1\n|"), "hello")
    bench.service.changed(*place("x = 1\nhello|"))
    counts: Any = bench.service.stats()["suggestions"]
    assert counts["total"]["charactersPending"] == 5
    await until(lambda: idle(bench.service))
    loop: Any = asyncio.get_running_loop()
    assert [timer for timer in loop._scheduled if not timer.cancelled()] == []
