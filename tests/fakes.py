"""Stand-ins for tests of logic: a scripted model and a vocabulary of bytes.

They implement the real Protocols, and mypy checks that they do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from specls.core import CancelToken, Source
from specls.engine.interface import Logits, TokenModel
from specls.errors import Cancelled, ContextFull
from specls.service.tokenizer import Tokenizer

PREFIX, SUFFIX, MIDDLE, END = 256, 257, 258, 259
VOCABULARY = 260


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
        self.micro_batch = micro_batch
        self.sequences = sequences
        self.decoded_tokens = 0
        self.batches: list[int] = []
        """The number of tokens of each pass."""
        self.held: dict[int, list[int]] = {}
        """The tokens of each sequence."""
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
        held = self.held.setdefault(sequence, [])
        assert 0 <= sequence < self.sequences
        assert start == len(held), "positions of a sequence are consecutive"
        assert 0 < len(tokens) <= self.micro_batch
        if cancel is not None and cancel.cancelled:
            raise Cancelled("cancelled in the pass")
        if sum(map(len, self.held.values())) + len(tokens) > self.capacity:
            raise ContextFull("no room")
        self._rows = []
        for token in tokens:
            held.append(token)
            self._rows.append(self.script(held))
        self._rows = self._rows[len(tokens) - scored :]
        self.decoded_tokens += len(tokens)
        self.batches.append(len(tokens))

    def logits(self, row: int) -> Logits:
        scores = np.zeros(VOCABULARY, dtype=np.float32)
        scores[self._rows[row]] = 20.0
        return scores

    def best(self, row: int) -> int:
        return self._rows[row]

    def truncate(self, sequence: int, length: int) -> None:
        del self.held.setdefault(sequence, [])[length:]

    def save(self, sequence: int) -> bytes:
        return np.array(self.held[sequence], dtype=np.int32).tobytes()

    def restore(self, sequence: int, state: bytes) -> bool:
        assert self.held.get(sequence, []) == [], "only an empty sequence is restored"
        self.held[sequence] = np.frombuffer(state, dtype=np.int32).tolist()
        return sum(map(len, self.held.values())) <= self.capacity


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


class ListDrafter:
    """Proposes what it's told, each time once."""

    def __init__(self, source: Source, *drafts: Sequence[int]) -> None:
        self.source = source
        self.drafts = [list(draft) for draft in drafts]
        self.limits: list[int] = []
        self.forgotten: list[object] = []

    def begin(self, document: object, prompt: Sequence[int]) -> None:
        del document, prompt

    def propose(
        self, tokens: Sequence[int], limit: int, cancel: CancelToken | None = None
    ) -> list[int]:
        del tokens, cancel
        self.limits.append(limit)
        return self.drafts.pop(0)[:limit] if self.drafts else []

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
