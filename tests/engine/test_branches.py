"""Other ways to go on: where they begin, what they say, and that nothing is left of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from specls.core import CancelToken
from specls.engine.branches import Branch, Branches, Doubt, Doubts
from specls.engine.controllers import FixedController
from specls.engine.decode import Limits
from specls.engine.engine import Engine
from specls.engine.interface import Logits
from specls.engine.session import Session
from specls.errors import Cancelled, ContextFull
from tests.fakes import END, ScriptedModel, Torn, writes

STOPS = frozenset({END})


def scores(**chances: float) -> Logits:
    """A row in which the tokens ``t0``, ``t1``… have these probabilities, and the rest none."""
    row = np.full(50, -99.0, dtype=np.float32)
    for name, chance in chances.items():
        row[int(name[1:])] = np.log(chance)
    return row


def test_the_likeliest_other_text_comes_first() -> None:
    """What counts is the probability of the whole text up to the runner-up, which included."""
    doubts = Doubts()
    doubts.note(0, scores(t1=0.8, t2=0.2))
    doubts.note(1, scores(t3=0.9, t4=0.1))
    doubts.note(2, scores(t5=0.5, t6=0.4, t7=0.1))
    found = doubts.best(3, 10)
    assert [(each.at, each.token) for each in found] == [(2, 6), (0, 2), (1, 4)]
    assert [np.exp(each.chance) for each in found] == pytest.approx([0.288, 0.2, 0.08], rel=1e-4)


def test_only_so_many_and_only_so_far() -> None:
    """No more than asked for, and none behind what's shown."""
    doubts = Doubts()
    for at in range(4):
        doubts.note(at, scores(t1=0.6, t2=0.4))
    assert [each.at for each in doubts.best(2, 4)] == [0, 1]
    assert [each.at for each in doubts.best(3, 1)] == [0]
    assert doubts.best(3, 0) == []


def test_an_end_is_no_way_to_go_on_and_neither_is_the_unlikely() -> None:
    """A stop token isn't a doubt, nor is what has less than the least probability."""
    doubts = Doubts(frozenset({2}), least=0.05)
    doubts.note(0, scores(t1=0.6, t2=0.4))
    doubts.note(1, scores(t1=0.97, t3=0.03))
    assert doubts.best(3, 9) == []


class Text:
    """A session that holds a prompt and new tokens, and branches of it."""

    def __init__(self, script: str, written: str) -> None:
        self.model = ScriptedModel(writes(script, 3), micro_batch=16)
        self.session = Session(self.model, 0)
        self.session.append([1, 2, 3], scored=1)
        self.session.append(list(written.encode()), scored=1)
        self.cancel = CancelToken()

    def branches(self, *doubts: tuple[int, str], max_tokens: int = 20) -> Branches:
        found = [Doubt(at, ord(text), 0.0) for at, text in doubts]
        return Branches(self.model, self.session, 3, found, max_tokens, STOPS, self.cancel)

    def forks(self) -> list[list[int]]:
        return [self.model.tokens_of(fork) for fork in self.model.forks]


def read(branches: Branches, count: int) -> list[str]:
    texts = [""] * count
    for step in branches:
        for branch in step:
            texts[branch.index] += chr(branch.token)
    return texts


def test_each_branch_goes_on_behind_its_doubt() -> None:
    """All grow in the same passes, and end where the target says so."""
    text = Text("hello world", "hello wor")
    assert read(text.branches((1, "a"), (4, "y")), 2) == ["allo world", "y world"]
    assert text.model.batches[2:] == [2] * 7 + [1] * 3
    assert text.forks() == [[], []]
    assert bytes(text.model.tokens_of(0)[3:]) == b"hello wor"


def test_a_branch_ends_when_it_is_told_to() -> None:
    """The other one goes on alone."""
    text = Text("hello", "hello")
    branches, seen = text.branches((0, "x"), (2, "y")), list[tuple[Branch, ...]]()
    for step in branches:
        seen.append(step)
        if len(seen) == 2:
            branches.end(0)
    assert [len(step) for step in seen] == [2, 2, 1]


