"""Values that change often and are sent now and then; and what has lasted for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Timer(Protocol):
    """What comes of asking for a call later."""

    def cancel(self) -> None:
        """Don't call."""


Later = Callable[[float, Callable[[], None]], Timer]
"""Calls something after so many seconds; as an event loop's ``call_later``."""


class Latest(Generic[T]):
    """Sends a value when it changes, at most once in ``pause`` seconds; the last one always.

    Nothing runs while nothing changes.
    """

    def __init__(self, send: Callable[[T], None], later: Later, pause: float) -> None:
        self._send = send
        self._later = later
        self._pause = pause
        self._newest: T | None = None
        self._sent: T | None = None
        self._timer: Timer | None = None

    def offer(self, value: T) -> None:
        """This is how it is now."""
        self._newest = value
        if self._timer is None and value != self._sent:
            self._let_go(value)

    def _let_go(self, value: T) -> None:
        self._sent = value
        self._timer = self._later(self._pause, self._due)
        self._send(value)

    def _due(self) -> None:
        self._timer = None
        if self._newest is not None and self._newest != self._sent:
            self._let_go(self._newest)


class Lasting:
    """Tells when something has been so for ``after`` seconds, and when it's over for ``linger``.

    So what comes and goes quickly is told to nobody, nor is a short pause in what lasts.
    """

    def __init__(self, tell: Callable[[], None], later: Later, after: float, linger: float) -> None:
        self._tell = tell
        self._later = later
        self._delays = {True: after, False: linger}
        self._timer: Timer | None = None
        self.lasts = False

    def set(self, now: bool) -> None:  # noqa: FBT001 - it's the value
        """Whether it's so, from now on."""
        if now is self.lasts and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif now is not self.lasts and self._timer is None:
            self._timer = self._later(self._delays[now], self._due)

    def _due(self) -> None:
        self._timer, self.lasts = None, not self.lasts
        self._tell()
