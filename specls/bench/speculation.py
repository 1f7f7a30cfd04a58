"""Runs the benchmark of speculation: what drafts gain over plain decoding, by kind of text."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from specls.app import loader
from specls.bench.sources import Sources
from specls.bench.speculation_arms import NONE, PLAIN, SOURCES, Arm, Clock, arms_of, load_draft
from specls.bench.speculation_places import places
from specls.bench.speculation_runs import Course, Preparation, Ready, Run
from specls.core import CancelToken
from specls.engine.decode import Limits
from specls.service.completion import budget_of
from specls.service.interface import Runtime
from specls.settings import Settings

MAX_TOKENS = 48
"""New tokens of a run, unless the settings say otherwise."""

_MEMORY = 1024
"""MiB for the prompts of a workload's places, which are all read before the first round."""


@dataclass(frozen=True)
class Plan:
    """What is to be measured."""

    workloads: Sequence[str]
    sources: Sources
    data: Path | None
    """The programs of the workload ``fresh``; without them it's left out."""
    n: int
    """Places of each workload."""
    rounds: int
    seed: int
    drafts: Sequence[str]
    """What is measured beside plain decoding and ``auto``: sources, or models by id or path."""
    draft_length: int


@dataclass
class Measured:
    """What was measured so far; filled in while it runs."""

    runs: list[Run] = field(default_factory=list)
    places: list[dict[str, object]] = field(default_factory=list)
    models: dict[str, object] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


Tell = Callable[[str], None]
"""Hears what is going on."""


def measure(
    plan: Plan, settings: Settings, measured: Measured, cancel: CancelToken, tell: Tell
) -> None:
    """Load the models, and have each arm write at each place; ``measured`` is filled in.

    Raises:
        Cancelled: the run was interrupted. What was done is in ``measured``.
        SpeclsError: the models can't be loaded, or one failed.
    """
    memory = max(settings.kv_budget_mib, _MEMORY)
    settings = replace(settings, speculation="auto", kv_budget_mib=memory)
    with contextlib.ExitStack() as loaded:
        runtime = _loaded(loaded, settings, cancel, tell)
        measured.models.update(runtime.models)
        measured.notices.extend(runtime.notices)
        drafts = {
            name: _loaded_draft(loaded, name, settings, cancel, tell)
            for name in dict.fromkeys(plan.drafts)
            if name not in SOURCES and name != NONE
        }
        arms = arms_of(runtime, drafts, plan.drafts, plan.draft_length)
        measure_all(plan, settings, runtime, arms, measured, cancel, tell)


def _loaded(
    loaded: contextlib.ExitStack, settings: Settings, cancel: CancelToken, tell: Tell
) -> Runtime:
    tell(f"loading {settings.model}")
    runtime = loader()(settings, lambda _share: not cancel.cancelled)
    loaded.callback(runtime.close)
    return runtime


def _loaded_draft(
    loaded: contextlib.ExitStack, name: str, settings: Settings, cancel: CancelToken, tell: Tell
) -> Runtime:
    tell(f"loading {name}")
    runtime = load_draft(loader(), name, settings, lambda _share: not cancel.cancelled)
    loaded.callback(runtime.close)
    return runtime


def measure_all(
    plan: Plan,
    settings: Settings,
    runtime: Runtime,
    arms: Sequence[Arm],
    measured: Measured,
    cancel: CancelToken,
    tell: Tell,
) -> None:
    """Each workload in turn: find its places, then have all arms write there round by round."""
    budget = budget_of(settings, runtime.engine.target.capacity)
    limits = Limits(budget.max_tokens, runtime.prompts.dialect.stop_ids)
    plain = next(arm.engine for arm in arms if arm.name == PLAIN)
    preparation = Preparation(
        runtime,
        plain,
        budget.windows,
        settings.prompt_layout,
        limits,
        cancel,
        prefetch=settings.prefetch,
    )
    course = Course(arms, Clock(runtime.engine.target), limits, cancel)
    for workload in plan.workloads:
        ready = _ready(plan, workload, preparation, measured, tell)
        for done in course.runs(ready, plan.rounds):
            measured.runs.append(done)
            tell(f"{workload}: round {done.round + 1} of {plan.rounds}, {done.arm}")


def _ready(
    plan: Plan, workload: str, preparation: Preparation, measured: Measured, tell: Tell
) -> list[Ready]:
    """The workload's places; that there are fewer than wanted is noted."""
    ready, left_out = [], preparation.left_out
    candidates = places(workload, plan.sources, plan.data, plan.seed)
    tell(f"{workload}: reading")
    for each in preparation.ready(candidates, plan.n):
        tell(f"{workload}: place {each.number + 1} of {plan.n} is read")
        measured.places.append({"number": each.number, **each.place.as_dict()})
        ready.append(each)
    if left_out := preparation.left_out - left_out:
        told = (
            f"{left_out} places are left out, where the model ends before half of the tokens or "
            "the window is too small"
        )
        measured.notices.append(f"{workload}: {told}.")
    if len(ready) < plan.n:
        measured.notices.append(f"{workload}: only {len(ready)} of {plan.n} places were found.")
    return ready
