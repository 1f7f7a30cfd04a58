"""What the client is told that there is: in the handshake, or later, when settings are known."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from specls.lsp.fallback import Fallback
from specls.settings import Settings
from specls.settings.project import NAME

logger = logging.getLogger(__name__)

INLINE, MENU = types.TEXT_DOCUMENT_INLINE_COMPLETION, types.TEXT_DOCUMENT_COMPLETION
_ANSWER_SECONDS = 5.0
_LATER = (
    "completionFallback: this editor learns only when a server starts what it offers, so restart "
    "it to get suggestions in the completion menu."
)

Options = dict[str, Any]


class Registrations:
    """Announces inline completion and its fallback, as the client and the settings want it."""

    def __init__(
        self, server: LanguageServer, fallback: Fallback, show: Callable[[str], None]
    ) -> None:
        """``show`` tells the user something."""
        self._server = server
        self._fallback = fallback
        self._show = show
        self._dynamic: set[str] = set()
        """The methods that the client lets be registered."""
        self._announced: set[str] = {INLINE}
        """What the answer to initialize has."""
        self._registered: dict[str, tuple[str, Options]] = {}
        self._turn = asyncio.Lock()
        self._told = False

    def meet(self, params: types.InitializeParams, settings: Settings) -> None:
        """Before initialize is answered: decide what the answer announces."""
        client = params.capabilities.text_document
        self._fallback.meet(params)
        self._fallback.setting = settings.completion_fallback
        kinds = {INLINE: client and client.inline_completion, MENU: client and client.completion}
        self._dynamic = {
            method for method, kind in kinds.items() if kind and kind.dynamic_registration
        }
        if INLINE in self._dynamic:
            # pygls announces it for its options' sake, and registers it without them.
            self._server.protocol.fm.feature_options.pop(INLINE, None)
            self._announced.discard(INLINE)
        if self._fallback.wanted:
            self._fallback.bind(self._server)
            self._announced.add(MENU)

    async def follow(self, settings: Settings) -> None:
        """After the handshake, and when settings changed: register what isn't announced."""
        self._fallback.setting = settings.completion_fallback
        async with self._turn:
            if INLINE not in self._announced:
                await self._become(INLINE, _inline_options(settings))
            if MENU in self._announced:
                return  # it can't be taken back, but is answered with nothing
            if MENU in self._dynamic:
                self._fallback.bind(self._server)
                wanted = {"documentSelector": None, "workDoneProgress": True}
                await self._become(MENU, wanted if self._fallback.wanted else None)
            elif self._fallback.wanted and not self._told:
                self._told = True
                self._show(_LATER)

    async def _become(self, method: str, options: Options | None) -> None:
        """See that a method is registered with these options, or not at all."""
        identifier, current = self._registered.get(method, ("", None))
        if current == options:
            return
        if current is not None:
            del self._registered[method]
            await self._ask_to_forget(types.Unregistration(identifier, method))
        if options is not None:
            identifier = str(uuid.uuid4())
            self._registered[method] = (identifier, options)
            await self._ask_for(types.Registration(identifier, method, options))

    async def _ask_for(self, registration: types.Registration) -> None:
        params = types.RegistrationParams([registration])
        asked = self._server.client_register_capability_async(params)
        if not await _answered(asked, f"register {registration.method}"):
            self._registered.pop(registration.method, None)

    async def _ask_to_forget(self, unregistration: types.Unregistration) -> None:
        params = types.UnregistrationParams([unregistration])
        asked = self._server.client_unregister_capability_async(params)
        await _answered(asked, f"unregister {unregistration.method}")


async def _answered(asked: Any, what: str) -> bool:
    try:
        await asyncio.wait_for(asked, _ANSWER_SECONDS)
    except Exception as error:  # noqa: BLE001 - whatever the client did wrong
        logger.warning("The client didn't %s: %r", what, error)
        return False
    return True


def _inline_options(settings: Settings) -> Options | None:
    """For which documents inline completions are asked; None if for none.

    Where only some languages are on, others needn't be asked for. Else the client's own choice of
    documents holds.
    """
    switches = dict(settings.enable)
    if switches.get("*", True):
        return {"documentSelector": None, "workDoneProgress": True}
    languages = [{"language": name} for name, on in switches.items() if on and name != "*"]
    return {"documentSelector": languages, "workDoneProgress": True} if languages else None


def of_settings(
    client: types.WorkspaceClientCapabilities | None,
) -> list[types.Registration]:
    """What a client can be asked to tell of settings. Many tell of them without being asked."""
    wanted: list[types.Registration] = []
    if client is None:
        return wanted
    settings, files = client.did_change_configuration, client.did_change_watched_files
    if settings is not None and settings.dynamic_registration:
        method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
        wanted.append(types.Registration("specls-settings", method))
    if files is not None and files.dynamic_registration:
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        watcher = types.FileSystemWatcher(glob_pattern=f"**/{NAME}")
        options = types.DidChangeWatchedFilesRegistrationOptions([watcher])
        wanted.append(types.Registration("specls-project-files", method, options))
    return wanted
