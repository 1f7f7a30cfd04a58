"""The figures of the benchmark of speculation, from runs that were made up."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from specls.bench.speculation_arms import Drafts
from specls.bench.speculation_figures import (
    Figures,
    Lengths,
    figures_of,
    lengths_of,
    pooled,
    sentences,
)
from specls.bench.speculation_runs import Run
from specls.bench.speculation_tables import WIDE, show
from specls.core import Source
from specls.metrics import GenerationStats


def stats(seconds: float, accepted: int = 0, drafted: int = 0) -> GenerationStats:
    """Twelve tokens in so many seconds, each draft verified in its own pass."""
    made = GenerationStats(decode_seconds=seconds, decoded_tokens=12, target_passes=12 - accepted)
    if drafted:
        made.verifications = 1
        made.count_drafted(Source.LOOKUP, drafted)
        made.count_verified(Source.LOOKUP, drafted, accepted)
    return made


def run(arm: str, number: int, made: GenerationStats, workload: str = "copy") -> Run:
    drafts = Drafts({(Source.LOOKUP, 4): 1, (Source.LOOKUP, 0): 2}) if made.drafted else Drafts()
    tokens = [number, len(made.drafted)]
    return Run(workload, 0, number, arm, made, tokens, drafts, made.decode_seconds / 2, 0.0)


RUNS = [
    run("plain", 0, stats(1.0)),
    run("auto", 0, stats(0.5, 3, 4)),
    run("plain", 1, stats(4.0)),
    run("auto", 1, stats(1.0, 1, 4)),
    run("plain", 2, stats(2.0)),
    run("auto", 2, stats(4.0)),
]


def of(arm: str, runs: list[Run] = RUNS) -> Figures:
    return next(each for each in figures_of(runs) if each.arm == arm)


def test_speed_ups_are_of_the_same_round() -> None:
    """Each run is compared with plain decoding in its round, and then the median is taken."""
    auto = of("auto")
    assert auto.speed_ups == [0.5, 2.0, 4.0]
    assert auto.speed_up == 2.0
    assert auto.tokens_per_second == 12.0
    assert of("plain").speed_ups == [1.0, 1.0, 1.0]


def test_runs_without_plain_decoding_arent_counted() -> None:
    """What an interruption left unpaired is in no figure."""
    runs = [*RUNS, run("auto", 3, stats(0.1)), run("plain", 0, stats(1.0), "edit")]
    assert len(of("auto", runs).pairs) == 3
    assert [(each.workload, each.arm) for each in figures_of(runs)] == [
        ("copy", "plain"),
        ("copy", "auto"),
        ("edit", "plain"),
    ]


def test_counted_rates_are_of_all_runs_together() -> None:
    """Sums make the rates, not means of rates."""
    total = of("auto").total
    assert total.acceptance(Source.LOOKUP) == 4 / 8
    assert total.accepted_length == 1 + 4 / 2
    assert total.verify_rate == 2 / 32
    assert total.tokens_per_pass == 1 + 4 / 32
    assert [total.acceptance_at(Source.LOOKUP, at) for at in range(5)] == [1, 0.5, 1, 0, 0]


def test_a_pool_of_one_is_that_one() -> None:
    """Nothing is lost or changed by pooling, and nothing of what is pooled changes."""
    one = stats(0.5, 3, 4)
    before = one.as_dict()
    assert pooled([one]).as_dict() == before
    pooled([one, one])
    assert one.as_dict() == before


def test_other_texts_are_counted() -> None:
    """A run whose tokens aren't those of plain decoding is one."""
    assert of("auto").different == 2
    assert of("plain").different == 0


def test_time_outside_of_the_models_is_per_pass() -> None:
    """The median over the runs of seconds by passes, and as a share of the target's."""
    plain = of("plain")
    assert plain.python_seconds == pytest.approx(2.0 / 2 / 12)
    assert plain.python_share == pytest.approx(1.0)


def test_lengths_of_drafts() -> None:
    """How long they were, and how often there was no idea."""
    assert lengths_of(of("auto").drafts, Source.LOOKUP) == Lengths(2, 4.0, 4, 4, 4)
    silent = Drafts({(Source.PREVIOUS, 0): 3})
    assert lengths_of(silent, Source.PREVIOUS) == Lengths(0, 0.0, 0, 0, 3)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (1.0, ["auto stayed", "1.00 (copy)", "less than the 1.5 wanted"]),
        (0.5, ["auto stayed", "2.00 (copy)", "as wanted"]),
        (1.1, ["auto did not stay", "0.91 (copy)"]),
    ],
)
def test_a_sentence_says_whether_it_was_worth_it(seconds: float, expected: list[str]) -> None:
    """Whether plain decoding was reached, and the gain where one is wanted."""
    runs = [run("plain", 0, stats(1.0)), run("auto", 0, stats(seconds))]
    said = " ".join(sentences(figures_of(runs)))
    assert all(each in said for each in expected)


def test_everything_is_printed() -> None:
    """Speed stands beside acceptance, and what is unsure is said."""
    out = io.StringIO()
    show(RUNS, Console(file=out, width=WIDE))
    shown = out.getvalue()
    assert "0.50 to 4.00" in shown
    assert "4 of 8" in shown
    assert "4 (4 to 4)" in shown
    assert "1.00 .50 1.00 .00" in shown
    assert "2 of 3" in shown
    assert "rounds: too few" in shown
    assert max(map(len, shown.splitlines())) <= WIDE


def test_nothing_is_cut_off() -> None:
    """The longest names and numbers fit into the width that is asked for."""
    out = io.StringIO()
    made = stats(0.5, 12, 24)
    long = [run("plain", 0, stats(1.0), "repeat"), run("qwen2.5-coder-0.5b", 0, made, "repeat")]
    console = Console(file=out, width=WIDE, soft_wrap=True)
    show(long, console)
    assert "…" not in out.getvalue()
    assert "1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00" in out.getvalue()


def test_nothing_measured_is_said() -> None:
    """An interruption before the first run leaves one line."""
    out = io.StringIO()
    show([], Console(file=out, width=WIDE))
    assert out.getvalue() == "Nothing is measured yet.\n"
