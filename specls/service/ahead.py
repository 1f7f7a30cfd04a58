"""What is done before anybody asks for it, and what makes it worth doing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from specls.context.document import Snapshot
from specls.core import CancelToken
from specls.service.background import Errand, Kind, Part
from specls.service.completion import Completion, Request, accepted
from specls.service.heads import Choice, no_head
from specls.service.interface import Runtime
from specls.service.reading import complete_ahead, follow, grow, warm
from specls.service.shown import ShownSuggestions
from specls.settings import Settings

_FOLLOW_SECONDS = 0.025
"""How long typed text waits for a request, which then decodes it itself."""

_PAUSE_SECONDS = 1.0
"""After this long without a key, typing has paused."""


class Ahead:
    """Plans work for each document, and does it while no request runs. Used from the event loop."""

    def __init__(
        self,
        background: Part,
        shown: ShownSuggestions,
        heads: Callable[[Request], Choice] = lambda _request: no_head,
    ) -> None:
        """``heads`` tells for a place how it's found out what should stand before it."""
        self._background = background
        self._shown = shown
        self._heads = heads
        self._expected: Request | None = None
        """What the last prefetch completes, or completed."""
        self._timers: dict[tuple[str, str], asyncio.TimerHandle] = {}

    # -- what happened -----------------------------------------------------------------------

    def opened(self, snapshot: Snapshot, settings: Settings) -> None:
        """A document was opened. Of several, the last one is most likely the one that's seen."""

        def warm_up(runtime: Runtime, cancel: CancelToken) -> None:
            warm(runtime, snapshot, settings, cancel)

        self._expected = None  # what was known of a document may have gone with it
        for uri in self._background.wanted(Kind.WARM):
            self._background.forget(Kind.WARM, uri)
        self._want(Kind.WARM, snapshot.uri, warm_up)

    def changed(self, request: Request) -> None:
        """A document was changed at a place, where a completion may be asked for."""
        uri = request.snapshot.uri

        def decode_typed(runtime: Runtime, cancel: CancelToken) -> None:
            follow(runtime, request, cancel)

        want = partial(self._want, Kind.FOLLOW, uri, decode_typed)
        self._later(_FOLLOW_SECONDS, "follow", uri, want)
        self._later(_PAUSE_SECONDS, "pause", uri, partial(self.paused, request))

    def asked(self, request: Request) -> None:
        """A request came, which the background must not delay."""
        self._background.pause()
        self._drop(request.snapshot.uri)

    def done(self, request: Request) -> None:
        """A request was answered, or nobody waits for it any more."""
        uri, choose = request.snapshot.uri, self._heads(request)

        def grow_window(runtime: Runtime, cancel: CancelToken) -> None:
            grow(runtime, request, cancel, choose)

        self._later(_PAUSE_SECONDS, "pause", uri, partial(self.paused, request))
        self._want(Kind.GROW, uri, grow_window)

    def shown(self, request: Request, text: str, others: Sequence[str] = ()) -> None:
        """A suggestion is shown: remember it, and complete what it makes of the document.

        Of the ``others``, which come instead of it on demand, each is remembered.
        """
        for other in reversed(others):
            self._shown.remember(request.snapshot, request.position, other)
        self._shown.remember(request.snapshot, request.position, text)
        self.expect(request, text)

    def expect(self, request: Request, text: str) -> None:
        """A suggestion may be accepted: complete what it makes of the document, once."""
        following = accepted(request, text)
        where = following.snapshot, following.position
        if not request.settings.prefetch or self._is_expected(following):
            return

        def complete_following(runtime: Runtime, cancel: CancelToken) -> Completion | None:
            return complete_ahead(runtime, following, cancel)

        def show_later(completion: Completion | None) -> None:
            if completion is not None and completion.text:
                self._shown.remember(*where, completion.text, ahead=True)

        self._expected = following
        self._want(Kind.PREFETCH, request.snapshot.uri, complete_following, show_later)

    def _is_expected(self, following: Request) -> bool:
        """Whether it's known already what comes there, or it's being found out."""
        expected = self._expected
        if expected is None or expected.snapshot.uri != following.snapshot.uri:
            return False
        same_place = expected.position == following.position
        return same_place and expected.snapshot.text == following.snapshot.text

    def paused(self, request: Request) -> None:
        """Nothing happened for a while, or the document was saved: make all exact, and keep it."""
        uri, choose = request.snapshot.uri, self._heads(request)

        def settle(runtime: Runtime, cancel: CancelToken) -> None:
            grow(runtime, request, cancel, choose, settle=True)

        def save(runtime: Runtime, cancel: CancelToken) -> None:
            cancel.raise_if_cancelled()
            runtime.engine.save(uri)

        self._want(Kind.SETTLE, uri, settle)
        self._want(Kind.SAVE, uri, save)

    def go_on(self) -> None:
        """A request that another one made pointless ended: what is planned needn't wait for it."""
        self._background.go_on()

    @property
    def waits(self) -> bool:
        """Whether something is to be done after a while."""
        return bool(self._timers)

    def forget(self, uri: str) -> None:
        """Nothing that was planned for a document is wanted any more; other work goes on."""
        self._drop(uri)
        self._background.go_on()

    def _drop(self, uri: str) -> None:
        if uri in self._background.wanted(Kind.PREFETCH):
            self._expected = None
        for kind in Kind:
            self._background.forget(kind, uri)
        for key in [key for key in self._timers if key[1] == uri]:
            self._timers.pop(key).cancel()

    def clear(self) -> None:
        """Stop everything."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._expected = None
        self._background.clear()

    # -- the rest ----------------------------------------------------------------------------

    def _want(
        self,
        kind: Kind,
        uri: str,
        work: Callable[[Runtime, CancelToken], object],
        done: Callable[[Completion | None], None] | None = None,
    ) -> None:
        self._background.want(kind, uri, Errand(work, done) if done else Errand(work))
        self._background.go_on()

    def _later(self, seconds: float, name: str, uri: str, action: Callable[[], None]) -> None:
        """Do something after a while, unless it's wanted again before."""
        if (timer := self._timers.pop((name, uri), None)) is not None:
            timer.cancel()

        def act() -> None:
            del self._timers[name, uri]
            action()

        self._timers[name, uri] = asyncio.get_running_loop().call_later(seconds, act)
