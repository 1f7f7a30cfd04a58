"""Measures what it's worth to tell the model of other files, and what it costs.

At each place the rest of a line is written twice behind a prompt that is read anew: of the document
alone, and behind pieces of other files.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter

from specls.bench.figures import common
from specls.bench.infill_ways import first_line
from specls.bench.sources import LANGUAGES, Sources, repository
from specls.bench.verify import cursors
from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.core import CancelToken
from specls.engine.decode import Limits
from specls.errors import SettingsError
from specls.service.completion import Request, budget_of
from specls.service.exclude import Exclusion
from specls.service.heads import Heads
from specls.service.interface import Runtime
from specls.service.parts import Head
from specls.service.workspace import View
from specls.settings import Settings

ARMS = ("alone", "files")
"""The document alone, and with pieces of other files."""

MAX_TOKENS = 32
"""The most new tokens: a line."""

_LEAST = 4
"""Characters that are to be written, at least."""


@dataclass(frozen=True)
class Plan:
    """What is to be measured."""

    folder: Path
    n: int
    seed: int
    opened: int
    """How many other files of the folder are open."""


@dataclass(frozen=True)
class Place:
    """A document whose line is cut at a position, what was there, and what else is open."""

    snapshot: Snapshot
    position: Position
    truth: str
    others: tuple[Snapshot, ...]


@dataclass(frozen=True)
class Result:
    """What one arm wrote at one place."""

    place: int
    arm: str
    exact: bool
    matched: int
    """Characters at the beginning that are as the file has them."""
    head_tokens: int
    prefilled: int
    """Tokens of the prompt, all read anew."""
    prefill_seconds: float
    choose_seconds: float
    """For finding what to tell of other files."""
    files: tuple[str, ...] = ()
    text: str = ""
    truth: str = ""

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def places(plan: Plan) -> Iterator[Place]:
    """Places inside lines of code, each with other files of the folder: the nearest ones first.

    Raises:
        SettingsError: the folder has too few source files.
    """
    sources = repository(plan.folder)
    if len(sources.paths) <= 1:
        raise SettingsError(f"{plan.folder} has but one source file.")
    found = 0
    for snapshot, position in cursors(sources, 20 * plan.n, plan.seed):
        line = snapshot.text.content(position.line)
        truth = line[position.column :].rstrip()
        if len(truth) >= _LEAST and line[: position.column].strip():
            text = snapshot.text.replace(position, Position(position.line, len(line)), "")
            others = _others(plan, sources, snapshot)
            yield Place(replace(snapshot, text=text), position, truth, others)
            found += 1
        if found == plan.n:
            return


def _others(plan: Plan, sources: Sources, snapshot: Snapshot) -> tuple[Snapshot, ...]:
    """Files that may be open besides: of the same language, in the same folder if there are."""
    choice = random.Random(f"{plan.seed} {snapshot.uri}")  # noqa: S311 - no secret
    alike = [
        path
        for path in sources.paths
        if path.as_uri() != snapshot.uri and LANGUAGES[path.suffix] == snapshot.language
    ]
    choice.shuffle(alike)
    alike.sort(key=lambda path: -common(f"{path.parent.as_uri()}/", snapshot.uri))
    texts = ((path, _text(path)) for path in alike[: plan.opened])
    return tuple(
        Snapshot(path.as_uri(), 1, snapshot.language, Text(text)) for path, text in texts if text
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def measure(
    plan: Plan,
    settings: Settings,
    runtime: Runtime,
    cancel: CancelToken,
    done: Callable[[Result], None],
) -> None:
    """Have each arm write at each place.

    Raises:
        Cancelled: the run was interrupted.
        SpeclsError: the folder can't be used, or the model failed.
    """
    heads = Heads(seconds=float("inf"))
    _warm_up(settings, runtime, cancel)
    for number, place in enumerate(places(plan)):
        # They take turns, so that neither is always the first.
        for arm in ARMS if number % 2 else reversed(ARMS):
            started = perf_counter()
            head = _head(plan, settings, runtime, heads, place, cancel) if arm == "files" else None
            chosen = perf_counter() - started
            done(_written(number, place, arm, head, settings, runtime, cancel, chosen))


def _warm_up(settings: Settings, runtime: Runtime, cancel: CancelToken) -> None:
    """Read something, so that it's known how fast that is."""
    snapshot = Snapshot("file:///warm-up.py", 1, "python", Text("x = 1\n" * 40))
    place = Place(snapshot, Position(40, 0), "", ())
    _written(0, place, "alone", None, settings, runtime, cancel, 0.0)


def _head(
    plan: Plan,
    settings: Settings,
    runtime: Runtime,
    heads: Heads,
    place: Place,
    cancel: CancelToken,
) -> Head | None:
    roots = (plan.folder.resolve().as_uri(),)
    view = View(Exclusion((), (), roots), (*place.others, place.snapshot), (), roots)
    request = Request(place.snapshot, place.position, settings)
    heads.forget(place.snapshot.uri)
    return heads.choose(request, view, runtime, cancel)


def _written(
    number: int,
    place: Place,
    arm: str,
    head: Head | None,
    settings: Settings,
    runtime: Runtime,
    cancel: CancelToken,
    chosen: float,
) -> Result:
    uri, where = place.snapshot.uri, (place.snapshot, place.position)
    runtime.engine.drop(uri)
    runtime.prompts.forget(uri)
    windows = budget_of(settings, runtime.engine.target.capacity).windows
    anchor, _ = runtime.prompts.freeze(*where, windows, head)
    runtime.prompts.adopt(uri, anchor, head)
    built = runtime.prompts.build(*where, windows, settings.prompt_layout)
    limits = Limits(MAX_TOKENS, runtime.prompts.dialect.stop_ids)
    generation = runtime.engine.generate(
        uri, built.tokens, limits, cancel, built.healing, built.movable, place.snapshot.language
    )
    before = place.snapshot.text.content(place.position.line)[: place.position.column]
    raw, text = b"", ""
    for step in generation:
        raw += b"".join(runtime.tokenizer.piece(token.id) for token in step)
        rest = raw[len(built.rest) :].decode("utf-8", "ignore")
        text, ended = first_line(before, rest)
        if ended:
            break
    return Result(
        place=number,
        arm=arm,
        exact=text == place.truth,
        matched=common(text, place.truth),
        head_tokens=len(head.tokens) if head else 0,
        prefilled=generation.stats.prefilled_tokens,
        prefill_seconds=round(generation.stats.prefill_seconds, 3),
        choose_seconds=round(chosen, 4),
        files=tuple(chunk.path for chunk in head.chunks) if head else (),
        text=text,
        truth=place.truth,
    )


@dataclass(frozen=True)
class Figures:
    """One arm's figures over the places that both have done."""

    n: int
    exact: float
    matched: float
    """Characters, in the mean."""
    head: float
    prefilled: float
    seconds: float


def figures_of(results: Sequence[Result], arm: str) -> Figures | None:
    """The figures of an arm; None without any place that all have done."""
    done = [{each.place for each in results if each.arm == name} for name in ARMS]
    both = set.intersection(*done)
    own = [each for each in results if each.arm == arm and each.place in both]
    if not own:
        return None

    def mean(values: Iterator[float]) -> float:
        return sum(values) / len(own)

    return Figures(
        n=len(own),
        exact=mean(float(each.exact) for each in own),
        matched=mean(float(each.matched) for each in own),
        head=mean(float(each.head_tokens) for each in own),
        prefilled=mean(float(each.prefilled) for each in own),
        seconds=mean(each.prefill_seconds for each in own),
    )
