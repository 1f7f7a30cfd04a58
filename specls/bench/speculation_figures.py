"""Figures of the runs: each arm against plain decoding in the same round at the same place."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from specls.bench.speculation_arms import AUTO, PLAIN, Drafts
from specls.bench.speculation_runs import Run
from specls.core import Source
from specls.metrics import GenerationStats, rate, speed_up

LEAST = 0.97
"""What ``auto`` has to stay at or above, as a multiple of plain decoding, in every workload."""

GAINS: Mapping[str, float] = {"edit": 1.5, "copy": 1.5}
"""What it has to gain in some."""

MOST_PYTHON = 0.03
"""The share of a target batch on a CPU that the Python side of a verification may take."""


@dataclass(frozen=True)
class Pair:
    """A run, and that of plain decoding in the same round at the same place."""

    run: Run
    plain: Run

    @property
    def speed_up(self) -> float:
        """By the clock: see :func:`specls.metrics.speed_up`."""
        return speed_up(
            self.run.stats.decode_tokens_per_second, self.plain.stats.decode_tokens_per_second
        )

    @property
    def differs(self) -> bool:
        """Whether the texts do."""
        return list(self.run.tokens) != list(self.plain.tokens)


@dataclass(frozen=True)
class Figures:
    """One arm in one workload."""

    workload: str
    arm: str
    pairs: Sequence[Pair]
    """At least one."""

    @cached_property
    def total(self) -> GenerationStats:
        """All its runs as if they were one: for the rates that are counted."""
        return pooled(pair.run.stats for pair in self.pairs)

    @property
    def tokens_per_second(self) -> float:
        """The median."""
        return statistics.median(pair.run.stats.decode_tokens_per_second for pair in self.pairs)

    @cached_property
    def speed_ups(self) -> list[float]:
        """Of each pair, the smallest first."""
        return sorted(pair.speed_up for pair in self.pairs)

    @property
    def speed_up(self) -> float:
        """The median."""
        return statistics.median(self.speed_ups)

    @property
    def different(self) -> int:
        """How many texts aren't those of plain decoding."""
        return sum(pair.differs for pair in self.pairs)

    @cached_property
    def drafts(self) -> Drafts:
        """What was drafted in all runs."""
        drafts = Drafts()
        for pair in self.pairs:
            drafts.update(pair.run.drafts)
        return drafts

    @property
    def python_seconds(self) -> float:
        """The median over the runs of what a pass takes outside of the models."""
        return _per_pass(self.pairs, [pair.run.python_seconds for pair in self.pairs])

    @property
    def target_seconds(self) -> float:
        """The same inside of the target."""
        return _per_pass(self.pairs, [pair.run.target_seconds for pair in self.pairs])

    @property
    def python_share(self) -> float:
        """The Python side of a pass as a share of the target's batch."""
        return rate(self.python_seconds, self.target_seconds)


def _per_pass(pairs: Iterable[Pair], seconds: Iterable[float]) -> float:
    passes = (pair.run.stats.target_passes for pair in pairs)
    return statistics.median(map(rate, seconds, passes))


def pooled(each: Iterable[GenerationStats]) -> GenerationStats:
    """Several generations as if they were one: the sums from which the rates are made."""
    total = GenerationStats()
    for stats in each:
        total.generated_tokens += stats.generated_tokens
        total.decoded_tokens += stats.decoded_tokens
        total.decode_seconds += stats.decode_seconds
        total.target_passes += stats.target_passes
        total.verifications += stats.verifications
        for source, drafted in stats.drafted.items():
            total.count_drafted(source, drafted)
        for source, accepted in stats.accepted.items():
            total.accepted[source] = total.accepted.get(source, 0) + accepted
        _add_positions(total, stats)
    return total


def _add_positions(total: GenerationStats, stats: GenerationStats) -> None:
    for source, positions in stats.positions.items():
        sums = total.positions.setdefault(source, [])
        for at, position in enumerate(positions):
            if at == len(sums):
                sums.append(type(position)())
            sums[at].verified += position.verified
            sums[at].accepted += position.accepted


def figures_of(runs: Sequence[Run]) -> list[Figures]:
    """Those of each workload and arm, in the order in which they came first."""
    plain = {(each.workload, each.place, each.round): each for each in runs if each.arm == PLAIN}
    groups: dict[tuple[str, str], list[Pair]] = {}
    for run in sorted(runs, key=lambda each: each.arm not in {PLAIN, AUTO}):
        if beside := plain.get((run.workload, run.place, run.round)):
            groups.setdefault((run.workload, run.arm), []).append(Pair(run, beside))
    workloads = list(dict.fromkeys(run.workload for run in runs))
    ordered = sorted(groups.items(), key=lambda item: workloads.index(item[0][0]))
    return [Figures(workload, arm, pairs) for (workload, arm), pairs in ordered]


@dataclass(frozen=True)
class Lengths:
    """How long the drafts of one source were."""

    drafts: int
    median: float
    shortest: int
    longest: int
    silent: int
    """How often it was asked and had no idea."""


def lengths_of(drafts: Drafts, source: Source) -> Lengths:
    """Those of a source that was asked at least once."""
    sizes = sorted(
        size for (each, size), count in drafts.items() if each is source for _ in range(count)
    )
    spoken = [size for size in sizes if size]
    median, shortest, longest = (
        (statistics.median(spoken), spoken[0], spoken[-1]) if spoken else (0.0, 0, 0)
    )
    return Lengths(len(spoken), median, shortest, longest, len(sizes) - len(spoken))


def sentences(figures: Iterable[Figures]) -> Iterator[str]:
    """Whether ``auto`` stayed near plain decoding everywhere, and gained where it should."""
    found = {each.workload: each.speed_up for each in figures if each.arm == AUTO}
    if not found:
        return
    worst = min(found, key=lambda workload: found[workload])
    stayed = "stayed at" if found[worst] >= LEAST else "did not stay at"
    yield (
        f"auto {stayed} {LEAST} of plain decoding or more in every workload measured: the least "
        f"is {found[worst]:.2f} ({worst})."
    )
    for workload, least in GAINS.items():
        if workload in found:
            reached = "as wanted" if found[workload] >= least else f"less than the {least} wanted"
            yield f"{workload}: {found[workload]:.2f} times as fast, {reached}."
