"""What passes cost: between what was measured, beyond it, and as the machine changes."""

from __future__ import annotations

import pytest

from specls.engine.costs import SIZES, Costs, measure
from tests.fakes import ScriptedModel

CURVE = {1: 1.0, 2: 1.6, 4: 2.6, 8: 4.6}


@pytest.mark.parametrize(
    ("tokens", "seconds"), [(1, 1.0), (2, 1.6), (3, 2.1), (6, 3.6), (8, 4.6), (12, 6.6)]
)
def test_what_wasn_t_measured_is_in_between(tokens: int, seconds: float) -> None:
    """Between two sizes it's interpolated, and beyond the last the slope goes on."""
    assert Costs(CURVE).of(tokens) == pytest.approx(seconds)


def test_one_size_is_enough() -> None:
    """With only single tokens measured, a batch is taken to cost as much for each."""
    assert Costs({1: 0.5}).of(4) == 2.0


def test_it_never_gets_cheaper_than_a_token() -> None:
    """Noise that makes a larger batch cheaper isn't extrapolated below the cost of one token."""
    assert Costs({1: 1.0, 2: 1.2, 4: 1.0}).of(100) >= 1.0


def test_what_is_seen_refines_what_is_known() -> None:
    """A size that's run again and again has the cost that it has, also one not measured first."""
    costs = Costs(CURVE)
    for _ in range(100):
        costs.observe(3, 5.0)
    assert costs.of(3) == pytest.approx(5.0, rel=0.01)
    assert 3 in costs.as_dict()


def test_a_machine_that_got_slower_is_slower_for_all_sizes() -> None:
    """When single tokens take twice as long the curve follows, most of the way; and back again."""
    costs = Costs(CURVE)
    for _ in range(100):
        costs.observe(1, 2.0)
    assert costs.of(1) == pytest.approx(2.0, rel=0.01)
    assert 1.7 < costs.of(8) / CURVE[8] < 2.0
    for _ in range(100):
        costs.observe(8, CURVE[8])
        costs.observe(1, 1.0)
    assert costs.of(8) == pytest.approx(CURVE[8], rel=0.05)
    assert costs.of(1) == pytest.approx(1.0, rel=0.05)


def test_a_hiccup_counts_little() -> None:
    """One pass that took a hundred times as long changes little."""
    costs = Costs(CURVE)
    costs.observe(1, 100.0)
    assert costs.of(1) < 1.3


def test_measuring_runs_what_there_is_time_for() -> None:
    """All sizes are run on a quick model, within what may be scored, and nothing is left behind."""
    model = ScriptedModel(len, micro_batch=12)
    found = measure(model)
    assert list(found) == sorted(size for size in SIZES if size <= 12)
    assert all(seconds > 0 for seconds in found.values())
    assert model.cells == []


def test_measuring_ends_in_time() -> None:
    """On a slow model the small sizes are measured alone, at least the first."""
    assert list(measure(ScriptedModel(len, micro_batch=16), seconds=0.0)) == [1]


def test_what_was_measured_on_a_busy_machine_is_forgotten() -> None:
    """When it's quiet again, a long batch that nobody runs doesn't go on looking dear."""
    costs = Costs({size: 2 * seconds for size, seconds in CURVE.items()})
    for _ in range(100):
        costs.observe(1, CURVE[1])
        costs.observe(2, CURVE[2])
    assert costs.of(8) / costs.of(1) == pytest.approx(CURVE[8] / CURVE[1], rel=0.15)
