"""What the model is given, in parts: each with its tokens, and with the text that they spell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from specls.context.chunks import Chunk
from specls.service.exclude import Exclusion


class Kind(Enum):
    """What a part of a prompt is."""

    MARKER = "marker"
    HEAD = "head"
    """The name of the repository, or the path of the document itself."""
    FILE = "file"
    """Lines of another file, behind its path."""
    PREFIX = "prefix"
    SUFFIX = "suffix"
    TYPED = "typed"
    """What stands between the anchor and the cursor, or the last word before the cursor."""


@dataclass(frozen=True)
class Part:
    """A stretch of a prompt. A marker's text is its name in the vocabulary, and no text."""

    kind: Kind
    tokens: tuple[int, ...]
    text: str
    path: str | None = None

    def as_dict(self) -> dict[str, object]:
        """The part as ``specls/context`` shows it, ``tokens`` as their number."""
        shown: dict[str, object] = {"kind": self.kind.value, "text": self.text}
        if self.path is not None:
            shown["path"] = self.path
        return {**shown, "tokens": len(self.tokens)}


@dataclass(frozen=True)
class Head:
    """What stands before a document's own text: lines of other files, and what they're called."""

    parts: tuple[Part, ...] = field(repr=False)
    chunks: tuple[Chunk, ...]

    @cached_property
    def tokens(self) -> list[int]:
        """All of its tokens."""
        return joined(self.parts)

    @property
    def paths(self) -> frozenset[str]:
        """The files of which it has lines."""
        return frozenset(chunk.path for chunk in self.chunks)


@dataclass(frozen=True)
class Context:
    """All that the model is given at a place, in order."""

    parts: tuple[Part, ...] = ()
    excluded: str | None = None
    """Why that's nothing, where the document is excluded."""

    def as_dict(self) -> dict[str, object]:
        """The answer to ``specls/context``."""
        return {
            "parts": [part.as_dict() for part in self.parts],
            "tokens": sum(len(part.tokens) for part in self.parts),
            "excluded": self.excluded,
        }


def is_shown(head: Head, exclusion: Exclusion) -> bool:
    """Whether nothing that a head shows is excluded."""
    return all(map(exclusion.shows, head.paths))


def joined(parts: Iterable[Part]) -> list[int]:
    """The tokens of parts, one behind the other."""
    return [token for part in parts for token in part.tokens]


def split(tokens: Sequence[int], markers: frozenset[int]) -> list[tuple[int, list[int]]]:
    """Tokens as rows of a marker and what follows it; they begin with a marker, or it's nothing."""
    rows: list[tuple[int, list[int]]] = []
    for token in tokens:
        if token in markers:
            rows.append((token, []))
        elif rows:
            rows[-1][1].append(token)
        else:
            return []
    return rows
