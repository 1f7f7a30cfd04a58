"""The language server over a scripted model, as a process: for rules that need no real answer.

Everything is the program's own but the model and its vocabulary of bytes. What the model wants to
write is set over the protocol: ``scripted/answer`` takes its tokens, and ``scripted/seen`` tells
what it was given; ``scripted/crash`` has its next passes fail, ``scripted/hold`` makes it
wait, and ``scripted/later`` has time pass. Started with ``python -m tests.e2e.scripted_server``.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from specls.catalogue.listing import Row
from specls.commands import serve
from specls.context.document import Snapshot
from specls.context.text import Position
from specls.core import CancelToken
from specls.engine.controllers import FixedController
from specls.engine.engine import Engine
from specls.engine.interface import Logits
from specls.errors import ModelNotFetched, SettingsError
from specls.lsp import listening
from specls.lsp.server import Server
from specls.lsp.transport import take_over_stdio
from specls.service.dialect import dialect_of
from specls.service.healing import Spelling
from specls.service.interface import Runtime
from specls.service.prompts import Built, PromptBuilder
from specls.service.service import CompletionService
from specls.service.shared import Shared
from specls.settings import Settings
from tests.fakes import END, PREFIX, ByteTokenizer, ScriptedModel

ANSWER, SEEN = "scripted/answer", "scripted/seen"
CRASH, HOLD, TEXT = "scripted/crash", "scripted/hold", "scripted/text"
LATER, SLOW = "scripted/later", "scripted/slow"


class Author:
    """What the model wants to write at the cursor of the prompt that was built last."""

    def __init__(self) -> None:
        self.answer: list[int] = []
        self.endless = False
        """Whether the answer begins anew when it's at its end."""
        self.crashes = 0
        """How many of the next passes fail."""
        self.pass_seconds = 0.0
        """How long a pass takes at the least."""
        self.pause: list[int] = []
        """What it writes before it waits for ``go``."""
        self.go = threading.Event()
        self.go.set()
        self._prompt: list[int] = []
        self._base = 0

    def read(self, built: Built) -> None:
        """A prompt was built; the healed tokens at its end are written again first."""
        self._prompt = built.tokens
        self._base = len(built.tokens) - (built.healing.tokens if built.healing else 0)

    def ponder(self, held: Sequence[int]) -> None:
        """Wait, if that was to be done behind these tokens."""
        if self.pause and list(held[-len(self.pause) :]) == self.pause:
            self.go.wait()

    @property
    def seen(self) -> str:
        """The last prompt; a control token is shown as one sign of the private use area."""
        parts = [
            bytes([each]) if each < PREFIX else chr(0xE000 + each).encode() for each in self._prompt
        ]
        return b"".join(parts).decode("utf-8", "replace")

    def wishes(self, held: Sequence[int]) -> list[int]:
        """What the model would write behind these tokens, the token it likes best first.

        What it wasn't allowed to write is left out, as a model does that has to go on without.
        """
        wanted = [*self._prompt[self._base :], *self.answer]
        if self.endless:
            wanted += self.answer * (1 + len(held) // max(len(self.answer), 1))
        at = 0
        for token in held[self._base :]:
            if token in wanted[at:]:
                at = wanted.index(token, at) + 1
        return [*wanted[at:], END]


class AuthoredModel(ScriptedModel):
    """A scripted model whose second choice is what it would have written next."""

    def __init__(self, author: Author) -> None:
        super().__init__(lambda held: author.wishes(held)[0], micro_batch=64)
        self._author = author
        self._held: list[list[int]] = []

    def decode(
        self,
        sequence: int,
        start: int,
        tokens: Sequence[int],
        scored: int,
        cancel: CancelToken | None = None,
    ) -> None:
        super().decode(sequence, start, tokens, scored, cancel)
        held = self.tokens_of(sequence)
        self._author.ponder(held)
        self._held = [held[: len(held) - row] for row in reversed(range(scored))]

    def logits(self, row: int) -> Logits:
        scores = super().logits(row)
        for place, token in enumerate(dict.fromkeys(self._author.wishes(self._held[row]))):
            scores[token] = 20.0 - place / 16
        return scores


class Recorded(PromptBuilder):
    """A builder of prompts that shows them to the author."""

    author: Author

    def build(
        self,
        snapshot: Snapshot,
        position: Position,
        budget: tuple[int, int],
        layout: str = "cursor",
        *,
        renew: bool = False,
        partial: bool = False,
    ) -> Built:
        built = super().build(snapshot, position, budget, layout, renew=renew, partial=partial)
        self.author.read(built)
        return built


class CountingTokenizer(ByteTokenizer):
    """Counts the characters that were tokenised: the work that tokens don't show."""

    def __init__(self) -> None:
        super().__init__()
        self.characters = 0

    def encode(self, text: str) -> list[int]:
        self.characters += len(text)
        return super().encode(text)


class ScriptedLoader:
    """See :class:`specls.service.interface.Loader`."""

    builder: type[Recorded] = Recorded

    def __init__(self) -> None:
        self.author = Author()
        self.tokenizer = CountingTokenizer()
        self.loads = 0
        self.now = 0.0
        self.gates = {
            "decode": threading.Event(),
            "load": threading.Event(),
            "pause": self.author.go,
        }
        """What goes on while it's set."""
        for gate in self.gates.values():
            gate.set()

    def clock(self) -> float:
        """Seconds, which pass when a test says so."""
        return self.now

    def wait(self, gate: str) -> None:
        self.gates[gate].wait()

    def _decoding(self) -> None:
        self.wait("decode")
        time.sleep(self.author.pass_seconds)
        if self.author.crashes:
            self.author.crashes -= 1
            raise OSError("the device is gone")

    def check(self, settings: Settings) -> None:
        if settings.model == "missing":
            raise ModelNotFetched(
                "missing isn't on this machine yet.", remedy="specls models pull missing"
            )

    def fits(self, settings: Settings, beside: Settings) -> bool:
        return "large" not in {settings.model, beside.model}

    def listing(self, used: Sequence[str]) -> list[dict[str, object]]:
        sizes = {"scripted": 1, "missing": None, **dict.fromkeys(used, 1)}
        return [
            Row(
                id=name,
                name=name,
                kind="target",
                bytes=size,
                licence="MIT",
                present=size is not None,
                state="no" if size is None else "yes",
                drafts=(),
            ).as_dict()
            for name, size in sizes.items()
        ]

    def __call__(self, settings: Settings, progress: Callable[[float], bool]) -> Runtime:
        self.check(settings)
        self.loads += 1
        progress(0.5)
        self.wait("load")
        progress(1.0)
        prompts = self.builder(
            self.tokenizer, dialect_of(self.tokenizer, None), Spelling(self.tokenizer)
        )
        prompts.author = self.author
        model = AuthoredModel(self.author)
        model.on_decode = self._decoding
        return Runtime(
            engine=Engine(model, {}, FixedController(), None),
            tokenizer=self.tokenizer,
            prompts=prompts,
            models={"target": settings.model},
            notices=(),
            close=lambda: None,
        )


def _register(server: Server, loader: ScriptedLoader) -> None:
    @server.feature(ANSWER)
    def answer(params: Any) -> None:
        loader.author.answer = [int(token) for token in params["tokens"]]
        loader.author.endless = bool(params["endless"])
        loader.author.pause = list(params.get("pause", ()))

    @server.feature(CRASH)
    def crash(params: Any) -> None:
        loader.author.crashes = int(params["passes"])

    @server.feature(SLOW)
    def slow(params: Any) -> None:
        loader.author.pass_seconds = float(params["milliseconds"]) / 1000

    @server.feature(HOLD)
    def hold(params: Any) -> None:
        for name, held in params.items():
            (loader.gates[name].clear if held else loader.gates[name].set)()

    @server.feature(LATER)
    def later(params: Any) -> None:
        loader.now += float(params["seconds"])

    @server.feature(TEXT)
    def text(params: Any) -> str | None:
        snapshot = server.protocol.documents.get(params["uri"])
        return None if snapshot is None else str(snapshot.text)

    @server.feature(SEEN)
    def seen(_params: Any) -> dict[str, Any]:
        return {
            "prompt": loader.author.seen,
            "characters": loader.tokenizer.characters,
            "loads": loader.loads,
        }


def main(kind: type[ScriptedLoader] = ScriptedLoader) -> int:
    """Serve as `specls serve` with the same arguments does; the process' exit code."""
    loader = kind()
    shared = Shared(loader)
    # As the program does: what clients send is no failure.
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)

    def make() -> Server:
        server = Server(CompletionService(shared, loader.clock))
        _register(server, loader)
        return server

    parser = argparse.ArgumentParser()
    serve.register(parser.add_subparsers())
    arguments = parser.parse_args(["serve", *sys.argv[1:]])
    ways = serve.ways_of(arguments)
    try:
        if (ways.tcp, ways.socket, ways.websocket) != (None, None, None):
            asyncio.run(listening.serve(ways, make, _announce))
            return 0
        return asyncio.run(_serve_stdio(make))
    except SettingsError as error:
        print(f"specls: {error}", file=sys.stderr)
        return 2


def _announce(line: str) -> None:
    print(line, flush=True)


async def _serve_stdio(make: Callable[[], Server]) -> int:
    return await make().serve(*take_over_stdio())


if __name__ == "__main__":
    sys.exit(main())
