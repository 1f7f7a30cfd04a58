"""The loop: what comes out is the target's own text, however it was drafted."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from time import sleep

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.core import CancelToken, FinishReason, Source
from specls.engine.branches import Doubts
from specls.engine.controllers import FixedController
from specls.engine.decode import Generation, Limits, Token
from specls.engine.drafters import ModelDrafter
from specls.engine.engine import Engine
from specls.engine.interface import Controller, Drafter, Logits, Outcome, Plan
from specls.engine.sampling import Sampling
from specls.engine.verify import accepted_so_far, log_probability
from specls.errors import Cancelled
from tests.fakes import END, ListDrafter, ScriptedModel, writes

PROMPT = [1, 2, 3]
STOPS = frozenset({END})


def run(
    model: ScriptedModel,
    drafter: Drafter | None = None,
    max_tokens: int = 50,
    controller: Controller | None = None,
) -> tuple[list[Token], Generation]:
    drafters = {drafter.source: drafter} if drafter else {}
    plans = [Plan(drafter.source, 4)] if drafter else []
    engine = Engine(model, drafters, controller or FixedController(*plans))
    generation = engine.generate("a", PROMPT, Limits(max_tokens, STOPS), CancelToken())
    return [token for step in generation for token in step], generation


def text(tokens: Sequence[Token]) -> str:
    return bytes(token.id for token in tokens).decode()


def sources(tokens: Sequence[Token]) -> str:
    return "".join(token.source.value[0] for token in tokens)


@pytest.mark.parametrize(
    ("draft", "choices", "accepted"),
    [([], [7], 0), ([7], [7, 8], 1), ([7, 8, 9], [7, 8, 1, 2], 2), ([1], [2, 3], 0)],
)
def test_drafts_are_accepted_up_to_the_first_difference(
    draft: list[int], choices: list[int], accepted: int
) -> None:
    """A drafted token counts while it and all before it are the target's first choice."""
    assert accepted_so_far(draft, choices.__getitem__) == (accepted, choices[accepted])


def test_plain_decoding_writes_what_the_model_says() -> None:
    """Without drafts there's one token per pass, and the end token isn't part of the text."""
    tokens, generation = run(ScriptedModel(writes("hello", 3)))
    assert text(tokens) == "hello"
    assert sources(tokens) == "ttttt"
    assert generation.stats.finish is FinishReason.END_OF_TEXT
    assert generation.stats.generated_tokens == 5
    assert generation.stats.target_passes == 5
    assert generation.stats.tokens_per_pass == 1.0
    assert generation.stats.accepted_length == generation.stats.verify_rate == 0.0


def test_a_right_draft_saves_passes() -> None:
    """Four right tokens and the target's own come out of one pass."""
    model = ScriptedModel(writes("hello world", 3))
    tokens, generation = run(model, ListDrafter(Source.LOOKUP, b"ello", b"worl"))
    assert text(tokens) == "hello world"
    assert sources(tokens) == "tlllltllllt"
    assert generation.stats.drafted == {Source.LOOKUP: 8}
    assert generation.stats.accepted == {Source.LOOKUP: 8}
    assert generation.stats.target_passes == 3
    assert generation.stats.tokens_per_pass == pytest.approx(1 + 8 / 3)
    assert generation.stats.accepted_length == pytest.approx(1 + 8 / 2)
    assert generation.stats.verify_rate == pytest.approx(2 / 3)


def test_a_wrong_draft_costs_no_correctness() -> None:
    """What the target disagrees with is replaced by its own token and forgotten in the cache."""
    model = ScriptedModel(writes("hello", 3))
    tokens, generation = run(model, ListDrafter(Source.DRAFT, b"elXY", b"ZZ"))
    assert text(tokens) == "hello"
    assert sources(tokens) == "tddtt"
    assert generation.stats.acceptance(Source.DRAFT) == pytest.approx(2 / 6)
    at = [generation.stats.acceptance_at(Source.DRAFT, position) for position in range(4)]
    assert at == [1 / 2, 1.0, 0.0, 0.0]
    assert bytes(model.held[0][3:]) == b"hello"


