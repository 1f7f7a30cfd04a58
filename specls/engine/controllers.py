"""Whether to draft at all, from which source, and how far ahead."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from specls.core import Source
from specls.engine.costs import Costs
from specls.engine.interface import Outcome, Part, Plan


class FixedController:
    """Always the same plans: what a person chose in the settings."""

    def __init__(self, *plans: Plan) -> None:
        self._plans = plans

    def begin(self, language: str) -> None:
        """See :class:`Controller`."""

    def plans(self, draft: Sequence[Part] = ()) -> Sequence[Plan]:
        """The plans it was made with; behind a draft, those behind the one that made its end."""
        sources = [plan.source for plan in self._plans]
        behind = sources.index(draft[-1].source) + 1 if draft else 0
        return self._plans[behind:]

    def observe(self, outcome: Outcome) -> None:
        """Learn nothing."""


_PRIOR = 1.0
"""How many observations the first guess of an acceptance rate counts as, always."""

_HEAD_START = 2.0
"""How many more at first: one refused token isn't to make a good source look bad."""

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
        self._accepted = [_HEAD_START * guess, *[0.0] * (_POSITIONS - 1)]
        self._tried = [_HEAD_START, *[0.0] * (_POSITIONS - 1)]

    def rate(self, position: int) -> float:
        """The chance, 0 to 1, that the token at a position (from 0) is accepted."""
        rate = self._guess
        for at in range(min(position, _POSITIONS - 1) + 1):
            rate = (self._accepted[at] + _PRIOR * rate) / (self._tried[at] + _PRIOR)
        return rate

    def chance(self, length: int) -> float:
        """The chance, 0 to 1, that a draft of this length is accepted whole."""
        return math.prod(map(self.rate, range(length)))

    def expected(self, longest: int, first: int = 0) -> Iterator[float]:
        """How many tokens of a draft are accepted on average, for lengths from 1 to ``longest``.

        Of one that goes on behind ``first`` tokens that were accepted already.
        """
        total, chance, rate = 0.0, 1.0, self._guess
        for position in range(first + longest):
            if position < _POSITIONS:
                tried, accepted = self._tried[position], self._accepted[position]
                rate = (accepted + _PRIOR * rate) / (tried + _PRIOR)
            if position < first:
                continue
            chance *= rate
            total += chance
            yield total

    def observe(self, drafted: int, accepted: int, first: int = 0) -> None:
        """Of a draft so many tokens were accepted; those behind a refused one tell nothing.

        The draft went on behind ``first`` tokens that were accepted before.

        What is known of positions that it didn't come to fades as well: else one token refused far
        into a draft would keep drafts short for good, as shorter ones never come there again.
        """
        keep, reached = 1 - 1 / _MEMORY, first + min(accepted + 1, drafted)
        taken = min(first + accepted, reached)
        for position in range(max(reached, _POSITIONS)):
            at = min(position, _POSITIONS - 1)
            self._tried[at] = keep * self._tried[at] + (first <= position < reached)
            self._accepted[at] = keep * self._accepted[at] + (first <= position < taken)


@dataclass
class Drafting:
    """What is known of one source in one language."""

    acceptance: Acceptance
    silence: float = 0.0
    """The share of the times it was asked, newer ones weighing more, when it had no idea."""
    chosen: bool = False
    waited: int = 0
    """Passes since it was tried last."""
    patience: int = 0
    """Passes to wait before the next try; doubled by each that was no use."""

    def tried(self, accepted: int) -> None:
        """It was asked, and so many of its tokens were accepted."""
        self.waited = 0
        if accepted:
            self.patience = 0
        else:
            self.patience = min(max(2 * self.patience, _PATIENCE), _MOST_PATIENCE)


@dataclass(frozen=True)
class Choice:
    """The best length of a draft from one source, and what it's worth."""

    tokens: int
    speed_up: float
    """Tokens per second as a multiple of those without a draft."""


@dataclass(frozen=True)
class Begun:
    """A draft that another one may go on behind: what is expected of it."""

    tokens: int = 0
    accepted: float = 0.0
    """How many of its tokens, on average."""
    chance: float = 1.0
    """That it's accepted whole, 0 to 1."""
    seconds: float = 0.0
    """What it took to draft."""

    def speed_up(self, costs: Costs) -> float:
        """What it's worth as it is: see :attr:`Choice.speed_up`."""
        return (1 + self.accepted) * costs.of(1) / (costs.of(self.tokens + 1) + self.seconds)

    def and_(self, tokens: int, accepted: float, chance: float, seconds: float) -> Begun:
        """With a part more, of which that is expected if all before is accepted."""
        return Begun(
            self.tokens + tokens,
            self.accepted + self.chance * accepted,
            self.chance * chance,
            self.seconds + seconds,
        )


