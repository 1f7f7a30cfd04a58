"""The engine crashed: it's loaded anew, later each time, and at last not any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from specls.errors import DecodeFailed, SpeclsError

DELAYS = (1.0, 10.0)
"""Seconds before the engine is started again after a crash, and after the next one in a row."""

_HELD = 60.0
"""Seconds without a crash after which an answer shows that the engine works."""

AGAIN = "The completion engine failed and is started again. The log of specls says what happened."
OFF = (
    "The completion engine failed three times in a row, so specls is off. Its log says what "
    "happened. To try again, run the command specls.reload, or choose another model."
)


def is_crash(error: BaseException) -> bool:
    """Whether the engine can't be trusted any more after this.

    That's so for what llama.cpp reports of a pass, and for what nobody foresaw.
    """
    return isinstance(error, DecodeFailed) or not isinstance(error, SpeclsError)


class Recovery:
    """Counts crashes in a row. Used from the event loop.

    An answer ends the row, but only one that comes a minute after the last crash: else a document
    that crashes the engine whenever something is asked there would have it loaded for ever.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        later: Callable[[float, Callable[[], None]], object] | None = None,
    ) -> None:
        """``later`` runs something after so many seconds; None takes the running loop's."""
        self._clock = clock
        self._later = later
        self._row = 0
        self._crashed_at = 0.0

    def crashed(self, restart: Callable[[], None]) -> bool:
        """The engine crashed: have it started again; False if that's done no more."""
        self._crashed_at = self._clock()
        self._row += 1
        if self._row > len(DELAYS):
            return False
        later = self._later or asyncio.get_running_loop().call_later
        later(DELAYS[self._row - 1], restart)
        return True

    def worked(self) -> None:
        """An answer came from the model."""
        if self._row and self._clock() - self._crashed_at >= _HELD:
            self._row = 0

    def forget(self) -> None:
        """Somebody asked for another try."""
        self._row = 0
