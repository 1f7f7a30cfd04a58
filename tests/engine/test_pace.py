"""How many tokens are decoded at once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from specls.engine.pace import SIZES, Pace

# Tokens per second of batches, as measured on machines.
AVX512 = {8: 55, 16: 80, 32: 101, 64: 124, 128: 140, 256: 155, 512: 162, 1024: 162}
AVX2 = {8: 13.2, 16: 19.6, 32: 20.2, 64: 20.7, 128: 20.7, 256: 20.8, 512: 20.8, 1024: 20.8}
GPU = {size: size / max(0.004, size / 60_000) for size in SIZES}


def run(pace: Pace, speeds: Mapping[int, float], batches: int = 12) -> list[int]:
    """The sizes that are decoded one after the other."""
    sizes = []
    for _ in range(batches):
        size = pace.next
        sizes.append(size)
        pace.observe(size, size / speeds[size])
    return sizes


@pytest.mark.parametrize(
    ("speeds", "first", "longest", "best"),
    [
        (AVX512, 64, 1.0, 64),
        (AVX512, 64, 10.0, 128),
        (AVX512, 8, 1.0, 64),
        (AVX2, 64, 1.0, 16),
        (AVX2, 64, 100.0, 16),
        (GPU, 512, 0.05, 256),
        (GPU, 64, 0.05, 256),
    ],
)
def test_the_smallest_that_is_nearly_the_fastest(
    speeds: Mapping[int, float], first: int, longest: float, best: int
) -> None:
    """From any beginning, it ends at the smallest size that has four fifths of the best speed."""
    pace = Pace(first, 1024, longest)
    run(pace, speeds)
    assert pace.best == pace.next == best


def test_what_takes_too_long_is_not_tried() -> None:
    """Sizes that would keep a request waiting are never run, but for the first guess."""
    assert set(run(Pace(64, 1024, 1.0), AVX512)) == {32, 64, 128}
    assert set(run(Pace(64, 1024, 1.0), AVX2)) == {8, 16, 32, 64}


def test_each_is_tried_now_and_then() -> None:
    """When all is known, the best is run, and a neighbour once in a hundred batches."""
    sizes = run(Pace(64, 128, 1.0), AVX2, 90)
    assert sizes.count(8) == 1
    assert sizes[-80:] == [16] * 80


def test_a_slow_model_on_a_gpu() -> None:
    """Where a batch can't be stopped, it takes no longer than it may, however efficient."""
    slow = {size: 2000.0 * size / (size + 500) for size in SIZES}
    pace = Pace(512, 1024, longest=0.3)
    run(pace, slow)
    assert pace.best == 64
    assert 64 / slow[64] <= 0.3 < 128 / slow[128]


def test_a_machine_that_changes() -> None:
    """What was measured is refined: a size that became slow is left."""
    pace = Pace(64, 128, 10.0)
    run(pace, AVX2)
    slowed = {**AVX2, 16: 8.0}
    run(pace, slowed, 20)
    assert pace.best == 32


def test_a_busy_spell_is_forgotten() -> None:
    """What was slow while something else ran is tried again later."""
    pace = Pace(64, 128, 1.0)
    run(pace, {size: speed / 3 for size, speed in AVX512.items()}, 12)
    assert pace.best < 64
    run(pace, AVX512, 400)
    assert pace.best == 64


def test_nothing_known() -> None:
    """Before the first batch, the guess counts; other sizes tell nothing."""
    pace = Pace(64, 128, 1.0)
    pace.observe(5, 1.0)
    assert (pace.best, pace.next, pace.measured) == (64, 64, {})
    pace.observe(64, 2.0)
    assert pace.measured == {64: 32.0}
