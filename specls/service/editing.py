"""What happens to one connection's documents, and what that means for what is known and planned."""

from __future__ import annotations

import logging

from specls.context.document import Snapshot
from specls.context.text import Encoding, Position
from specls.service.ahead import Ahead
from specls.service.completion import Request
from specls.service.held import Held
from specls.service.models import Models
from specls.service.opened import OpenDocuments
from specls.service.requests import Requests
from specls.service.scopes import Scopes
from specls.service.shown import ShownSuggestions
from specls.service.suggestions import Suggestions

logger = logging.getLogger(__name__)


class Editing:
    """Tells all that keep something of a document what becomes of it. Used from the event loop."""

    def __init__(
        self,
        models: Models,
        documents: OpenDocuments,
        held: Held,
        shown: ShownSuggestions,
        suggestions: Suggestions,
        ahead: Ahead,
        requests: Requests,
    ) -> None:
        self._models = models
        self._documents = documents
        self._held = held
        self._shown = shown
        self._suggestions = suggestions
        self._ahead = ahead
        self._requests = requests

    # -- one document ------------------------------------------------------------------------

    def opened(self, snapshot: Snapshot) -> None:
        """A document was opened: have it ready when a completion is asked for."""
        self._requests.supersede(snapshot.uri)
        self._documents.put(snapshot)
        self._warm(snapshot)

    def _warm(self, snapshot: Snapshot) -> None:
        if (reason := self._documents.why_excluded(snapshot)) is not None:
            logger.info("Nothing is completed in %s: %s.", snapshot.uri, reason)
            return
        self._documents.see(snapshot)
        self._read(snapshot)

    def _read(self, snapshot: Snapshot) -> None:
        if self._works_in(snapshot.uri):
            self._ahead.opened(snapshot, self._documents.settings_of(snapshot.uri))

    def changed(self, snapshot: Snapshot, position: Position | None) -> None:
        """A document was changed, perhaps at one place: a request for it is pointless now."""
        before = self._documents.get(snapshot.uri)
        self._requests.changed(before, snapshot, position)
        if before is not None:
            self._suggestions.changed(before, snapshot, position)
        self._documents.put(snapshot)
        if self._documents.why_excluded(snapshot) is not None:
            return
        self._documents.see(snapshot)
        # What was planned was planned for a text that is no more.
        self._ahead.forget(snapshot.uri)
        if position is not None:
            self._documents.visited(snapshot.uri, position)
        if position is not None and self._works_in(snapshot.uri):
            self._ahead.changed(self._request(snapshot, position))

    def focused(self, uri: object) -> bool:
        """A document is looked at: have it ready. False if it isn't open."""
        snapshot = self._documents.get(uri) if isinstance(uri, str) else None
        if snapshot is not None and snapshot is not self._documents.newest:
            self._warm(snapshot)
        return snapshot is not None

    def displayed(self, name: str) -> None:
        """A client shows an item: see to it that what follows is there when it's accepted."""
        shown = self._suggestions.displayed(name)
        if shown is None or self._documents.get(shown.snapshot.uri) is None:
            return
        if self._models.answers and self._documents.is_enabled(shown.snapshot):
            self._ahead.expect(self._request(shown.snapshot, shown.position), shown.text)

    def saved(self, snapshot: Snapshot) -> None:
        """A document was saved: make its state exact, where it was asked for last."""
        asked = self._documents.asked_at(snapshot.uri)
        if asked is not None and self._works_in(snapshot.uri):
            position = snapshot.text.clamp(asked.line, asked.column, Encoding.UTF32)
            self._ahead.paused(self._request(snapshot, position))

    def close(self, uri: str) -> None:
        """The document was closed: stop its request and free its part of the cache."""
        self._documents.close(uri)
        self._suggestions.closed(uri)
        self._give_up(uri, kept=True)

    def _give_up(self, uri: str, *, kept: bool) -> None:
        """Free what a document takes; what was read of it may be ``kept`` outside the cache."""
        self._requests.forget(uri)
        self._ahead.forget(uri)
        self._documents.forget_places(uri)
        self._held.forget(uri, kept=kept)

    def _works_in(self, uri: str) -> bool:
        """Whether something may be computed for a document."""
        return self._models.answers and self._documents.settings_of(uri).enabled

    def _request(self, snapshot: Snapshot, position: Position) -> Request:
        return Request(snapshot, position, self._documents.settings_of(snapshot.uri))

    # -- all of them -------------------------------------------------------------------------

    def adopt(self, scopes: Scopes, *, settled: bool) -> None:
        """Follow new settings; those before were a person's if they're ``settled``."""
        before, self._documents.scopes = self._documents.scopes, scopes
        self.exclude()
        if settled and not scopes.excludes_as(before):
            self._held.forget_kept()
        if scopes != before:
            for uri in self._documents.uris:
                if not scopes.of(uri).enabled:
                    self._requests.supersede(uri)
            self.begin_anew()

    def exclude(self) -> None:
        """Follow what the settings exclude, and the workspace's folders; forget what is now."""
        self._documents.exclude()
        for uri in self._documents.excluded():
            self._give_up(uri, kept=False)
        self._held.forget_excluded(self._documents.exclusion)

    def begin_anew(self) -> None:
        """Other models or settings are there: have the newest document ready for them."""
        self._shown.clear()
        self._ahead.clear()
        if (newest := self._documents.newest) is not None:
            self._read(newest)

    def stop(self) -> None:
        """Stop all that is computed or planned."""
        self._ahead.clear()
        self._requests.stop_all()

    def unload(self) -> None:
        """The models make way for others: stop what uses them, and forget what they suggested."""
        self.stop()
        self._shown.clear()

    def close_all(self) -> None:
        """Nobody is there any more."""
        self.stop()
        for uri in self._documents.uris:
            self.close(uri)
