"""Whether to draft, from where and how far: by costs and by what was accepted."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping

import pytest

from specls.core import Source
from specls.engine.controllers import Acceptance, CostController, FixedController
from specls.engine.costs import Costs
from specls.engine.interface import Outcome, Part, Plan

CPU = {1: 1.0, 2: 1.6, 3: 2.1, 4: 2.6, 8: 4.7, 12: 5.7, 16: 5.8, 24: 8.7}
"""Two AVX-512 cores, 1.5B, in single tokens (docs/speculation.md)."""

GPU = {size: 1.0 + 0.15 * (size - 1) / 7 for size in range(1, 9)} | {16: 1.4, 24: 1.8}

Accepts = Callable[[Source, int, random.Random], int]
"""How many tokens of a draft from a source are accepted."""


def chance(rates: Mapping[Source, float]) -> Accepts:
    """Each token is accepted with a source's own chance, as long as those before it were."""

    def accepts(source: Source, drafted: int, choice: random.Random) -> int:
        wrong = (at for at in range(drafted) if choice.random() >= rates[source])
        return next(wrong, drafted)

    return accepts


class Machine:
    """Decodes with a controller on recorded costs, and tells how long it took."""

    def __init__(
        self,
        curve: Mapping[int, float],
        draft: Mapping[Source, float],
        accepts: Accepts,
        seed: int = 1,
    ) -> None:
        self.truth = Costs(curve)
        self.draft = draft
        self.accepts = accepts
        self.choice = random.Random(seed)
        self.controller = CostController(Costs(curve), tuple(draft))
        self.used: list[Source | None] = []
        self.lengths: list[int] = []

    def run(self, tokens: int) -> float:
        """The speed-up over plain decoding, for so many tokens."""
        written, seconds = 0, 0.0
        while written < tokens:
            plans = self.controller.plans()
            source, drafted = (plans[0].source, plans[0].limit) if plans else (None, 0)
            accepted = self.accepts(source, drafted, self.choice) if source else 0
            drafting = drafted * self.draft[source] if source else 0.0
            verifying = self.truth.of(drafted + 1)
            parts = (Part(source, drafted, drafting),) if source else ()
            self.controller.observe(Outcome(parts, accepted, verifying))
            self.used.append(source)
            self.lengths.append(drafted)
            written += 1 + accepted
            seconds += drafting + verifying
        return written * self.truth.of(1) / seconds


def best_fixed(curve: Mapping[int, float], each: float, rate: float, most: int = 8) -> float:
    """The speed-up of the best fixed length, by search."""
    costs = Costs(curve)
    return max(
        (1 + accepted) * costs.of(1) / (costs.of(k + 1) + k * each)
        for k, accepted in enumerate(Acceptance(rate).expected(most), start=1)
    )


def test_a_draft_model_is_left_alone_on_a_cpu() -> None:
    """Where a batch and a draft cost what they cost on a CPU, three of four right are too few."""
    machine = Machine(CPU, {Source.DRAFT: 0.6}, chance({Source.DRAFT: 0.75}))
    assert machine.run(2000) > 0.97
    assert machine.used.count(Source.DRAFT) / len(machine.used) < 0.05


@pytest.mark.parametrize("rate", [0.5, 0.6, 0.75, 0.9])
def test_a_draft_model_is_used_on_a_gpu(rate: float) -> None:
    """Where a batch costs hardly more than a token, it's within a twentieth of the best length."""
    machine = Machine(GPU, {Source.DRAFT: 0.08}, chance({Source.DRAFT: rate}))
    assert machine.run(5000) > 0.95 * best_fixed(GPU, 0.08, rate)
    assert machine.used.count(Source.DRAFT) / len(machine.used) > 0.9


