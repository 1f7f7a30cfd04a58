"""Where somebody was lately."""

from __future__ import annotations

from collections import deque

from specls.context.text import Position

_KEPT = 32

_NEAR = 32
"""Lines: so near to another place of the same document it's the same."""


class Visits:
    """The last places of all documents, also of those that were closed."""

    def __init__(self) -> None:
        self._places: deque[tuple[str, int]] = deque(maxlen=_KEPT)

    def add(self, uri: str, position: Position) -> None:
        """Somebody wrote or asked there."""
        for place in self._places:
            if place[0] == uri and abs(place[1] - position.line) <= _NEAR:
                self._places.remove(place)
                break
        self._places.append((uri, position.line))

    @property
    def all(self) -> tuple[tuple[str, int], ...]:
        """URIs and lines, the last at the end."""
        return tuple(self._places)
