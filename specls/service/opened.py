"""The open documents of one connection: which are there, and what holds for each."""

from __future__ import annotations

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.service.exclude import Exclusion
from specls.service.scopes import Scopes
from specls.service.visits import Visits
from specls.service.workspace import View
from specls.settings import Settings


class OpenDocuments:
    """The newest snapshot of each, its settings, and where somebody was. Computes nothing.

    Used from the event loop.
    """

    def __init__(self) -> None:
        self.roots: tuple[str, ...] = ()
        """The URIs of the workspace's folders."""
        self.scopes = Scopes()
        self.exclusion = Exclusion()
        """What is excluded, as of the last :meth:`exclude`."""
        self._open: dict[str, Snapshot] = {}
        self._newest: Snapshot | None = None
        self._asked: dict[str, Position] = {}
        self._visits = Visits()

    # -- which are there ---------------------------------------------------------------------

    @property
    def uris(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(self._open)

    @property
    def newest(self) -> Snapshot | None:
        """What was opened, changed or looked at last: most likely the one that's seen."""
        return self._newest

    def get(self, uri: str) -> Snapshot | None:
        """A document as it is now; None if it isn't open."""
        return self._open.get(uri)

    def put(self, snapshot: Snapshot) -> None:
        """A document was opened, or it's another now."""
        self._open[snapshot.uri] = snapshot

    def see(self, snapshot: Snapshot) -> None:
        """Somebody works on a document, in which something is completed."""
        self._newest = snapshot

    def close(self, uri: str) -> None:
        """A document was closed. It's still known where somebody was in it."""
        self._open.pop(uri, None)

    def forget_places(self, uri: str) -> None:
        """Nobody works on a document any more, or nobody may: it was closed or excluded."""
        self._asked.pop(uri, None)
        if self._newest is not None and self._newest.uri == uri:
            self._newest = None

    # -- what holds for each -----------------------------------------------------------------

    def settings_of(self, uri: str) -> Settings:
        """Those for a document, which needn't be open."""
        return self.scopes.of(uri)

    def exclude(self) -> None:
        """Follow what the settings exclude, and the workspace's folders."""
        self.exclusion = self.scopes.exclusion(self.roots)

    def why_excluded(self, snapshot: Snapshot) -> str | None:
        """Why a document is excluded; None if that's not so."""
        return self.exclusion.reason(snapshot.uri, snapshot.language)

    def excluded(self) -> dict[str, str]:
        """The open documents that are excluded, and why."""
        reasons = {uri: self.why_excluded(snapshot) for uri, snapshot in self._open.items()}
        return {uri: reason for uri, reason in reasons.items() if reason is not None}

    def is_enabled(self, snapshot: Snapshot) -> bool:
        """Whether something is completed in a document."""
        enabled = self.settings_of(snapshot.uri).enabled
        return enabled and self.why_excluded(snapshot) is None

    def why_not(self, uri: str) -> str | None:
        """Why nothing is completed in a document that is open; None if that's not so."""
        if not self.settings_of(uri).enabled:
            return "the setting enabled is false"
        snapshot = self._open.get(uri)
        return None if snapshot is None else self.why_excluded(snapshot)

    # -- where somebody was ------------------------------------------------------------------

    def visited(self, uri: str, position: Position) -> None:
        """Somebody wrote there."""
        self._visits.add(uri, position)

    def asked(self, uri: str, position: Position) -> None:
        """Somebody asked for a completion there."""
        self._asked[uri] = position
        self._visits.add(uri, position)

    def asked_at(self, uri: str) -> Position | None:
        """Where a completion was asked for last in a document."""
        return self._asked.get(uri)

    def view(self) -> View:
        """What is open now, and where somebody was, for whoever tells the model of other files."""
        documents = tuple(self._open.values())
        return View(self.exclusion, documents, self._visits.all, self.roots)
