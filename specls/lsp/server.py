"""The language server: which methods there are, and what they do with the service."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from functools import partial
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import specls
from specls.context.document import Snapshot
from specls.context.text import Encoding, Position
from specls.lsp import acceptance, configuration, inline, models, notebooks
from specls.lsp.convert import place_in
from specls.lsp.custom import CONTEXT, STATS
from specls.lsp.fallback import Fallback
from specls.lsp.loading import LoadReport
from specls.lsp.process import watch_process
from specls.lsp.protocol import Protocol, make_converter
from specls.lsp.registration import Registrations
from specls.lsp.status import StatusReport
from specls.lsp.transport import Channel, Streams
from specls.lsp.triggers import Triggers
from specls.service.models import Status
from specls.service.service import CompletionService
from specls.settings import Settings

logger = logging.getLogger(__name__)

_SHUTDOWN_SECONDS = 10.0
_FLUSH_SECONDS = 2.0


class Server(LanguageServer):
    """One connection to one editor."""

    protocol: Protocol

    def __init__(self, service: CompletionService) -> None:
        self._triggers = Triggers()
        super().__init__(
            "specls",
            specls.__version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=notebooks.SYNC,
            protocol_cls=Protocol,
            converter_factory=partial(make_converter, self._triggers),
        )
        self.service = service
        service.on_status = self.tell
        self.inline = inline.InlineCompletion(
            self.protocol.documents, service, self.protocol.notify
        )
        self.fallback = Fallback(
            self.protocol.documents, service, self.protocol.notify, self.inline
        )
        self._registrations = Registrations(
            self, self.fallback, partial(self.show, types.MessageType.Info)
        )
        self._report = LoadReport(self, self.show, self.spawn)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped: asyncio.Future[int] | None = None
        self._watches = True
        self.status = StatusReport(service, self.protocol.notify)
        self.configuration = configuration.Configuration(self, service, self.show, self._follow)
        self.protocol.on_open = self._opened
        self.protocol.on_change = self._changed
        self.protocol.on_close = self._closed
        self.protocol.on_exit = self.stop
        _register(self)
        inline.register(self, self.inline)
        models.register(self, service, self._reload)
        configuration.register(self, self.configuration, self.spawn)
        accepting = acceptance.Acceptance(service, self.status.focus, self.protocol.documents.get)
        self.inline.command = accepting.command
        acceptance.register(self, accepting)
        notebooks.register(self, self.protocol.notebooks, service.saved)

    # -- running -----------------------------------------------------------------------------

    async def serve(self, reader: BinaryIO, writer: BinaryIO) -> int:
        """Serve until the client says exit, dies or closes the stream; the process' exit code.

        The models are freed on return, or not at all if that takes longer than ten seconds.
        """
        channel = Streams(reader, writer)
        code = await self.converse(channel)
        if not self.service.shutdown(_SHUTDOWN_SECONDS):
            logger.warning("The engine didn't stop in time.")
        await channel.close(_FLUSH_SECONDS)
        return code

    async def converse(self, channel: Channel) -> int:
        """Answer the client until it says exit, dies or goes; what a process should exit with."""
        self._stopped = asyncio.get_running_loop().create_future()
        self._watches = channel.watched
        self.protocol.set_writer(channel, include_headers=channel.framed)  # type: ignore[arg-type]
        channel.open(self.protocol.receive, self._ended)
        code = await self._stopped
        for task in self._tasks:
            task.cancel()
        return code

    def stop(self, code: int) -> None:
        """End :meth:`converse` with this exit code; the first call counts."""
        if self._stopped is not None and not self._stopped.done():
            self._stopped.set_result(code)

    def _ended(self, problem: str | None) -> None:
        if problem is not None and self._stopped is not None and not self._stopped.done():
            logger.error("%s", problem)
        self.stop(0 if self.protocol.was_shut_down else 1)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine beside the messages; it's cancelled when the server stops."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("Something beside the messages failed", exc_info=error)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Write it to the log. pygls would raise a popup for each."""
        logger.error("%s: %s", getattr(source, "__name__", source), error)

    # -- documents ---------------------------------------------------------------------------

    def _opened(self, snapshot: Snapshot) -> None:
        self.service.opened(snapshot)
        self.status.focus(snapshot.uri)

    def _changed(self, snapshot: Snapshot, position: Position | None) -> None:
        self.service.changed(snapshot, position)
        self.status.focus(snapshot.uri)

    def _closed(self, uri: str) -> None:
        self.service.close(uri)
        self.status.closed(uri)

    # -- settings ----------------------------------------------------------------------------

    def initialize(self, params: types.InitializeParams) -> None:
        """Read what the client says about itself, before the answer is made."""
        encoding = self.protocol.workspace.position_encoding or "utf-16"
        self.protocol.documents.encoding = Encoding(getattr(encoding, "value", encoding))
        self._triggers.meet(params.client_info.name if params.client_info else None)
        self.status.meet(params)
        self.configuration.meet(params)
        self._registrations.meet(params, self.configuration.settings)
        if params.process_id is not None and self._watches:
            self.spawn(watch_process(params.process_id, lambda: self.stop(1)))

    async def start(self) -> None:
        """After the handshake: ask for the settings, then load the models."""
        self.status.update()
        self.spawn(self.configuration.watch())
        await self.configuration.start()
        self.tell(self.service.models.status)  # somebody else may have loaded them

    def _reload(self) -> None:
        self._report.forget()
        self.spawn(self.configuration.reload())

    def _follow(self, settings: Settings) -> None:
        self.spawn(self._registrations.follow(settings))
        self.status.update()

    # -- telling the user --------------------------------------------------------------------

    def show(self, kind: types.MessageType, message: str) -> None:
        """Show a message once, in the editor's own way."""
        self.window_show_message(types.ShowMessageParams(kind, f"specls: {message}"))

    def tell(self, status: Status) -> None:
        """The service's state changed."""
        self._report.tell(status)
        self.status.update()


def _context(server: Server, params: Any) -> Coroutine[Any, Any, dict[str, object]]:
    """What the model would be given at a place: parameters as of a hover."""
    asked = server.protocol.read(params, types.TextDocumentPositionParams)
    documents = server.protocol.documents
    snapshot, position = place_in(documents, asked.text_document.uri, asked.position)

    async def look() -> dict[str, object]:
        return (await server.service.context(snapshot, position)).as_dict()

    return look()


def _register(server: Server) -> None:
    """Bind the methods that pygls doesn't handle by itself."""
    feature = server.feature

    @feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.initialize(params)

    @feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        server.spawn(server.start())

    @feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        snapshot = server.protocol.documents.get(params.text_document.uri)
        if snapshot is not None:
            server.service.saved(snapshot)
        server.spawn(server.configuration.files_changed([params.text_document.uri]))

    @feature(CONTEXT)
    def context(params: Any) -> Coroutine[Any, Any, dict[str, object]]:
        return _context(server, params)

    @feature(STATS)
    def stats(_params: Any) -> dict[str, Any]:
        return server.service.stats()
