"""What is compared: each arm answers the same requests in its own way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.service.completion import Completion, Origin
from specls.service.service import CompletionService
from specls.settings import Settings

_POLL_SECONDS = 0.002


@dataclass(frozen=True)
class Answer:
    """What an arm answered, and what that cost."""

    text: str | None
    """None: there was no answer."""
    latency_ms: float
    first_token_ms: float | None = None
    """None where it isn't known, or no token was needed."""
    prompt_tokens: int | None = None
    decoded_tokens: int | None = None
    """Of the prompt, those that had to be decoded."""
    origin: str | None = None


class Arm(Protocol):
    """One way to answer."""

    @property
    def name(self) -> str:
        """As the tables show it."""

    async def begin(self, documents: Iterable[Snapshot]) -> None:
        """This arm's turn at a place begins: these documents are opened."""

    async def answer(self, snapshot: Snapshot, position: Position) -> Answer:
        """Tell of the change, if there was one, ask for a completion and wait for it."""

    async def finish(self) -> None:
        """The turn is over: close the documents, and leave the processor to the next arm."""


class ServiceArm:
    """The service in this process. All such arms share it, since only one has its turn.

    Documents get new names at each turn: the service would know again what it has seen before.
    """

    def __init__(
        self, name: str, service: CompletionService, settings: Settings, *, fresh: bool
    ) -> None:
        """``fresh`` keeps the service from answering with what it showed before."""
        self.name = name
        self._service = service
        self._settings = settings
        self._fresh = fresh
        self._turn = 0
        self._versions: dict[str, int] = {}
        """Of the open documents, as the service was told."""

    async def begin(self, documents: Iterable[Snapshot]) -> None:
        """Follow this arm's settings; they differ in what needs no other models."""
        self._turn += 1
        await self._service.configure(self._settings)
        for document in map(self._renamed, documents):
            self._versions[document.uri] = document.version
            self._service.opened(document)

    async def answer(self, snapshot: Snapshot, position: Position) -> Answer:
        """Time one request, from the key on."""
        snapshot = self._renamed(snapshot)
        started = perf_counter()
        if self._versions[snapshot.uri] != snapshot.version:
            self._versions[snapshot.uri] = snapshot.version
            self._service.changed(snapshot, position)
        completion = await self._service.complete(snapshot, position, fresh=self._fresh)
        latency = 1000 * (perf_counter() - started)
        if completion is None:
            return Answer(None, latency)
        return _answer(completion, latency, self._service.last_wait_seconds)

    async def finish(self) -> None:
        """Wait until nothing runs in the background, either."""
        for uri in self._versions:
            self._service.close(uri)
        self._versions.clear()
        while not self._service.idle:  # noqa: ASYNC110 - the work is a thread's
            await asyncio.sleep(_POLL_SECONDS)

    def _renamed(self, snapshot: Snapshot) -> Snapshot:
        return replace(snapshot, uri=f"{snapshot.uri}#{self.name}-{self._turn}")


def _answer(completion: Completion, latency: float, wait: float) -> Answer:
    stats = completion.stats
    if completion.origin is not Origin.DECODED:
        return Answer(completion.text, latency, latency, 0, 0, completion.origin.value)
    first = 1000 * (wait + stats.first_token_seconds) if stats.first_token_seconds else None
    counts = (stats.prompt_tokens, stats.prefilled_tokens)
    return Answer(completion.text, latency, first, *counts, completion.origin.value)


def service_arms(service: CompletionService, settings: Settings) -> list[Arm]:
    """The prompts and the way of answering that are compared."""
    anchored = replace(settings, prompt_layout="auto")
    cursor = replace(settings, prompt_layout="cursor")
    return [
        ServiceArm("anchored", service, anchored, fresh=True),
        ServiceArm("anchored + type-through", service, anchored, fresh=False),
        ServiceArm("cursor", service, cursor, fresh=True),
    ]
