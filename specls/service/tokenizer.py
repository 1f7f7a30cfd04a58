"""What the service needs of a vocabulary."""

from __future__ import annotations

from typing import Protocol


class Tokenizer(Protocol):
    """A vocabulary. Its methods change nothing and may be called from any thread."""

    @property
    def size(self) -> int:
        """How many tokens there are: their ids run from 0 to this, not included."""

    def encode(self, text: str) -> list[int]:
        """The tokens of plain text, none of them a control token."""

    def piece(self, token: int) -> bytes:
        """The bytes of a token, not always whole characters; none for a control token."""

    def token(self, text: str) -> int | None:
        """The control token with this text, if there is one."""

    @property
    def bos(self) -> int | None:
        """The token that a text must begin with, if the model wants one."""

    @property
    def stop_ids(self) -> frozenset[int]:
        """Every token that can't be part of a text."""

    @property
    def fim_markers(self) -> tuple[int, int, int] | None:
        """The prefix, suffix and middle markers, as far as the file itself tells."""
