"""Stand-ins for tests of logic: a scripted model and a vocabulary of bytes.

They implement the real Protocols, and mypy checks that they do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from specls.core import CancelToken, Source
from specls.engine.interface import Logits, TokenModel
from specls.errors import Cancelled, ContextFull
from specls.service.tokenizer import Tokenizer

PREFIX, SUFFIX, MIDDLE, END = 256, 257, 258, 259
VOCABULARY = 260
REPOSITORY, FILE = 260, 261


@dataclass(eq=False)
class Cell:
    """One token in the cache, and the sequences that hold it."""

    token: int
    position: int
    owners: set[int]


class ScriptedModel:
    """A model whose next token is a function of the tokens of its sequence.

    It checks what llama.cpp insists on: consecutive positions and room in the cache.
    """

    def __init__(
        self,
        script: Callable[[Sequence[int]], int],
        *,
        capacity: int = 4096,
        micro_batch: int = 8,
        sequences: int = 4,
    ) -> None:
        self.script = script
        self.capacity = capacity
        self.micro_batch = self.prefill_batch = self.most_scored = micro_batch
        self.sequences = sequences
        self.forks = range(sequences + 2, sequences + 4)
        self.can_shift = True
        self.decoded_tokens = 0
        self.batches: list[int] = []
        """The number of tokens of each pass."""
        self.cells: list[Cell] = []
        self.on_decode: Callable[[], None] = lambda: None
        """Called at the beginning of each pass."""
        self._rows: list[int] = []

    def decode(
        self,
        sequence: int,
        start: int,
        tokens: Sequence[int],
        scored: int,
        cancel: CancelToken | None = None,
    ) -> None:
        self.on_decode()
        assert 0 <= sequence < self.sequences
        assert start == len(self.cells_of(sequence)), "positions of a sequence are consecutive"
        assert 0 < len(tokens) <= self.micro_batch
        if cancel is not None and cancel.cancelled:
            raise Cancelled("cancelled in the pass")
        if len(self.cells) + len(tokens) > self.capacity:
            raise ContextFull("no room")
        held = self.tokens_of(sequence)
        self._rows = []
        for token in tokens:
            self.cells.append(Cell(token, len(held), {sequence}))
            held.append(token)
            self._rows.append(self.script(held))
        self._rows = self._rows[len(tokens) - scored :]
        self.decoded_tokens += len(tokens)
        self.batches.append(len(tokens))

    def decode_each(
        self, tokens: Sequence[tuple[int, int, int]], cancel: CancelToken | None = None
    ) -> None:
        self.on_decode()
        if cancel is not None and cancel.cancelled:
            raise Cancelled("cancelled in the pass")
        if len(self.cells) + len(tokens) > self.capacity:
            raise ContextFull("no room")
        rows = []
        for sequence, start, token in tokens:
            held = self.tokens_of(sequence)
            assert start == len(held), "positions of a sequence are consecutive"
            self.cells.append(Cell(token, start, {sequence}))
            rows.append(self.script([*held, token]))
        self._rows = rows
        self.decoded_tokens += len(tokens)
        self.batches.append(len(tokens))

    def cells_of(self, sequence: int) -> list[Cell]:
        """The cells of a sequence in the order of their positions."""
        cells = [cell for cell in self.cells if sequence in cell.owners]
        return sorted(cells, key=lambda cell: cell.position)

    def tokens_of(self, sequence: int) -> list[int]:
        """The tokens of a sequence, which must be complete."""
        cells = self.cells_of(sequence)
        assert [cell.position for cell in cells] == list(range(len(cells)))
        return [cell.token for cell in cells]

    @property
    def held(self) -> dict[int, list[int]]:
        """The tokens of each document's sequence."""
        numbers = {number for cell in self.cells for number in cell.owners}
        documents = sorted(number for number in numbers if number < self.sequences)
        return defaultdict(list, ((number, self.tokens_of(number)) for number in documents))

    def logits(self, row: int) -> Logits:
        scores = np.zeros(VOCABULARY, dtype=np.float32)
        scores[self._rows[row]] = 20.0
        return scores

    def best(self, row: int) -> int:
        return self._rows[row]

    def truncate(self, sequence: int, length: int) -> None:
        for cell in self.cells_of(sequence):
            if cell.position >= length:
                cell.owners.discard(sequence)
        self.cells = [cell for cell in self.cells if cell.owners]

    def copy(self, sequence: int, other: int, start: int, stop: int) -> None:
        there = {cell.position for cell in self.cells_of(other)}
        assert there.isdisjoint(range(start, stop)), "nothing is copied over anything"
        for cell in self.cells_of(sequence):
            if start <= cell.position < stop:
                cell.owners.add(other)

    def shift(self, sequence: int, by: int) -> None:
        for cell in self.cells_of(sequence):
            assert cell.owners == {sequence}, "cells that are shared mustn't move"
            cell.position += by
            assert cell.position >= 0

    def save(self, sequence: int) -> bytes:
        return np.array(self.tokens_of(sequence), dtype=np.int32).tobytes()

    def restore(self, sequence: int, state: bytes) -> bool:
        assert not self.cells_of(sequence), "only an empty sequence is restored"
        tokens = np.frombuffer(state, dtype=np.int32).tolist()
        self.cells += [Cell(token, at, {sequence}) for at, token in enumerate(tokens)]
        return len(self.cells) <= self.capacity


