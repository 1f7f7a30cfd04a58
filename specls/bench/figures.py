"""What was measured, and the numbers that sum it up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from specls.bench.arms import Answer
from specls.bench.replay import Kind, Step

BASE = "anchored"
"""The arm that the others are compared with."""

ALL = "all"
"""Stands for all scripts together."""


@dataclass(frozen=True)
class Sample:
    """One request of one arm."""

    arm: str
    script: str
    place: int
    number: int
    """Of the step in its replay."""
    kind: Kind
    latency_ms: float
    first_token_ms: float | None
    prompt_tokens: int | None
    decoded_tokens: int | None
    origin: str | None
    text: str | None
    truth: str
    """The rest of the file's line."""
    matched: int
    """Characters at the beginning of the answer that the file has there."""
    exact: bool
    """Whether the answer's first line is the rest of the file's line."""

    def as_dict(self) -> dict[str, object]:
        """The values for JSON."""
        return asdict(self) | {"kind": self.kind.value}


def sample_of(arm: str, script: str, place: int, number: int, step: Step, answer: Answer) -> Sample:
    """An answer beside what the file has there."""
    line = step.truth.partition("\n")[0]
    text = answer.text or ""
    return Sample(
        arm=arm,
        script=script,
        place=place,
        number=number,
        kind=step.kind,
        latency_ms=answer.latency_ms,
        first_token_ms=answer.first_token_ms,
        prompt_tokens=answer.prompt_tokens,
        decoded_tokens=answer.decoded_tokens,
        origin=answer.origin,
        text=answer.text,
        truth=line,
        matched=common(text, step.truth),
        exact=answer.text is not None and text.partition("\n")[0] == line,
    )


def common(left: str, right: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))


def percentile(values: Iterable[float], percent: float) -> float | None:
    """The smallest value that at least so many percent of all don't exceed (nearest rank).

    It's always a value that was measured: of fewer than 100, the 99th percentile is the largest.
    """
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[max(math.ceil(percent / 100 * len(ordered)), 1) - 1]


@dataclass(frozen=True)
class Figures:
    """The samples of one arm, of one script or of all; a number is None where nothing is known."""

    arm: str
    script: str
    samples: Sequence[Sample]

    @property
    def opens(self) -> list[float]:
        """Milliseconds until the answer at a new place."""
        return [each.latency_ms for each in self._answered if each.kind is Kind.OPEN]

    @property
    def keys(self) -> list[float]:
        """Milliseconds until the answer to a key, or to a change of several characters."""
        return [each.latency_ms for each in self._answered if each.kind is not Kind.OPEN]

    @property
    def open_median(self) -> float | None:
        """Of the answers at a new place."""
        return percentile(self.opens, 50)

    def key_percentile(self, percent: float) -> float | None:
        """Of the answers to a key."""
        return percentile(self.keys, percent)

    @property
    def first_token(self) -> float | None:
        """The median of the milliseconds until a key's first token."""
        return percentile(self._of_keys(lambda each: each.first_token_ms), 50)

    @property
    def decoded(self) -> float | None:
        """The median of the prompt tokens decoded for a key."""
        return percentile(self._of_keys(lambda each: each.decoded_tokens), 50)

    @property
    def unanswered(self) -> int:
        """Requests without an answer."""
        return len(self.samples) - len(self._answered)

    @property
    def matched(self) -> int:
        """Characters that the file has, summed over all answers."""
        return sum(each.matched for each in self.samples)

    @property
    def exact_share(self) -> float | None:
        """The share of all requests whose answer begins with exactly the rest of the line."""
        count = len(self.samples)
        return sum(each.exact for each in self.samples) / count if count else None

    @property
    def useful_per_second(self) -> float | None:
        """Characters that the file has, per second of waiting."""
        seconds = sum(each.latency_ms for each in self.samples) / 1000
        return self.matched / seconds if seconds > 0 else None

    @property
    def _answered(self) -> list[Sample]:
        return [each for each in self.samples if each.text is not None]

    def _of_keys(self, value: Callable[[Sample], float | None]) -> list[float]:
        keys = (each for each in self._answered if each.kind is not Kind.OPEN)
        return [known for each in keys if (known := value(each)) is not None]


def figures_of(samples: Sequence[Sample]) -> list[Figures]:
    """Those of all scripts, then of each, in the order in which arms and scripts came."""
    arms = dict.fromkeys(each.arm for each in samples)
    scripts = dict.fromkeys(each.script for each in samples)
    wanted = [ALL, *scripts] if len(scripts) > 1 else list(scripts)
    return [
        Figures(arm, script, _chosen(samples, arm, script)) for script in wanted for arm in arms
    ]


def _chosen(samples: Iterable[Sample], arm: str, script: str) -> list[Sample]:
    return [each for each in samples if each.arm == arm and script in {ALL, each.script}]


@dataclass(frozen=True)
class Ratios:
    """How many times as long as the base an arm takes."""

    arm: str
    script: str
    opened: float | None
    key_median: float | None
    key_p95: float | None


def ratios_of(figures: Sequence[Figures]) -> list[Ratios]:
    """Each arm against the base, by script."""
    bases = {each.script: each for each in figures if each.arm == BASE}
    others = [each for each in figures if each.arm != BASE and each.script in bases]
    return [_compared(each, bases[each.script]) for each in others]


def _compared(figures: Figures, base: Figures) -> Ratios:
    return Ratios(
        figures.arm,
        figures.script,
        ratio(figures.open_median, base.open_median),
        ratio(figures.key_percentile(50), base.key_percentile(50)),
        ratio(figures.key_percentile(95), base.key_percentile(95)),
    )


def ratio(value: float | None, base: float | None) -> float | None:
    """``value / base``; None where one of them isn't known."""
    return value / base if value is not None and base else None
