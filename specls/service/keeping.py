"""Whether accepted text is still there a while later."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from specls.context.difference import Difference
from specls.context.remains import Remains
from specls.context.text import Text

SECONDS = 30.0
"""After so long it's counted what is left."""

_MOST = 64
"""So many accepted texts are followed at once; of more, the oldest are counted at once."""


@dataclass(eq=False)
class _Watched:
    """An accepted text; ``left`` of its characters were there after the last change."""

    uri: str
    remains: Remains
    left: int
    until: float
    tell: Callable[[int], None]


class Keeping:
    """Follows accepted texts through edits. Nothing runs meanwhile: time is looked at on events."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock`` tells seconds."""
        self._clock = clock
        self._watched: deque[_Watched] = deque()

    def __bool__(self) -> bool:
        """Whether something is followed."""
        return bool(self._watched)

    def watch(self, uri: str, remains: Remains, text: Text, tell: Callable[[int], None]) -> None:
        """Follow a stretch of a document's text, and ``tell`` how many characters were left."""
        until = self._clock() + SECONDS
        left = remains.characters(text)
        self._watched.append(_Watched(uri, remains, left, until, tell))
        if len(self._watched) > _MOST:
            self._settle(self._watched[0])

    def changed(self, uri: str, change: Difference, before: Text, after: Text) -> None:
        """A document was changed; what is due is counted as it was before that."""
        self.look()
        for each in self._watched:
            if each.uri == uri and each.left:
                each.remains = each.remains.moved(change, before, after)
                each.left = each.remains.characters(after)

    def look(self) -> None:
        """Count what is due."""
        now = self._clock()
        while self._watched and self._watched[0].until <= now:
            self._settle(self._watched[0])

    def closed(self, uri: str) -> None:
        """A document was closed: what is there now stays."""
        for each in [each for each in self._watched if each.uri == uri]:
            self._settle(each)

    def _settle(self, watched: _Watched) -> None:
        self._watched.remove(watched)
        watched.tell(watched.left)
