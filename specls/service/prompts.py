"""From a document and a position to the token ids that the model is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache

from specls.context import window
from specls.context.anchor import Anchor, follow, is_seen, is_stale
from specls.context.chunks import Chunk
from specls.context.document import Snapshot
from specls.context.fim import (
    Marker,
    Order,
    Prompt,
    Role,
    Source,
    anchored,
    at_cursor,
    before,
    prefix_only,
)
from specls.context.text import Position
from specls.context.window import Window
from specls.engine.decode import Healing
from specls.engine.session import NOWHERE
from specls.service.dialect import Dialect
from specls.service.healing import Spelling
from specls.service.parts import Head, Kind, Part, joined, split
from specls.service.tokenizer import Tokenizer


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
    parts: tuple[Part, ...] = ()
    """What ``tokens`` are, in order and without a gap."""


class PromptBuilder:
    """Cuts the window, lays it out and tokenises it. Remembers each document's anchor."""

    def __init__(self, tokenizer: Tokenizer, dialect: Dialect, spelling: Spelling | None) -> None:
        """Without a ``spelling`` nothing is healed."""
        self._tokenizer = tokenizer
        self.dialect = dialect
        self._spelling = spelling
        self.count = lru_cache(maxsize=65536)(lambda text: len(tokenizer.encode(text)))
        """How many tokens a text has."""
        self._anchors: dict[str, Anchor] = {}
        self._heads: dict[str, Head] = {}
        self._met: set[str] = set()

    def for_others(self) -> PromptBuilder:
        """One for other documents, which knows none yet."""
        other = copy(self)
        # It's one of us.
        other._anchors, other._heads, other._met = {}, {}, set()  # noqa: SLF001
        return other

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
            snapshot, position, before, after if self.dialect.fills_in else 0, self.count
        )
        prompt = at_cursor(cut, self.dialect.order) if self.dialect.fills_in else prefix_only(cut)
        built = self._compiled(prompt, cut, self._heads.get(snapshot.uri))
        if self.dialect.fills_in and self.dialect.order is Order.PREFIX_FIRST:
            return self._last_word_last(built, cut.before)
        return self._healed(built, cut.before)

    def forget(self, uri: str) -> None:
        """The document was closed."""
        self._anchors.pop(uri, None)
        self._heads.pop(uri, None)
        self._met.discard(uri)

    @contextmanager
    def unchanged(self, uri: str) -> Iterator[None]:
        """Leave all that's remembered of a document as it was before, whatever is built."""
        anchor, head, met = self._anchors.get(uri), self._heads.get(uri), uri in self._met
        try:
            yield
        finally:
            self.forget(uri)
            if anchor is not None:
                self._anchors[uri] = anchor
            if head is not None:
                self._heads[uri] = head
            if met:
                self._met.add(uri)

    # -- heads -------------------------------------------------------------------------------

    def head(self, uri: str) -> Head | None:
        """What stands before a document's prompts."""
        return self._heads.get(uri)

    @property
    def heads(self) -> Mapping[str, Head]:
        """The heads of all documents."""
        return dict(self._heads)

    def behead(self, uri: str) -> None:
        """Let nothing stand before a document's prompts any more."""
        self._heads.pop(uri, None)

    def make_head(self, chunks: Sequence[Chunk], repository: str, path: str) -> Head:
        """A head of some lines of other files, for the document that's called ``path``."""
        files = [(chunk.path, chunk.text) for chunk in chunks]
        dialect = self.dialect
        prompt = before(files, repository, path, dialect.markers, dialect.file_text)
        return Head(tuple(self._parts(prompt, Kind.HEAD)), tuple(chunks))

    def head_tokens(self, uri: str) -> list[int]:
        """What a document's prompts begin with, whatever its text is: none without a head."""
        head = self._heads.get(uri)
        return joined([*self._first_part(), *head.parts]) if head else []

    def is_new(self, uri: str) -> bool:
        """Whether nothing was built for a document yet; from the second call on it isn't."""
        new = uri not in self._met
        self._met.add(uri)
        return new

    def recover(self, uri: str, held: Sequence[int]) -> Head | None:
        """The head of a prompt that was built before the document was closed, from its tokens.

        It's the document's again. None where there was none, or it has no markers of its own.
        """
        markers = self.dialect.markers
        if Role.FILE not in markers or markers.get(Role.PREFIX) not in held:
            return None
        start = 0 if self._tokenizer.bos is None else 1
        tokens = list(held[start : list(held).index(markers[Role.PREFIX])])
        roles = {token: role for role, token in markers.items()}
        rows = split(tokens, frozenset(roles))
        parts, chunks = list[Part](), list[Chunk]()
        for token, following in rows:
            parts.append(self._marker_part(roles[token]))
            text = self._spelt(following)
            path, _, content = text.partition("\n")
            if content:
                chunks.append(Chunk(path, 0, content))
            kind = Kind.FILE if content else Kind.HEAD
            parts.append(Part(kind, tuple(following), text, path if content else None))
        if not chunks:
            return None
        head = self._heads[uri] = Head(tuple(parts), tuple(chunks))
        return head

    # -- anchors -----------------------------------------------------------------------------

    def beginning(self, snapshot: Snapshot, budget: int) -> list[int]:
        """What prompts begin with where the window reaches to the top of the document."""
        start = window.cut(snapshot, Position(0, 0), 0, budget, self.count).after
        prompt = Prompt((Marker(Role.PREFIX), Source(start)))
        return self._compiled(prompt, Window(start, ""), self._heads.get(snapshot.uri)).tokens

    def freeze(
        self,
        snapshot: Snapshot,
        position: Position,
        budget: tuple[int, int],
        head: Head | None = None,
    ) -> tuple[Anchor, Built]:
        """A new anchor at ``position`` and what it froze, behind ``head``; nothing follows yet."""
        known = self._anchors.get(snapshot.uri)
        anchor = follow(known, snapshot, position, budget, self.count, renew=True).anchor
        prompt = anchored(anchor.prefix, anchor.suffix, "")
        return anchor, self._compiled(prompt, Window("", ""), head)

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

    def adopt(self, uri: str, anchor: Anchor | None, head: Head | None = None) -> None:
        """Follow this anchor from now on, where it holds, behind this head or none."""
        if anchor is not None:
            self._anchors[uri] = anchor
        self._heads.pop(uri, None)
        if head is not None:
            self._heads[uri] = head

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
        seen = follow(known, snapshot, position, budget, self.count, renew=renew)
        anchor = replace(seen.anchor, partial=partial) if seen.moved else seen.anchor
        self._anchors[snapshot.uri] = anchor
        prompt = anchored(anchor.prefix, anchor.suffix, seen.typed)
        compiled = self._compiled(prompt, seen.window, self._heads.get(snapshot.uri))
        built = self._healed(compiled, seen.typed)
        return replace(built, anchor_moved=seen.moved, partial=anchor.partial)

    def _last_word_last(self, built: Built, before: str) -> Built:
        """A prompt with the suffix last, but for the last word of the prefix, to be healed."""
        count = self._taken_back(before)
        if count == 0:
            return built
        parts = list(built.parts)
        at = next(number for number, part in enumerate(parts) if part.kind is Kind.PREFIX)
        left, word = parts[at].tokens[:-count], parts[at].tokens[-count:]
        whole, typed = parts[at].text, self._spelt(word)
        # Only where a character is torn, the long part has to be spelt anew.
        rest = whole.removesuffix(typed) if whole.endswith(typed) else self._spelt(left)
        parts[at] = Part(Kind.PREFIX, left, rest)
        parts.append(Part(Kind.TYPED, word, typed))
        movable = range(built.movable.start - count, built.movable.stop - count)
        moved = replace(built, tokens=joined(parts), parts=tuple(parts), movable=movable)
        return self._healed(moved, before)

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

    def _compiled(self, prompt: Prompt, cut: Window, head: Head | None = None) -> Built:
        """The tokens of a prompt, and which of them are a suffix that stands behind a prefix."""
        parts = [*self._first_part(), *(head.parts if head else ())]
        parts += self._parts(prompt, Kind.PREFIX)
        if not any(part.tokens for part in parts):
            parts = [Part(Kind.PREFIX, tuple(self._tokenizer.encode("\n")), "\n")]
        movable, start = NOWHERE, 0
        for part in parts:
            if part.kind is Kind.SUFFIX and self.dialect.order is Order.PREFIX_FIRST:
                movable = range(start, start + len(part.tokens))
            start += len(part.tokens)
        return Built(joined(parts), cut, movable=movable, parts=tuple(parts))

    def _parts(self, prompt: Prompt, kind: Kind) -> Iterator[Part]:
        """The parts of a prompt; text that no marker says anything of is of this ``kind``."""
        for segment in prompt.segments:
            if isinstance(segment, Marker):
                kind = _KINDS.get(segment.role, kind)
                if segment.role in self.dialect.markers:
                    yield self._marker_part(segment.role)
                continue
            tokens = tuple(self._tokenizer.encode(segment.text))
            named = Kind.FILE if segment.path is not None else kind
            yield Part(named, tokens, segment.text, segment.path)

    def _marker_part(self, role: Role) -> Part:
        name = self.dialect.names.get(role, role.value)
        return Part(Kind.MARKER, (self.dialect.markers[role],), name)

    def _first_part(self) -> list[Part]:
        """What every text must begin with, if the model wants that."""
        bos = self._tokenizer.bos
        return [] if bos is None else [Part(Kind.MARKER, (bos,), "beginning")]

    def _spelt(self, tokens: Sequence[int]) -> str:
        return b"".join(map(self._tokenizer.piece, tokens)).decode("utf-8", "replace")


_KINDS = {Role.PREFIX: Kind.PREFIX, Role.SUFFIX: Kind.SUFFIX, Role.MIDDLE: Kind.TYPED}
