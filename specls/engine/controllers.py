"""Whether to draft at all, from which source, and how far ahead."""

from __future__ import annotations

from collections.abc import Sequence

from specls.core import Source
from specls.engine.interface import Outcome, Plan


class FixedController:
    """Always the same plans: what a person chose in the settings."""

    def __init__(self, *plans: Plan) -> None:
        self._plans = plans

    def plans(self) -> Sequence[Plan]:
        """The plans it was made with."""
        return self._plans

    def observe(self, outcome: Outcome) -> None:
        """Learn nothing."""


class LookupController:
    """Looks drafts up, longer while they are right, and rests after a row of wrong ones.

    The length doubles when a whole draft was accepted and halves when none of it was. When even
    the shortest is refused, it pauses for as many passes as were wasted in a row, so that text
    that never repeats itself costs next to nothing.
    """

    def __init__(self, shortest: int = 2, longest: int = 8) -> None:
        self._shortest = shortest
        self._longest = longest
        self._limit = shortest
        self._wasted = 0
        self._pause = 0

    def plans(self) -> Sequence[Plan]:
        """One look-up of the current length, or nothing while it pauses."""
        return () if self._pause else (Plan(Source.LOOKUP, self._limit),)

    def observe(self, outcome: Outcome) -> None:
        """Adapt the length to what was accepted."""
        if outcome.source is None:
            self._pause = max(self._pause - 1, 0)
        elif outcome.accepted == outcome.drafted:
            self._limit = min(2 * self._limit, self._longest)
            self._wasted = 0
        elif outcome.accepted == 0:
            self._limit = max(self._limit // 2, self._shortest)
            self._wasted += 1
            self._pause = self._wasted if self._limit == self._shortest else 0
        else:
            self._wasted = 0
