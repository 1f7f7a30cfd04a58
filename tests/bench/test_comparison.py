"""In which order the arms answer what, and how the service is driven."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

import pytest

from specls.bench.arms import Answer, service_arms
from specls.bench.comparison import Plan, replay_all
from specls.bench.figures import Sample
from specls.bench.sources import repository
from specls.context.document import Snapshot
from specls.context.text import Position
from specls.engine.controllers import FixedController
from specls.engine.engine import Engine
from specls.service.dialect import dialect_of
from specls.service.interface import Runtime
from specls.service.models import State, Status
from specls.service.prompts import PromptBuilder
from specls.service.service import CompletionService
from specls.service.shared import Shared
from specls.settings import Settings
from tests.bench.files import document
from tests.fakes import END, MIDDLE, ByteTokenizer, ScriptedModel

DEADLINE = 30.0
WHERE = (document(functions=2), Position(2, 4))


class Note:
    """An arm that notes what it's asked."""

    def __init__(self, name: str, notes: list[str]) -> None:
        self.name = name
        self._notes = notes

    async def begin(self, documents: Iterable[Snapshot]) -> None:
        self._notes.append(f"{self.name} begins {len(list(documents))}")

    async def answer(self, _snapshot: Snapshot, position: Position) -> Answer:
        self._notes.append(f"{position.line}:{position.column}")
        return Answer("", 1.0)

    async def finish(self) -> None:
        self._notes.append(f"{self.name} finishes")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.py").write_text(str(document().text), encoding="utf-8")
    return tmp_path


async def test_all_arms_get_the_same_keys_in_turn(folder: Path) -> None:
    """At a place one arm after the other is asked the same; at the next another one begins."""
    notes: list[str] = []
    arms = [Note("a", notes), Note("b", notes)]
    plan = Plan(["middle"], places=2, keys=2, seed=1)
    samples: list[Sample] = []
    await replay_all(plan, repository(folder), arms, samples, lambda _text: None)
    turns = [notes[at : at + 5] for at in range(0, len(notes), 5)]
    assert [turn[0] for turn in turns] == [f"{name} begins 1" for name in "abba"]
    assert [turn[-1] for turn in turns] == [f"{name} finishes" for name in "abba"]
    assert turns[0][1:-1] == turns[1][1:-1]
    assert turns[2][1:-1] == turns[3][1:-1]
    assert [each.arm for each in samples] == list("aaabbbbbbaaa")


async def test_a_seed_decides_the_places(folder: Path) -> None:
    """The same seed means the same places, another one others."""
    asked = []
    for seed in (1, 1, 2):
        notes: list[str] = []
        plan = Plan(["middle", "end"], places=3, keys=1, seed=seed)
        await replay_all(plan, repository(folder), [Note("a", notes)], [], lambda _text: None)
        asked.append(notes)
    assert asked[0] == asked[1] != asked[2]


class Scripted:
    """Loads a model that writes ``ab`` behind the middle marker."""

    def __init__(self) -> None:
        self.model = ScriptedModel(self._next, micro_batch=64)

    def check(self, settings: Settings) -> None:
        pass

    def fits(self, settings: Settings, beside: Settings) -> bool:
        return "large" not in {settings.model, beside.model}

    def listing(self, used: Sequence[str]) -> list[dict[str, object]]:
        names = dict.fromkeys(("scripted", "missing", *used))
        return [{"id": name, "present": name != "missing"} for name in names]

    def __call__(self, settings: Settings, progress: Callable[[float], bool]) -> Runtime:
        progress(1.0)
        tokenizer = ByteTokenizer()
        return Runtime(
            engine=Engine(self.model, {}, FixedController()),
            tokenizer=tokenizer,
            prompts=PromptBuilder(tokenizer, dialect_of(tokenizer, None), None),
            models={"target": settings.model},
            notices=(),
            close=lambda: None,
        )

    @staticmethod
    def _next(held: Sequence[int]) -> int:
        if MIDDLE not in held:
            return END
        return {MIDDLE: ord("a"), ord(" "): ord("a"), ord("a"): ord("b")}.get(held[-1], END)


@pytest.fixture
async def service() -> AsyncIterator[CompletionService]:
    service = CompletionService(Shared(Scripted()))
    yield service
    assert service.shutdown(DEADLINE)


async def test_the_service_answers_each_arm_from_a_cold_document(
    service: CompletionService,
) -> None:
    """After an arm's turn its documents are forgotten, and the next reads them anew."""
    for arm in service_arms(service, Settings()):
        await arm.begin([WHERE[0]])
        answer = await arm.answer(*WHERE)
        assert answer.text == "ab"
        assert answer.origin == "decode"
        assert answer.decoded_tokens == answer.prompt_tokens
        assert answer.first_token_ms is not None
        assert answer.first_token_ms <= answer.latency_ms
        await arm.finish()


async def test_only_type_through_answers_with_what_was_shown(service: CompletionService) -> None:
    """The same request a second time is decoded again, except in that arm."""
    origins = {}
    for arm in service_arms(service, Settings()):
        await arm.begin([WHERE[0]])
        await arm.answer(*WHERE)
        origins[arm.name] = (await arm.answer(*WHERE)).origin
        await arm.finish()
    assert origins == {
        "anchored": "decode",
        "anchored + type-through": "cache",
        "cursor": "decode",
    }


async def test_no_answer_is_an_answer_without_text(service: CompletionService) -> None:
    """While no model is loaded the service answers with None, and that is counted."""
    service.models.status = Status(State.READY)  # so that no load begins
    arm = service_arms(service, Settings())[0]
    await arm.begin([WHERE[0]])
    service.models.status = Status(State.FAILED)
    answer = await arm.answer(*WHERE)
    assert answer.text is None
