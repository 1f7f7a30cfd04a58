"""Which tokens of a draft the target agrees with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from specls.engine.interface import Allowed, Logits


def accepted_so_far(draft: Sequence[int], choose: Callable[[int], int]) -> tuple[int, int]:
    """How many tokens of a draft, from its beginning, are the target's own, and what follows them.

    ``choose`` tells the target's choice, its best token or a draw, before the drafted token of an
    index, or with the draft's length behind the last; it's asked in order and no further than
    needed. What follows replaces a wrong guess, or comes behind a draft that was right to its end.

    Source: Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding",
    algorithm 1, for drafts that are certain: accepted with the chance ``p(x)`` that the target
    draws just that, else replaced by a draw that is not it.
    """
    for at, token in enumerate(draft):
        if (choice := choose(at)) != token:
            return at, choice
    return len(draft), choose(len(draft))


_NEGLIGIBLE = 20.0
"""A score that's so much lower than the best has a share of 2e-9: a whole vocabulary of them, a
three-thousandth."""


def log_probability(logits: Logits, token: int, allowed: Allowed | None = None) -> float:
    """The natural logarithm of a token's softmax probability, among all or those ``allowed``."""
    scores = logits if allowed is None else logits[allowed]
    best = scores.max()
    likely = scores[scores > best - _NEGLIGIBLE]
    total = np.log(np.exp(likely - best, dtype=np.float64).sum())
    return float(np.float64(logits[token]) - best - total)


def gap(logits: Logits) -> float:
    """How far apart the two best scores of a row are: where that's little, either may win."""
    best = np.partition(logits, -2)[-2:]
    return float(best[1] - best[0])
