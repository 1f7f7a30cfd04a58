"""A small model that writes ahead."""

from __future__ import annotations

import pytest

from specls.core import CancelToken
from specls.engine.drafters import ModelDrafter, top_probability
from specls.errors import Cancelled
from tests.fakes import END, ScriptedModel, writes


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
