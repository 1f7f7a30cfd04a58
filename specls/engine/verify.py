"""Which tokens of a draft the target agrees with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specls.engine.interface import Logits


def accepted_greedily(draft: Sequence[int], choices: Sequence[int]) -> int:
    """How many tokens of ``draft``, from its beginning, are the target's own first choices.

    ``choices`` holds the target's choice before each drafted token and one more behind the last
    (length ``len(draft) + 1``); the choice at the returned index is the next token, whether it
    replaces a wrong guess or follows a draft that was right to its end.

    Source: Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding",
    algorithm 1, in the limit of temperature zero.
    """
    for at, token in enumerate(draft):
        if token != choices[at]:
            return at
    return len(draft)


def gap(logits: Logits) -> float:
    """How far apart the two best scores of a row are: where that's little, either may win."""
    best = np.partition(logits, -2)[-2:]
    return float(best[1] - best[0])
