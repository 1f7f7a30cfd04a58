"""One completion, from the document to the text, on the engine's thread."""

from __future__ import annotations

import codecs
import logging
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from time import perf_counter

from specls.context.document import Snapshot
from specls.context.place import Place, place_of
from specls.context.stop import end_of
from specls.context.text import Position, line_ending
from specls.context.trim import trimmed_length
from specls.core import CancelToken, FinishReason, Source
from specls.engine.branches import Doubt, Doubts
from specls.engine.decode import Generation, Limits, Token
from specls.engine.sampling import GREEDY, Sampling
from specls.errors import EngineError
from specls.metrics import GenerationStats
from specls.service.healing import MOST
from specls.service.interface import Runtime
from specls.service.prompts import Built
from specls.service.tokenizer import Tokenizer
from specls.settings import Settings

logger = logging.getLogger(__name__)

LEAST_WINDOW = 208
"""Tokens: the window at a new place on a machine whose speed isn't known, or is low. Measured at 45
places of files newer than the model (0.5B, rest of the line): 19 lines exact with 192 before and 64
behind the cursor, 18 with 160 and 48, 14 with 128 and 48. Four times 192 and 64 gave no more than
these did (the design's measurement, 1.5B)."""

_LONGER_BRANCHES = 16
"""How many tokens more than the first suggestion another one may have."""

_OVERHEAD = 16
"""Tokens of a prompt that are no text: markers, and what two tokenised parts may have more than
the whole."""


@dataclass(frozen=True)
class Request:
    """A wish for a completion at a place of one version of a document."""

    snapshot: Snapshot
    position: Position
    settings: Settings
    alternatives: int = 1
    """How many suggestions are wanted: with more than one, the first is the most likely one."""

    @property
    def exactly(self) -> bool:
        """Whether the suffix is decoded anew whenever what stands before it changes."""
        return self.settings.suffix_reuse == "exact"


@dataclass(frozen=True)
class Span:
    """A stretch of completed text from one source."""

    text: str
    source: Source


class Origin(Enum):
    """Where an answer came from."""

    DECODED = "decode"
    CACHE = "cache"
    """The same place of the same text again."""
    PREFETCH = "prefetch"
    """Decoded before it was asked for."""
    TYPE_THROUGH = "typeThrough"
    """The rest of a suggestion that was shown and still fits."""


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
    alternatives: tuple[str, ...] = ()
    """What may be inserted instead: not empty, and all different."""


def known(text: str, origin: Origin, seconds: float) -> Completion:
    """A completion, or the rest of one, that was there already; no token was decoded for it."""
    return Completion(text, (), GenerationStats(), seconds, origin)


@dataclass(frozen=True)
class Budget:
    """How many tokens a request may have before the cursor, behind it, and new."""

    prefix_tokens: int
    suffix_tokens: int
    max_tokens: int

    @property
    def windows(self) -> tuple[int, int]:
        """The tokens before and behind the cursor."""
        return self.prefix_tokens, self.suffix_tokens