def test_long_right_drafts_win_on_a_cpu_as_well() -> None:
    """What is copied word by word is verified in long batches."""
    machine = Machine(CPU, {Source.LOOKUP: 0.0}, chance({Source.LOOKUP: 1.0}))
    assert machine.run(2000) > 2.0
    assert max(machine.lengths) == 15  # a batch of 16 costs hardly more than one of 12


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("curve", [CPU, GPU])
def test_wrong_drafts_cost_next_to_nothing(curve: Mapping[int, float], rate: float) -> None:
    """Whatever is refused, it's never slower than decoding alone by more than a thirtieth."""
    sources = {Source.PREVIOUS: 0.0, Source.LOOKUP: 0.0}
    machine = Machine(curve, sources, chance(dict.fromkeys(sources, rate)))
    assert machine.run(1000) > 0.97


def test_what_becomes_right_is_found() -> None:
    """A source that was wrong for long is tried now and then, and used when it's worth it."""
    right = itertools.count()

    def accepts(_source: Source, drafted: int, _choice: random.Random) -> int:
        return drafted if next(right) > 20 else 0

    machine = Machine(CPU, {Source.LOOKUP: 0.0}, accepts)
    machine.run(6000)
    assert machine.used[-100:].count(Source.LOOKUP) > 90


def test_what_becomes_wrong_is_left() -> None:
    """A source that stops being right is left within a few passes."""
    right = itertools.count()

    def accepts(_source: Source, drafted: int, _choice: random.Random) -> int:
        return drafted if next(right) < 50 else 0

    machine = Machine(CPU, {Source.LOOKUP: 0.0}, accepts)
    machine.run(2000)
    assert machine.used[-100:].count(Source.LOOKUP) <= 3
    wasted = sum(1 for length in machine.lengths[50:] if length > 1)
    assert wasted < 20


def test_the_best_source_comes_first() -> None:
    """Of two that are worth it, the one that promises more is asked first."""
    rates = {Source.PREVIOUS: 0.7, Source.LOOKUP: 0.95}
    machine = Machine(CPU, {Source.PREVIOUS: 0.0, Source.LOOKUP: 0.0}, chance(rates))
    for _ in range(200):
        for source in rates:
            accepted = machine.accepts(source, 4, machine.choice)
            machine.controller.observe(Outcome((Part(source, 4),), accepted, CPU[4]))
    assert next(plan.source for plan in machine.controller.plans()) is Source.LOOKUP


def test_nothing_drafted_is_learnt_from_as_well() -> None:
    """Plain passes refine what a token costs, and change no acceptance."""
    machine = Machine(CPU, {Source.LOOKUP: 0.0}, chance({Source.LOOKUP: 1.0}))
    before = machine.controller.choice(Source.LOOKUP)
    machine.controller.observe(Outcome((), 0, 1.0))
    assert machine.controller.choice(Source.LOOKUP) == before


def test_acceptance_is_by_position() -> None:
    """Tokens far into a draft have a rate of their own; those behind a wrong one tell nothing."""
    acceptance = Acceptance(0.5)
    for _ in range(300):
        acceptance.observe(8, 2)
    assert acceptance.rate(0) > 0.95
    assert acceptance.rate(1) > 0.95
    assert acceptance.rate(2) < 0.15
    assert acceptance.rate(3) == acceptance.rate(2)
    assert list(acceptance.expected(8))[-1] == pytest.approx(2.0, abs=0.3)


def test_one_refused_token_does_not_keep_drafts_short() -> None:
    """What was seen far into a draft fades while shorter ones are right, so longer ones follow."""
    acceptance = Acceptance(0.9)
    acceptance.observe(4, 3)
    assert acceptance.rate(3) < 0.6
    for _ in range(60):
        acceptance.observe(3, 3)
    assert acceptance.rate(3) > 0.9


def seen(
    controller: CostController, source: Source, drafted: int, accepted: int, passes: int = 40
) -> None:
    for _ in range(passes):
        costs = controller.costs.of(drafted + 1)
        controller.observe(Outcome((Part(source, drafted, 0.0),), accepted, costs))


