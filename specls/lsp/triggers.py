"""Which requests a person asked for, and which the editor sends while somebody types."""

from __future__ import annotations

from typing import Any

from lsprotocol.types import InlineCompletionTriggerKind as Kind

_RAW = 0
"""An explicit request of a client that counts from 0; its other kind is then 1."""

_SUSPECTS = ("visual studio code", "code - oss", "code-server", "vscodium", "cursor", "windsurf")
"""Editors whose plugins may be built with vscode-languageclient 9, which counts from 0."""


class Triggers:
    """Reads the kind of a request, as the specification counts it or as a client in use does.

    vscode-languageclient 9 sends the numbers of VS Code's own interface: 0 for an explicit request
    and 1, which means *explicit* in the specification, for an automatic one. What was meant shows
    as soon as a 0 or a 2 comes; until then an editor that may do so is believed to.
    """

    def __init__(self) -> None:
        self._from_zero = False

    def meet(self, client: str | None) -> None:
        """The client told its name."""
        self._from_zero = (client or "").casefold().startswith(_SUSPECTS)

    def read(self, value: Any, _type: object = None) -> Kind:
        """The kind of a request.

        Raises:
            ValueError: there's no such kind.
        """
        if value == _RAW:
            self._from_zero = True
            return Kind.Invoked
        kind = Kind(value)
        if kind is Kind.Automatic:
            self._from_zero = False
        return Kind.Automatic if self._from_zero else kind
