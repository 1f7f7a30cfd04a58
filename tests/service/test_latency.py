"""How long people wait."""

from __future__ import annotations

from specls.service.latency import Latency


def test_a_percentile_is_a_time_that_was_measured() -> None:
    """Of a hundred answers of 1 to 100 ms, 95 took at most 95 ms."""
    latency = Latency()
    for number in range(100, 0, -1):
        latency.add(number / 1000)
    assert latency.as_dict() == {"count": 100, "p50Ms": 50.0, "p95Ms": 95.0, "p99Ms": 99.0}


def test_of_few_the_longest_counts() -> None:
    """The 95th percentile of two answers is the longer one."""
    latency = Latency()
    latency.add(0.2)
    latency.add(0.1)
    assert latency.as_dict() == {"count": 2, "p50Ms": 100.0, "p95Ms": 200.0, "p99Ms": 200.0}


def test_without_an_answer_there_is_no_time() -> None:
    """Nothing was measured, and that isn't zero."""
    assert Latency().as_dict() == {"count": 0, "p50Ms": None, "p95Ms": None, "p99Ms": None}


def test_only_the_last_answers_count() -> None:
    """What's older than the window is forgotten."""
    latency = Latency(window=2)
    for seconds in (9.0, 0.001, 0.002):
        latency.add(seconds)
    assert latency.as_dict() == {"count": 2, "p50Ms": 1.0, "p95Ms": 2.0, "p99Ms": 2.0}
