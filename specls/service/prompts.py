"""From a document and a position to the token ids that the model is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from specls.context import window
from specls.context.anchor import Anchor, follow, is_seen, is_stale
from specls.context.document import Snapshot
from specls.context.fim import (
    FAMILIES,
    Family,
    Marker,
    Order,
    Prompt,
    Role,
    Source,
    anchored,
    at_cursor,
    prefix_only,
)
from specls.context.text import Position
from specls.context.window import Window
from specls.engine.decode import Healing
from specls.engine.session import NOWHERE
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
    movable: range = NOWHERE
    """Where in ``tokens`` the suffix is, if it stands behind the prefix."""


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
            return self._anchored(snapshot, position, budget, renew=renew, partial=partial)
        before, after = budget
        cut = window.cut(
            snapshot, position, before, after if self.dialect.fills_in else 0, self._count
        )
        prompt = at_cursor(cut, self.dialect.order) if self.dialect.fills_in else prefix_only(cut)
        if self.dialect.fills_in and self.dialect.order is Order.PREFIX_FIRST:
            return self._last_word_last(self._compiled(prompt, cut), cut.before)
        return self._healed(self._compiled(prompt, cut), cut.before)

    def forget(self, uri: str) -> None:
        """The document was closed."""
        self._anchors.pop(uri, None)

    def beginning(self, snapshot: Snapshot, budget: int) -> list[int]:
        """What prompts begin with where the window reaches to the top of the document."""
        start = window.cut(snapshot, Position(0, 0), 0, budget, self._count).after
        prompt = Prompt((Marker(Role.PREFIX), Source(start)))
        return self._compiled(prompt, Window(start, "")).tokens

    def freeze(
        self, snapshot: Snapshot, position: Position, budget: tuple[int, int]
    ) -> tuple[Anchor, Built]:
        """A new anchor at ``position`` and what it froze; nothing follows it yet."""
        known = self._anchors.get(snapshot.uri)
        anchor = follow(known, snapshot, position, budget, self._count, renew=True).anchor
        built = self._compiled(anchored(anchor.prefix, anchor.suffix, ""), Window("", ""))
        return anchor, built

    def holds(self, snapshot: Snapshot, position: Position, layout: str) -> bool:
        """Whether the document's anchor holds at this place, so that it would be built on."""
        anchor = self._anchors.get(snapshot.uri)
        return anchor is not None and self.anchors(layout) and is_seen(anchor, snapshot, position)

    def is_partial(self, uri: str) -> bool:
        """Whether the document's anchor has a window that isn't complete."""
        anchor = self._anchors.get(uri)
        return anchor is not None and anchor.partial

    def is_stale(self, snapshot: Snapshot, position: Position) -> bool:
        """Whether the document's anchor is good for now, and a new one due when there's time."""
        anchor = self._anchors.get(snapshot.uri)
        return anchor is not None and is_stale(anchor, position)

    def adopt(self, uri: str, anchor: Anchor) -> None:
        """Follow this anchor from now on, where it holds."""
        self._anchors[uri] = anchor

    def _anchored(
        self,
        snapshot: Snapshot,
        position: Position,
        budget: tuple[int, int],
        *,
        renew: bool,
        partial: bool,
    ) -> Built:
        known = self._anchors.get(snapshot.uri)
        seen = follow(known, snapshot, position, budget, self._count, renew=renew)
        anchor = replace(seen.anchor, partial=partial) if seen.moved else seen.anchor
        self._anchors[snapshot.uri] = anchor
        prompt = anchored(anchor.prefix, anchor.suffix, seen.typed)
        built = self._healed(self._compiled(prompt, seen.window), seen.typed)
        return replace(built, anchor_moved=seen.moved, partial=anchor.partial)

    def _last_word_last(self, built: Built, before: str) -> Built:
        """A prompt with the suffix last, but for the last word of the prefix, to be healed."""
        count = self._taken_back(before)
        stop, tokens = built.movable.start - 1, built.tokens  # of the prefix
        word = tokens[stop - count : stop]
        moved = tokens[: stop - count] + tokens[stop:] + word
        movable = range(built.movable.start - count, built.movable.stop - count)
        return self._healed(replace(built, tokens=moved, movable=movable), before)

    def _healed(self, built: Built, text: str) -> Built:
        """A prompt with its end, which is that of ``text``, to be healed."""
        count = min(self._taken_back(text), len(built.tokens) - 1)
        if self._spelling is None or count == 0:
            return built
        rest = b"".join(map(self._tokenizer.piece, built.tokens[-count:]))
        healing = Healing(count, self._spelling.bound_to(rest))
        return replace(built, healing=healing, rest=rest)

    def _taken_back(self, text: str) -> int:
        """How many tokens at the end of ``text`` are healed."""
        if self._spelling is None or not text:
            return 0
        return self._spelling.taken_back(self._tokenizer.encode(text))

    def _compiled(self, prompt: Prompt, cut: Window) -> Built:
        """The tokens of a prompt, and which of them are a suffix that stands behind a prefix."""
        tokens = [] if self._tokenizer.bos is None else [self._tokenizer.bos]
        movable, role = NOWHERE, None
        for segment in prompt.segments:
            if isinstance(segment, Marker):
                role = segment.role
                tokens.extend(self._marker(role))
                continue
            start = len(tokens)
            tokens.extend(self._tokenizer.encode(segment.text))
            if role is Role.SUFFIX and self.dialect.order is Order.PREFIX_FIRST:
                movable = range(start, len(tokens))
        return Built(tokens or self._tokenizer.encode("\n"), cut, movable=movable)

    def _marker(self, role: Role) -> list[int]:
        """The token of a marker, if the model has one."""
        marker = self.dialect.markers.get(role)
        return [] if marker is None else [marker]
