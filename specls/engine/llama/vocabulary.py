"""A model's vocabulary: text to token ids and back, control tokens, comparison with another."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any

import llama_cpp.llama_cpp as lib

from specls.errors import IncompatibleDraft

_LARGEST_SIZE_DIFFERENCE = 128
_FIRST_COMPARED = 5
"""As llama.cpp compares a draft's vocabulary (``common/speculative.cpp``): sizes may differ by
padding, and the texts of the first tokens by special tokens."""


class Vocabulary:
    """Reads only memory that never changes: its methods may be called from any thread."""

    def __init__(self, model: Any) -> None:
        self._model = model  # keeps the weights alive as long as the vocabulary is used
        self._vocab = lib.llama_model_get_vocab(model.handle)
        self.size: int = lib.llama_vocab_n_tokens(self._vocab)
        self._piece = lru_cache(maxsize=65536)(self._read_piece)

    def encode(self, text: str) -> list[int]:
        """The tokens of plain text; what looks like a control token in it is text as well.

        Characters that UTF-8 can't hold (lone surrogates) become question marks.
        """
        return self._tokenize(text.encode("utf-8", "replace"), parse_special=False)

    def _tokenize(self, raw: bytes, *, parse_special: bool) -> list[int]:
        add_special = False
        room = len(raw) + 8  # byte-level vocabularies never make more tokens than bytes
        while True:
            tokens = (lib.llama_token * room)()
            count: int = lib.llama_tokenize(
                self._vocab, raw, len(raw), tokens, room, add_special, parse_special
            )
            if count >= 0:
                return list(tokens[:count])
            room = -count

    def piece(self, token: int) -> bytes:
        """The bytes of one token; none for a control token. They need not be whole characters."""
        return self._piece(token)

    def _read_piece(self, token: int) -> bytes:
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            count = lib.llama_token_to_piece(self._vocab, token, buffer, room, 0, False)  # noqa: FBT003
            if count >= 0:
                return buffer.raw[:count]
            room = -count

    def token(self, text: str) -> int | None:
        """The id of the control token with this text, None where the vocabulary has none."""
        found = self._tokenize(text.encode(), parse_special=True)
        if len(found) == 1 and self.is_control(found[0]) and self._text(found[0]) == text.encode():
            return found[0]
        return None

    def is_control(self, token: int) -> bool:
        """Whether a token is no text: a marker or an end."""
        return bool(
            lib.llama_vocab_is_control(self._vocab, token)
            or lib.llama_vocab_is_eog(self._vocab, token)
        )

    @cached_property
    def stop_ids(self) -> frozenset[int]:
        """Every control token: none of them may stand in a completion, so each one ends it."""
        return frozenset(token for token in range(self.size) if self.is_control(token))

    @property
    def bos(self) -> int | None:
        """The token that the model wants at the beginning of a text, None if it wants none."""
        if not lib.llama_vocab_get_add_bos(self._vocab):
            return None
        token: int = lib.llama_vocab_bos(self._vocab)
        return token if token >= 0 else None

    @property
    def fim_markers(self) -> tuple[int, int, int] | None:
        """The prefix, suffix and middle markers that the GGUF declares or llama.cpp recognises."""
        read = (lib.llama_vocab_fim_pre, lib.llama_vocab_fim_suf, lib.llama_vocab_fim_mid)
        markers = tuple(int(each(self._vocab)) for each in read)
        return markers if min(markers) >= 0 else None  # type: ignore[return-value]

    def _text(self, token: int) -> bytes:
        return bytes(lib.llama_vocab_get_text(self._vocab, token) or b"")

    def check_draft(self, draft: Vocabulary) -> None:
        """See that a draft's token ids mean the same as this vocabulary's.

        Raises:
            IncompatibleDraft: names the first difference.
        """
        for difference in self._differences(draft):
            raise IncompatibleDraft(
                f"The draft model's vocabulary isn't the target's: {difference}. Choose a draft of "
                "the same family, or set draftModel to none."
            )

    def _differences(self, draft: Vocabulary) -> Iterable[str]:
        for name, read in (
            ("type", lib.llama_vocab_type),
            ("BOS token", lib.llama_vocab_bos),
            ("EOS token", lib.llama_vocab_eos),
            ("use of BOS", lib.llama_vocab_get_add_bos),
        ):
            ours, theirs = read(self._vocab), read(draft._vocab)
            if ours != theirs:
                yield f"the {name} is {ours} in the target and {theirs} in the draft"
        if abs(self.size - draft.size) > _LARGEST_SIZE_DIFFERENCE:
            yield f"it has {draft.size} tokens and the target's has {self.size}"
        for token in range(_FIRST_COMPARED, min(self.size, draft.size)):
            if self._text(token) != draft._text(token):
                ours_text = self._text(token).decode("utf-8", "replace")
                theirs_text = draft._text(token).decode("utf-8", "replace")
                yield f"token {token} is {ours_text!r} in the target, {theirs_text!r} in the draft"
                return
