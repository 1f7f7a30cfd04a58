"""The service: what a connection asks for, is told and tells, put together from its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.service.ahead import Ahead
from specls.service.background import Part
from specls.service.completion import Completion, Early, Request
from specls.service.counters import Counters, engine_numbers
from specls.service.editing import Editing
from specls.service.held import Held
from specls.service.models import Status
from specls.service.opened import OpenDocuments
from specls.service.parts import Context
from specls.service.requests import Requests
from specls.service.scopes import Scopes
from specls.service.shared import Shared, viewer
from specls.service.shown import ShownSuggestions
from specls.service.suggestions import Suggestions
from specls.settings import Settings


class CompletionService:
    """Answers one connection's requests, the newest of a document first. Used from one event loop.

    The models live on a worker thread; the loop never waits for them but in coroutines. They're
    shared with other connections; documents, settings and what was shown aren't.
    """

    def __init__(self, shared: Shared, clock: Callable[[], float] = monotonic) -> None:
        """``clock`` tells seconds, for what is looked at a while later."""
        self._shared = shared
        self.models = shared.models
        self.on_status: Callable[[Status], None] = lambda _status: None
        """Called on the event loop whenever the state of the models changes."""
        self.on_running: Callable[[], None] = lambda: None
        """Called on the event loop when a request began to run or ended."""
        self._settled = False
        """Whether the settings are those of a person, and no longer the first ones."""
        self.suggestions = Suggestions(clock)
        """What becomes of what is suggested."""
        owner = shared.join(self)
        view, shown = viewer(owner), ShownSuggestions()
        self._documents = documents = OpenDocuments()
        self._held = held = Held(shared.worker, shared.models, view, documents.view)
        self._background = Part(shared.background, owner, view)
        self._ahead = ahead = Ahead(self._background, shown, held.choice)
        self._requests = requests = Requests(
            shared,
            documents,
            held,
            shown,
            ahead,
            lambda: self.on_running(),  # noqa: PLW0108 - it's set later
        )
        self._editing = Editing(
            shared.models, documents, held, shown, self.suggestions, ahead, requests
        )

    # -- settings and models -----------------------------------------------------------------

    async def configure(
        self, settings: Settings, folders: Mapping[str, Settings] | None = None
    ) -> str | None:
        """Follow new settings, and load the models: see :meth:`adopt` and :meth:`load_models`."""
        self.adopt(settings, folders)
        return await self.load_models()

    async def load_models(self) -> str | None:
        """Load the models that the settings ask for, unless they're there.

        What comes back is why others are used, if that's so.
        """
        self._settled = True
        return await self._shared.follow(self, self.settings)

    async def reload(self) -> None:
        """Load the models again, or try to."""
        await self._shared.reload(self, self.settings)

    def adopt(self, settings: Settings, folders: Mapping[str, Settings] | None = None) -> None:
        """Follow new settings from now on, but for the models.

        ``folders`` are those of folders of the workspace, by their URIs, where they have some of
        their own.
        """
        self._editing.adopt(Scopes(settings, folders), settled=self._settled)

    @property
    def settings(self) -> Settings:
        """Those that hold where no folder has others."""
        return self._documents.scopes.base

    def settings_of(self, uri: str) -> Settings:
        """Those for a document."""
        return self._documents.settings_of(uri)

    @property
    def roots(self) -> tuple[str, ...]:
        """The URIs of the workspace's folders; :meth:`exclude` follows new ones."""
        return self._documents.roots

    @roots.setter
    def roots(self, roots: tuple[str, ...]) -> None:
        self._documents.roots = roots

    def exclude(self) -> None:
        """Follow what the settings exclude, and the workspace's folders; forget what is now."""
        self._editing.exclude()

    def excluded(self) -> dict[str, str]:
        """The open documents in which nothing is completed, and why."""
        return self._documents.excluded()

    def why_not(self, uri: str) -> str | None:
        """Why nothing is completed in a document that is open; None if that's not so."""
        return self._documents.why_not(uri)

    def tell(self, status: Status) -> None:
        """The state of the models changed."""
        self.on_status(status)

    def unloading(self) -> None:
        """The models make way for others: stop what uses them."""
        self._editing.unload()

    def loaded(self) -> None:
        """Other models are there, or other settings: have the newest document ready for them.

        A request that runs is answered by whichever it got.
        """
        self._editing.begin_anew()

    # -- requests ----------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether no request runs and nothing is left to be done in the background."""
        return not self.busy and self._background.idle

    @property
    def busy(self) -> bool:
        """Whether requests run."""
        return self._requests.busy

    async def complete(
        self,
        snapshot: Snapshot,
        position: Position,
        *,
        fresh: bool = False,
        early: Early | None = None,
    ) -> Completion | None:
        """A completion there, or None if none is to be had: see :meth:`Requests.complete`."""
        return await self._requests.complete(snapshot, position, fresh=fresh, early=early)

    def supersede(self, uri: str) -> None:
        """Stop the request that runs for a document: its answer isn't wanted any more."""
        self._requests.supersede(uri)

    async def context(self, snapshot: Snapshot, position: Position) -> Context:
        """What the model would be given at a place now; nothing where it wouldn't be asked."""
        if (reason := self._documents.why_excluded(snapshot)) is not None:
            return Context(excluded=reason)
        if not self.models.answers:
            return Context()
        request = Request(snapshot, position, self.settings_of(snapshot.uri))
        self._background.pause()
        try:
            return await asyncio.wrap_future(self._held.context(request))
        finally:
            self._background.go_on()

    # -- documents ---------------------------------------------------------------------------

    def opened(self, snapshot: Snapshot) -> None:
        """A document was opened: have it ready when a completion is asked for."""
        self._editing.opened(snapshot)

    def changed(self, snapshot: Snapshot, position: Position | None = None) -> None:
        """A document was changed, perhaps at one place: a request for it is pointless now."""
        self._editing.changed(snapshot, position)

    def focused(self, uri: object) -> bool:
        """A document is looked at: have it ready. False if it isn't open."""
        return self._editing.focused(uri)

    def displayed(self, name: str) -> None:
        """A client shows an item: see to it that what follows is there when it's accepted."""
        self._editing.displayed(name)

    def saved(self, snapshot: Snapshot) -> None:
        """A document was saved: make its state exact, where it was asked for last."""
        self._editing.saved(snapshot)

    def close(self, uri: str) -> None:
        """The document was closed: stop its request and free its part of the cache."""
        self._editing.close(uri)

    # -- the rest ----------------------------------------------------------------------------

    @property
    def counters(self) -> Counters:
        """What became of the requests, in numbers."""
        return self._requests.outcomes.counters

    @property
    def last(self) -> Completion | None:
        """The last completion that was an answer."""
        return self._requests.outcomes.last

    @property
    def last_wait_seconds(self) -> float:
        """How long the last request waited for the worker."""
        return self._requests.outcomes.last_wait_seconds

    def stats(self) -> dict[str, Any]:
        """The numbers behind ``specls/stats``, ready for JSON. Times are in milliseconds."""
        runtime, status = self.models.runtime, self.models.status
        outcomes = self._requests.outcomes
        return {
            "state": status.state.value,
            "message": status.message,
            "models": dict(runtime.models) if runtime else {},
            "requests": outcomes.counters.as_dict(),
            **(engine_numbers(runtime.engine) if runtime else {}),
            "suggestions": self.suggestions.as_dict(),
            "latency": outcomes.latency.as_dict(),
            "excluded": self.excluded(),
            "idle": self.idle and not self._ahead.waits,
            "decodedTokens": runtime.engine.target.decoded_tokens if runtime else 0,
            "lastCompletion": outcomes.last_numbers(),
        }

    def leave(self) -> None:
        """The connection ended: free what its documents take. Others go on."""
        self._editing.close_all()
        self._shared.leave(self)

    def shutdown(self, timeout: float) -> bool:
        """Stop everything, for all connections: see :meth:`Shared.shutdown`."""
        return self._shared.shutdown(timeout)
