"""Noticing that the engine doesn't get on, as when a driver hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

SECONDS = 30.0
"""How long the engine may do nothing that shows, and as long again until it's noticed: a pass takes
less than one, and what's longer (a large state that is copied) a few."""

STUCK = (
    "The completion engine hasn't got on for half a minute, so nothing is completed until it does. "
    "If it stays so, restart the language server; its log and the system's may say why."
)


class Watch:
    """Looks at the engine now and then while it's at work, and not at all else."""

    def __init__(
        self,
        beat: Callable[[], object],
        stuck: Callable[[], None],
        free: Callable[[], None],
        later: Callable[[float, Callable[[], None]], object] | None = None,
    ) -> None:
        """``beat`` changes while the engine gets on, and is None while it has nothing to do.

        ``stuck`` is called when it doesn't, and ``free`` when it does again. ``later`` runs
        something after so many seconds; None takes the running loop's.
        """
        self._beat = beat
        self._on_stuck = stuck
        self._on_free = free
        self._later = later
        self._looks = False
        self._stuck = False
        self._last: object = None

    def begin(self) -> None:
        """Work was given to the engine."""
        if not self._looks:
            self._looks = True
            self._last = None
            self._again()

    def _again(self) -> None:
        later = self._later or asyncio.get_running_loop().call_later
        later(SECONDS, self._look)

    def _look(self) -> None:
        beat = self._beat()
        same, self._last = beat == self._last, beat
        if beat is not None and same and not self._stuck:
            self._stuck = True
            self._on_stuck()
        elif self._stuck and not (same and beat is not None):
            self._stuck = False
            self._on_free()
        self._looks = beat is not None
        if self._looks:
            self._again()
