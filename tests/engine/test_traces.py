"""The controller on what the real draft model said, recorded, and on recorded costs."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from specls.bench.traces import Trace, best_fixed, read, replay, trace_of
from specls.core import Source
from specls.engine.controllers import CostController, FixedController
from specls.engine.costs import Costs
from specls.engine.interface import Plan

RECORDED = Path(__file__).parent / "traces" / "qwen2.5-coder-0.5b-for-1.5b.json"

AVX512 = {1: 1.0, 2: 1.6, 3: 2.1, 4: 2.6, 8: 4.7, 12: 5.7, 16: 5.8, 24: 8.7}
AVX2 = {1: 1.0, 2: 1.5, 3: 2.2, 4: 2.6, 8: 6.2, 12: 8.1, 16: 8.5, 24: 14.0}
"""Two old cores each, 1.5B, in single tokens (docs/speculation.md)."""

GPU = {size: 1.0 + 0.15 * (size - 1) / 7 for size in range(1, 9)}


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return read(RECORDED) * 4


def controlled(curve: Mapping[int, float], each: float) -> CostController:
    return CostController(Costs(curve), (Source.DRAFT,), drafting={Source.DRAFT: each})


@pytest.mark.parametrize(("curve", "each", "tried"), [(AVX512, 0.6, 0.05), (AVX2, 0.4, 0.2)])
def test_the_draft_model_is_left_alone_on_a_cpu(
    traces: list[Trace], curve: Mapping[int, float], each: float, tried: float
) -> None:
    """With what the 0.5B really gets right it isn't worth its time there, and only tried.

    The closer it is to being worth it, the more often, with one token each time.
    """
    _, best = best_fixed(traces, Costs(curve), each)
    assert best.speed_up < 1.05
    done = replay(traces, Costs(curve), each, controlled(curve, each))
    assert done.speed_up > 0.97
    assert done.drafting < tried
    assert done.lengths.count(1) > 0.8 * sum(map(bool, done.lengths))


def test_the_draft_model_is_used_on_a_gpu(traces: list[Trace]) -> None:
    """Where batches are cheap it's chosen, and within a twentieth of the best fixed length."""
    length, best = best_fixed(traces, Costs(GPU), 0.08)
    assert length > 1
    done = replay(traces, Costs(GPU), 0.08, controlled(GPU, 0.08))
    assert done.drafting > 0.7  # in the other passes it's too doubtful to say anything
    assert done.speed_up > 0.95 * best.speed_up > 1.5


@pytest.mark.parametrize(("eighth", "each"), [(1.05, 0.25), (1.5, 0.15), (2.0, 0.08)])
@pytest.mark.parametrize("seed", range(3))
def test_drafts_do_not_stay_short_after_bad_luck(
    traces: list[Trace], eighth: float, each: float, seed: int
) -> None:
    """In any order of the texts it comes back to long drafts where they're worth most."""
    curve = {size: 1.0 + (eighth - 1.0) * (size - 1) / 7 for size in (1, 2, 3, 4, 8, 16, 24)}
    shuffled = list(traces)
    random.Random(seed).shuffle(shuffled)
    _, best = best_fixed(shuffled, Costs(curve), each)
    done = replay(shuffled, Costs(curve), each, controlled(curve, each))
    assert done.speed_up > 0.95 * best.speed_up


def test_the_traces_are_those_of_a_real_pair(traces: list[Trace]) -> None:
    """Some hundred positions, most of them right, those of a high probability more often."""
    tokens = [each for trace in traces for each in zip(trace.agrees, trace.top, strict=True)]
    assert len(tokens) > 4 * 500
    sure = [agrees for agrees, top in tokens if top > 0.9]
    unsure = [agrees for agrees, top in tokens if top < 0.4]
    assert 0.5 < sum(agrees for agrees, _ in tokens) / len(tokens) < 0.95
    assert sum(sure) / len(sure) > sum(unsure) / len(unsure) + 0.2


TOLD = Trace((True, True, False, True, True), (0.9, 0.5, 0.8, 0.3, 0.7))


@pytest.mark.parametrize(
    ("at", "limit", "drafted", "right"),
    [(0, 8, 8, 2), (0, 2, 2, 2), (2, 4, 4, 0), (3, 4, 0, 0), (4, 4, 1, 1)],
)
def test_a_draft_is_right_until_it_differs(at: int, limit: int, drafted: int, right: int) -> None:
    """It ends before a doubtful token, and goes on wrongly behind a wrong one."""
    assert TOLD.draft(at, limit) == (drafted, right)


def test_a_replay_takes_what_its_passes_take() -> None:
    """Passes, drafted tokens and the times of both are those of the plan."""
    costs = Costs({1: 1.0, 2: 1.5, 3: 2.0})
    trace = Trace((True,) * 6, (0.9,) * 6)
    done = replay([trace], costs, 0.25, FixedController(Plan(Source.DRAFT, 2)))
    assert done.lengths == [2, 1]
    assert done.tokens == 5
    assert done.seconds == pytest.approx(2.0 + 0.5 + 1.5 + 0.25)
    assert done.speed_up == pytest.approx(5 / 4.25)
    assert replay([trace], costs, 0.25, FixedController()).speed_up == 1.0


def test_traces_come_back() -> None:
    """What is kept of a trace is the trace."""
    assert trace_of(TOLD.as_dict()) == TOLD
