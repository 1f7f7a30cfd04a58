"""Runs ``specls bench infill --shown``: what users are shown, beside what the model would write."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from specls.bench import infill_shown_tables
from specls.bench.infill import Checker, load, progress_bar
from specls.bench.infill_results import Store, read
from specls.bench.infill_shown_figures import WAYS, Shown
from specls.bench.infill_shown_ways import Answers, Writer
from specls.bench.infill_tables import WIDE
from specls.bench.infill_tasks import LINES, Task, choose, tasks_of
from specls.bench.infill_tasks import read as read_tasks
from specls.bench.interrupt import INTERRUPTED, interruptible
from specls.bench.pass_at_1 import check
from specls.core import CancelToken
from specls.errors import Cancelled
from specls.settings import Settings


@dataclass(frozen=True)
class Plan:
    """What is to be measured."""

    data: Path
    n: int
    seed: int
    kinds: tuple[str, ...]
    seconds: float
    """How long a program may run."""
    file: Path | None
    """Where the results go, and where those of an earlier run are."""
    against: Path | None
    """The results of an earlier version or of other settings, to be compared with."""


def run(plan: Plan, settings: Settings) -> int:
    """Measure what isn't measured yet, and print the figures; the process' exit code."""
    # A document isn't opened again once its task is done, and what is shown mustn't depend on how
    # fast the machine is: windows are read whole.
    settings = replace(settings, kv_budget_mib=0, cold_budget_ms=0)
    before = _before(plan.against)
    tasks = tasks_of(choose(read_tasks(plan.data, LINES), plan.n, plan.seed), plan.kinds)
    results = Store(plan.file, conditions_of(plan, settings), Shown)
    with interruptible() as cancel, contextlib.suppress(Cancelled):
        if any(not _done(task, results) for task in tasks):
            _measure_all(plan, settings, tasks, results, cancel)
    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, WIDE)
    console.print(f"{plan.data.name}, seed {plan.seed}, model {settings.model}")
    wanted = {(task.id, task.kind) for task in tasks}
    chosen = [each for each in (*results, *before) if (each.task, each.kind) in wanted]
    ways = infill_shown_tables.ways_of(against=plan.against is not None)
    infill_shown_tables.show(chosen, ways, plan.seed, console)
    return INTERRUPTED if cancel.cancelled else 0


def conditions_of(plan: Plan, settings: Settings) -> dict[str, object]:
    """What decides about an answer, besides its task: all settings may."""
    values = {"shown": True, "data": plan.data.name, "seconds": plan.seconds, **asdict(settings)}
    return dict(json.loads(json.dumps(values)))


def _before(path: Path | None) -> list[Shown]:
    """What an earlier run showed, as another way."""
    if path is None:
        return []
    shown, before = WAYS[0], infill_shown_tables.BEFORE
    return [replace(each, way=before) for each in read(path, Shown) if each.way == shown]


def _measure_all(
    plan: Plan,
    settings: Settings,
    tasks: Sequence[Task],
    results: Store[Shown],
    cancel: CancelToken,
) -> None:
    console = Console(stderr=True)
    runtime = load(settings, cancel, console)
    try:
        write = Writer(runtime, settings, cancel).write
        with progress_bar(console) as progress:
            bar = progress.add_task("infill", total=len(tasks))
            checker = partial(check, seconds=plan.seconds)
            measure(tasks, write, results, checker, lambda: progress.advance(bar))
    finally:
        runtime.close()


def measure(
    tasks: Sequence[Task],
    write: Callable[[Task], Answers],
    results: Store[Shown],
    checker: Checker,
    step: Callable[[], None] = lambda: None,
) -> None:
    """Write and test what isn't done yet; ``step`` is called for each task.

    Raises:
        Cancelled: it was interrupted. What was done is in ``results``.
    """
    for task in tasks:
        if not _done(task, results):
            for result in results_of(task, write(task), checker):
                results.add(result)
        step()


def _done(task: Task, results: Store[Shown]) -> bool:
    return all((task.id, task.kind, way) in results for way in WAYS)


def results_of(task: Task, answers: Answers, checker: Checker) -> list[Shown]:
    """One result for each way."""
    verdicts = {
        text: checker(task.program(text)).value for text in (answers.shown.text, answers.raw.text)
    }
    return [
        Shown(
            task=task.id,
            kind=task.kind,
            way=way,
            text=answer.text,
            verdict=verdicts[answer.text],
            new_tokens=answer.new_tokens,
            seconds=round(answer.seconds, 4),
            truth=task.truth.rstrip(),
            pieces=answer.pieces,
        )
        for way, answer in zip(WAYS, (answers.shown, answers.raw), strict=True)
    ]
