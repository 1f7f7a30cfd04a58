"""Whether drafts, reuse and restoring leave the text what it is: on real models and files."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from specls.bench.sources import Sources
from specls.context.document import Snapshot
from specls.context.text import Position
from specls.core import CancelToken, Source
from specls.engine.controllers import FixedController
from specls.engine.decode import Limits
from specls.engine.engine import Engine
from specls.engine.interface import Plan
from specls.engine.verify import gap
from specls.service.interface import Runtime
from specls.service.prompts import Built

PLAIN, REUSED, RESTORED = "plain", "what was read before", "restored"
CHAIN = "all sources"
"""One behind the other in one draft, the cheapest first."""

_DRAFT = 8
"""Tokens of a draft."""

_CHANGED = 4
"""Tokens at the end of a prompt that weren't there when it was read before."""

_ABOVE = 20


@dataclass
class Tally:
    """What came of one way, over all cursors."""

    compared: int = 0
    equal: int = 0
    near_ties: list[float] = field(default_factory=list)
    """Where a text differs first: how far apart the two best scores are there, where that's under
    the noise of batches."""
    differences: list[float] = field(default_factory=list)
    """The same where it's more: these are errors."""


@dataclass(frozen=True)
class Check:
    """Writes the same prompt in every way, and compares it with the plain text."""

    runtime: Runtime
    windows: tuple[int, int]
    max_tokens: int
    noise: float
    cancel: CancelToken

    def ways(self) -> list[str]:
        """Each source of drafts that is loaded, and each way to have a prompt already."""
        sources = [source.value for source in self.runtime.engine.drafters]
        return [*sources, *([CHAIN] if len(sources) > 1 else []), REUSED, RESTORED]

    def at(self, snapshot: Snapshot, position: Position, tallies: dict[str, Tally]) -> None:
        """Compare all ways at one cursor.

        Raises:
            Cancelled: the run was interrupted.
            EngineError: the engine failed.
        """
        built = self.runtime.prompts.build(snapshot, position, self.windows)
        plain = self._written(self._engine(), PLAIN, built)
        for way in self.ways():
            self._count(tallies.setdefault(way, Tally()), built, plain, self._way(way, built))
        self.runtime.engine.close(PLAIN)

    def _way(self, way: str, built: Built) -> list[int]:
        engine = self._engine()
        if (plans := self._plans(way)) is not None:
            # What is written first, without drafts, is the suggestion that was there before.
            before = any(plan.source is Source.PREVIOUS for plan in plans)
            if before:
                self._written(engine, way, built)
            return self._written(self._engine(*plans), way, built, keep=before)
        if way == REUSED:
            other = [*built.tokens[:-_CHANGED], *built.tokens[:1] * _CHANGED]
            engine.prefill(way, other, self.cancel, built.movable)
            return self._written(engine, way, built, keep=True)
        engine.prefill(way, built.tokens, self.cancel, built.movable)
        engine.close(way)
        return self._written(engine, way, built, keep=True)

    def _plans(self, way: str) -> list[Plan] | None:
        """What a way drafts from; None if it's no such way."""
        sources = list(self.runtime.engine.drafters)
        if way == CHAIN:
            # Short drafts, so that there's always something to go on with.
            return [Plan(source, _DRAFT // 2) for source in sources]
        return next(([Plan(each, _DRAFT)] for each in sources if way == each.value), None)

    def _engine(self, *plans: Plan) -> Engine:
        return self.runtime.engine.with_controller(FixedController(*plans))

    def _written(self, engine: Engine, way: str, built: Built, *, keep: bool = False) -> list[int]:
        if not keep:
            self._forget()
        limits = Limits(self.max_tokens, self.runtime.prompts.dialect.stop_ids)
        generation = engine.generate(
            way, built.tokens, limits, self.cancel, built.healing, built.movable
        )
        return [token.id for step in generation for token in step]

    def _forget(self) -> None:
        """Have nothing to begin with."""
        for way in (PLAIN, *self.ways()):
            self.runtime.engine.drop(way)

    def _count(self, tally: Tally, built: Built, plain: list[int], text: list[int]) -> None:
        tally.compared += 1
        at = first_difference(plain, text)
        if at is None:
            tally.equal += 1
            return
        gap = self._gap(built, plain[:at])
        (tally.near_ties if gap < self.noise else tally.differences).append(gap)

    def _gap(self, built: Built, written: Sequence[int]) -> float:
        """How far apart the two best scores are where a text differs."""
        self._forget()
        healed = built.healing.tokens if built.healing else 0
        sure = built.tokens[: len(built.tokens) - healed]
        self.runtime.engine.prefill(PLAIN, [*sure, *written], self.cancel)
        return gap(self.runtime.engine.target.logits(0))


def first_difference(left: Sequence[int], right: Sequence[int]) -> int | None:
    """Where two rows differ first; None if they're the same."""
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return at
    return None if len(left) == len(right) else min(len(left), len(right))


def cursors(sources: Sources, n: int, seed: int) -> Iterator[tuple[Snapshot, Position]]:
    """``n`` places inside lines of code, the same for a seed; the languages take turns."""
    choice = random.Random(seed)  # noqa: S311 - no secret
    languages = deque(_forever(each, choice) for each in sources.by_language().values())
    while n > 0 and languages:
        language = languages.popleft()
        if (snapshot := next(language, None)) is not None:
            languages.append(language)
            yield snapshot, _cursor(snapshot, choice)
            n -= 1


def _forever(sources: Sources, choice: random.Random) -> Iterator[Snapshot]:
    """Each file that's long enough once, and then all of them again; nothing if there's none."""
    found = True
    while found:
        found = False
        for snapshot in sources.draw(choice):
            found = True
            yield snapshot


def _cursor(snapshot: Snapshot, choice: random.Random) -> Position:
    last = len(snapshot.text)
    lines = range(min(_ABOVE, last - 1), last)
    written = [line for line in lines if snapshot.text.content(line).strip()]
    line = choice.choice(written or [last - 1])
    content = snapshot.text.content(line)
    indentation = len(content) - len(content.lstrip())
    return Position(line, choice.randint(indentation, len(content)))


def total(tallies: Iterable[Tally]) -> int:
    """How many real differences there are."""
    return sum(len(tally.differences) for tally in tallies)
