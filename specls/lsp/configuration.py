"""The settings of one connection: the editor's, and those of project files, as they change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from specls.lsp.registration import of_settings
from specls.lsp.status import without_extras
from specls.service.projects import path_in, read_all, texts_of
from specls.service.service import CompletionService
from specls.settings import Problem, Settings, parse
from specls.settings.project import NAME, ProjectFile, of_models, with_project

logger = logging.getLogger(__name__)

_SECTION = "specls"
_CONFIGURATION_SECONDS = 5.0
_MOST_TOLD = 5
"""Problems in one message."""

_IN_EDITOR = "these settings are wrong and were ignored: "

Show = Callable[[types.MessageType, str], None]
"""Shows a message to the user."""


class Configuration:
    """Follows what the client says, and has the service follow it. Used from the event loop."""

    def __init__(
        self,
        server: LanguageServer,
        service: CompletionService,
        show: Show,
        changed: Callable[[Settings], None],
    ) -> None:
        """``changed`` gets the settings outside of folders when the service follows new ones."""
        self._changed = changed
        self._reading = asyncio.Lock()
        self._server = server
        self._service = service
        self._show = show
        self._initial = self._editor = Settings()
        self._own: dict[str, Settings] = {}
        """The editor's settings for each folder."""
        self._projects: dict[str, ProjectFile] = {}
        self._told: dict[str, frozenset[str]] = {}
        """What was told of the editor's settings, and of each project file."""
        self._asked = 0
        self._complete = False
        """Whether all was read that there is, and the service may follow."""

    @property
    def settings(self) -> Settings:
        """The editor's own, outside of all folders."""
        return self._editor

    # -- what happens ------------------------------------------------------------------------

    def meet(self, params: types.InitializeParams) -> None:
        """The client's first words: its folders, and settings as options."""
        self._service.roots = _roots(params)
        self._read(without_extras(params.initialization_options))
        self._initial = self._editor

    async def start(self) -> None:
        """After the handshake: ask for the settings, then load the models."""
        await self._fetch()
        await self._read_projects()
        self._complete = True
        await self._follow()

    async def pushed(self, settings: object) -> None:
        """Follow didChangeConfiguration: settings in the message, or else asked for."""
        if isinstance(settings, dict) and isinstance(settings.get(_SECTION), dict):
            self._read(settings[_SECTION])
            if self._service.roots:
                await self._fetch(settings[_SECTION])
        elif not await self._fetch():
            return
        await self._follow()

    async def change_folders(self, event: types.WorkspaceFoldersChangeEvent) -> None:
        """Follow the workspace's folders."""
        removed = {folder.uri for folder in event.removed}
        kept = [root for root in self._service.roots if root not in removed]
        self._service.roots = (*kept, *(folder.uri for folder in event.added))
        self._service.exclude()
        await self._fetch()
        await self._read_projects()
        await self._follow()

    async def files_changed(self, uris: Sequence[str]) -> None:
        """Files changed on disk or were saved: read the project files among them."""
        if any(uri.endswith(f"/{NAME}") for uri in uris):
            await self._read_projects()
            await self._follow()

    async def reload(self) -> None:
        """Somebody mended something: read the project files again, and load the models."""
        await self._read_projects()
        self._adopt()
        await self._service.reload()

    async def watch(self) -> None:
        """Have the client tell of changes, of settings and of project files, if it can be asked."""
        wanted = of_settings(self._server.client_capabilities.workspace)
        if not wanted:
            return
        try:
            await self._server.client_register_capability_async(types.RegistrationParams(wanted))
        except Exception as error:  # noqa: BLE001 - whatever the client did wrong
            logger.warning("The client tells nothing of changed settings: %r", error)

    # -- the editor's settings ---------------------------------------------------------------

    async def _fetch(self, pushed: object = None) -> bool:
        """Ask the client, if it can be asked, also for each folder; whether it answered.

        With ``pushed``, those are the settings outside of the folders.
        """
        workspace = self._server.client_capabilities.workspace
        if workspace is None or not workspace.configuration:
            return False
        roots = self._service.roots
        scopes = [*([] if pushed else [None]), *roots]
        items = [types.ConfigurationItem(scope_uri=uri, section=_SECTION) for uri in scopes]
        self._asked += 1
        number = self._asked
        asked = self._server.workspace_configuration_async(types.ConfigurationParams(items))
        try:
            answer = list(await asyncio.wait_for(asked, _CONFIGURATION_SECONDS))
        except Exception as error:  # noqa: BLE001 - whatever the client did wrong
            logger.warning("The client didn't tell its settings: %r", error)
            return False
        if not answer or number != self._asked:
            return False
        everywhere = pushed or answer.pop(0)
        self._read(everywhere, dict(zip(roots, answer, strict=False)))
        return True

    def _read(self, raw: object, folders: Mapping[str, object] | None = None) -> None:
        """Take in the settings for all, and those for folders; what is wrong is told once."""
        raw = _section(raw)
        before = self._editor
        self._editor, problems = parse(raw, self._initial, before)
        own: dict[str, Settings] = {}
        for root in self._service.roots:
            given = (folders or {}).get(root)
            mine = raw if given is None else _section(given)
            current = self._own.get(root, before)
            own[root], more = parse(mine, self._initial, current)
            problems += more
        self._own = own
        self._tell("", _IN_EDITOR, problems)

    # -- project files -----------------------------------------------------------------------

    async def _read_projects(self) -> None:
        async with self._reading:
            texts = await asyncio.to_thread(texts_of, self._service.roots)
            if not texts:
                self._projects = {}
                return
            models = await self._service.models.listing()
            here = {str(row["id"]): bool(row["present"]) for row in models}
            self._projects = await asyncio.to_thread(read_all, texts, here, self._projects)

    # -- both --------------------------------------------------------------------------------

    async def _follow(self) -> None:
        """Have the service follow; tell the user if others decide on the models."""
        if not self._complete:
            return  # another model might be loaded first, and for nothing
        self._adopt()
        if (why := await self._service.load_models()) is not None:
            self._show(types.MessageType.Warning, why)

    def _adopt(self) -> None:
        """Have the service follow, but for the models."""
        base, folders = self._editor, dict[str, Settings]()
        for root in self._service.roots:
            own = self._own.get(root, self._editor)
            if own.project_file:
                project = self._projects.get(root, ProjectFile())
                self._tell(root, f"{path_in(root)}: ", project.problems)
                base = with_project(base, of_models(project))
                own = with_project(own, project)
            if own != self._editor:
                folders[root] = own
        self._service.adopt(base, folders)
        languages = {each.enable for each in (base, *folders.values())}
        # What a client is told of languages is for all folders.
        self._changed(base if len(languages) == 1 else replace(base, enable=()))

    def _tell(self, source: str, introduction: str, problems: Sequence[Problem]) -> None:
        """Tell what is wrong, unless that was told before and is still so."""
        now = dict.fromkeys(map(str, problems))
        new = [each for each in now if each not in self._told.get(source, frozenset())]
        self._told[source] = frozenset(now)
        if new:
            more = [f"and {len(new) - _MOST_TOLD} more"] if len(new) > _MOST_TOLD else []
            self._show(types.MessageType.Warning, introduction + "; ".join(new[:_MOST_TOLD] + more))


def _section(raw: object) -> object:
    """The settings themselves, also of a client that puts them under their name."""
    return raw[_SECTION] if isinstance(raw, dict) and set(raw) == {_SECTION} else raw


def _roots(params: types.InitializeParams) -> tuple[str, ...]:
    """The folders that a client opened; older ones say but one."""
    if params.workspace_folders:
        return tuple(folder.uri for folder in params.workspace_folders)
    return (params.root_uri,) if params.root_uri else ()


def register(
    server: LanguageServer, configuration: Configuration, spawn: Callable[[Any], None]
) -> None:
    """Bind the methods. ``spawn`` runs a coroutine beside the messages."""

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def change_configuration(params: types.DidChangeConfigurationParams) -> None:
        spawn(configuration.pushed(params.settings))

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def change_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        spawn(configuration.change_folders(params.event))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def change_files(params: types.DidChangeWatchedFilesParams) -> None:
        spawn(configuration.files_changed([each.uri for each in params.changes]))
