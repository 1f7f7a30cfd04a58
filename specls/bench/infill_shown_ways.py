"""What users are shown for a task, and the same generation without stop rules and filters."""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from specls.bench.infill_tasks import Task
from specls.bench.infill_ways import at_cursor
from specls.core import CancelToken, FinishReason
from specls.engine.decode import Generation, Healing, Limits, Token
from specls.engine.engine import Engine
from specls.service.completion import Request, complete
from specls.service.interface import Runtime
from specls.service.tokenizer import Tokenizer
from specls.settings import Settings

Piece = tuple[str, float | None]
"""The text that a token adds, and the logarithm of the token's probability, if it's known."""


@dataclass(frozen=True)
class Answer:
    """What was written; ``pieces`` are the tokens that begin inside of ``text``."""

    text: str
    pieces: tuple[Piece, ...]
    new_tokens: int
    seconds: float


@dataclass(frozen=True)
class Answers:
    """What is shown at one place, and what the model writes there when nothing stops it."""

    shown: Answer
    raw: Answer


@dataclass(frozen=True)
class Writer:
    """Answers as the service does, and then lets the model write on."""

    runtime: Runtime
    settings: Settings
    cancel: CancelToken

    def write(self, task: Task) -> Answers:
        """Both answers.

        Raises:
            Cancelled: the run was interrupted.
            EngineError: the engine failed.
        """
        recorder = Recorder(self.runtime.engine)
        runtime = replace(self.runtime, engine=cast("Engine", recorder))
        snapshot, position = at_cursor(task)
        completion = complete(runtime, Request(snapshot, position, self.settings), self.cancel)
        new = completion.stats.generated_tokens
        text = completion.text.rstrip()
        if recorder.last is None:
            return Answers(Answer(text, (), new, completion.seconds), Answer("", (), 0, 0.0))
        recorder.last.go_on()
        pieces = tuple(_pieces(recorder.last, self.runtime.tokenizer))
        raw = _text_of(pieces).rstrip()
        stats = recorder.last.stats
        seconds = stats.first_token_seconds + stats.decode_seconds
        return Answers(
            Answer(text, shown_of(pieces, text), new, completion.seconds),
            Answer(raw, pieces, stats.generated_tokens, seconds),
        )


def shown_of(pieces: tuple[Piece, ...], text: str) -> tuple[Piece, ...]:
    """The pieces that begin inside of ``text``; none where they don't spell it."""
    if not _text_of(pieces).startswith(text):
        return ()
    kept, length = [], 0
    for piece in pieces:
        if length >= len(text):
            break
        kept.append(piece)
        length += len(piece[0])
    return tuple(kept)


class Recorded:
    """A generation whose tokens are kept, and that can go on once somebody else has ended it."""

    def __init__(self, generation: Generation, healed: Sequence[int]) -> None:
        """``healed`` are the tokens of the prompt that the first new ones spell again."""
        self._generation = generation
        self._steps = iter(generation)
        self._finish: FinishReason | None = None
        self.stats = generation.stats
        self.healed = healed
        self.tokens: list[Token] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generation, name)

    def __iter__(self) -> Iterator[tuple[Token, ...]]:
        for step in self._steps:
            self.tokens.extend(step)
            self._finish = self.stats.finish
            yield step

    def go_on(self) -> None:
        """Generate until the model or the limit ends it, whatever a stop rule said."""
        self.stats.finish = self._finish
        for _ in self:
            pass


class Recorder:
    """An engine that keeps the last generation."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.last: Recorded | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def generate(
        self,
        document: object,
        prompt: Sequence[int],
        limits: Limits,
        cancel: CancelToken,
        healing: Healing | None = None,
        *arguments: Any,
        **options: Any,
    ) -> Generation:
        """As :meth:`Engine.generate`."""
        generation = self._engine.generate(
            document, prompt, replace(limits, rated=True), cancel, healing, *arguments, **options
        )
        healed = prompt[len(prompt) - healing.tokens :] if healing else ()
        self.last = Recorded(generation, healed)
        return cast("Generation", self.last)


def _pieces(recorded: Recorded, tokenizer: Tokenizer) -> Iterator[Piece]:
    """The text that each token adds, as soon as its characters are whole."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    skip = sum(len(tokenizer.piece(token)) for token in recorded.healed)
    for token in recorded.tokens:
        piece = tokenizer.piece(token.id)
        text = decoder.decode(piece[skip:])
        skip = max(skip - len(piece), 0)
        if text:
            value = token.log_probability
            yield text, None if math.isnan(value) else round(value, 5)


def _text_of(pieces: Iterable[Piece]) -> str:
    return "".join(text for text, _ in pieces)
