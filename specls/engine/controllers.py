"""Whether to draft at all, from which source, and how far ahead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from specls.core import Source
from specls.engine.costs import Costs
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


_PRIOR = 1.0
"""How many observations the first guess of an acceptance rate counts as."""

_MEMORY = 16.0
"""Drafted tokens after which what was seen before counts a third."""

_POSITIONS = 8
"""Positions of a draft whose acceptance is told apart; the ones behind are like the last."""


class Acceptance:
    """How often the tokens of one source are accepted, by their position in a draft.

    The rate of a position is that of tokens whose predecessors were all accepted. It begins as
    that of the position before, the first as a guess, and what was seen long ago is forgotten.
    """

    def __init__(self, guess: float) -> None:
        self._guess = guess
        self._accepted = [0.0] * _POSITIONS
        self._tried = [0.0] * _POSITIONS

    def rate(self, position: int) -> float:
        """The chance, 0 to 1, that the token at a position (from 0) is accepted."""
        rate = self._guess
        for at in range(min(position, _POSITIONS - 1) + 1):
            rate = (self._accepted[at] + _PRIOR * rate) / (self._tried[at] + _PRIOR)
        return rate

    def expected(self, longest: int) -> Iterator[float]:
        """How many tokens of a draft are accepted on average, for lengths from 1 to ``longest``."""
        total, chance, rate = 0.0, 1.0, self._guess
        for position in range(longest):
            if position < _POSITIONS:
                tried, accepted = self._tried[position], self._accepted[position]
                rate = (accepted + _PRIOR * rate) / (tried + _PRIOR)
            chance *= rate
            total += chance
            yield total

    def observe(self, drafted: int, accepted: int) -> None:
        """Of a draft so many tokens were accepted; those behind a refused one tell nothing."""
        for position in range(min(accepted + 1, drafted)):
            at = min(position, _POSITIONS - 1)
            keep = 1 - 1 / _MEMORY
            self._tried[at] = keep * self._tried[at] + 1
            self._accepted[at] = keep * self._accepted[at] + (position < accepted)


@dataclass
class Drafting:
    """What is known of one source: its limit, its acceptance and what its tokens cost."""

    limit: int
    acceptance: Acceptance
    seconds: float = 0.0
    """Per drafted token."""
    chosen: bool = False
    waited: int = 0
    """Passes since it was tried last."""
    patience: int = 0
    """Passes to wait before the next try; doubled by each that was no use."""

    def observe(self, outcome: Outcome) -> None:
        """Learn from a draft of this source."""
        self.acceptance.observe(outcome.drafted, outcome.accepted)
        each = outcome.draft_seconds / outcome.drafted
        self.seconds += (each - self.seconds) * (0.1 if self.seconds else 1.0)


@dataclass(frozen=True)
class Choice:
    """The best length of a draft from one source, and what it's worth."""

    tokens: int
    speed_up: float
    """Tokens per second as a multiple of those without a draft."""


def best_length(costs: Costs, acceptance: Acceptance, limit: int, seconds: float = 0.0) -> Choice:
    """The length of a draft, up to ``limit``, that's worth most; ``seconds`` per drafted token."""
    single, best = costs.of(1), Choice(1, 0.0)
    for length, accepted in enumerate(acceptance.expected(limit), start=1):
        speed_up = (1 + accepted) * single / (costs.of(length + 1) + length * seconds)
        if speed_up > best.speed_up:
            best = Choice(length, speed_up)
    return best


@dataclass(frozen=True)
class Guesses:
    """What is believed of the sources before anything was seen.

    Measured with the 1.5B target: docs/speculation.md.
    """

    limits: Mapping[Source, int] = field(
        default_factory=lambda: {Source.PREVIOUS: 24, Source.LOOKUP: 16, Source.DRAFT: 8}
    )
    rates: Mapping[Source, float] = field(
        default_factory=lambda: {Source.PREVIOUS: 0.9, Source.LOOKUP: 0.7, Source.DRAFT: 0.7}
    )


_ENTER, _STAY = 1.06, 1.02
"""A source is taken when it promises to be so many times as fast as plain decoding, and kept while
it's still worth a little: so the choice doesn't flap."""

_LOSS = 0.01
"""The share of the time that trying out what isn't worth it, as far as is known, may cost."""

_PATIENCE = 16
_MOST_PATIENCE = 128


class CostController:
    """Chooses source and length of each draft so that the most tokens per second are expected.

    With ``T(n)`` the time of a pass over ``n`` tokens, ``d`` that of a drafted token and ``a`` the
    accepted tokens of ``k`` drafted ones, that is the largest ``(1 + a) / (T(k + 1) + k d)``
    against ``1 / T(1)``. Where nothing beats plain decoding, nothing is drafted; now and then a
    short draft is tried, within a budget of lost time. Source: Leviathan et al. 2023, section 3.3,
    with measured costs instead of a constant ratio.
    """

    def __init__(
        self, costs: Costs, sources: Sequence[Source], guesses: Guesses | None = None
    ) -> None:
        """``sources`` in the order in which equal promises are tried: the cheapest first."""
        guesses = guesses or Guesses()
        self.costs = costs
        self._draftings = {
            source: Drafting(guesses.limits[source], Acceptance(guesses.rates[source]))
            for source in sources
        }
        self._seconds = self._lost = 0.0

    def plans(self) -> Sequence[Plan]:
        """The sources that promise a gain, the best first; see :class:`Controller`."""
        promising: list[tuple[float, Plan]] = []
        for source, drafting in self._draftings.items():
            choice = self.choice(source)
            drafting.chosen = choice.speed_up > (_STAY if drafting.chosen else _ENTER)
            if drafting.chosen:
                promising.append((choice.speed_up, Plan(source, choice.tokens)))
            elif self._may_try(drafting):
                promising.append((0.0, Plan(source, 1)))
        return [plan for _, plan in sorted(promising, key=lambda each: -each[0])]

    def choice(self, source: Source) -> Choice:
        """The best length of a draft from a source, by what is known now."""
        drafting = self._draftings[source]
        return best_length(self.costs, drafting.acceptance, drafting.limit, drafting.seconds)

    def observe(self, outcome: Outcome) -> None:
        """Learn costs and acceptance; see :class:`Controller`."""
        self.costs.observe(1 + outcome.drafted, outcome.verify_seconds)
        spent = outcome.draft_seconds + outcome.verify_seconds
        self._seconds += spent
        for source, drafting in self._draftings.items():
            drafting.waited += 1
            if source is outcome.source and outcome.drafted:
                drafting.observe(outcome)
                self._count_try(drafting, outcome, spent)

    def _may_try(self, drafting: Drafting) -> bool:
        """Whether it's time to see if a source has become worth it, and there's time to lose."""
        return drafting.waited >= drafting.patience and self._lost <= _LOSS * self._seconds

    def _count_try(self, drafting: Drafting, outcome: Outcome, spent: float) -> None:
        gained = (1 + outcome.accepted) * self.costs.of(1)
        self._lost = max(self._lost + spent - gained, 0.0)
        drafting.waited = 0
        if outcome.accepted:
            drafting.patience = 0
        else:
            drafting.patience = min(max(2 * drafting.patience, _PATIENCE), _MOST_PATIENCE)
