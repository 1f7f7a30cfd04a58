"""Ctrl-C while models work."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from specls.core import CancelToken

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


@contextlib.contextmanager
def interruptible() -> Iterator[CancelToken]:
    """A token that the first Ctrl-C sets: an exception can't pass through llama.cpp's callbacks."""
    cancel = CancelToken()
    before = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: object) -> None:
        del number, frame
        cancel.cancel()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, before)
