"""Runs the infilling benchmark: every way writes every task, and each program is tested."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import groupby, product
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from specls.app import loader
from specls.bench import infill_tables
from specls.bench.infill_figures import similarity
from specls.bench.infill_results import Result, Results
from specls.bench.infill_tasks import Task, choose, read, tasks_of
from specls.bench.infill_ways import Setup, Way, ways_of
from specls.bench.interrupt import INTERRUPTED, interruptible
from specls.bench.pass_at_1 import Verdict, check
from specls.core import CancelToken
from specls.errors import Cancelled, SettingsError
from specls.service.interface import Runtime
from specls.settings import Settings

MAX_TOKENS = 48
"""The most new tokens of an answer; fewer where the settings say so."""

Checker = Callable[[str], Verdict]


@dataclass(frozen=True)
class Plan:
    """What is to be measured."""

    data: Path
    n: int
    seed: int
    ways: tuple[str, ...]
    kinds: tuple[str, ...]
    typed_lines: int
    carried_lines: int
    seconds: float
    """How long a program may run."""
    file: Path | None
    """Where the results go, and where those of an earlier run are."""


def run(plan: Plan, settings: Settings) -> int:
    """Measure what isn't measured yet, and print the figures; the process' exit code."""
    # A document isn't opened again once its task is done: nothing needs to be spilled.
    settings = replace(settings, kv_budget_mib=0)
    tasks = tasks_of(choose(read(plan.data), plan.n, plan.seed), plan.kinds)
    results = Results(plan.file, conditions_of(plan, settings))
    with interruptible() as cancel, contextlib.suppress(Cancelled):
        if missing(tasks, plan.ways, results):
            _measure_all(plan, settings, tasks, results, cancel)
    console = Console(highlight=False, soft_wrap=True)
    # A table that is cut off is worse than one that wraps.
    console.width = max(console.width, infill_tables.WIDE)
    console.print(f"n {len(tasks) // len(plan.kinds)}, seed {plan.seed}, model {settings.model}")
    wanted = {(task.id, task.kind) for task in tasks}
    chosen = [result for result in results if (result.task, result.kind) in wanted]
    infill_tables.show(chosen, plan.ways, plan.seed, console)
    return INTERRUPTED if cancel.cancelled else 0


def conditions_of(plan: Plan, settings: Settings) -> dict[str, object]:
    """What decides about an answer, besides its task and way."""
    return {
        "model": settings.model,
        "prefix_tokens": settings.prefix_tokens,
        "suffix_tokens": settings.suffix_tokens,
        "max_tokens": min(settings.max_tokens, MAX_TOKENS),
        "typed_lines": plan.typed_lines,
        "carried_lines": plan.carried_lines,
        "seconds": plan.seconds,
        "kv_type": settings.kv_type,
        "speculation": settings.speculation,
    }


def _measure_all(
    plan: Plan, settings: Settings, tasks: Sequence[Task], results: Results, cancel: CancelToken
) -> None:
    console = Console(stderr=True)
    runtime = load(settings, cancel, console)
    try:
        setup = _setup(plan, settings, runtime, cancel)
        ways = [way for way in ways_of(setup) if way.name in plan.ways]
        with progress_bar(console) as progress:
            bar = progress.add_task("infill", total=len(tasks) * len(ways))
            measure(
                tasks,
                ways,
                results,
                partial(check, seconds=plan.seconds),
                lambda: progress.advance(bar),
            )
    finally:
        runtime.close()


def load(settings: Settings, cancel: CancelToken, console: Console) -> Runtime:
    """Load the models.

    Raises:
        SettingsError: the target can't fill in.
    """
    with console.status(f"loading {settings.model}"):
        runtime = loader()(settings, lambda _share: not cancel.cancelled)
    if not runtime.prompts.anchors("anchored"):
        runtime.close()
        raise SettingsError(f"{settings.model} can't fill in behind a prefix and a suffix.")
    return runtime


def _setup(plan: Plan, settings: Settings, runtime: Runtime, cancel: CancelToken) -> Setup:
    return Setup(
        runtime,
        (settings.prefix_tokens, settings.suffix_tokens),
        min(settings.max_tokens, MAX_TOKENS),
        plan.typed_lines,
        plan.carried_lines,
        cancel,
    )


def progress_bar(console: Console) -> Progress:
    """How many of the tasks are done."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def missing(tasks: Sequence[Task], ways: Sequence[str], results: Results) -> bool:
    """Whether there is anything left to measure."""
    return any((task.id, task.kind, way) not in results for task in tasks for way in ways)


def measure(
    tasks: Sequence[Task],
    ways: Sequence[Way],
    results: Results,
    checker: Checker,
    step: Callable[[], None] = lambda: None,
) -> None:
    """Let every way write every task that it hasn't yet; ``step`` is called for each of them.

    Raises:
        Cancelled: a way was interrupted. What was done is in ``results``.
    """
    # Ways often write the same, and then it's the same program.
    tested = lru_cache(maxsize=64)(checker)
    for _, kinds in groupby(tasks, key=lambda task: task.id):
        # All kinds of one way in a row share the most of what the engine has read.
        for way, task in product(ways, list(kinds)):
            if (task.id, task.kind, way.name) not in results:
                results.add(_result(task, way, tested))
            step()


def _result(task: Task, way: Way, checker: Checker) -> Result:
    answer = way.complete(task)
    truth = task.truth.rstrip()
    return Result(
        task=task.id,
        kind=task.kind,
        way=way.name,
        text=answer.text,
        exact=answer.text == truth,
        verdict=checker(task.program(answer.text)).value,
        similarity=similarity(answer.text, truth),
        new_tokens=answer.new_tokens,
        decoded=answer.decoded,
        seconds=round(answer.seconds, 4),
    )
