"""From a document and a position to the token ids that the model is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from specls.context import window
from specls.context.anchor import Anchor, follow, typed_since
from specls.context.document import Snapshot
from specls.context.fim import (
    FAMILIES,
    Family,
    Marker,
    Order,
    Prompt,
    Role,
    Segment,
    Source,
    anchored,
    at_cursor,
    prefix_only,
)
from specls.context.text import Position
from specls.context.window import Window
from specls.engine.decode import Healing
from specls.service.healing import Spelling
from specls.service.tokenizer import Tokenizer


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
    """A prompt as token ids, the window that it was made from, and what is healed at its end."""

    tokens: list[int]
    window: Window
    healing: Healing | None = None
    rest: bytes = b""
    """What the healed tokens spell: the new text begins with it, and it's there already."""
    anchor_moved: bool = False
    partial: bool = False
    """Whether the window was kept small to answer sooner."""


class PromptBuilder:
    """Cuts the window, lays it out and tokenises it. Remembers each document's anchor."""

    def __init__(self, tokenizer: Tokenizer, dialect: Dialect, spelling: Spelling | None) -> None:
        """Without a ``spelling`` nothing is healed."""
        self._tokenizer = tokenizer
        self.dialect = dialect
        self._spelling = spelling
        self._count = lru_cache(maxsize=65536)(lambda text: len(tokenizer.encode(text)))
        self._anchors: dict[str, Anchor] = {}

    def anchors(self, layout: str) -> bool:
        """Whether a layout of the settings means the anchored one for this model."""
        first = self.dialect.order is Order.PREFIX_FIRST
        return self.dialect.fills_in and first and layout != "cursor"

    def build(
        self,
        snapshot: Snapshot,
        position: Position,
        budget: tuple[int, int],
        layout: str = "cursor",
        *,
        renew: bool = False,
        partial: bool = False,
    ) -> Built:
        """The prompt for a completion at ``position``; never empty.

        ``budget`` is the most tokens before and behind the cursor; an anchor that still holds
        keeps its own size, unless it's to be renewed, and then perhaps with a ``partial`` window.
        Costs as much as the window, whatever the size of the document.
        """
        if self.anchors(layout):
            if renew:
                self._anchors.pop(snapshot.uri, None)
            return self._anchored(snapshot, position, budget, partial=partial)
        before, after = budget
        cut = window.cut(
            snapshot, position, before, after if self.dialect.fills_in else 0, self._count
        )
        prompt = at_cursor(cut, self.dialect.order) if self.dialect.fills_in else prefix_only(cut)
        return self._healed(self._compile(prompt), cut, last=prompt.segments[-1])

    def forget(self, uri: str) -> None:
        """The document was closed."""
        self._anchors.pop(uri, None)

    def freeze(
        self, snapshot: Snapshot, position: Position, budget: tuple[int, int]
    ) -> tuple[Anchor, list[int]]:
        """A new anchor at ``position`` and the tokens of what it froze; nothing follows it yet."""
        anchor = follow(None, snapshot, position, budget, self._count).anchor
        return anchor, self._compile(anchored(anchor.prefix, anchor.suffix, ""))[:-1]

    def is_partial(self, snapshot: Snapshot, position: Position) -> bool:
        """Whether the document's anchor holds here and has a window that isn't complete."""
        anchor = self._anchors.get(snapshot.uri)
        if anchor is None or not anchor.partial:
            return False
        return typed_since(anchor, snapshot, position) is not None

    def adopt(self, uri: str, anchor: Anchor) -> None:
        """Follow this anchor from now on, where it holds."""
        self._anchors[uri] = anchor

    def _anchored(
        self, snapshot: Snapshot, position: Position, budget: tuple[int, int], *, partial: bool
    ) -> Built:
        known = self._anchors.get(snapshot.uri)
        seen = follow(known, snapshot, position, budget, self._count)
        anchor = replace(seen.anchor, partial=partial) if seen.moved else seen.anchor
        self._anchors[snapshot.uri] = anchor
        prompt = anchored(anchor.prefix, anchor.suffix, seen.typed)
        built = self._healed(self._compile(prompt), seen.window, last=prompt.segments[-1])
        return replace(built, anchor_moved=seen.moved, partial=anchor.partial)

    def _healed(self, tokens: list[int], cut: Window, last: Segment) -> Built:
        """Heal the end of a prompt that ends with text."""
        if self._spelling is None or not isinstance(last, Source) or not last.text:
            return Built(tokens, cut)
        count = self._spelling.taken_back(self._tokenizer.encode(last.text))
        count = min(count, len(tokens) - 1)
        if count == 0:
            return Built(tokens, cut)
        rest = b"".join(map(self._tokenizer.piece, tokens[len(tokens) - count :]))
        return Built(tokens, cut, Healing(count, self._spelling.bound_to(rest)), rest)

    def _compile(self, prompt: Prompt) -> list[int]:
        tokens = [] if self._tokenizer.bos is None else [self._tokenizer.bos]
        for segment in prompt.segments:
            if not isinstance(segment, Marker):
                tokens.extend(self._tokenizer.encode(segment.text))
            elif segment.role in self.dialect.markers:
                tokens.append(self.dialect.markers[segment.role])
        return tokens or self._tokenizer.encode("\n")