def test_languages_are_told_apart() -> None:
    """What is refused in one language is used in another, where it's right."""
    controller = CostController(Costs(CPU), (Source.LOOKUP,))
    controller.begin("python")
    seen(controller, Source.LOOKUP, 8, 8)
    controller.begin("markdown")
    seen(controller, Source.LOOKUP, 8, 0)
    assert controller.plans() == []
    controller.begin("python")
    seen(controller, Source.LOOKUP, 1, 1, passes=1)
    (plan,) = controller.plans()
    assert plan.limit > 4


OLD = {1: 1.0, 2: 1.6, 3: 2.1, 4: 2.6, 8: 6.5, 16: 8.0, 24: 9.0}
"""Two AVX2 cores: a pass of 16 tokens costs as much as eight of one."""


def written(controller: CostController, right: bool, tokens: int = 48) -> float:  # noqa: FBT001
    """Seconds for a text whose drafts are right to the end, or wrong from the first token on.

    A source that was wrong has no idea for the rest of the text.
    """
    truth, made, seconds, silent = Costs(OLD), 0, 0.0, False
    controller.begin("python")
    while made < tokens:
        plans = controller.plans()
        drafted = 0 if silent or not plans else min(plans[0].limit, tokens - made)
        parts = (Part(Source.PREVIOUS, drafted, 0.0),) if plans else ()
        accepted = drafted if right else 0
        silent = silent or (drafted > 0 and not right)
        cost = truth.of(drafted + 1)
        controller.observe(Outcome(parts, accepted, cost))
        made, seconds = made + 1 + accepted, seconds + cost
    return seconds


def test_a_long_draft_waits_until_a_short_one_was_right() -> None:
    """Where a draft is right or wrong as a whole, and long passes are dear, one token is tried."""
    controller = CostController(Costs(OLD), (Source.PREVIOUS,))
    seconds = {True: list[float](), False: list[float]()}
    for number in range(60):
        seconds[number % 2 == 0].append(written(controller, number % 2 == 0))
    right, wrong = (sum(times[10:]) / len(times[10:]) for times in seconds.values())
    assert 48 / right > 1.8
    assert 48 / wrong > 0.97


def test_where_long_passes_are_cheap_nothing_waits() -> None:
    """On a GPU the first draft is as long as any."""
    controller = CostController(Costs(GPU), (Source.PREVIOUS,))
    controller.begin("python")
    (plan,) = controller.plans()
    assert plan.limit > 8


def test_a_new_language_begins_with_what_was_seen() -> None:
    """What was right, or wrong, in all others is expected in a new one."""
    for accepted, promises in ((0, False), (8, True)):
        controller = CostController(Costs(CPU), (Source.LOOKUP,))
        controller.begin("python")
        seen(controller, Source.LOOKUP, 8, accepted)
        controller.begin("rust")
        assert (controller.choice(Source.LOOKUP).speed_up > 1.06) == promises


def test_a_short_draft_is_gone_on_with_where_that_pays() -> None:
    """Behind three copied tokens, the draft model goes on where batches are cheap."""
    sources = (Source.LOOKUP, Source.DRAFT)
    for curve, pays in ((GPU, True), (CPU, False)):
        controller = CostController(Costs(curve), sources)
        for _ in range(40):
            controller.observe(Outcome((Part(Source.LOOKUP, 3),), 3, curve[4]))
            part = Part(Source.DRAFT, 4, 4 * (0.08 if pays else 0.6))
            controller.observe(Outcome((part,), 3, Costs(curve).of(5)))
        plans = controller.plans([Part(Source.LOOKUP, 3)])
        assert [plan.source for plan in plans] == [Source.DRAFT] * pays


def test_nothing_is_added_to_a_draft_that_is_worth_nothing() -> None:
    """Behind tokens that are never right, nothing that follows is worth its time."""
    controller = CostController(Costs(GPU), (Source.LOOKUP, Source.DRAFT))
    seen(controller, Source.LOOKUP, 3, 0)
    seen(controller, Source.DRAFT, 4, 4)
    assert controller.plans([Part(Source.LOOKUP, 3)]) == []