def test_branches_have_a_longest_length() -> None:
    """It counts from where the new tokens begin."""
    text = Text("hello world", "hello world")
    assert read(text.branches((1, "a"), (4, "y"), max_tokens=6), 2) == ["allo ", "y "]


def test_a_cancelled_branch_leaves_nothing() -> None:
    """After a cancellation, and when nobody reads on, the forks are empty."""
    text = Text("hello world", "hello")
    steps = iter(text.branches((1, "a")))
    next(steps)
    assert text.forks()[0] == [1, 2, 3, ord("h")]
    text.cancel.cancel()
    with pytest.raises(Cancelled):
        next(steps)
    assert text.forks() == [[], []]
    text = Text("hello world", "hello")
    next(iter(text.branches((1, "a"))))
    assert text.forks() == [[], []]


def test_the_engine_forks_a_generation() -> None:
    """Its doubts, best first, become branches; too many for the cache are refused."""
    model = Torn(writes("hello", 3), {1: "a", 4: "y"}, 3, capacity=40)
    engine, doubts = Engine(model, {}, FixedController()), Doubts(STOPS)
    limits = Limits(8, STOPS)
    generation = engine.generate("a", [1, 2, 3], limits, CancelToken(), doubts=doubts)
    assert sum(map(len, generation)) == 5
    likely = doubts.best(2, 5)
    assert [(each.at, chr(each.token)) for each in likely] == [(1, "a"), (4, "y")]
    branches = engine.branches("a", generation, likely, limits, CancelToken())
    assert read(branches, 2) == ["allo", "y"]
    with pytest.raises(ContextFull):
        engine.branches("a", generation, likely, Limits(20, STOPS), CancelToken())


def test_without_doubts_no_scores_are_looked_at() -> None:
    """Only who asks for other ways pays for finding them."""
    model = Blind(writes("hello", 3))
    engine = Engine(model, {}, FixedController())
    tokens: Sequence[int] = [
        token.id
        for step in engine.generate("a", [1, 2, 3], Limits(8, STOPS), CancelToken())
        for token in step
    ]
    assert bytes(tokens) == b"hello"


class Blind(ScriptedModel):
    """Its best tokens are known, its scores aren't."""

    def logits(self, row: int) -> Logits:
        raise AssertionError(row)


def test_other_documents_make_way_for_branches() -> None:
    """The room that's asked for is what is taken, also where much was written and little shown."""
    model = Torn(writes("a" * 60, 3), {1: "b", 2: "c"}, 3, capacity=200)
    engine, doubts, limits = Engine(model, {}, FixedController()), Doubts(STOPS), Limits(60, STOPS)
    engine.prefill("other", list(range(130)), CancelToken())
    generation = engine.generate("a", [1, 2, 3], limits, CancelToken(), doubts=doubts)
    assert sum(map(len, generation)) == 60
    branches = engine.branches("a", generation, doubts.best(2, 3), Limits(19), CancelToken())
    assert [len(text) for text in read(branches, 2)] == [18, 17]


def test_what_did_not_end_is_told() -> None:
    """A branch that only reached the longest length is unfinished."""
    text = Text("hello world", "hello world")
    branches = text.branches((1, "a"), (9, "y"), max_tokens=11)
    assert read(branches, 2)[1] == "yd"
    assert branches.unfinished == [0, 1]
    branches = text.branches((1, "a"), (9, "y"))
    read(branches, 2)
    assert branches.unfinished == []


def test_of_two_as_good_the_other_one_is_the_runner_up() -> None:
    """The runner-up is never the token that was chosen."""
    doubts = Doubts()
    doubts.note(0, scores(t1=0.5, t2=0.5))
    (doubt,) = doubts.best(1, 1)
    assert doubt.token == 2
