"""From a document and a position to the token ids that the model is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from specls.context import window
from specls.context.document import Snapshot
from specls.context.fim import FAMILIES, Family, Marker, Order, Prompt, Role, at_cursor, prefix_only
from specls.context.text import Position
from specls.context.window import Window


class Tokenizer(Protocol):
    """A vocabulary. Its methods change nothing and may be called from any thread."""

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


@dataclass(frozen=True)
class Dialect:
    """How one loaded model wants its prompts: markers by id, or none."""

    markers: Mapping[Role, int]
    order: Order = Order.PREFIX_FIRST
    stop_ids: frozenset[int] = frozenset()

    @property
    def fills_in(self) -> bool:
        """Whether the model can see what follows the cursor."""
        return bool(self.markers)


def dialect_of(tokenizer: Tokenizer, family: str | None) -> Dialect:
    """The dialect of a model: the named family's, else what its vocabulary declares.

    A family whose markers the vocabulary lacks is treated as unknown.
    """
    known = FAMILIES.get(family or "")
    markers = _markers_by_text(tokenizer, known) if known else None
    if known and markers:
        stops = {tokenizer.token(text) for text in known.stops} - {None}
        return Dialect(markers, known.order, tokenizer.stop_ids | stops)  # type: ignore[operator]
    if declared := tokenizer.fim_markers:
        roles = (Role.PREFIX, Role.SUFFIX, Role.MIDDLE)
        return Dialect(dict(zip(roles, declared, strict=True)), stop_ids=tokenizer.stop_ids)
    return Dialect({}, stop_ids=tokenizer.stop_ids)


def _markers_by_text(tokenizer: Tokenizer, family: Family) -> dict[Role, int] | None:
    found = {role: tokenizer.token(text) for role, text in family.markers.items()}
    markers = {role: token for role, token in found.items() if token is not None}
    return markers if len(markers) == len(family.markers) else None


@dataclass(frozen=True)
class Built:
    """A prompt as token ids, and the window that it was made from."""

    tokens: list[int]
    window: Window


class PromptBuilder:
    """Cuts the window, lays it out and tokenises it."""

    def __init__(self, tokenizer: Tokenizer, dialect: Dialect) -> None:
        self._tokenizer = tokenizer
        self.dialect = dialect
        self._count = lru_cache(maxsize=65536)(lambda text: len(tokenizer.encode(text)))

    def build(
        self, snapshot: Snapshot, position: Position, prefix_tokens: int, suffix_tokens: int
    ) -> Built:
        """The prompt for a completion at ``position``; never empty.

        Costs as much as the window, whatever the size of the document.
        """
        if not self.dialect.fills_in:
            suffix_tokens = 0
        cut = window.cut(snapshot, position, prefix_tokens, suffix_tokens, self._count)
        layout = at_cursor(cut, self.dialect.order) if self.dialect.fills_in else prefix_only(cut)
        return Built(self._compile(layout), cut)

    def _compile(self, prompt: Prompt) -> list[int]:
        tokens = [] if self._tokenizer.bos is None else [self._tokenizer.bos]
        for segment in prompt.segments:
            if not isinstance(segment, Marker):
                tokens.extend(self._tokenizer.encode(segment.text))
            elif segment.role in self.dialect.markers:
                tokens.append(self.dialect.markers[segment.role])
        return tokens or self._tokenizer.encode("\n")
