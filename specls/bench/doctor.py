"""What passes cost on this machine, and what that means for drafts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specls.core import Source
from specls.engine.controllers import Acceptance, Choice, best_length
from specls.engine.costs import Costs, measure
from specls.engine.drafters import ModelDrafter
from specls.service.interface import Runtime

RATES = (0.5, 0.7, 0.9)
"""Acceptance rates for which the choice is told."""

_LIMIT = 24
_STEPS = 100


@dataclass(frozen=True)
class Diagnosis:
    """Measured seconds, and what follows from them."""

    passes: Mapping[int, float]
    """Of the target, by number of tokens."""
    draft: float | None
    """Of one token of the draft model, if there is one."""

    def choice(self, rate: float, seconds: float) -> Choice:
        """The best draft at an acceptance rate, when a drafted token takes so long."""
        return best_length(Costs(self.passes), Acceptance(rate), _LIMIT, seconds)

    def advice(self, rate: float, seconds: float) -> str:
        """That choice in words."""
        choice = self.choice(rate, seconds)
        if choice.speed_up <= 1:
            return "none"
        return f"{choice.tokens} tokens, {choice.speed_up:.2f} times as fast"

    def break_even(self, seconds: float) -> float | None:
        """The least acceptance, 0 to 1, at which drafts gain anything; None if they never do."""
        rates = (step / _STEPS for step in range(_STEPS + 1))
        return next((rate for rate in rates if self.choice(rate, seconds).speed_up > 1), None)


def diagnose(runtime: Runtime) -> Diagnosis:
    """Measure the loaded models, in a few seconds."""
    passes = measure(runtime.engine.target)
    drafter = runtime.engine.drafters.get(Source.DRAFT)
    draft = None
    if isinstance(drafter, ModelDrafter):
        draft = measure(drafter.model, (1,))[1]
    return Diagnosis(passes, draft)
