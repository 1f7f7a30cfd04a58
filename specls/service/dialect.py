"""How one loaded model wants its prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specls.context.fim import FAMILIES, Order, Role
from specls.service.tokenizer import Tokenizer


@dataclass(frozen=True)
class Dialect:
    """How one loaded model wants its prompts: markers by id, or none."""

    markers: Mapping[Role, int]
    order: Order = Order.PREFIX_FIRST
    stop_ids: frozenset[int] = frozenset()
    file_text: str = ""
    """What stands before other files, where that's no marker."""
    names: Mapping[Role, str] = field(default_factory=dict)
    """What the vocabulary calls the markers, where that's known."""

    @property
    def tells_files(self) -> bool:
        """Whether the model was trained to see other files of the repository."""
        return Role.FILE in self.markers or bool(self.file_text)

    @property
    def fills_in(self) -> bool:
        """Whether the model can see what follows the cursor."""
        return bool(self.markers)


def dialect_of(tokenizer: Tokenizer, family: str | None) -> Dialect:
    """The dialect of a model: the named family's, else what its vocabulary declares.

    A family whose markers the vocabulary lacks is treated as unknown.
    """
    known = FAMILIES.get(family or "")
    markers = _markers_by_text(tokenizer, known.markers) if known else None
    if known and markers:
        stops = {tokenizer.token(text) for text in known.stops} - {None}
        files = _markers_by_text(tokenizer, known.file_markers) or {}
        return Dialect(
            {**markers, **files},
            known.order,
            tokenizer.stop_ids | stops,  # type: ignore[operator]
            known.file_text,
            {**known.markers, **known.file_markers},
        )
    if declared := tokenizer.fim_markers:
        roles = (Role.PREFIX, Role.SUFFIX, Role.MIDDLE)
        return Dialect(dict(zip(roles, declared, strict=True)), stop_ids=tokenizer.stop_ids)
    return Dialect({}, stop_ids=tokenizer.stop_ids)


def _markers_by_text(tokenizer: Tokenizer, texts: Mapping[Role, str]) -> dict[Role, int] | None:
    found = {role: tokenizer.token(text) for role, text in texts.items()}
    markers = {role: token for role, token in found.items() if token is not None}
    return markers if len(markers) == len(texts) else None
