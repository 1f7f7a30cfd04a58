"""What a client says about the suggestions that it was given, and which document is looked at.

The notifications are those of Copilot's language server, and one of our own. Whatever is in them,
nothing fails: what can't be understood, and an id that isn't known, is ignored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import reduce
from operator import getitem
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from specls.context.document import Snapshot
from specls.context.text import Encoding, column_of
from specls.context.window import plain
from specls.lsp.convert import Offer
from specls.lsp.custom import ACCEPT, DID_ACCEPT_PARTLY, DID_FOCUS, DID_REJECT, DID_SHOW
from specls.service.service import CompletionService

logger = logging.getLogger(__name__)

_TITLE = "Accepted"


class Acceptance:
    """Tells the service what one connection's client says."""

    def __init__(
        self,
        service: CompletionService,
        focus: Callable[[str | None], None],
        find: Callable[[str], Snapshot | None],
    ) -> None:
        """``focus`` is told which document is looked at, None for none.

        ``find`` finds the document of a URI: that of a notebook's cell is the notebook's.
        """
        self._find = find
        self._service = service
        self._suggestions = service.suggestions
        self._focus = focus

    def command(self, offer: Offer) -> types.Command:
        """What the client executes when this is accepted."""
        spot = offer.spot
        name = self._suggestions.offered(spot.snapshot, spot.position, offer.text)
        return types.Command(_TITLE, ACCEPT, arguments=[name])

    def accepted(self, arguments: tuple[Any, ...]) -> None:
        """The command was executed.

        Raises:
            JsonRpcInvalidParams: its arguments aren't one id.
        """
        if len(arguments) != 1 or not isinstance(arguments[0], str):
            raise JsonRpcInvalidParams(f"{ACCEPT} takes one argument: the id of the item, a text.")
        self._suggestions.accepted(arguments[0])

    def shown(self, params: Any) -> None:
        """An item is shown."""
        if (name := _name(params)) is not None:
            self._service.displayed(name)

    def partly_accepted(self, params: Any) -> None:
        """A part of an item was accepted."""
        name, left = _name(params), _left(params)
        if name is not None and left is not None:
            self._suggestions.partly_accepted(name, left)

    def rejected(self, params: Any) -> None:
        """An item went away, and nothing of it was accepted."""
        if (name := _name(params)) is not None:
            ignored = _get(params, "ignored") is True
            self._suggestions.rejected(name, ignored=ignored)

    def focused(self, params: Any) -> None:
        """A document is looked at, or none that is open here."""
        uri = _get(params, "textDocument", "uri")
        if isinstance(uri, str) and (document := self._find(uri)) is not None:
            uri = document.uri
        if self._service.focused(uri):
            self._focus(uri)
        else:
            self._focus(None)


def _name(params: Any) -> str | None:
    """The id of the item that a notification is about; None if that can't be seen."""
    name = _get(params, "item", "command", "arguments", 0)
    if not isinstance(name, str):
        logger.debug("A notification about an item that isn't one of ours was ignored.")
        return None
    return name


def _left(params: Any) -> int | None:
    """How many characters at an item's end aren't accepted yet."""
    text, units = _get(params, "item", "insertText"), _get(params, "acceptedLength")
    if not isinstance(text, str) or not isinstance(units, int) or units <= 0:
        logger.debug("A notification of a part that was accepted doesn't say which.")
        return None
    return len(plain(text[column_of(text, units, Encoding.UTF16) :]))


def _get(value: Any, *path: str | int) -> Any:
    """What stands deep in a value of JSON; None where there's nothing."""
    try:
        return reduce(getitem, path, value)
    except (KeyError, IndexError, TypeError):
        return None


def register(server: LanguageServer, acceptance: Acceptance) -> None:
    """Bind the command and the notifications."""

    @server.feature(DID_SHOW)
    def did_show(params: Any) -> None:
        acceptance.shown(params)

    @server.feature(DID_ACCEPT_PARTLY)
    def did_accept_partly(params: Any) -> None:
        acceptance.partly_accepted(params)

    @server.feature(DID_REJECT)
    def did_reject(params: Any) -> None:
        acceptance.rejected(params)

    @server.feature(DID_FOCUS)
    def did_focus(params: Any) -> None:
        acceptance.focused(params)

    @server.command(ACCEPT)
    def accept(*arguments: Any) -> None:
        acceptance.accepted(arguments)
