"""How things stand, told to clients that show it: ``specls/status`` and ``didChangeStatus``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from lsprotocol import types

from specls.lsp.custom import DID_CHANGE_STATUS, RELOAD, STATUS
from specls.lsp.latest import Lasting, Later, Latest, Timer
from specls.service.service import CompletionService
from specls.service.standing import Focus, Loaded, Stand, Standing, standing

_PAUSE_SECONDS = 0.1
_BUSY_SECONDS = 0.1
"""A request that takes longer is shown."""

_LINGER_SECONDS = 0.2
"""One that begins so soon after another has ended isn't told from it: somebody is typing."""

_EXTRAS = ("status", "editorInfo", "editorPluginInfo")
"""What may stand among the settings in ``initializationOptions`` and is none."""

_KINDS = {Stand.ERROR: "Error", Stand.DISABLED: "Inactive", Stand.OFF: "Inactive"}
_AT_WORK = frozenset({Stand.STARTING, Stand.LOADING, Stand.BUSY})


def later(seconds: float, call: Callable[[], None]) -> Timer:
    """Call something later, on the running loop."""
    return asyncio.get_running_loop().call_later(seconds, call)


class StatusReport:
    """Follows one connection's service, and tells its client what changed.

    A client gets ``specls/status`` that has ``experimental.specls.status`` among its capabilities
    or ``status`` in its options of initialize; and ``didChangeStatus`` that has
    ``experimental.specls.didChangeStatus``, or in its options what those clients send.
    """

    def __init__(
        self,
        service: CompletionService,
        notify: Callable[[str, object], None],
        call_later: Later = later,
    ) -> None:
        """``notify`` sends a notification."""
        self._service = service
        self._notify = notify
        self._wanted: tuple[str, ...] = ()
        self._focus: str | None = None
        self._latest: Latest[Standing] = Latest(self._send, call_later, _PAUSE_SECONDS)
        self._busy = Lasting(self.update, call_later, _BUSY_SECONDS, _LINGER_SECONDS)
        service.on_running = lambda: self._busy.set(service.busy)

    def meet(self, params: types.InitializeParams) -> None:
        """The client says about itself what it wants to be told."""
        ours = _object(_object(params.capabilities.experimental).get("specls"))
        options = _object(params.initialization_options)
        wanted = {
            STATUS: ours.get("status") is True or options.get("status") is True,
            DID_CHANGE_STATUS: ours.get("didChangeStatus") is True
            or not options.keys().isdisjoint(_EXTRAS[1:]),
        }
        self._wanted = tuple(method for method, wants in wanted.items() if wants)

    def focus(self, uri: str | None) -> None:
        """This document is at hand now; None is none."""
        if uri != self._focus:
            self._focus = uri
            self.update()

    def closed(self, uri: str) -> None:
        """A document isn't open any more."""
        if uri == self._focus:
            self.focus(None)

    def update(self) -> None:
        """Something may have changed."""
        if self._wanted:
            self._latest.offer(self.now)

    @property
    def now(self) -> Standing:
        """How things stand."""
        service, uri = self._service, self._focus
        return standing(
            service.models.status,
            Loaded(*service.models.names),
            Focus(uri, service.why_not(uri)) if uri is not None else None,
            enabled=service.settings.enabled,
            busy=self._busy.lasts,
        )

    def _send(self, now: Standing) -> None:
        for method in self._wanted:
            self._notify(method, _AS[method](now))


def without_extras(options: object) -> object:
    """The options of initialize without what isn't a setting."""
    if not isinstance(options, dict):
        return options
    return {name: value for name, value in options.items() if name not in _EXTRAS}


def _as_status(now: Standing) -> Mapping[str, object]:
    command = None
    if now.again:
        command = {"title": "Try again", "command": RELOAD, "arguments": []}
    progress = {} if now.progress is None else {"progress": now.progress}
    return {
        "state": now.stand.value,
        "message": now.message,
        **progress,
        "model": now.loaded.model,
        "draft": now.loaded.draft,
        "uri": now.uri,
        "reason": now.reason,
        "remedy": now.remedy,
        "command": command,
    }


def _as_did_change_status(now: Standing) -> Mapping[str, object]:
    kind = _KINDS.get(now.stand, "Warning" if now.reason else "Normal")
    return {"message": now.message, "kind": kind, "busy": now.stand in _AT_WORK}


_AS = {STATUS: _as_status, DID_CHANGE_STATUS: _as_did_change_status}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
