"""One completion, from the document to the text, on the engine's thread."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from time import perf_counter

from specls.context.document import Snapshot
from specls.context.place import Place, place_of
from specls.context.stop import end_of
from specls.context.text import Position
from specls.context.trim import trimmed_length
from specls.core import CancelToken, FinishReason, Source
from specls.engine.decode import Generation, Limits, Token
from specls.metrics import GenerationStats
from specls.service.interface import Runtime
from specls.service.tokenizer import Tokenizer
from specls.settings import Settings

_OVERHEAD = 16
"""Tokens of a prompt that are no text: markers, and what two tokenised parts may have more than
the whole."""


@dataclass(frozen=True)
class Request:
    """A wish for a completion at a place of one version of a document."""

    snapshot: Snapshot
    position: Position
    settings: Settings


@dataclass(frozen=True)
class Span:
    """A stretch of completed text from one source."""

    text: str
    source: Source


class Origin(Enum):
    """Where an answer came from."""

    DECODED = "decode"
    TYPE_THROUGH = "typeThrough"


@dataclass(frozen=True)
class Completion:
    r"""What may be inserted at the position, with ``\n`` as line ending; perhaps nothing.

    ``seconds`` is the time of the work, waiting for the engine's thread excluded.
    """

    text: str
    spans: tuple[Span, ...]
    stats: GenerationStats
    seconds: float
    origin: Origin = Origin.DECODED


def type_through(text: str, seconds: float) -> Completion:
    """The completion that is the rest of one shown before; no token was decoded for it."""
    return Completion(text, (), GenerationStats(), seconds, Origin.TYPE_THROUGH)


@dataclass(frozen=True)
class Budget:
    """How many tokens a request may have before the cursor, behind it, and new."""

    prefix_tokens: int
    suffix_tokens: int
    max_tokens: int


def budget_of(settings: Settings, capacity: int) -> Budget:
    """What the settings ask for, in proportion made to fit into a cache of ``capacity`` tokens."""
    new = min(settings.max_tokens, capacity // 2)
    wanted = settings.prefix_tokens + settings.suffix_tokens
    room = capacity - new - _OVERHEAD
    if wanted <= room:
        return Budget(settings.prefix_tokens, settings.suffix_tokens, new)
    prefix = settings.prefix_tokens * room // wanted
    return Budget(prefix, room - prefix, new)


def complete(runtime: Runtime, request: Request, cancel: CancelToken) -> Completion:
    """Build the prompt, generate, stop, trim.

    Raises:
        Cancelled: ``cancel`` was set. What was decoded is kept for the next request.
        EngineError: the engine failed.
    """
    started = perf_counter()
    cancel.raise_if_cancelled()
    budget = budget_of(request.settings, runtime.engine.target.capacity)
    built = runtime.prompts.build(
        request.snapshot,
        request.position,
        (budget.prefix_tokens, budget.suffix_tokens),
        request.settings.prompt_layout,
    )
    healed = built.healing.tokens if built.healing else 0
    limits = Limits(budget.max_tokens + healed, runtime.prompts.dialect.stop_ids)
    generation = runtime.engine.generate(
        request.snapshot.uri, built.tokens, limits, cancel, built.healing
    )
    generation.stats.anchor_moved = built.anchor_moved
    writer = _Writer(runtime.tokenizer, skip=len(built.rest))
    spans = _write(generation, writer, place_of(built.window))
    text = "".join(span.text for span in spans)
    return Completion(text, spans, generation.stats, perf_counter() - started)


def _write(generation: Generation, writer: _Writer, place: Place) -> tuple[Span, ...]:
    """Run the generation until it ends or a stop rule ends it; what may be shown of it."""
    end: int | None = None
    for step in generation:
        writer.add(step)
        end = end_of(writer.text, place)
        if end is not None:
            generation.stats.finish = FinishReason.STOP_RULE
            break
    length = trimmed_length(writer.text[:end], place)
    return tuple(_cut(writer.spans, length))


class _Writer:
    """Collects tokens as text: bytes become characters as soon as they are whole.

    The first ``skip`` bytes were spelt again by healing and stand in the document already.
    """

    def __init__(self, tokenizer: Tokenizer, skip: int) -> None:
        self._tokenizer = tokenizer
        self._skip = skip
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.spans: list[Span] = []
        self.text = ""

    def add(self, step: Iterable[Token]) -> None:
        for token in step:
            piece = self._tokenizer.piece(token.id)
            text = self._decoder.decode(piece[self._skip :])
            self._skip = max(self._skip - len(piece), 0)
            if text:
                self.spans.append(Span(text, token.source))
                self.text += text


def _cut(spans: Iterable[Span], length: int) -> Iterable[Span]:
    for span in spans:
        if length <= 0:
            return
        yield Span(span.text[:length], span.source)
        length -= len(span.text)
