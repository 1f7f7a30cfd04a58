"""The comparison: the same keys at the same places for each arm, place by place."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from specls.app import loader
from specls.bench.arms import Arm, service_arms
from specls.bench.figures import Sample, sample_of
from specls.bench.llama_server import LlamaServerArm
from specls.bench.replay import Kind, Replay, Step
from specls.bench.scripts import SCRIPTS
from specls.bench.sources import Sources
from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.errors import SpeclsError
from specls.service.models import State
from specls.service.service import CompletionService
from specls.service.shared import Shared
from specls.settings import Settings

_STOP_SECONDS = 60.0

_WARM_UP = Replay(
    "warm up",
    [Snapshot("specls:warm-up", 1, "python", Text(6 * "for item in items:\n    print(item)\n"))],
    [Step(Kind.OPEN, 0, None, Position(11, 15), "")],
)
"""Answered first and not counted: then the weights are in memory, and the speed is known."""

T = TypeVar("T")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What is to be replayed."""

    scripts: Sequence[str]
    places: int
    keys: int
    seed: int
    pause_seconds: float = 0.0
    """Waited before each request, as a person does."""

    def replays(self, sources: Sources) -> Iterator[tuple[int, Replay]]:
        """One replay of each script at each place; the seed decides where."""
        for place in range(self.places):
            for script in self.scripts:
                choice = random.Random(f"{self.seed} {script} {place}")  # noqa: S311 - no secret
                yield place, SCRIPTS[script](sources.draw(choice), choice, self.keys)


@dataclass
class Measured:
    """What a comparison has measured so far; filled in while it runs."""

    samples: list[Sample] = field(default_factory=list)
    models: Mapping[str, object] = field(default_factory=dict)
    notices: Sequence[str] = ()
    """What the models' loading had to say."""


async def compare(
    plan: Plan,
    sources: Sources,
    settings: Settings,
    server: LlamaServerArm | None,
    measured: Measured,
    tell: Tell,
) -> None:
    """Load the models and replay everything with each arm; ``tell`` hears what is going on.

    Raises:
        SpeclsError: the models can't be loaded.
    """
    service = CompletionService(Shared(loader()))
    try:
        tell(f"loading {settings.model}")
        await service.configure(settings)
        status = service.models.status
        if status.state is not State.READY:
            raise SpeclsError(status.message)
        measured.models, measured.notices = service.stats()["models"], status.notices
        arms = [*service_arms(service, settings), *([server] if server else [])]
        tell("warming up")
        for arm in arms:
            await _replay(arm, 0, _WARM_UP, [])
        await replay_all(plan, sources, arms, measured.samples, tell)
    finally:
        service.shutdown(_STOP_SECONDS)


async def replay_all(
    plan: Plan, sources: Sources, arms: Sequence[Arm], samples: list[Sample], tell: Tell
) -> None:
    """Every replay with every arm: place by place, one arm after the other."""
    for turn, (place, replay) in enumerate(plan.replays(sources)):
        for arm in rotated(arms, turn):
            tell(f"place {place + 1} of {plan.places}: {replay.script}, {arm.name}")
            await _replay(arm, place, replay, samples, plan.pause_seconds)


async def _replay(
    arm: Arm, place: int, replay: Replay, samples: list[Sample], pause: float = 0.0
) -> None:
    """One arm's turn at one place."""
    await arm.begin(replay.documents)
    try:
        for number, (step, snapshot) in enumerate(replay.states()):
            if pause:
                await asyncio.sleep(pause)
            answer = await arm.answer(snapshot, step.position)
            samples.append(sample_of(arm.name, replay.script, place, number, step, answer))
    finally:
        await arm.finish()


def rotated(arms: Sequence[T], turn: int) -> Sequence[T]:
    """The arms in the order of one turn: each comes first as often as the others."""
    first = turn % len(arms)
    return [*arms[first:], *arms[:first]]
