"""A service over a scripted model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence

from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.engine.controllers import FixedController
from specls.engine.engine import Engine
from specls.engine.spill import Spill
from specls.errors import Cancelled, ModelNotFetched
from specls.metrics import GenerationStats
from specls.service.dialect import dialect_of
from specls.service.interface import Runtime
from specls.service.models import State
from specls.service.prompts import PromptBuilder
from specls.service.service import CompletionService
from specls.service.shared import Shared
from specls.settings import Settings
from tests.fakes import END, MIDDLE, ByteTokenizer, ScriptedModel

DEADLINE = 30.0


def says(text: str) -> Callable[[Sequence[int]], int]:
    """A script that writes ``text`` behind the middle marker, or what is left of it to write."""
    wanted = text.encode()
    following: list[int] = [*wanted, END]

    def script(held: Sequence[int]) -> int:
        middle = bytes(held[held.index(MIDDLE) + 1 :]) if MIDDLE in held else b""
        written = next(n for n in range(len(wanted), -1, -1) if middle.endswith(wanted[:n]))
        return following[written]

    return script


class Bench:
    """A service over a scripted model, whose passes can be held."""

    def __init__(self) -> None:
        self.model = ScriptedModel(says("hello"), micro_batch=64)
        self.loaded: list[Settings] = []
        self.closed = 0
        self.failure: Exception | None = None
        self.failures: dict[str, Exception] = {}
        """What loading a model ends with, once."""
        self.spill: Spill | None = None
        self.tokenizer: ByteTokenizer = ByteTokenizer()
        self.family: str | None = None
        self.go = threading.Event()
        self.go.set()
        self.may_load = threading.Event()
        self.may_load.set()
        self.busy = threading.Event()
        self.model.on_decode = self._hold
        self.service = CompletionService(Shared(self))
        self.states: list[State] = []
        self.service.on_status = lambda status: self.states.append(status.state)

    def _hold(self) -> None:
        self.busy.set()
        assert self.go.wait(DEADLINE)

    def check(self, settings: Settings) -> None:
        if settings.model == "missing":
            raise ModelNotFetched("missing isn't on this machine yet.")

    def fits(self, settings: Settings, beside: Settings) -> bool:
        return "large" not in {settings.model, beside.model}

    def listing(self, used: Sequence[str]) -> list[dict[str, object]]:
        names = dict.fromkeys(("scripted", "missing", *used))
        return [{"id": name, "present": name != "missing"} for name in names]

    def __call__(self, settings: Settings, progress: Callable[[float], bool]) -> Runtime:
        assert self.go.wait(DEADLINE)
        self.loaded.append(settings)
        progress(0.5)
        if not self.may_load.is_set():
            assert self.may_load.wait(DEADLINE)
            if not progress(0.75):
                raise Cancelled("given up")
        if failure := self.failures.pop(settings.model, self.failure):
            raise failure
        tokenizer = self.tokenizer
        return Runtime(
            engine=Engine(self.model, {}, FixedController(), self.spill),
            tokenizer=tokenizer,
            prompts=PromptBuilder(tokenizer, dialect_of(tokenizer, self.family), None),
            models={"target": settings.model},
            notices=("mind the gap",),
            close=self._close,
        )

    @property
    def last(self) -> GenerationStats:
        assert self.service.last is not None
        return self.service.last.stats

    def _close(self) -> None:
        self.closed += 1

    async def complete(
        self, text: str = "x = 1\n|", uri: str = "file:///a", *, fresh: bool = False
    ) -> str | None:
        completion = await self.service.complete(*place(text, uri), fresh=fresh)
        return None if completion is None else completion.text


def place(text: str, uri: str = "file:///a") -> tuple[Snapshot, Position]:
    """A document, and the place where the bar stands in ``text``."""
    before, after = text.split("|")
    lines = before.split("\n")
    position = Position(len(lines) - 1, len(lines[-1]))
    return Snapshot(uri, 1, "python", Text(before + after)), position


async def until(condition: Callable[[], bool]) -> None:
    async def poll() -> None:
        while not condition():  # noqa: ASYNC110 - what's waited for happens on another thread
            await asyncio.sleep(0)

    await asyncio.wait_for(poll(), DEADLINE)


LONG = "".join(f"x{number} = {number}\n" for number in range(200))
"""2,090 tokens of the tests' vocabulary: more than a new place is read with at once."""
