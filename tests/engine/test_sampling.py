"""Drawing at random, with drafts and without: the distribution stays the target's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from specls.engine.sampling import (
    Distribution,
    Sampling,
    accepted_by_chance,
    certain,
    distribution,
)

RUNS = 20_000

Rule = Callable[
    [Sequence[int], Sequence[Distribution], Callable[[int], Distribution], np.random.Generator],
    tuple[int, int],
]


def made(chances: dict[int, float]) -> Distribution:
    ids = sorted(chances)
    values = np.array([chances[each] for each in ids])
    return Distribution(np.array(ids), values / values.sum())


def is_rejected(counts: dict[int, int], expected: Distribution) -> bool:
    """Whether Pearson's test says, at one per cent, that the counts aren't from there."""
    total = sum(counts.values())
    if set(counts) - set(expected.ids.tolist()):
        return True
    statistic, cells = 0.0, 0
    for token, chance in zip(expected.ids.tolist(), expected.chances.tolist(), strict=True):
        if chance * total >= 5:
            statistic += (counts.get(token, 0) - chance * total) ** 2 / (chance * total)
            cells += 1
    freedom = max(cells - 1, 1)
    # Wilson and Hilferty 1931; 2.326 is the normal distribution's 99th percentile.
    limit = freedom * (1 - 2 / (9 * freedom) + 2.326 * np.sqrt(2 / (9 * freedom))) ** 3
    return bool(statistic > limit)


def first_tokens(
    rule: Rule, proposal: Distribution, target: Distribution, seed: int = 7
) -> dict[int, int]:
    """What comes out first, of many runs with a draft of one token."""
    random = np.random.default_rng(seed)
    counts: dict[int, int] = {}
    for _ in range(RUNS):
        token = proposal.draw(random)
        accepted, following = rule([token], [proposal], lambda _at: target, random)
        first = token if accepted else following
        counts[first] = counts.get(first, 0) + 1
    return counts


def always(
    draft: Sequence[int],
    drafted_from: Sequence[Distribution],
    target: Callable[[int], Distribution],
    random: np.random.Generator,
) -> tuple[int, int]:
    """A wrong rule: what has any chance is accepted."""
    for at, token in enumerate(draft):
        if target(at).chance(token) * drafted_from[at].chance(token) == 0:
            return at, target(at).draw(random)
    return len(draft), target(len(draft)).draw(random)


def careless(
    draft: Sequence[int],
    drafted_from: Sequence[Distribution],
    target: Callable[[int], Distribution],
    random: np.random.Generator,
) -> tuple[int, int]:
    """A wrong rule: a refused token is replaced by a draw from all of the target's."""
    for at, token in enumerate(draft):
        if random.random() * drafted_from[at].chance(token) >= target(at).chance(token):
            return at, target(at).draw(random)
    return len(draft), target(len(draft)).draw(random)


PAIRS = [
    (made({1: 5, 2: 3, 3: 2}), made({1: 2, 2: 3, 3: 5})),
    (made({1: 5, 2: 3, 4: 2}), made({2: 3, 3: 5, 5: 1})),
    (made({1: 1}), made({1: 1, 2: 2, 3: 3})),
    (certain(9), made({1: 1, 2: 2})),
    (made({1: 1, 2: 1}), made({1: 1, 2: 1})),
]


@pytest.mark.parametrize(("proposal", "target"), PAIRS)
def test_a_draft_changes_no_distribution(proposal: Distribution, target: Distribution) -> None:
    """Whatever is drafted, the first token is distributed as the target says."""
    assert not is_rejected(first_tokens(accepted_by_chance, proposal, target), target)


@pytest.mark.parametrize("rule", [always, careless])
def test_a_wrong_rule_is_found_out(rule: Rule) -> None:
    """The test itself tells: rules that accept too much, or replace wrongly, are rejected."""
    assert is_rejected(first_tokens(rule, *PAIRS[0]), PAIRS[0][1])


def test_the_token_behind_a_right_draft() -> None:
    """Behind a draft that's accepted as a whole comes a draw from what the target says there."""
    random = np.random.default_rng(1)
    drafted = [certain(4), certain(5)]
    targets = [certain(4), certain(5), certain(6)]
    assert accepted_by_chance([4, 5], drafted, targets.__getitem__, random) == (2, 6)
    wrong = [certain(4), certain(7)]
    assert accepted_by_chance([4, 7], wrong, targets.__getitem__, random) == (1, 5)


def test_the_acceptance_is_what_the_distributions_share() -> None:
    """As many drafts are accepted as the two have in common: the sum of the smaller chances."""
    proposal, target = PAIRS[0]
    random = np.random.default_rng(3)
    accepted = sum(
        accepted_by_chance([proposal.draw(random)], [proposal], lambda _at: target, random)[0]
        for _ in range(RUNS)
    )
    shared = sum(min(proposal.chance(token), target.chance(token)) for token in (1, 2, 3))
    assert accepted / RUNS == pytest.approx(shared, abs=0.01)


@pytest.mark.parametrize(
    ("sampling", "ids"),
    [
        (Sampling(1.0), [0, 1, 2, 3, 4]),
        (Sampling(1.0, top_k=2), [1, 3]),
        (Sampling(1.0, top_p=0.6), [3]),
        (Sampling(1.0, top_p=0.7), [1, 3]),
        (Sampling(1.0, min_p=0.3), [1, 3]),
        (Sampling(0.01), [3]),
        (Sampling(1.0, top_k=3, top_p=0.95, min_p=0.01), [1, 3, 4]),
    ],
)
def test_what_may_be_drawn(sampling: Sampling, ids: list[int]) -> None:
    """Each limit leaves the tokens that it says, and their chances are 1 together."""
    logits = np.array([-9.0, 2.0, -9.0, 3.0, 1.0], dtype=np.float32)
    found = distribution(logits, sampling)
    likely = [int(token) for token in found.ids if found.chance(int(token)) > 1e-9]
    assert likely == ids
    assert found.chances.sum() == pytest.approx(1.0)


def test_only_what_is_allowed_is_drawn() -> None:
    """With a constraint, the others' chances are shared among what may come."""
    logits = np.array([5.0, 1.0, 1.0, 9.0], dtype=np.float32)
    found = distribution(logits, Sampling(1.0), np.array([2, 1], dtype=np.int32))
    assert found.ids.tolist() == [1, 2]
    assert found.chances.tolist() == [0.5, 0.5]


def test_the_same_seed_draws_the_same() -> None:
    """Draws are reproducible, and another seed draws others."""
    target = made({1: 1, 2: 1, 3: 1})
    draws = [
        [target.draw(random) for _ in range(30)]
        for random in (np.random.default_rng(seed) for seed in (1, 1, 2))
    ]
    assert draws[0] == draws[1] != draws[2]
