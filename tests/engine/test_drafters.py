"""Looking up what the context says already, and when to do it."""

from __future__ import annotations

import pytest

from specls.core import CancelToken, Source
from specls.engine.controllers import LookupController
from specls.engine.drafters import LookupDrafter, ModelDrafter, top_probability
from specls.engine.interface import Outcome, Plan
from specls.errors import Cancelled
from tests.fakes import END, ScriptedModel, writes


def lookup(text: str, limit: int = 8, shortest: int = 3) -> str:
    drafter = LookupDrafter(frozenset({END}), shortest=shortest)
    tokens = list(text.encode())
    drafter.begin("a", tokens)
    return bytes(drafter.propose(tokens, limit)).decode()


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        ("for x in items: for x", " in item"),
        ("abc", ""),
        ("", ""),
        ("a", ""),
        ("xyab zzab", ""),
        ("abcdX abcdY abcd", "Y abcd"),
        ("Qabcd1 abcd2 Qabcd", "1 abcd2 "),
        ("aaaaaa", "a"),
    ],
)
def test_the_longest_and_then_the_latest_match_is_continued(text: str, draft: str) -> None:
    """What followed the longest earlier match, of several as long the latest, is proposed."""
    assert lookup(text) == draft


def test_short_matches_are_no_idea() -> None:
    """Fewer tokens than ``shortest`` propose nothing."""
    assert lookup("ab1 ab", shortest=2) == "1 ab"
    assert lookup("ab1 ab", shortest=3) == ""


def test_the_limit_holds() -> None:
    """No more tokens than asked for are proposed."""
    assert lookup("for x in items: for x", limit=3) == " in"


def test_nothing_behind_a_control_token_is_proposed() -> None:
    """A draft ends where the prompt has a marker."""
    drafter = LookupDrafter(frozenset({END}))
    tokens = [*b"abcd", END, *b"zzz abc"]
    drafter.begin("a", tokens)
    assert drafter.propose(tokens, 8) == [*b"d"]


def test_new_tokens_are_looked_up_as_well() -> None:
    """What was generated since the beginning counts as context."""
    drafter = LookupDrafter()
    drafter.begin("a", [1, 2])
    assert drafter.propose([1, 2], 4) == []
    assert drafter.propose([1, 2, 7, 8, 9, 5, 7, 8, 9], 4) == [5, 7, 8, 9]
    drafter.begin("b", [7, 8, 9])
    assert drafter.propose([7, 8, 9], 4) == []


def test_a_doubtful_draft_model_says_nothing() -> None:
    """A token under the least probability ends the draft before it."""
    drafter = ModelDrafter(ScriptedModel(writes("hello", 3)), least=1.1)
    drafter.begin("a", [1, 2, 3])
    assert drafter.propose([1, 2, 3], 4) == []


def test_the_draft_model_doesn_t_draft_the_end() -> None:
    """A draft ends before a stop token: the target says that by itself."""
    drafter = ModelDrafter(ScriptedModel(writes("hi", 3)), frozenset({END}))
    drafter.begin("a", [1, 2, 3])
    assert bytes(drafter.propose([1, 2, 3], 8)) == b"hi"


def test_the_draft_model_can_be_cancelled() -> None:
    """A cancellation reaches the draft model's own passes."""
    cancel = CancelToken()
    cancel.cancel()
    drafter = ModelDrafter(ScriptedModel(writes("hello", 3)))
    drafter.begin("a", [1, 2, 3])
    with pytest.raises(Cancelled):
        drafter.propose([1, 2, 3], 4, cancel)


def test_a_draft_model_without_room_costs_only_its_drafts() -> None:
    """A draft model whose cache is too small proposes nothing, and nothing fails."""
    drafter = ModelDrafter(ScriptedModel(writes("hello", 3), capacity=4))
    drafter.begin("a", [1, 2, 3])
    assert drafter.propose([1, 2, 3], 4) == []


def test_top_probability() -> None:
    """The softmax of the best score, computed without overflow."""
    model = ScriptedModel(lambda _held: 7)
    model.decode(0, 0, [1], 1)
    assert top_probability(model.logits(0)) == pytest.approx(1.0, abs=1e-4)
    assert top_probability(model.logits(0) * 0 + 1e30) == pytest.approx(1 / 260)


def outcome(drafted: int, accepted: int) -> Outcome:
    return Outcome(Source.LOOKUP if drafted else None, drafted, accepted, 0.0, 0.0)


def test_right_lookups_become_longer() -> None:
    """The length doubles with each draft that was right to its end, up to the longest."""
    controller = LookupController(shortest=2, longest=8)
    lengths = []
    for _ in range(4):
        (plan,) = controller.plans()
        lengths.append(plan.limit)
        controller.observe(outcome(plan.limit, plan.limit))
    assert lengths == [2, 4, 8, 8]


def test_wrong_lookups_become_rare() -> None:
    """Drafts that are wrong one after the other come with longer and longer pauses."""
    controller = LookupController()
    asked = []
    for _ in range(20):
        plans = controller.plans()
        asked.append(len(plans))
        controller.observe(outcome(2, 0) if plans else outcome(0, 0))
    assert sum(asked) <= 6
    assert asked[:4] == [1, 0, 1, 0]


def test_a_right_lookup_ends_the_mistrust() -> None:
    """After one right draft there's no pause."""
    controller = LookupController()
    controller.observe(outcome(2, 0))
    controller.observe(outcome(0, 0))
    controller.observe(outcome(2, 2))
    assert controller.plans() == (Plan(Source.LOOKUP, 4),)