def budget_of(settings: Settings, capacity: int) -> Budget:
    """What the settings ask for, in proportion made to fit into a cache of ``capacity`` tokens."""
    new = min(settings.max_tokens, capacity // 2)
    wanted = settings.prefix_tokens + settings.suffix_tokens
    room = capacity - new - _OVERHEAD
    if wanted <= room:
        return Budget(settings.prefix_tokens, settings.suffix_tokens, new)
    prefix = settings.prefix_tokens * room // wanted
    return Budget(prefix, room - prefix, new)


def accepted(request: Request, text: str) -> Request:
    """The request that follows when ``text`` is accepted where ``request`` asked."""
    at, snapshot = request.position, request.snapshot
    lines = text.split("\n")
    ending = line_ending(snapshot.text, at.line)
    changed = snapshot.text.replace(at, at, text.replace("\n", ending))
    column = len(lines[-1]) + (at.column if len(lines) == 1 else 0)
    position = Position(at.line + len(lines) - 1, column)
    snapshot = replace(snapshot, text=changed)
    return replace(request, snapshot=snapshot, position=position, alternatives=1)


def complete(runtime: Runtime, request: Request, cancel: CancelToken) -> Completion:
    """Build the prompt, generate, stop, trim.

    Raises:
        Cancelled: ``cancel`` was set. What was decoded is kept for the next request.
        EngineError: the engine failed.
    """
    started = perf_counter()
    cancel.raise_if_cancelled()
    budget = budget_of(request.settings, runtime.engine.target.capacity)
    built = _prompt(runtime, request, budget)
    limits = Limits(budget.max_tokens, runtime.prompts.dialect.stop_ids, _sampling(request))
    doubts = Doubts(limits.stop_ids) if request.alternatives > 1 else None
    generation = runtime.engine.generate(
        request.snapshot.uri,
        built.tokens,
        limits,
        cancel,
        built.healing,
        built.movable,
        request.snapshot.language,
        exactly=request.exactly,
        doubts=doubts,
    )
    generation.stats.anchor_moved = built.anchor_moved
    generation.stats.partial_window = built.partial
    writer = _Writer(runtime.tokenizer, len(built.rest), place_of(built.window))
    _write(generation, writer)
    spans, others = writer.shown(), tuple[tuple[Span, ...], ...]()
    if doubts is not None:
        within = max(writer.tokens_shown, generation.stats.healed_tokens + 1)
        likely = doubts.best(request.alternatives - 1, within)
        others = _branches(runtime, request, generation, writer, likely, limits, cancel)
    first, *rest = [each for each in (spans, *others) if each] or [()]
    return Completion(
        _text_of(first),
        first,
        generation.stats,
        perf_counter() - started,
        alternatives=tuple(map(_text_of, rest)),
    )


def _sampling(request: Request) -> Sampling:
    """How tokens are drawn; of several suggestions, the first is the most likely one."""
    settings = request.settings
    if request.alternatives > 1:
        return GREEDY
    return Sampling(
        settings.temperature, settings.top_k, settings.top_p, settings.min_p, settings.sampling_seed
    )


def _prompt(runtime: Runtime, request: Request, budget: Budget) -> Built:
    """The prompt, from a small window where reading the whole one would take too long."""
    prompts, settings = runtime.prompts, request.settings
    where, layout = (request.snapshot, request.position), settings.prompt_layout
    built = prompts.build(*where, budget.windows, layout)
    if len(built.tokens) + MOST + budget.max_tokens >= runtime.engine.target.capacity:
        # So much was typed since the anchor that it doesn't fit any more.
        built = prompts.build(*where, budget.windows, layout, renew=True)
    if not prompts.anchors(layout) or not settings.cold_budget_ms or built.partial:
        return built
    affordable = _affordable(settings, runtime.engine.prefill_rate.value)
    if missing(runtime, request, built) <= affordable:
        return built
    # Where the text above was read already, as when somebody moves on in a file, it's kept.
    kept = (budget.prefix_tokens, min(affordable // 4, budget.suffix_tokens))
    built = prompts.build(*where, kept, layout, renew=True, partial=True)
    if missing(runtime, request, built) <= affordable:
        return built
    before = affordable * 3 // 4
    small = (min(before, budget.prefix_tokens), min(affordable - before, budget.suffix_tokens))
    return prompts.build(*where, small, layout, renew=True, partial=True)


def missing(runtime: Runtime, request: Request, built: Built) -> int:
    """How many tokens of a prompt would have to be decoded now."""
    reusable = runtime.engine.reusable(
        request.snapshot.uri, built.tokens, built.movable, exactly=request.exactly
    )
    return len(built.tokens) - reusable


def _affordable(settings: Settings, tokens_per_second: float) -> int:
    """How many tokens may be read before the first answer at a new place."""
    return max(LEAST_WINDOW, int(settings.cold_budget_ms * tokens_per_second / 1000))


def _write(generation: Generation, writer: _Writer) -> None:
    """Run the generation until it ends or a stop rule ends it."""
    for step in generation:
        writer.add(step)
        if writer.ended:
            generation.stats.finish = FinishReason.STOP_RULE
            break


def _branches(
    runtime: Runtime,
    request: Request,
    generation: Generation,
    writer: _Writer,
    doubts: Sequence[Doubt],
    limits: Limits,
    cancel: CancelToken,
) -> tuple[tuple[Span, ...], ...]:
    """What else may be shown, each once; fewer than asked for where the cache has no room."""
    if not doubts:
        return ()
    healed = generation.stats.healed_tokens
    most = min(limits.max_tokens + healed, writer.tokens_shown + _LONGER_BRANCHES)
    writers = [writer.fork(doubt.at) for doubt in doubts]
    limits = replace(limits, max_tokens=most)
    try:
        branches = runtime.engine.branches(request.snapshot.uri, generation, doubts, limits, cancel)
        with closing(iter(branches)) as steps:
            for branch in chain.from_iterable(steps):
                writers[branch.index].add([Token(branch.token, Source.TARGET)])
                if writers[branch.index].ended:
                    branches.end(branch.index)
    except EngineError as error:
        logger.info("There are no other suggestions: %s", error)
        return ()
    for index in branches.unfinished:
        writers[index].drop_last_line()
    found = {_text_of(each.shown()): each.shown() for each in reversed(writers)}
    found.pop(_text_of(writer.shown()), None)
    return tuple(spans for text, spans in reversed(found.items()) if text)


def _text_of(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)


class _Writer:
    """Collects tokens as text: bytes become characters as soon as they are whole.

    The first ``skip`` bytes were spelt again by healing and stand in the document already.
    """

    def __init__(self, tokenizer: Tokenizer, skip: int, place: Place) -> None:
        self._tokenizer = tokenizer
        self._first_skip = self._skip = skip
        self._place = place
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._tokens: list[Token] = []
        self._lengths: list[int] = []
        """Of the text before each token."""
        self._spans: list[Span] = []
        self._text = ""
        self._end: int | None = None

    @property
    def ended(self) -> bool:
        """Whether a stop rule ended the text."""
        return self._end is not None

    def add(self, step: Iterable[Token]) -> None:
        """Go on with these tokens."""
        for token in step:
            self._tokens.append(token)
            self._lengths.append(len(self._text))
            piece = self._tokenizer.piece(token.id)
            text = self._decoder.decode(piece[self._skip :])
            self._skip = max(self._skip - len(piece), 0)
            if text:
                self._spans.append(Span(text, token.source))
                self._text += text
        self._end = end_of(self._text, self._place)

    def drop_last_line(self) -> None:
        """End before the last line, which isn't complete."""
        self._end = max(self._text.rfind("\n"), 0)

    def shown(self) -> tuple[Span, ...]:
        """What may be shown of the text."""
        return tuple(_cut(self._spans, self._length))

    @property
    def _length(self) -> int:
        return trimmed_length(self._text[: self._end], self._place)

    @property
    def tokens_shown(self) -> int:
        """How many of the tokens begin within what may be shown."""
        return bisect_left(self._lengths, self._length)

    def fork(self, at: int) -> _Writer:
        """A writer with the first ``at`` tokens of this one."""
        other = _Writer(self._tokenizer, self._first_skip, self._place)
        other.add(self._tokens[:at])
        return other


def _cut(spans: Iterable[Span], length: int) -> Iterable[Span]:
    for span in spans:
        if length <= 0:
            return
        yield Span(span.text[:length], span.source)
        length -= len(span.text)
