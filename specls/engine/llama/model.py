"""A :class:`TokenModel` of llama.cpp: one context over one set of weights."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import llama_cpp.llama_cpp as lib
import numpy as np

from specls.core import CancelToken
from specls.engine.interface import Logits
from specls.engine.llama import library
from specls.engine.llama.vocabulary import Vocabulary
from specls.engine.pace import Pace
from specls.errors import Cancelled, ContextFull, DecodeFailed

_NO_SLOT = 1
_ABORTED = 2

_FORKS = 2
SPARE_SEQUENCES = 2 + _FORKS
"""Sequences of a context that no document owns: for what is moved, to have keys turned, and for
texts that are forked."""


class Weights:
    """A loaded model file. Freed by :meth:`close`, after every context that uses it."""

    def __init__(self, handle: Any, *, on_gpu: bool) -> None:
        self.handle = handle
        self.on_gpu = on_gpu
        self.vocabulary = Vocabulary(self)

    @property
    def description(self) -> str:
        """Architecture, size and quantisation in llama.cpp's words."""
        buffer = ctypes.create_string_buffer(128)
        lib.llama_model_desc(self.handle, buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace")

    def close(self) -> None:
        """Free the weights; a second call does nothing."""
        if self.handle is not None:
            lib.llama_model_free(self.handle)
            self.handle = None


class LlamaModel:
    """Decodes batches in one context. Belongs to the thread that made it."""

    def __init__(self, weights: Weights, context: Any, micro_batch: int, pace: Pace) -> None:
        """``context`` has a unified cache and at least ``micro_batch`` tokens a batch."""
        self.weights = weights
        self._context = context
        self._memory = lib.llama_get_memory(context)
        self._batch = lib.llama_batch_init(micro_batch, 0, 1)
        self._micro_batch = micro_batch
        self.pace = pace
        self._size = weights.vocabulary.size
        self._scored = 0
        self._decoded = 0
        self._shifted = False
        self._abort = library.flag_reader()
        self._idle = CancelToken()

    @property
    def capacity(self) -> int:
        """Tokens in the cache: see :class:`TokenModel`."""
        return int(lib.llama_n_ctx(self._context)) - 1  # one to have keys turned

    @property
    def sequences(self) -> int:
        """Number of sequences: see :class:`TokenModel`."""
        return int(lib.llama_n_seq_max(self._context)) - SPARE_SEQUENCES

    @property
    def forks(self) -> Sequence[int]:
        """Sequences for forked texts: see :class:`TokenModel`."""
        return range(self.sequences + 2, self.sequences + SPARE_SEQUENCES)

    @property
    def micro_batch(self) -> int:
        """Tokens in a batch: see :class:`TokenModel`."""
        return self._micro_batch

    @property
    def most_scored(self) -> int:
        """Rows of scores that are kept: see :class:`TokenModel`."""
        return min(self.sequences, self._micro_batch)

    @property
    def prefill_batch(self) -> int:
        """Tokens in a batch of a prefill: see :class:`TokenModel`."""
        return self.pace.next

    @property
    def decoded_tokens(self) -> int:
        """Tokens decoded so far: see :class:`TokenModel`."""
        return self._decoded

    def decode(
        self,
        sequence: int,
        start: int,
        tokens: Sequence[int],
        scored: int,
        cancel: CancelToken | None = None,
    ) -> None:
        """One ``llama_decode``: see :class:`TokenModel`."""
        entries = [(sequence, start + at, token) for at, token in enumerate(tokens)]
        self._decode(entries, scored, cancel)

    def decode_each(
        self, tokens: Sequence[tuple[int, int, int]], cancel: CancelToken | None = None
    ) -> None:
        """One ``llama_decode`` over several sequences: see :class:`TokenModel`."""
        self._decode(tokens, len(tokens), cancel)

    def _decode(
        self, entries: Sequence[tuple[int, int, int]], scored: int, cancel: CancelToken | None
    ) -> None:
        """One pass over tokens, each with the sequence and the position where it goes."""
        self._fill(entries, scored)
        # Stopped while it turns keys of shifted tokens, llama.cpp would turn some of them twice.
        flag = self._idle if cancel is None or self._shifted else cancel
        lib.llama_set_abort_callback(self._context, self._abort, flag.address)
        started = perf_counter()
        code = lib.llama_decode(self._context, self._batch)
        if code == 0:
            self._measure(len(entries), started)
            self._shifted = False
            self._scored = scored
            self._decoded += len(entries)
            return
        starts = {sequence: start for sequence, start, _ in reversed(entries)}
        for sequence, start in starts.items():
            lib.llama_memory_seq_rm(self._memory, sequence, start, -1)
        raise _error(code, len(entries), entries[0][1])

    def _measure(self, tokens: int, started: float) -> None:
        """Learn how long a batch took, unless it turned keys as well. A GPU is waited for."""
        if not self._shifted:
            if self.weights.on_gpu:
                lib.llama_synchronize(self._context)
            self.pace.observe(tokens, perf_counter() - started)

    def _fill(self, entries: Sequence[tuple[int, int, int]], scored: int) -> None:
        count = len(entries)
        if not 0 < count <= self._micro_batch:
            raise AssertionError(f"a batch has 1 to {self._micro_batch} tokens, not {count}")
        batch = self._batch
        batch.n_tokens = count
        for at, (sequence, position, token) in enumerate(entries):
            batch.token[at] = token
            batch.pos[at] = position
            batch.n_seq_id[at] = 1
            batch.seq_id[at][0] = sequence
            batch.logits[at] = at >= count - scored

    def logits(self, row: int) -> Logits:
        """A row of scores: see :class:`TokenModel`."""
        if not 0 <= row < self._scored:
            raise AssertionError(f"the last pass scored {self._scored} tokens, not {row + 1}")
        pointer = lib.llama_get_logits_ith(self._context, row - self._scored)
        return np.ctypeslib.as_array(pointer, (self._size,))

    def best(self, row: int) -> int:
        """The best token of a row: see :class:`TokenModel`."""
        return int(self.logits(row).argmax())

    def truncate(self, sequence: int, length: int) -> None:
        """Drop the tail of a sequence: see :class:`TokenModel`."""
        lib.llama_memory_seq_rm(self._memory, sequence, length, -1)

    @property
    def can_shift(self) -> bool:
        """Whether positions can be changed: see :class:`TokenModel`."""
        return bool(lib.llama_memory_can_shift(self._memory))

    def copy(self, sequence: int, other: int, start: int, stop: int) -> None:
        """Share cells between sequences: see :class:`TokenModel`."""
        lib.llama_memory_seq_cp(self._memory, sequence, other, start, stop)

    def shift(self, sequence: int, by: int) -> None:
        """Change positions; the next pass turns the keys: see :class:`TokenModel`."""
        lib.llama_memory_seq_add(self._memory, sequence, 0, -1, by)
        self._shifted = True

    def save(self, sequence: int) -> bytes:
        """Copy a sequence's state out: see :class:`TokenModel`."""
        if self._shifted:
            self._turn_keys()
        size = lib.llama_state_seq_get_size(self._context, sequence)
        buffer = (ctypes.c_uint8 * size)()
        written = lib.llama_state_seq_get_data(self._context, buffer, size, sequence)
        return bytes(memoryview(buffer)[:written])

    def _turn_keys(self) -> None:
        """Have the keys of shifted tokens turned: any pass does that, and nothing else."""
        spare = self.sequences + 1
        self.decode(spare, 0, [0], scored=0)
        self.truncate(spare, 0)

    def restore(self, sequence: int, state: bytes) -> bool:
        """Copy a sequence's state in: see :class:`TokenModel`."""
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        if lib.llama_state_seq_set_data(self._context, buffer, len(state), sequence):
            return True
        self.truncate(sequence, 0)
        return False

    def close(self) -> None:
        """Free the context (not the weights); a second call does nothing."""
        if self._context is not None:
            lib.llama_batch_free(self._batch)
            lib.llama_free(self._context)
            self._context = None


def _error(code: int, count: int, start: int) -> Exception:
    """llama.cpp's return codes in words (``llama.h``, ``llama_decode``)."""
    if code == _ABORTED:
        return Cancelled("The request was cancelled.")
    if code == _NO_SLOT:
        return ContextFull(
            f"The key-value cache has no room for {count} tokens at position {start}: raise "
            "contextTokens, or close some documents."
        )
    return DecodeFailed(
        f"llama.cpp returned {code} for {count} tokens at position {start}. "
        f"{library.last_messages()}".strip()
    )
