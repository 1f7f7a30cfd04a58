"""The ways of prompting that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

from specls.bench.infill_tasks import Task
from specls.context.document import Snapshot
from specls.context.text import Position, Text, split_lines
from specls.core import CancelToken
from specls.engine.decode import Limits
from specls.engine.session import common_prefix
from specls.metrics import GenerationStats
from specls.service.interface import Runtime
from specls.service.prompts import Built, PromptBuilder

NAMES = (
    "anchored",
    "anchored+healing",
    "anchored, carried",
    "cursor, carried",
    "cursor",
    "cursor+healing",
)
"""In the order in which the engine can use most of what it holds again."""


@dataclass(frozen=True)
class Answer:
    """What a way wrote: the rest of the line.

    ``decoded`` counts the prompt tokens that have to be decoded where the engine holds this way's
    prompt from when the anchor was made. It doesn't depend on which way was measured before;
    ``seconds`` does.
    """

    text: str
    new_tokens: int
    decoded: int
    seconds: float


class Way(Protocol):
    """One way to make a prompt and an answer from a task."""

    @property
    def name(self) -> str:
        """As it's shown."""

    def complete(self, task: Task) -> Answer:
        """Write the rest of the line.

        Raises:
            Cancelled: the run was interrupted.
            EngineError: the engine failed.
        """


@dataclass(frozen=True)
class Setup:
    """What all ways of a run have in common."""

    runtime: Runtime
    budget: tuple[int, int]
    """The most tokens before and behind the cursor."""
    max_tokens: int
    typed_lines: int
    """How many whole lines were typed since the anchor was made, in the layout ``anchored``."""
    carried_lines: int
    """Over how many new lines a suffix was carried."""
    cancel: CancelToken

    def read(self, document: str, built: Built, *, exactly: bool) -> None:
        """Decode a prompt and generate nothing."""
        self.runtime.engine.prefill(
            document, built.tokens, self.cancel, built.movable, exactly=exactly
        )

    def write(
        self, document: str, head: str, built: Built, *, exactly: bool = True
    ) -> tuple[str, GenerationStats]:
        """Generate behind a prompt until the line is written; ``head`` is what it begins with."""
        generation = self.runtime.engine.generate(
            document,
            built.tokens,
            Limits(self.max_tokens, self.runtime.prompts.dialect.stop_ids),
            self.cancel,
            built.healing,
            built.movable,
            exactly=exactly,
        )
        raw, line = b"", ""
        for step in generation:
            raw += b"".join(self.runtime.tokenizer.piece(token.id) for token in step)
            line, ended = first_line(head, raw[len(built.rest) :].decode("utf-8", "ignore"))
            if ended:
                break
        return line, generation.stats


@dataclass(frozen=True)
class LayoutWay:
    """One of the layouts that the service has."""

    name: str
    layout: str
    builder: PromptBuilder
    setup: Setup

    def complete(self, task: Task) -> Answer:
        """See :class:`Way`."""
        started = perf_counter()
        earlier = self._build(*before_lines(task, self.setup.typed_lines), renew=True)
        built = self._build(*at_cursor(task), renew=False)
        assert not built.anchor_moved
        text, stats = self.setup.write(document_of(task), head_of(task), built)
        decoded = len(built.tokens) - common_prefix(earlier.tokens, built.tokens)
        return Answer(text, stats.generated_tokens, decoded, perf_counter() - started)

    def _build(self, snapshot: Snapshot, position: Position, *, renew: bool) -> Built:
        return self.builder.build(snapshot, position, self.setup.budget, self.layout, renew=renew)


@dataclass(frozen=True)
class CarriedWay:
    """A layout whose suffix was read some steps before, and carried over at each step since.

    The prompt is made anew at each step. With the layout ``anchored`` a step is a new line; with
    ``cursor`` it's a key of the line, or the whole line above where the line is still empty.
    """

    name: str
    layout: str
    setup: Setup

    def complete(self, task: Task) -> Answer:
        """See :class:`Way`."""
        started = perf_counter()
        document = document_of(task)
        first, *others, last = self._prompts(task)
        self.setup.read(document, first, exactly=True)
        for built in others:
            self.setup.read(document, built, exactly=False)
        text, stats = self.setup.write(document, head_of(task), last, exactly=False)
        decoded = len(last.tokens) - stats.reused_tokens
        return Answer(text, stats.generated_tokens, decoded, perf_counter() - started)

    def _prompts(self, task: Task) -> list[Built]:
        build = self.setup.runtime.prompts.build
        return [
            build(snapshot, position, self.setup.budget, self.layout, renew=True)
            for snapshot, position in self._steps(task)
        ]

    def _steps(self, task: Task) -> Iterator[tuple[Snapshot, Position]]:
        if self.layout == "anchored" or not head_of(task):
            lines = self.setup.carried_lines if self.layout == "anchored" else 1
            for count in range(lines, -1, -1):
                yield before_lines(task, count)
        head = head_of(task)
        start = 0 if self.layout == "cursor" else len(head)
        for column in range(start, len(head) + 1) if head else ():
            yield at_column(task, column)


def ways_of(setup: Setup) -> list[Way]:
    """All ways, in the order of :data:`NAMES`."""
    runtime = setup.runtime
    plain = PromptBuilder(runtime.tokenizer, runtime.prompts.dialect, None)
    return [
        LayoutWay("anchored", "anchored", plain, setup),
        LayoutWay("anchored+healing", "anchored", runtime.prompts, setup),
        CarriedWay("anchored, carried", "anchored", setup),
        CarriedWay("cursor, carried", "cursor", setup),
        LayoutWay("cursor", "cursor", plain, setup),
        LayoutWay("cursor+healing", "cursor", runtime.prompts, setup),
    ]


def document_of(task: Task) -> str:
    """The document's name: the same for all kinds and ways, so that what was read is kept."""
    return f"file:///{task.id}.py"


def head_of(task: Task) -> str:
    """What stands before the cursor in its line."""
    return split_lines(task.before)[-1]


def at_cursor(task: Task) -> tuple[Snapshot, Position]:
    """The document, and the place that is to be completed."""
    lines = split_lines(task.before)
    return _snapshot(task, lines, version=2), Position(len(lines) - 1, len(lines[-1]))


def at_column(task: Task, column: int) -> tuple[Snapshot, Position]:
    """The document before the typed part of the line was longer than ``column``."""
    *above, line = split_lines(task.before)
    return _snapshot(task, [*above, line[:column]], version=2), Position(len(above), column)


def before_lines(task: Task, count: int) -> tuple[Snapshot, Position]:
    """The document before its last ``count`` lines above the cursor's line were typed."""
    lines = split_lines(task.before)
    kept = lines[: max(len(lines) - 1 - count, 0)]
    return _snapshot(task, kept, version=1), Position(len(kept), 0)


def _snapshot(task: Task, lines: Iterable[str], version: int) -> Snapshot:
    return Snapshot(document_of(task), version, "python", Text("".join(lines) + task.after))


def first_line(head: str, text: str) -> tuple[str, bool]:
    """The rest of the line that begins with ``head``, right-stripped, and whether it has ended.

    Where the line is blank, blank lines at the beginning of ``text`` are passed over.
    """
    lines = text.split("\n")
    first = 0
    while not (head + lines[first]).strip() and first < len(lines) - 1:
        first, head = first + 1, ""
    return lines[first].rstrip(), first < len(lines) - 1
