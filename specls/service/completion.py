"""One completion, from the document to the text, on the engine's thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from time import perf_counter

from specls.context.document import Snapshot
from specls.context.place import place_of
from specls.context.text import Position, line_ending
from specls.core import CancelToken, FinishReason, Source
from specls.engine.branches import Doubt, Doubts
from specls.engine.decode import Generation, Limits, Token
from specls.engine.sampling import GREEDY, Sampling
from specls.errors import EngineError
from specls.metrics import GenerationStats
from specls.service.exclude import Exclusion
from specls.service.healing import MOST
from specls.service.interface import Runtime
from specls.service.parts import Part, is_shown
from specls.service.prompts import Built
from specls.service.writer import Span, Writer
from specls.settings import Settings

logger = logging.getLogger(__name__)

LEAST_WINDOW = 208
"""Tokens: the window at a new place on a machine whose speed isn't known, or is low. Measured at 45
places of files newer than the model (0.5B, rest of the line): 19 lines exact with 192 before and 64
behind the cursor, 18 with 160 and 48, 14 with 128 and 48. Four times 192 and 64 gave no more than
these did (the design's measurement, 1.5B)."""

_LONGER_BRANCHES = 16
"""How many tokens more than the first suggestion another one may have."""

_LONGEST_LINE = 8
"""So many times the budget for an answer may a single line take."""

_OVERHEAD = 16
"""Tokens of a prompt that are no text: markers, and what two tokenised parts may have more than
the whole."""


Early = Callable[[str], None]
"""Told the whole lines that may be shown already, while more is written; first that there are none.

Never told what the answer has, since that follows."""


@dataclass(frozen=True)
class Request:
    """A wish for a completion at a place of one version of a document."""

    snapshot: Snapshot
    position: Position
    settings: Settings
    alternatives: int = 1
    """How many suggestions are wanted: with more than one, the first is the most likely one."""
    explicit: bool = False
    """Whether somebody asked for it: then it may take its time, and be a guess."""

    @property
    def exactly(self) -> bool:
        """Whether the suffix is decoded anew whenever what stands before it changes."""
        return self.settings.suffix_reuse == "exact"


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
    workspace_tokens: int = 0
    """Of other files, before all that."""

    @property
    def windows(self) -> tuple[int, int]:
        """The tokens before and behind the cursor."""
        return self.prefix_tokens, self.suffix_tokens


def budget_of(settings: Settings, capacity: int) -> Budget:
    """What the settings ask for, in proportion made to fit into a cache of ``capacity`` tokens.

    Other files get what is left, so that a prompt fits twice: a new one is read beside the old one.
    """
    new = min(settings.max_tokens, capacity // 2)
    wanted = settings.prefix_tokens + settings.suffix_tokens
    room = capacity - new - _OVERHEAD
    if wanted <= room:
        left = max((capacity - 2 * (wanted + new + _OVERHEAD)) // 2, 0)
        files = min(settings.workspace_tokens, left)
        return Budget(settings.prefix_tokens, settings.suffix_tokens, new, files)
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
    return replace(request, snapshot=snapshot, position=position, alternatives=1, explicit=False)


def complete(
    runtime: Runtime, request: Request, cancel: CancelToken, early: Early | None = None
) -> Completion:
    """Build the prompt, generate, stop, trim; ``early`` is called on this thread.

    Raises:
        Cancelled: ``cancel`` was set. What was decoded is kept for the next request.
        EngineError: the engine failed.
    """
    started = perf_counter()
    cancel.raise_if_cancelled()
    budget = budget_of(request.settings, runtime.engine.target.capacity)
    built = prompt_of(runtime, request, budget)
    confidence = 0.0 if request.explicit else request.settings.confidence
    limits = Limits(
        budget.max_tokens,
        runtime.prompts.dialect.stop_ids,
        _sampling(request),
        rated=confidence > 0,
    )
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
    settings = request.settings
    place = place_of(
        built.window, request.snapshot.language, settings.multiline, settings.max_lines
    )
    writer = Writer(runtime.tokenizer, len(built.rest), place, confidence)
    _write(generation, writer, 0 if request.explicit else settings.answer_budget_ms, early)
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


def prompt_of(runtime: Runtime, request: Request, budget: Budget) -> Built:
    """The prompt, from a small window where reading the whole one would take too long."""
    see_to_head(runtime, request)
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


def parts_of(runtime: Runtime, request: Request) -> tuple[Part, ...]:
    """What the model would be given for a request. Changes nothing."""
    with runtime.prompts.unchanged(request.snapshot.uri):
        budget = budget_of(request.settings, runtime.engine.target.capacity)
        return prompt_of(runtime, request, budget).parts


def see_to_head(runtime: Runtime, request: Request) -> None:
    """Let other files stand before the document only where that was read already.

    So nobody waits for it. What was read before the document was closed is found again.
    """
    prompts, uri, settings = runtime.prompts, request.snapshot.uri, request.settings
    if not settings.workspace_tokens:
        prompts.behead(uri)
        return
    head = prompts.head(uri)
    if head is None and prompts.is_new(uri):
        head = prompts.recover(uri, runtime.engine.held(uri))
        if head is not None and not is_shown(head, Exclusion(settings.exclude)):
            runtime.engine.drop(uri)
    if head is not None:
        tokens = prompts.head_tokens(uri)
        if runtime.engine.reusable(uri, tokens) < len(tokens):
            prompts.behead(uri)


def missing(runtime: Runtime, request: Request, built: Built) -> int:
    """How many tokens of a prompt would have to be decoded now."""
    reusable = runtime.engine.reusable(
        request.snapshot.uri, built.tokens, built.movable, exactly=request.exactly
    )
    return len(built.tokens) - reusable


def _affordable(settings: Settings, tokens_per_second: float) -> int:
    """How many tokens may be read before the first answer at a new place."""
    return max(LEAST_WINDOW, int(settings.cold_budget_ms * tokens_per_second / 1000))


def _write(
    generation: Generation, writer: Writer, budget_ms: int, early: Early | None = None
) -> None:
    """Run the generation until it ends, a stop rule ends it, or it takes too long.

    What takes too long ends with a whole line. A single line may take much longer; then it ends
    where it is. ``budget_ms`` is counted from the first token on; 0 is no limit.
    """
    started, stats = 0.0, generation.stats
    told: str | None = None
    for step in generation:
        writer.add(step)
        started = started or perf_counter()
        if writer.ended:
            stats.finish = FinishReason.DOUBT if writer.doubts else FinishReason.STOP_RULE
            break
        spent = 1000 * (perf_counter() - started)
        late = spent > (budget_ms if writer.has_lines else budget_ms * _LONGEST_LINE)
        if budget_ms and late:
            stats.finish = FinishReason.TIME
            break
        if early is not None and (lines := writer.whole_lines) != told:
            early(lines)
            told = lines
    if stats.finish in (FinishReason.TIME, FinishReason.MAX_TOKENS):
        writer.drop_last_line()


def _branches(
    runtime: Runtime,
    request: Request,
    generation: Generation,
    writer: Writer,
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
        writers[index].drop_last_line(even_the_only_one=True)
    found = {_text_of(each.shown()): each.shown() for each in reversed(writers)}
    found.pop(_text_of(writer.shown()), None)
    return tuple(spans for text, spans in reversed(found.items()) if text)


def _text_of(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)
