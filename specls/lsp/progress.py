"""What a client is told of a request while it runs: that it takes long, and what is there already.

Both are sent under tokens that came with the request, and only while it isn't answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from lsprotocol import types

from specls.lsp.convert import first_line

Notify = Callable[[str, Any], None]
"""Sends a notification: its method and parameters."""

_TITLE = "specls: completing"
_MOMENT_SECONDS = 1.0
"""A progress that comes and goes within less is only a flicker."""


class WorkDone:
    """A progress that begins when something takes longer than a moment, and always ends.

    Without a token nothing is sent. It begins to count when it's made, on the event loop.
    """

    def __init__(self, notify: Notify, token: types.ProgressToken | None, message: str) -> None:
        self._notify = notify
        self._token = token
        self._message = message
        self._begun = False
        self._timer: asyncio.TimerHandle | None = None
        if token is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_MOMENT_SECONDS, self._begin)

    def close(self) -> None:
        """End what has begun, before the request is answered."""
        if self._timer is not None:
            self._timer.cancel()
        if self._begun:
            self._send(types.WorkDoneProgressEnd())

    def report(self, message: str) -> None:
        """Something happened."""
        if self._begun and message != self._message:
            self._send(types.WorkDoneProgressReport(message=message))
        self._message = message

    def _begin(self) -> None:
        self._begun = True
        # A client cancels it by cancelling the request.
        begin = types.WorkDoneProgressBegin(_TITLE, cancellable=True, message=self._message)
        self._send(begin)

    def _send(self, value: object) -> None:
        assert self._token is not None
        self._notify(types.PROGRESS, types.ProgressParams(self._token, value))


class PartialItems:
    """The items of one answer, the first line of the first one perhaps before it.

    A client adds what comes early to what it has. Once something was sent that way, everything
    must be, and the answer has no items (LSP, *Partial Result Progress*).
    """

    def __init__(
        self,
        notify: Notify,
        token: types.ProgressToken | None,
        make: Callable[[str], types.InlineCompletionItem],
    ) -> None:
        """``make`` makes an item of a suggestion's text."""
        self._notify = notify
        self._token = token
        self._make = make
        self._sent = ""

    def see(self, lines: str) -> None:
        """So many lines are there: send the first one, once, to a client that takes it."""
        if lines and not self._sent and self._token is not None:
            self._sent = first_line(lines)
            self._send([self._make(self._sent)])

    def answer(self, texts: Sequence[str]) -> list[types.InlineCompletionItem]:
        """All suggestions are there: what of them is in the answer. What isn't was sent."""
        items = [self._make(text) for text in texts if text != self._sent]
        if not self._sent:
            return items
        if items:
            self._send(items)
        return []

    def _send(self, items: list[types.InlineCompletionItem]) -> None:
        assert self._token is not None
        self._notify(types.PROGRESS, types.ProgressParams(self._token, items))


def in_words(lines: str) -> str:
    """How far a suggestion is, of which so many lines are there."""
    count = lines.strip().count("\n") + 1 if lines.strip() else 0
    return "writing" if not count else f"{count} {'line' if count == 1 else 'lines'}"