NOTHING = Begun()


def best_length(
    costs: Costs,
    acceptance: Acceptance,
    limit: int,
    seconds: float = 0.0,
    begun: Begun = NOTHING,
    first: int = 0,
) -> Choice:
    """The length of a draft, up to ``limit``, that's worth most; ``seconds`` per drafted token.

    The draft goes on behind what's ``begun``, or behind ``first`` tokens that were accepted.
    """
    best = Choice(1, 0.0)
    for length, accepted in enumerate(acceptance.expected(limit, first), start=1):
        speed_up = begun.and_(length, accepted, 0.0, length * seconds).speed_up(costs)
        if speed_up > best.speed_up:
            best = Choice(length, speed_up)
    return best


@dataclass(frozen=True)
class Guesses:
    """What is believed of the sources before anything was seen.

    Measured with the 1.5B target: docs/speculation.md.
    """

    limits: Mapping[Source, int] = field(
        default_factory=lambda: {
            Source.PREVIOUS: 24,
            Source.COPY: 24,
            Source.LOOKUP: 16,
            Source.DRAFT: 8,
        }
    )
    rates: Mapping[Source, float] = field(
        default_factory=lambda: {
            Source.PREVIOUS: 0.9,
            Source.COPY: 0.9,
            Source.LOOKUP: 0.7,
            Source.DRAFT: 0.7,
        }
    )


def feeling_its_way(
    costs: Costs, acceptance: Acceptance, limit: int, seconds: float = 0.0
) -> float:
    """What a draft of one token is worth behind which, if it's accepted, a long one follows.

    Where long passes are dear, a long draft whose first token is refused costs more than such a
    step; and where the first token is right, the others mostly are.
    """
    chance = acceptance.rate(0)
    then = best_length(costs, acceptance, limit, seconds, first=1)
    *_, accepted = acceptance.expected(then.tokens, 1)
    passes = costs.of(2) + seconds
    passes += chance * (costs.of(then.tokens + 1) + then.tokens * seconds)
    return (1 + chance + chance * (1 + accepted)) * costs.of(1) / passes


_ENTER, _STAY = 1.06, 1.02
"""A source is taken when it promises to be so many times as fast as plain decoding, and kept while
it's still worth a little: so the choice doesn't flap."""

_LOSS = 0.01
"""The share of the time that trying out what isn't worth it, as far as is known, may cost."""

_MOST_DEARER = 3.0
"""A draft whose tokens took this many times as long as usual counts no more."""

_CHEAP = 0.01
"""The share of a token's time that asking a source may take without counting as a try."""

_PATIENCE = 16
_MOST_PATIENCE = 128


