"""All suggestions of a connection: what they're called, and what becomes of them.

What the client says counts. Where it says nothing, the documents' changes tell: what of a
suggestion came in at once was accepted, and not typed.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from specls.context.difference import difference
from specls.context.document import Snapshot
from specls.context.remains import Remains
from specls.context.text import Position
from specls.service.fates import Fate, Fates
from specls.service.keeping import Keeping
from specls.service.shown import Shown
from specls.service.suggestion import Step, Suggestion

_KEPT = 512
"""So many of the last items may be named by a client."""


@dataclass(frozen=True)
class _Item:
    """A text that a client was given: the part of ``whole`` from ``start`` on."""

    suggestion: Suggestion
    start: int
    whole: str


class Suggestions:
    """Counts each suggestion once, by its end. Used from the event loop; does nothing by itself.

    Ids that aren't known are ignored: a client may be late.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """``clock`` tells seconds."""
        self._fates = Fates()
        self._keeping = Keeping(clock)
        self._current: dict[str, Suggestion] = {}
        """The newest of each document."""
        self._items: OrderedDict[str, _Item] = OrderedDict()
        self._names: dict[tuple[str, int, str], str] = {}
        """The ids of what the newest suggestion of a document offers."""
        self._reports = False
        """Whether the client says what it shows."""

    # -- what the client is given ------------------------------------------------------------

    def offered(self, snapshot: Snapshot, position: Position, text: str) -> str:
        """A text is offered; its id. What is the same as before keeps its id."""
        uri = snapshot.uri
        current, whole = self._current.get(uri), None
        if current is not None and current.fate is not Fate.ACCEPTED:
            whole = current.offers(snapshot, position, text)
        if current is None or whole is None:
            current = self._begin(snapshot, position, text)
            whole = text
        elif current.fate is Fate.IGNORED:
            self._fates.ended(current.language, current.fate, None)
            current.fate = None
        return self._name(_Item(current, current.typed, whole))

    def _begin(self, snapshot: Snapshot, position: Position, text: str) -> Suggestion:
        self._leave(snapshot.uri)
        suggestion = self._current[snapshot.uri] = Suggestion(snapshot, position, text)
        if not self._reports:
            suggestion.assumed = True
            self._show(suggestion)
        return suggestion

    def _name(self, item: _Item) -> str:
        key = (item.suggestion.uri, item.start, item.whole)
        name = self._names.get(key)
        if name is None or name not in self._items:
            name = self._names[key] = uuid.uuid4().hex
        self._items[name] = item
        self._items.move_to_end(name)
        if len(self._items) > _KEPT:
            self._items.popitem(last=False)
        return name

    # -- what it says ------------------------------------------------------------------------

    def displayed(self, name: str) -> Shown | None:
        """The client shows an item; what would be in the document if it was accepted now."""
        self._start_reports()
        if (item := self._items.get(name)) is None:
            return None
        suggestion = item.suggestion
        suggestion.assumed = False
        self._show(suggestion)
        if not suggestion.fits:
            self._end(suggestion, Fate.IGNORED)  # the report was late
            return None
        return suggestion.of(item.whole)

    def accepted(self, name: str) -> None:
        """An item was accepted in full."""
        if (item := self._items.get(name)) is not None:
            self._claim(item.suggestion, len(item.whole), Fate.ACCEPTED)

    def partly_accepted(self, name: str, left: int) -> None:
        """A part of an item was accepted, all but so many characters at its end."""
        if (item := self._items.get(name)) is not None:
            until = len(item.whole) - left
            if until > item.start:
                self._claim(item.suggestion, until, Fate.PARTLY if left else Fate.ACCEPTED)

    def rejected(self, name: str, *, ignored: bool) -> None:
        """An item went away; somebody said no, unless it was ``ignored``."""
        if (item := self._items.get(name)) is not None:
            self._end(item.suggestion, Fate.IGNORED if ignored else Fate.REJECTED)

    def _claim(self, suggestion: Suggestion, until: int, fate: Fate) -> None:
        """The change that brought it has come already, or comes next."""
        self._end(suggestion, fate)
        if suggestion.typed < until and not suggestion.finished:
            suggestion.claimed = until
        elif suggestion.untaken is not None:
            self._take(suggestion, suggestion.untaken)

    # -- what the documents show -------------------------------------------------------------

    def changed(self, before: Snapshot, after: Snapshot, end: Position | None) -> None:
        """A document was changed, at one place that ends at ``end`` now, or at several."""
        current = self._current.get(after.uri)
        if current is None and not self._keeping:
            return
        change = difference(before.text, after.text)
        if change is None:
            return
        self._keeping.changed(after.uri, change, before.text, after.text)
        if current is None:
            return
        step = current.follow(before, after, change, end)
        if step is not None:
            self._stepped(current, step, typed=end is None)
        elif not current.fits:
            self._end(current, Fate.IGNORED)

    def _stepped(self, suggestion: Suggestion, step: Step, *, typed: bool) -> None:
        """More of a suggestion came in; several changes at once were ``typed``."""
        accepted = suggestion.claimed > step.start or (step.at_once and not typed)
        if suggestion.typed >= suggestion.claimed:
            suggestion.claimed = 0
        if accepted:
            self._end(suggestion, Fate.PARTLY if step.rest else Fate.ACCEPTED)
            self._take(suggestion, Remains((step.stretch,)))
        elif not step.rest:
            self._end(suggestion, Fate.IGNORED)

    def _take(self, suggestion: Suggestion, remains: Remains) -> None:
        """A stretch of the document was accepted: see later what is left of it."""
        suggestion.untaken = None
        language, text = suggestion.language, suggestion.newest
        characters = remains.characters(text)
        self._fates.took(language, characters)

        def tell(left: int) -> None:
            self._fates.kept(language, characters, left)

        self._keeping.watch(suggestion.uri, remains, text, tell)

    def closed(self, uri: str) -> None:
        """A document was closed."""
        self._leave(uri)
        self._keeping.closed(uri)

    # -- counting ----------------------------------------------------------------------------

    def as_dict(self) -> dict[str, object]:
        """The numbers as ``specls/stats`` shows them."""
        self._keeping.look()
        return self._fates.as_dict()

    def _leave(self, uri: str) -> None:
        """Something else is offered in a document, or it was closed."""
        suggestion = self._current.pop(uri, None)
        if suggestion is not None:
            self._end(suggestion, Fate.IGNORED)
            suggestion.release()
            self._names = {key: name for key, name in self._names.items() if key[0] != uri}

    def _show(self, suggestion: Suggestion) -> None:
        if not suggestion.shown:
            suggestion.shown = True
            self._fates.showed(suggestion.language)

    def _end(self, suggestion: Suggestion, fate: Fate) -> None:
        """It ended like that, if nothing that says more is known."""
        if not suggestion.shown:
            if fate is Fate.IGNORED:
                return
            self._show(suggestion)
        if suggestion.fate is None or fate > suggestion.fate:
            self._fates.ended(suggestion.language, suggestion.fate, fate)
            suggestion.fate = fate

    def _start_reports(self) -> None:
        """The client says what it shows: what was only assumed to be shown was not."""
        if self._reports:
            return
        self._reports = True
        for suggestion in dict.fromkeys(item.suggestion for item in self._items.values()):
            if suggestion.assumed and suggestion.fate in {None, Fate.IGNORED}:
                self._fates.showed(suggestion.language, -1)
                self._fates.ended(suggestion.language, suggestion.fate, None)
                suggestion.shown, suggestion.fate = False, None
