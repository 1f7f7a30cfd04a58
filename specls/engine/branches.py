"""Other ways to go on: a text is forked where the target was in doubt, all forks in one batch."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from specls.core import CancelToken
from specls.engine.interface import Logits, TokenModel
from specls.engine.session import Session


@dataclass(frozen=True)
class Doubt:
    """A place of a text where the target nearly said something else."""

    at: int
    """How many new tokens stand before it."""
    token: int
    """The runner-up there."""
    chance: float
    """The logarithm of the probability of the new tokens up to this one, with the runner-up."""


class Doubts:
    """Notes the runner-up of each token that a target chooses freely."""

    def __init__(self, stop_ids: frozenset[int] = frozenset(), least: float = 0.02) -> None:
        """A stop token is no other way to go on, nor is what has a probability under ``least``."""
        self._stops = stop_ids
        self._least = least
        self._found: list[Doubt] = []
        self._chance = 0.0

    def note(self, at: int, logits: Logits) -> None:
        """The scores, shape ``(vocabulary size,)``, of what comes behind ``at`` new tokens."""
        first = int(logits.argmax())
        second = next(each for each in np.argpartition(logits, -2)[-2:].tolist() if each != first)
        chances = np.exp(logits[[first, second]].astype(np.float64) - float(logits[first]))
        chances /= float(np.exp(logits - logits[first]).sum())
        if second not in self._stops and chances[1] >= self._least:
            self._found.append(Doubt(at, second, self._chance + float(np.log(chances[1]))))
        self._chance += float(np.log(chances[0]))

    def best(self, count: int, length: int) -> list[Doubt]:
        """Up to ``count`` of those among the first ``length`` tokens, the most likely first."""
        within = [doubt for doubt in self._found if doubt.at < length]
        return sorted(within, key=lambda doubt: -doubt.chance)[:count]


@dataclass(frozen=True)
class Branch:
    """A token of one of the branches, by the index of its doubt."""

    index: int
    token: int


class Branches:
    """Texts that go on from a session's, each from another doubt, greedily.

    Iterating does the work: each step is one pass with a token of each branch that still grows,
    and yields their next tokens, the runner-ups first. The session is left as it was.
    """

    def __init__(
        self,
        model: TokenModel,
        session: Session,
        base: int,
        doubts: Sequence[Doubt],
        max_tokens: int,
        stop_ids: frozenset[int],
        cancel: CancelToken,
    ) -> None:
        """New tokens begin behind the session's first ``base``; at most ``max_tokens`` each.

        A branch ends before a stop token.

        There are no more doubts than the model has forks, and the session reaches up to them all.
        """
        self._model = model
        self._session = session
        self._base = base
        self._doubts = doubts
        self._max_tokens = max_tokens
        self._stops = stop_ids
        self._cancel = cancel
        self._growing = list(range(len(doubts)))

    def end(self, index: int) -> None:
        """A branch is long enough."""
        self._growing.remove(index)

    @property
    def unfinished(self) -> list[int]:
        """The branches that neither the target nor :meth:`end` ended."""
        return list(self._growing)

    def __iter__(self) -> Generator[tuple[Branch, ...]]:
        """Run. See the class; who doesn't read on to the end closes it.

        Raises:
            Cancelled, ContextFull, DecodeFailed: as :meth:`TokenModel.decode`.
        """
        forks = self._model.forks[: len(self._doubts)]
        try:
            yield from self._steps(forks)
        finally:
            for fork in forks:
                self._model.truncate(fork, 0)

    def _steps(self, forks: Sequence[int]) -> Iterator[tuple[Branch, ...]]:
        starts = [self._base + doubt.at for doubt in self._doubts]
        for fork, start in zip(forks, starts, strict=True):
            self._model.copy(self._session.sequence, fork, 0, start)
        tokens = {index: doubt.token for index, doubt in enumerate(self._doubts)}
        while tokens:
            yield tuple(Branch(index, token) for index, token in tokens.items())
            grown = self._base + self._max_tokens
            going = [index for index in self._growing if starts[index] + 1 < grown]
            if not going:
                return
            self._cancel.raise_if_cancelled()
            batch = [(forks[index], starts[index], tokens[index]) for index in going]
            self._model.decode_each(batch, self._cancel)
            for index in going:
                starts[index] += 1
            best = {index: self._model.best(row) for row, index in enumerate(going)}
            tokens = {index: token for index, token in best.items() if token not in self._stops}
            for index in best.keys() - tokens.keys():
                self.end(index)