@given(st.lists(st.binary(max_size=6), max_size=12), st.integers(1, 30))
def test_any_drafts_give_the_plain_text(drafts: list[bytes], max_tokens: int) -> None:
    """Whatever is drafted, the text is that of plain decoding, and the cache holds its prefix."""
    wanted = "the quick brown fox"
    plain, _ = run(ScriptedModel(writes(wanted, 3)), max_tokens=max_tokens)
    model = ScriptedModel(writes(wanted, 3))
    tokens, generation = run(model, ListDrafter(Source.DRAFT, *drafts), max_tokens)
    assert text(tokens) == text(plain) == wanted[:max_tokens]
    held = model.held[0]
    assert held == [*PROMPT, *wanted.encode()][: len(held)]
    assert generation.stats.generated_tokens == len(tokens) <= max_tokens


def test_the_token_limit_holds_within_a_draft() -> None:
    """A draft is never longer than what may still come."""
    drafter = ListDrafter(Source.LOOKUP, b"ello world")
    tokens, generation = run(ScriptedModel(writes("hello world", 3)), drafter, max_tokens=4)
    assert text(tokens) == "hell"
    assert drafter.limits == [2]
    assert generation.stats.finish is FinishReason.MAX_TOKENS


def test_one_token_needs_no_pass_after_the_prefill() -> None:
    """With a limit of one token, the prefill's scores are all that is needed."""
    model = ScriptedModel(writes("hello", 3))
    tokens, generation = run(model, max_tokens=1)
    assert text(tokens) == "h"
    assert generation.stats.target_passes == 0
    assert model.decoded_tokens == 3


def test_an_end_token_inside_an_accepted_draft_ends_the_text() -> None:
    """What the draft says behind an accepted end token isn't shown."""
    drafter = ListDrafter(Source.DRAFT, [*b"i", END, *b"xx"])
    tokens, generation = run(ScriptedModel(writes("hi", 3)), drafter)
    assert text(tokens) == "hi"
    assert generation.stats.finish is FinishReason.END_OF_TEXT


def test_the_consumer_may_stop_at_any_step() -> None:
    """A generation that is dropped midway leaves a session that the next prompt can use."""
    model = ScriptedModel(writes("hello", 3))
    engine = Engine(model, {}, FixedController())
    limits = Limits(50, STOPS)
    next(iter(engine.generate("a", PROMPT, limits, CancelToken())))
    again = engine.generate("a", [*PROMPT, *b"he"], limits, CancelToken())
    assert text([token for step in again for token in step]) == "llo"
    assert again.stats.reused_tokens == 3


def test_a_cancellation_stops_within_one_pass() -> None:
    """After a cancellation no further token is decoded, and the cache stays a valid prefix."""
    model = ScriptedModel(writes("hello world", 3))
    cancel = CancelToken()
    generation = Engine(model, {}, FixedController()).generate(
        "a", PROMPT, Limits(50, STOPS), cancel
    )
    steps = iter(generation)
    assert text([token for _ in range(4) for token in next(steps)]) == "hell"
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(steps)
    assert bytes(model.held[0][3:]) == b"hel"


