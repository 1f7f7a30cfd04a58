"""What a draft model said along a target's own text, recorded; and decoding replayed from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specls.core import Source
from specls.engine.controllers import FixedController
from specls.engine.costs import Costs
from specls.engine.interface import Controller, Outcome, Part, Plan

LEAST = 0.4
"""A draft ends before a token of a lower probability, as in ``engine.drafters``."""


@dataclass(frozen=True)
class Trace:
    """One text of the target, position by position.

    What was recorded behind the true text is what a draft says there, as long as it agrees.
    """

    agrees: tuple[bool, ...]
    """Whether the draft model's best token was the target's."""
    top: tuple[float, ...]
    """The draft model's probability of its best token, 0 to 1."""

    def __len__(self) -> int:
        """How many tokens the text has."""
        return len(self.agrees)

    def draft(self, at: int, limit: int) -> tuple[int, int]:
        """A draft of the tokens from ``at`` on: how many it has, and how many of them are right.

        Behind the first wrong one nothing is known; there it goes on to the limit.
        """
        right = 0
        for place in range(at, min(at + limit, len(self))):
            if self.top[place] < LEAST:
                return right, right
            if not self.agrees[place]:
                return limit, right
            right += 1
        return right, right

    def as_dict(self) -> dict[str, str]:
        """As it's kept: a digit for each agreement, and percents."""
        return {
            "agrees": "".join(str(int(each)) for each in self.agrees),
            "top": " ".join(str(round(100 * each)) for each in self.top),
        }


def trace_of(raw: Mapping[str, str]) -> Trace:
    """The trace that :meth:`Trace.as_dict` made this of."""
    agrees = tuple(each == "1" for each in raw["agrees"])
    return Trace(agrees, tuple(int(each) / 100 for each in raw["top"].split()))


def read(path: Path) -> list[Trace]:
    """The traces of a file that ``bench/record_traces.py`` wrote."""
    recorded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return [trace_of(each) for each in recorded["traces"]]


@dataclass
class Replayed:
    """What came of decoding texts on a machine with known costs. Times are in its seconds."""

    tokens: int = 0
    passes: int = 0
    seconds: float = 0.0
    plain_seconds: float = 0.0
    """The same tokens without drafts."""
    lengths: list[int] = field(default_factory=list)
    """Of each draft, in order; 0 for none."""

    @property
    def speed_up(self) -> float:
        """How many times as fast as without drafts."""
        return self.plain_seconds / self.seconds

    @property
    def drafting(self) -> float:
        """The share of passes with a draft, 0 to 1."""
        return sum(map(bool, self.lengths)) / max(self.passes, 1)


def replay(traces: Sequence[Trace], costs: Costs, each: float, controller: Controller) -> Replayed:
    """Decode texts with a draft model whose tokens take ``each`` seconds."""
    done = Replayed()
    for trace in traces:
        controller.begin("")
        at = 1  # the first token comes from the prefill
        while at < len(trace):
            at += _pass(trace, at, costs, each, controller, done)
    return done


def _pass(
    trace: Trace, at: int, costs: Costs, each: float, controller: Controller, done: Replayed
) -> int:
    """One pass of the target; how many tokens it decided."""
    plan = next((plan for plan in controller.plans() if plan.source is Source.DRAFT), None)
    drafted = accepted = 0
    parts: tuple[Part, ...] = ()
    if plan is not None and (limit := min(plan.limit, len(trace) - at - 1)) > 0:
        drafted, accepted = trace.draft(at, limit)
        # A token that is too doubtful to be drafted was decoded nevertheless.
        decoded = drafted + (drafted < limit)
        parts = (Part(Source.DRAFT, drafted, decoded * each),)
    verifying = costs.of(drafted + 1)
    controller.observe(Outcome(parts, accepted, verifying))
    decided = accepted + 1
    done.tokens += decided
    done.passes += 1
    done.seconds += verifying + sum(part.seconds for part in parts)
    done.plain_seconds += decided * costs.of(1)
    done.lengths.append(drafted)
    return decided


def best_fixed(
    traces: Sequence[Trace], costs: Costs, each: float, longest: int = 16
) -> tuple[int, Replayed]:
    """The fixed length of drafts with which the texts are decoded soonest, by search; 0 is none."""
    runs = {
        length: replay(traces, costs, each, FixedController(*_plans(length)))
        for length in range(longest + 1)
    }
    length = max(runs, key=lambda length: runs[length].speed_up)
    return length, runs[length]


def _plans(length: int) -> tuple[Plan, ...]:
    return (Plan(Source.DRAFT, length),) if length else ()