class CostController:
    """Chooses source and length of each draft so that the most tokens per second are expected.

    With ``T(n)`` the time of a pass over ``n`` tokens, ``d`` that of a drafted token and ``a`` the
    accepted tokens of ``k`` drafted ones, that is the largest ``(1 + a) / (T(k + 1) + k d)``
    against ``1 / T(1)``. Where nothing beats plain decoding, nothing is drafted; now and then a
    short draft is tried, within a budget of lost time. Source: Leviathan et al. 2023, section 3.3,
    with measured costs instead of a constant ratio.

    What is accepted is told apart by language; a new one begins with what was seen in all.
    """

    def __init__(
        self,
        costs: Costs,
        sources: Sequence[Source],
        guesses: Guesses | None = None,
        drafting: Mapping[Source, float] | None = None,
    ) -> None:
        """``sources`` in the order in which equal promises are tried: the cheapest first.

        ``drafting`` holds the seconds of one drafted token, where that's known.
        """
        guesses = guesses or Guesses()
        self.costs = costs
        self._limits = {source: guesses.limits[source] for source in sources}
        self._drafting_seconds = dict.fromkeys(sources, 0.0) | dict(drafting or {})
        self._silent_seconds = dict(self._drafting_seconds)
        self._overall = {source: Acceptance(guesses.rates[source]) for source in sources}
        self._languages: dict[str, dict[Source, Drafting]] = {}
        self._seconds = self._lost = 0.0
        self._agreed: frozenset[Source] = frozenset()
        """Whose draft was accepted whole in the last pass."""
        self.begin("")

    def begin(self, language: str) -> None:
        """Go by what is known of this language from now on; see :class:`Controller`."""
        if language not in self._languages:
            self._languages[language] = {
                source: Drafting(Acceptance(seen.rate(0))) for source, seen in self._overall.items()
            }
        self._draftings = self._languages[language]
        self._agreed = frozenset()

    def plans(self, draft: Sequence[Part] = ()) -> Sequence[Plan]:
        """The sources that promise a gain, the best first; see :class:`Controller`."""
        promising = list(self._behind(draft) if draft else self._first())
        return [plan for _, plan in sorted(promising, key=lambda each: -each[0])]

    def _first(self) -> Iterator[tuple[float, Plan]]:
        for source, drafting in self._draftings.items():
            choice = self.choice(source)
            promises = choice.speed_up > (_STAY if drafting.chosen else _ENTER)
            drafting.chosen = promises and self._pays(source, choice)
            if drafting.chosen:
                yield choice.speed_up, Plan(source, choice.tokens)
            elif self._may_try(drafting):
                yield 0.0, Plan(source, 1)

    def _pays(self, source: Source, choice: Choice, begun: Begun = NOTHING) -> bool:
        """Whether what drafts gain is more than what it costs to ask where there's no idea."""
        silence = self._draftings[source].silence
        drafting = begun.seconds + choice.tokens * self._drafting_seconds[source]
        cost = self.costs.of(begun.tokens + choice.tokens + 1) + drafting
        gain = (choice.speed_up / begun.speed_up(self.costs) - 1) * cost
        return (1 - silence) * gain > silence * self._silent_seconds[source]

    def _behind(self, draft: Sequence[Part]) -> Iterator[tuple[float, Plan]]:
        """The sources with which a draft becomes worth more than it is, and than none at all."""
        begun = NOTHING
        for part in (each for each in draft if each.drafted):
            seen = self._draftings[part.source].acceptance
            *_, accepted = seen.expected(part.drafted)
            begun = begun.and_(part.drafted, accepted, seen.chance(part.drafted), part.seconds)
        least = max(_STAY * begun.speed_up(self.costs), _ENTER)
        used = {part.source for part in draft}
        for source in (each for each in self._draftings if each not in used):
            choice = self.choice(source, begun)
            if choice.speed_up > least and self._pays(source, choice, begun):
                yield choice.speed_up, Plan(source, choice.tokens)

    def choice(self, source: Source, begun: Begun = NOTHING) -> Choice:
        """The best length of a draft from a source, by what is known now, behind what's begun."""
        acceptance, seconds = self._draftings[source].acceptance, self._drafting_seconds[source]
        known = self.costs, acceptance, self._limits[source], seconds
        if begun.tokens:
            return best_length(*known, begun)
        if source in self._agreed:
            return best_length(*known, first=1)
        best, step = best_length(*known), feeling_its_way(*known)
        return Choice(1, step) if best.tokens > 1 and step > best.speed_up else best

    def observe(self, outcome: Outcome) -> None:
        """Learn costs and acceptance; see :class:`Controller`."""
        self.costs.observe(1 + outcome.drafted, outcome.verify_seconds)
        spent = sum(part.seconds for part in outcome.parts) + outcome.verify_seconds
        self._seconds += spent
        for drafting in self._draftings.values():
            drafting.waited += 1
        for part in outcome.parts:
            self._learn(part)
        agreed = set()
        for at, (part, accepted) in enumerate(outcome.verified()):
            first = int(part.source in self._agreed and at == 0)
            self._overall[part.source].observe(part.drafted, accepted, first)
            self._draftings[part.source].acceptance.observe(part.drafted, accepted, first)
            if accepted == part.drafted:
                agreed.add(part.source)
        self._agreed = frozenset(agreed)
        gained = (1 + outcome.accepted) * self.costs.of(1)
        if outcome.parts:
            self._lost = max(self._lost + spent - gained, 0.0)
        verified = {part.source: taken for part, taken in outcome.verified()}
        for part in outcome.parts:
            if part.source in verified or part.seconds > _CHEAP * self.costs.of(1):
                self._draftings[part.source].tried(verified.get(part.source, 0))

    def _learn(self, part: Part) -> None:
        """How often a source has an idea, and what that or its silence takes."""
        drafting = self._draftings[part.source]
        drafting.silence += ((not part.drafted) - drafting.silence) / _MEMORY
        seconds = self._drafting_seconds if part.drafted else self._silent_seconds
        known, each = seconds[part.source], part.seconds / max(part.drafted, 1)
        if known:
            # The first draft for a document reads that first.
            each = min(each, _MOST_DEARER * known)
        seconds[part.source] += (each - known) * (0.1 if known else 1.0)

    def _may_try(self, drafting: Drafting) -> bool:
        """Whether it's time to see if a source has become worth it, and there's time to lose."""
        return drafting.waited >= drafting.patience and self._lost <= _LOSS * self._seconds