class Recorder(FixedController):
    """Keeps what it's told."""

    def __init__(self, *plans: Plan) -> None:
        super().__init__(*plans)
        self.outcomes: list[Outcome] = []

    def observe(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


def test_the_controller_learns_what_became_of_each_pass() -> None:
    """Source, drafted and accepted tokens of each pass are told, also where nothing was drafted."""
    recorder = Recorder(Plan(Source.LOOKUP, 3))
    drafter = ListDrafter(Source.LOOKUP, b"elX", b"")
    run(ScriptedModel(writes("hello", 3)), drafter, controller=recorder)
    told = [
        ([(part.source, part.drafted) for part in each.parts], each.drafted, each.accepted)
        for each in recorder.outcomes
    ]
    silent = ([(Source.LOOKUP, 0)], 0, 0)
    assert told == [([(Source.LOOKUP, 3)], 3, 2), silent, silent]


def test_the_first_drafter_with_an_idea_is_taken() -> None:
    """Plans are asked in order until one gives a draft."""
    model = ScriptedModel(writes("hello", 3))
    lookup, draft = ListDrafter(Source.LOOKUP, b""), ListDrafter(Source.DRAFT, b"ello")
    controller = FixedController(Plan(Source.LOOKUP, 4), Plan(Source.DRAFT, 4))
    engine = Engine(model, {Source.LOOKUP: lookup, Source.DRAFT: draft}, controller)
    generation = engine.generate("a", PROMPT, Limits(50, STOPS), CancelToken())
    assert sources([token for step in generation for token in step]) == "tdddd"


class Chain:
    """Two drafters, one asked behind the other, in one engine."""

    def __init__(self, model: ScriptedModel, *drafters: Drafter) -> None:
        self.recorder = Recorder(*(Plan(each.source, 6) for each in drafters))
        engine = Engine(model, {each.source: each for each in drafters}, self.recorder)
        self.generation = engine.generate("a", PROMPT, Limits(50, STOPS), CancelToken())
        self.tokens = [token for step in self.generation for token in step]


def test_one_draft_may_come_from_several_sources() -> None:
    """Where one drafter has no more to say the next goes on, and all is verified in one pass."""
    model = ScriptedModel(writes("hello wor", 3), micro_batch=16)
    lookup = ListDrafter(Source.LOOKUP, b"ell")
    chain = Chain(model, lookup, ModelDrafter(ScriptedModel(writes("hello wor", 3)), STOPS))
    assert text(chain.tokens) == "hello wor"
    assert sources(chain.tokens) == "tlllddddd"
    assert chain.generation.stats.target_passes == 1
    (outcome,) = chain.recorder.outcomes
    assert [(part.source, part.drafted) for part in outcome.parts] == [
        (Source.LOOKUP, 3),
        (Source.DRAFT, 5),
    ]
    assert all(part.seconds > 0 for part in outcome.parts)


@pytest.mark.parametrize(
    ("first", "second", "accepted", "verified"),
    [
        (b"elX", b"o", {"lookup": 2}, {"lookup": 3}),
        (b"el", b"Xo", {"lookup": 2, "draft": 0}, {"lookup": 2, "draft": 1}),
        (b"el", b"lX", {"lookup": 2, "draft": 1}, {"lookup": 2, "draft": 2}),
    ],
)
def test_what_the_target_did_not_come_to_tells_nothing(
    first: bytes, second: bytes, accepted: dict[str, int], verified: dict[str, int]
) -> None:
    """Behind a refused token the other parts of a draft are neither right nor wrong."""
    drafters = ListDrafter(Source.LOOKUP, first), ListDrafter(Source.DRAFT, second)
    chain = Chain(ScriptedModel(writes("hello", 3)), *drafters)
    assert text(chain.tokens) == "hello"
    stats = chain.generation.stats
    assert {source.value: count for source, count in stats.accepted.items()} == accepted
    assert {
        source.value: sum(each.verified for each in positions)
        for source, positions in stats.positions.items()
    } == verified
    assert sum(stats.drafted.values()) == len(first) + len(second)


def test_a_draft_of_several_sources_is_within_the_limits() -> None:
    """What comes behind has the room that is left: the new tokens' and the batch's."""
    drafters = ListDrafter(Source.LOOKUP, b"ell"), ListDrafter(Source.DRAFT, b"o world")
    chain = Chain(ScriptedModel(writes("hello world", 3), micro_batch=6), *drafters)
    assert drafters[0].limits[0] == 5
    assert drafters[1].limits[0] == 2
    assert text(chain.tokens) == "hello world"


def test_the_draft_model_writes_ahead() -> None:
    """A draft model that agrees with the target is accepted whole, and decodes each token once."""
    target, small = ScriptedModel(writes("hello world", 3)), ScriptedModel(writes("hello world", 3))
    tokens, generation = run(target, ModelDrafter(small, STOPS))
    assert text(tokens) == "hello world"
    assert generation.stats.acceptance(Source.DRAFT) == 1.0
    assert small.decoded_tokens <= 3 + 11 + generation.stats.target_passes


def test_the_draft_model_is_corrected() -> None:
    """Where the draft model goes wrong it's brought back to what the target wrote."""
    target, small = ScriptedModel(writes("hello world", 3)), ScriptedModel(writes("helXo worXd", 3))
    tokens, _ = run(target, ModelDrafter(small, STOPS))
    assert text(tokens) == "hello world"
    assert bytes(small.held[0][3:]).startswith(b"hello wor")


def test_closing_a_document_reaches_every_drafter() -> None:
    """A closed document is forgotten by the target and by the drafters."""
    model, drafter = ScriptedModel(writes("hi", 3)), ListDrafter(Source.DRAFT)
    engine = Engine(model, {Source.DRAFT: drafter}, FixedController(Plan(Source.DRAFT, 2)))
    list(engine.generate("a", PROMPT, Limits(5, STOPS), CancelToken()))
    engine.close("a")
    assert model.held[0] == []
    assert drafter.forgotten == ["a"]


def sampled(seed: int, drafter: Drafter | None = None) -> list[int]:
    """Twelve tokens drawn from a model that finds two of them equally good."""
    model = Undecided(lambda _held: 0)
    drafters = {drafter.source: drafter} if drafter else {}
    plans = [Plan(drafter.source, 4)] if drafter else []
    engine = Engine(model, drafters, FixedController(*plans))
    limits = Limits(12, STOPS, Sampling(temperature=1.0, top_k=2, seed=seed))
    generation = engine.generate("a", PROMPT, limits, CancelToken())
    return [token.id for step in generation for token in step]


class Undecided(ScriptedModel):
    """Says 7 with three chances of four, else 8."""

    def logits(self, row: int) -> Logits:
        scores = super().logits(row)
        scores[:] = -99.0
        scores[7], scores[8] = np.log(3.0), 0.0
        return scores


def test_draws_are_reproducible() -> None:
    """The same seed writes the same, another one something else."""
    assert sampled(1) == sampled(1)
    assert len({tuple(sampled(seed)) for seed in range(8)}) > 1
    assert set(sampled(1)) <= {7, 8}


def test_drafts_change_no_draws_distribution() -> None:
    """With drafts that are always 8, or always 7, seven comes as often as without."""
    shares = []
    for token in (None, 7, 8):
        written = [
            each
            for seed in range(300)
            for each in sampled(
                seed, ListDrafter(Source.LOOKUP, *[[token] * 4] * 12) if token else None
            )
        ]
        shares.append(written.count(7) / len(written))
    assert shares == [pytest.approx(0.75, abs=0.03)] * 3


@pytest.mark.parametrize("draft", [[7, 7, 7, 7], [8, 7, 8, 7], [9, 9]])
def test_the_same_seed_draws_the_same_with_drafts(draft: list[int]) -> None:
    """What is drawn doesn't depend on what was drafted: one draw for each token."""
    for seed in range(40):
        drafter = ListDrafter(Source.LOOKUP, *[draft] * 12)
        assert sampled(seed, drafter) == sampled(seed)


def test_a_log_probability_is_that_of_a_softmax() -> None:
    """Of all tokens, or of those that are allowed; scores may be of any size."""
    logits = np.log(np.array([0.5, 0.25, 0.125, 0.125], dtype=np.float32)) + 300
    assert np.exp(log_probability(logits, 1)) == pytest.approx(0.25, rel=1e-4)
    allowed = np.array([1, 2], dtype=np.int32)
    assert np.exp(log_probability(logits, 1, allowed)) == pytest.approx(2 / 3, rel=1e-4)
    assert log_probability(np.array([0.0, -90.0], dtype=np.float32), 1) == pytest.approx(-90)


@pytest.mark.parametrize("draft", [[], [7, 8, 7], [9]])
def test_tokens_tell_their_probability_when_asked(draft: list[int]) -> None:
    """Each has that of its own row, drafted or not; unless it's asked for, none is computed."""
    for rated, wanted in ((True, {7: -0.2877, 8: -1.3863}), (False, {7: nan, 8: nan})):
        drafter = ListDrafter(Source.LOOKUP, *[draft] * 12)
        model = Undecided(lambda _held: 0)
        engine = Engine(model, {Source.LOOKUP: drafter}, FixedController(Plan(Source.LOOKUP, 4)))
        limits = Limits(9, STOPS, Sampling(1.0, top_k=2, seed=3), rated=rated)
        steps = engine.generate("a", PROMPT, limits, CancelToken())
        written = [token for step in steps for token in step]
        assert {token.id for token in written} == {7, 8}
        for token in written:
            assert token.log_probability == pytest.approx(wanted[token.id], abs=1e-3, nan_ok=True)


def test_noting_doubts_is_no_part_of_a_pass() -> None:
    """What the controller learns of costs is the pass, not what's looked at besides."""

    class Slow(Doubts):
        def note(self, at: int, logits: Logits) -> None:
            sleep(0.02)
            super().note(at, logits)

    recorder = Recorder()
    engine = Engine(ScriptedModel(writes("hello", 3)), {}, recorder)
    list(engine.generate("a", PROMPT, Limits(50, STOPS), CancelToken(), doubts=Slow()))
    assert len(recorder.outcomes) == 5
    assert min(each.verify_seconds for each in recorder.outcomes) < 0.01