def test_a_fixed_choice_goes_on_in_its_order() -> None:
    """Behind a draft of the first source comes the second, and nothing behind the last."""
    plans = Plan(Source.PREVIOUS, 4), Plan(Source.LOOKUP, 4)
    controller = FixedController(*plans)
    assert controller.plans() == plans
    assert controller.plans([Part(Source.PREVIOUS, 2)]) == plans[1:]
    assert controller.plans([Part(Source.LOOKUP, 2)]) == ()


def test_what_a_drafted_token_costs_is_known_before_the_first() -> None:
    """With the measured cost of the draft model nothing is tried that can't pay."""
    costs = Costs(CPU)
    controller = CostController(costs, (Source.DRAFT,), drafting={Source.DRAFT: 0.6})
    known = CostController(costs, (Source.DRAFT,)).choice(Source.DRAFT).speed_up
    assert controller.choice(Source.DRAFT).speed_up < known
    assert all(plan.limit == 1 for plan in controller.plans())


@pytest.mark.parametrize(("ask", "used"), [(0.0, True), (0.7, False)])
def test_a_source_that_is_mostly_silent_must_be_cheap_to_ask(ask: float, *, used: bool) -> None:
    """One idea in ten asks, always right, is worth a look-up; not a pass of a draft model."""
    controller = CostController(Costs(GPU), (Source.DRAFT,), drafting={Source.DRAFT: ask})
    drafted = []
    for turn in range(600):
        plans = controller.plans()
        count = plans[0].limit if plans and turn % 10 == 0 else 0
        parts = (Part(Source.DRAFT, count, ask * max(count, 1)),) if plans else ()
        controller.observe(Outcome(parts, count, Costs(GPU).of(count + 1)))
        drafted.append(bool(plans))
    assert (sum(drafted[-200:]) > 100) == used
    assert used or sum(drafted[-200:]) < 20


def test_each_source_has_its_own_tries() -> None:
    """One that was asked in vain waits longer, the one whose tokens were accepted doesn't."""
    sources = (Source.DRAFT, Source.LOOKUP)
    controller = CostController(Costs(GPU), sources)
    for _ in range(3):
        parts = (Part(Source.DRAFT, 0, 0.5), Part(Source.LOOKUP, 4))
        controller.observe(Outcome(parts, 4, GPU[5]))
    draft, lookup = (controller._draftings[source] for source in sources)
    assert (draft.patience, lookup.patience) == (64, 0)
    assert (draft.waited, lookup.waited) == (0, 0)


def test_a_silent_source_is_not_asked_behind_a_draft() -> None:
    """Where asking costs more than its rare ideas gain, that's so behind another draft as well."""
    drafting = {Source.DRAFT: 0.7}
    controller = CostController(Costs(GPU), (Source.LOOKUP, Source.DRAFT), drafting=drafting)
    begun = [Part(Source.LOOKUP, 2)]
    seen(controller, Source.LOOKUP, 2, 2)
    controller.observe(Outcome((Part(Source.DRAFT, 4, 0.4),), 4, GPU[5]))
    for _ in range(30):
        controller.observe(Outcome((Part(Source.DRAFT, 4, 0.4),), 4, GPU[5]))
    assert [plan.source for plan in controller.plans(begun)] == [Source.DRAFT]
    for _ in range(60):
        controller.observe(Outcome((Part(Source.DRAFT, 0, 0.7),), 0, 1.0))
    assert controller.plans(begun) == []


def test_a_draft_that_had_to_read_first_counts_little() -> None:
    """One that took very long doesn't make its source look dear for good."""
    controller = CostController(Costs(GPU), (Source.DRAFT,), drafting={Source.DRAFT: 0.1})
    controller.observe(Outcome((Part(Source.DRAFT, 4, 200.0),), 4, GPU[5]))
    assert controller._drafting_seconds[Source.DRAFT] < 0.13