class Torn(ScriptedModel):
    """Nearly says something else behind some numbers of new tokens."""

    def __init__(
        self,
        script: Callable[[Sequence[int]], int],
        nearly: Mapping[int, str],
        after: int,
        *,
        capacity: int = 4096,
    ) -> None:
        super().__init__(script, capacity=capacity, micro_batch=64)
        self.nearly = nearly
        self.after = after
        """How many tokens the prompt has."""
        self._ends: list[int] = []

    def decode(
        self,
        sequence: int,
        start: int,
        tokens: Sequence[int],
        scored: int,
        cancel: CancelToken | None = None,
    ) -> None:
        super().decode(sequence, start, tokens, scored, cancel)
        end = start + len(tokens)
        self._ends = list(range(end - scored + 1, end + 1))

    def logits(self, row: int) -> Logits:
        scores = super().logits(row)
        if (other := self.nearly.get(self._ends[row] - self.after)) is not None:
            scores[ord(other)] = 19.5
        return scores


class ByteTokenizer:
    """One token per byte, and four control tokens."""

    def __init__(self, *, markers: bool = True, bos: int | None = None) -> None:
        self.bos = bos
        self.fim_markers = (PREFIX, SUFFIX, MIDDLE) if markers else None
        self.stop_ids = frozenset({PREFIX, SUFFIX, MIDDLE, END})

    @property
    def size(self) -> int:
        return VOCABULARY

    def encode(self, text: str) -> list[int]:
        return list(text.encode("utf-8", "replace"))

    def piece(self, token: int) -> bytes:
        return bytes([token]) if token < PREFIX else b""

    def token(self, text: str) -> int | None:
        return {"<end>": END}.get(text)


class FamilyTokenizer(ByteTokenizer):
    """The same with the control tokens of a known family, two more than those."""

    FAMILY = "qwen2.5-coder"

    def __init__(self, *, bos: int | None = None) -> None:
        super().__init__(bos=bos)
        self.stop_ids |= {REPOSITORY, FILE}

    @property
    def size(self) -> int:
        return VOCABULARY + 2

    def token(self, text: str) -> int | None:
        return {
            "<|fim_prefix|>": PREFIX,
            "<|fim_suffix|>": SUFFIX,
            "<|fim_middle|>": MIDDLE,
            "<|repo_name|>": REPOSITORY,
            "<|file_sep|>": FILE,
        }.get(text)


class ListDrafter:
    """Proposes what it's told, each time once."""

    def __init__(self, source: Source, *drafts: Sequence[int]) -> None:
        self.source = source
        self.drafts = [list(draft) for draft in drafts]
        self.limits: list[int] = []
        self.forgotten: list[object] = []
        self.finished: list[tuple[list[int], int]] = []

    def begin(self, document: object, prompt: Sequence[int]) -> None:
        del document, prompt

    def propose(
        self,
        tokens: Sequence[int],
        limit: int,
        cancel: CancelToken | None = None,
        drafted: Sequence[int] = (),
    ) -> list[int]:
        del tokens, cancel, drafted
        self.limits.append(limit)
        return self.drafts.pop(0)[:limit] if self.drafts else []

    def finish(self, tokens: Sequence[int], new: int) -> None:
        self.finished.append((list(tokens), new))

    def forget(self, document: object) -> None:
        self.forgotten.append(document)


def writes(text: str, after: int) -> Callable[[Sequence[int]], int]:
    """A script: behind a prompt of ``after`` tokens it writes ``text``, and then the end."""
    wanted = [*text.encode(), END]

    def script(held: Sequence[int]) -> int:
        at = len(held) - after
        return wanted[at] if 0 <= at < len(wanted) else END

    return script


def _check_protocols(model: ScriptedModel, tokenizer: ByteTokenizer) -> None:
    """For mypy: the fakes are what they stand for."""
    _model: TokenModel = model
    _tokenizer: Tokenizer = tokenizer
