"""Tokens drawn at random from what the target says, drafts or not.

A draft changes nothing of the distribution: a drafted token is accepted with the chance
``min(1, p / q)``, and a refused one is replaced by a draw from what the draft left out,
``norm(max(0, p - q))``. That's for drafters that draw; those that are certain of each token need
less (``verify.accepted_so_far``). Source: Leviathan et al. 2023, "Fast Inference from Transformers
via Speculative Decoding", algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from specls.engine.interface import Logits

Ids = npt.NDArray[np.int64]
Chances = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sampling:
    """How a token is drawn. With a ``temperature`` of 0 it's the best one, whatever the rest is.

    ``top_k`` keeps so many of the best tokens (0: all), ``top_p`` the best that have this much
    together, ``min_p`` those that have this share of the best one's chance; each of what the one
    before left. The same ``seed`` draws the same.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0

    @property
    def greedy(self) -> bool:
        """Whether nothing is left to chance."""
        return self.temperature <= 0


GREEDY = Sampling()


@dataclass(frozen=True)
class Distribution:
    """Tokens and their chances, which are 1 together; what isn't among them has none.

    ``ids`` has shape ``(n,)`` in rising order, ``chances`` the same shape.
    """

    ids: Ids
    chances: Chances

    def chance(self, token: int) -> float:
        """The chance of a token, 0 to 1."""
        at = int(np.searchsorted(self.ids, token))
        found = at < len(self.ids) and self.ids[at] == token
        return float(self.chances[at]) if found else 0.0

    def draw(self, random: np.random.Generator) -> int:
        """A token at random."""
        at = int(np.searchsorted(np.cumsum(self.chances), random.random(), side="right"))
        return int(self.ids[min(at, len(self.ids) - 1)])

    def without(self, other: Distribution) -> Distribution:
        """What this one has more than ``other``: ``norm(max(0, p - q))``; itself if that's none."""
        at = np.searchsorted(other.ids, self.ids)
        inside = at < len(other.ids)
        same = np.zeros(len(self.ids), dtype=bool)
        same[inside] = other.ids[at[inside]] == self.ids[inside]
        left = self.chances.copy()
        left[same] -= other.chances[at[same]]
        np.clip(left, 0.0, None, out=left)
        total = left.sum()
        return Distribution(self.ids, left / total) if total > 0 else self


def certain(token: int) -> Distribution:
    """The distribution of a source that always says the same."""
    return Distribution(np.array([token]), np.array([1.0]))


def distribution(
    logits: Logits, sampling: Sampling, allowed: npt.NDArray[np.int32] | None = None
) -> Distribution:
    """What a row of scores, shape ``(vocabulary size,)``, says; of the ``allowed`` ids alone."""
    ids = np.arange(len(logits)) if allowed is None else np.unique(allowed)
    scores = logits[ids].astype(np.float64)
    if 0 < sampling.top_k < len(ids):
        best = np.sort(np.argpartition(scores, -sampling.top_k)[-sampling.top_k :])
        ids, scores = ids[best], scores[best]
    chances = np.exp((scores - scores.max()) / sampling.temperature)
    chances /= chances.sum()
    kept = _nucleus(chances, sampling.top_p) & (chances >= sampling.min_p * chances.max())
    left = chances[kept]
    return Distribution(ids[kept].astype(np.int64), left / left.sum())


def _nucleus(chances: Chances, top_p: float) -> npt.NDArray[np.bool_]:
    """The fewest of the best tokens that have ``top_p`` together."""
    kept = np.ones(len(chances), dtype=bool)
    if top_p < 1:
        order = np.argsort(-chances, kind="stable")
        before = np.cumsum(chances[order]) - chances[order]
        kept[order] = before < top_p
    return kept


def accepted_by_chance(
    draft: Sequence[int],
    drafted_from: Sequence[Distribution],
    target: Callable[[int], Distribution],
    random: np.random.Generator,
) -> tuple[int, int]:
    """How many tokens of a draft are accepted, and the token behind them.

    ``drafted_from`` holds what each token of the draft was drawn from; ``target`` tells what the
    target says before each, and behind the last, and is asked only as far as that's needed.
    """
    for at, token in enumerate(draft):
        says = target(at)
        if random.random() * drafted_from[at].chance(token) >= says.chance(token):
            return at, says.without(drafted_from[at]).draw(random)
    return len(draft), target(len(draft)).draw(random)
