"""What is said about drafts on a machine."""

from __future__ import annotations

import pytest

from specls.bench.doctor import Diagnosis
from specls.cli import main
from tests.conftest import DRAFT
from tests.engine.test_controllers import CPU, GPU


def test_on_a_cpu() -> None:
    """Look-ups pay where most is right; a draft model that costs 0.6 of a token hardly ever."""
    diagnosis = Diagnosis(CPU, 0.6)
    least = diagnosis.break_even(0.0)
    assert least is not None
    assert 0.5 < least < 0.65
    assert diagnosis.advice(0.5, 0.0) == "none"
    assert diagnosis.advice(0.9, 0.6) == "none"
    assert diagnosis.choice(0.9, 0.0).speed_up > 1.3
    costly = diagnosis.break_even(0.6)
    assert costly is None or costly > 0.9


def test_on_a_gpu() -> None:
    """Where a batch costs hardly more than a token, a cheap draft model pays early."""
    diagnosis = Diagnosis(GPU, 0.08)
    least = diagnosis.break_even(0.08)
    assert least is not None
    assert least < 0.2
    assert diagnosis.choice(0.7, 0.08).tokens >= 4
    assert "times as fast" in diagnosis.advice(0.7, 0.08)


def test_what_never_pays() -> None:
    """Where a draft costs more than the target itself, nothing is right enough."""
    assert Diagnosis({1: 1.0, 2: 2.0}, 2.0).break_even(2.0) is None


@pytest.mark.model
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Measured on a real model, the tables tell costs and choices."""
    words = f"doctor --model {DRAFT} --draft-model none --context-tokens 512"
    assert main(words.split()) == 0
    shown = capsys.readouterr().out
    assert "1 token " in shown
    assert "look-ups" in shown
    assert "at 70 % accepted" in shown
