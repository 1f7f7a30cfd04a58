"""What the store answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from specls.catalogue.entries import ModelEntry


@dataclass(frozen=True)
class ResolvedModel:
    """What a name in the settings stands for: a file that may be loaded."""

    path: Path
    entry: ModelEntry | None
    """None for a file of one's own."""
    name: str


@dataclass(frozen=True)
class CheckedModel:
    """A file whose hash was computed."""

    path: Path
    bytes: int
    sha256: str
    compared: bool
    """False if nobody knows which hash it should have: the user's own file, or one put by hand."""


class State(Enum):
    """How much of a model is on this machine; none of these took a look inside."""

    ABSENT = "no"
    PARTIAL = "in part"
    DAMAGED = "damaged"
    UNCHECKED = "unchecked"
    FETCHED = "yes"
