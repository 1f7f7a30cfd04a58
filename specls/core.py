"""Values that more than one layer uses."""

from __future__ import annotations

import ctypes
from enum import Enum

from specls.errors import Cancelled


class CancelToken:
    """A flag that asks running work to stop.

    Any thread may call :meth:`cancel`. The engine polls :attr:`cancelled` between micro-batches
    and decode steps. The flag is one byte of plain memory, so that compiled code can read it at
    :attr:`address` while a graph runs, without taking Python's global lock.
    """

    def __init__(self) -> None:
        self._flag = ctypes.create_string_buffer(2)

    def cancel(self) -> None:
        """Ask the work to stop; a second call changes nothing."""
        self._flag[0] = b"\x01"

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""
        return self._flag[0] != b"\x00"

    @property
    def address(self) -> int:
        """Where the flag lies: one byte, and a zero behind it. Valid while the token lives."""
        return ctypes.addressof(self._flag)

    def raise_if_cancelled(self) -> None:
        """Raise :class:`Cancelled` once :meth:`cancel` was called."""
        if self.cancelled:
            raise Cancelled("The request was cancelled.")


class FinishReason(Enum):
    """Why a completion ended where it did."""

    END_OF_TEXT = "end"
    """The model said that the middle is complete."""
    STOP_RULE = "stop"
    """A rule of ``context.stop`` ended it."""
    MAX_TOKENS = "length"
    """The token limit was reached."""
    TIME = "time"
    """It took too long to go on."""
    DOUBT = "doubt"
    """The model wasn't sure enough of what comes next."""


class Source(Enum):
    """Who came up with a token."""

    TARGET = "target"
    """The target model itself, one token for one pass."""
    PREVIOUS = "previous"
    """Taken from an earlier suggestion for the document, and accepted by the target."""
    COPY = "copy"
    """Copied from earlier in the open documents behind a long match, and accepted by the target."""
    LOOKUP = "lookup"
    """The same behind a short match."""
    DRAFT = "draft"
    """Written by the draft model, and accepted by the target."""
