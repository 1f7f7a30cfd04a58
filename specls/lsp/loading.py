"""How the user sees that the models load: a progress in the editor, one message if they don't."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from specls.service.models import State, Status

logger = logging.getLogger(__name__)

_TITLE = "specls"
_STEP = 5


class LoadReport:
    """Follows the service's states. Reports in steps of five percent."""

    def __init__(
        self,
        server: LanguageServer,
        show: Callable[[types.MessageType, str], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """``show`` shows a message to the user, ``spawn`` runs a coroutine beside the others."""
        self._server = server
        self._show = show
        self._spawn = spawn
        self._token: str | None = None
        self._percent = -1
        self._told: set[str] = set()

    def tell(self, status: Status) -> None:
        """Show what changed. Runs on the event loop."""
        if status.state is State.LOADING:
            self._loading(round(100 * status.progress))
        elif status.state in {State.FAILED, State.OFF}:
            self._end("failed")
            self._once(types.MessageType.Error, status.message)
        elif status.state is State.READY:
            self._end("ready")
            for notice in status.notices:
                self._once(types.MessageType.Warning, notice)

    def forget(self) -> None:
        """Somebody asked for another try, and wants to hear how it ended."""
        self._told.clear()

    def _once(self, kind: types.MessageType, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            self._show(kind, message)

    def _loading(self, percent: int) -> None:
        if self._token is None:
            if self._wanted():
                self._token = f"specls-{uuid.uuid4()}"
                self._spawn(self._begin(self._token))
        elif self._percent >= 0 and percent >= self._percent + _STEP:
            self._percent = percent
            report = types.WorkDoneProgressReport(percentage=percent)
            self._server.work_done_progress.report(self._token, report)

    def _wanted(self) -> bool:
        window = self._server.client_capabilities.window
        return window is not None and bool(window.work_done_progress)

    async def _begin(self, token: str) -> None:
        """Ask for a progress; reports are sent once the client agreed."""
        progress = self._server.work_done_progress
        try:
            await progress.create_async(token)
        except Exception as error:  # noqa: BLE001 - a client may refuse, and nothing is lost
            logger.debug("The client wants no progress: %s", error)
            return
        begin = types.WorkDoneProgressBegin(_TITLE, message="loading models", percentage=0)
        progress.begin(token, begin)
        if self._token == token:
            self._percent = 0
        else:  # it's over; Helix shows one that it agreed to until it's told of its end
            progress.end(token, types.WorkDoneProgressEnd())

    def _end(self, message: str) -> None:
        if self._token is not None and self._percent >= 0:
            end = types.WorkDoneProgressEnd(message=message)
            self._server.work_done_progress.end(self._token, end)
        self._token, self._percent = None, -1
