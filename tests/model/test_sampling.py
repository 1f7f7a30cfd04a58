"""Sampling on real scores: drafts of the real draft model change no distribution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from specls.core import CancelToken, Source
from specls.engine.controllers import FixedController
from specls.engine.decode import Limits
from specls.engine.drafters import ModelDrafter
from specls.engine.interface import Plan, TokenModel
from specls.engine.sampling import Distribution, Sampling, accepted_by_chance, distribution
from specls.engine.session import Session
from specls.service.interface import Runtime
from tests.engine.test_sampling import always, first_tokens, is_rejected

pytestmark = pytest.mark.model

SAMPLING = Sampling(temperature=1.0, top_k=12, seed=3)
PROMPTS = ("def area(self):\n    return", "for item in", "import os\nimport", "class Stack")


def says(model: TokenModel, prompt: list[int]) -> Distribution:
    """What a model says behind a prompt."""
    session = Session(model, model.sequences - 1)
    session.sync(prompt)
    found = distribution(model.logits(0), SAMPLING)
    session.release()
    return found


def test_real_drafts_change_no_distribution(
    pair: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    """What comes out first is distributed as the target says, and a wrong rule is found out."""
    drafter = pair.engine.drafters[Source.DRAFT]
    assert isinstance(drafter, ModelDrafter)
    wrong, shared = 0, []
    for text in PROMPTS:
        prompt = pair.tokenizer.encode(text)
        target, draft = says(pair.engine.target, prompt), says(drafter.model, prompt)
        assert not is_rejected(first_tokens(accepted_by_chance, draft, target), target)
        wrong += is_rejected(first_tokens(always, draft, target), target)
        common = set(target.ids.tolist()) & set(draft.ids.tolist())
        shared.append(sum(min(target.chance(each), draft.chance(each)) for each in common))
    with capsys.disabled():
        print(f"\nthe draft model's tokens are accepted with chances of {np.round(shared, 2)}")
    assert wrong == len(PROMPTS)
    assert min(shared) > 0.1


def test_a_seed_reproduces_a_text(pair: Runtime) -> None:
    """With the draft model and without, the same seed writes the same text each time."""
    prompt = pair.tokenizer.encode("def read_lines(path):\n    ")
    texts = []
    for plans in ((), (), (Plan(Source.DRAFT, 3),), (Plan(Source.DRAFT, 3),)):
        engine = pair.engine.with_controller(FixedController(*plans))
        limits = Limits(8, pair.prompts.dialect.stop_ids, replace(SAMPLING, temperature=0.8))
        engine.close("seed")
        generation = engine.generate("seed", prompt, limits, CancelToken())
        texts.append([token.id for step in generation for token in step])
    assert texts[0] == texts[1]
    assert texts[2] == texts[3]
    assert len(texts[0]) == len(texts[2]) == 8
