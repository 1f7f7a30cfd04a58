"""Every message and command that LSP doesn't know, once: docs/protocol.md is checked against it.

To add one: a shape in :mod:`specls.lsp.shapes`, a line in :data:`CUSTOM`, and a heading with an
example in the page. Then register it, or send it, by the name of the constant here; the tests of
``tests/lsp/test_custom.py`` find one that's missing somewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specls.lsp import shapes

STATS = "specls/stats"
CONTEXT = "specls/context"
MODELS = "specls/models"
STATUS = "specls/status"
DID_CHANGE_STATUS = "didChangeStatus"
DID_SHOW = "textDocument/didShowCompletion"
DID_ACCEPT_PARTLY = "textDocument/didPartiallyAcceptCompletion"
DID_REJECT = "specls/didRejectCompletion"
DID_FOCUS = "textDocument/didFocus"
ACCEPT = "specls.didAcceptCompletion"
RELOAD = "specls.reload"


class Kind(Enum):
    """What a message is, and who sends it. No server sends requests of its own making."""

    REQUEST = "Request of the client"
    FROM_CLIENT = "Notification of the client"
    FROM_SERVER = "Notification of the server"
    COMMAND = "Command, for workspace/executeCommand"


@dataclass(frozen=True)
class Custom:
    """One message or command: its name on the wire, and the shapes of what is in it.

    The ``params`` of a command are its arguments. A shape is a TypedDict, or another type that JSON
    has; None is ``null``, or nothing.
    """

    name: str
    kind: Kind
    params: object = None
    result: object = None


CUSTOM = (
    Custom(STATS, Kind.REQUEST, None, shapes.StatsResult),
    Custom(CONTEXT, Kind.REQUEST, shapes.ContextParams, shapes.ContextResult),
    Custom(MODELS, Kind.REQUEST, None, shapes.ModelsResult),
    Custom(DID_SHOW, Kind.FROM_CLIENT, shapes.ShownParams),
    Custom(DID_ACCEPT_PARTLY, Kind.FROM_CLIENT, shapes.PartlyAcceptedParams),
    Custom(DID_REJECT, Kind.FROM_CLIENT, shapes.RejectedParams),
    Custom(DID_FOCUS, Kind.FROM_CLIENT, shapes.FocusParams),
    Custom(STATUS, Kind.FROM_SERVER, shapes.StatusParams),
    Custom(DID_CHANGE_STATUS, Kind.FROM_SERVER, shapes.ChangeStatusParams),
    Custom(ACCEPT, Kind.COMMAND, list[str]),
    Custom(RELOAD, Kind.COMMAND, list[str]),
)
