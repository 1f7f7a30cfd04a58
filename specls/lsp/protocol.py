"""pygls' protocol with the corners rounded off: every request gets exactly one answer.

What differs from pygls 2.1.1, each with a test in ``tests/e2e``: malformed JSON, parameters and
requests at the wrong time get the error code of the specification; errors carry no traceback and
raise no popup; documents are followed by :class:`Documents` in time proportional to the edit; a
handler that returns a coroutine has seen the documents as they were when its message came.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    LanguageServerProtocol,
    default_converter,
    lsp_method,
)
from pygls.protocol.json_rpc import JsonRPCResponseMessage

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.lsp.documents import Documents
from specls.lsp.triggers import Triggers

logger = logging.getLogger(__name__)

T = TypeVar("T")


def make_converter(triggers: Triggers) -> Converter:
    """The converter of pygls, lenient where clients in use are sloppy."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    converter.register_structure_hook(types.InlineCompletionTriggerKind, triggers.read)
    return converter


class Protocol(LanguageServerProtocol):
    """See the module."""

    def __init__(self, server: Any, converter: Converter) -> None:
        self.documents = Documents()
        self.on_open: Callable[[Snapshot], None] = lambda _snapshot: None
        self.on_change: Callable[[Snapshot, Position | None], None] = lambda _snapshot, _end: None
        self.on_close: Callable[[str], None] = lambda _uri: None
        self.on_exit: Callable[[int], None] = lambda _code: None
        self._initialized = False
        super().__init__(server, converter)

    # -- messages ----------------------------------------------------------------------------

    def receive(self, body: bytes) -> None:
        """Handle one message. Never raises for anything that a client may send."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            logger.warning("A message isn't JSON.")
            self._refuse(None, JsonRpcParseError(f"The message isn't JSON: {_short(error)}"))
            return
        if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
            self._refuse(_id_of(data), JsonRpcInvalidRequest("A message is one of JSON-RPC 2.0."))
        elif "method" not in data:
            self._take_response(data)
        elif "id" in data:
            self._take_request(data)
        else:
            self._take_notification(data)

    def _take_request(self, data: dict[str, Any]) -> None:
        identifier, method = data["id"], data["method"]
        if not _is_id(identifier) or not isinstance(method, str):
            error = JsonRpcInvalidRequest("A request has an id and a method's name.")
            self._refuse(_id_of(data), error)
            return
        try:
            self._check_order(method)
            self._check_method(method)
            message = self._structured(data, JsonRPCRequestMessage)
        except JsonRpcException as error:
            self._refuse(identifier, error)
            return
        self._initialized = True  # before, only initialize comes this far
        self.handle_message(message)

    def _check_order(self, method: str) -> None:
        if self._shutdown:
            raise JsonRpcInvalidRequest("The server was shut down.")
        if method == types.INITIALIZE:
            if self._initialized:
                raise JsonRpcInvalidRequest("The server is initialized already.")
        elif not self._initialized:
            raise JsonRpcServerNotInitialized("The first request must be initialize.")

    def _check_method(self, method: str) -> None:
        """Refuse what can't be asked for, whatever its parameters; notifications among it."""
        handled = method in self.fm.builtin_features or method in self.fm.features
        answered = self.get_message_type(method) is None or self.get_result_type(method)
        if not (handled and answered):
            raise JsonRpcMethodNotFound.of(method)

    def _take_notification(self, data: dict[str, Any]) -> None:
        method = data["method"]
        if not isinstance(method, str):
            logger.debug("A notification without a method's name was ignored.")
            return
        if method != types.EXIT and (self._shutdown or not self._initialized):
            logger.debug("A notification at the wrong time was ignored.")
            return
        try:
            message = self._structured(data, JsonRPCNotification)
        except JsonRpcException as error:
            logger.warning("A notification %r was ignored: %s", method, error)
            return
        self.handle_message(message)

    def _take_response(self, data: dict[str, Any]) -> None:
        identifier = data.get("id")
        if not _is_id(identifier) or identifier not in self._result_types:
            logger.debug("A response came to a request that was never made.")
            return
        waiting = self._request_futures.get(identifier)
        if waiting is None or waiting.done():
            logger.debug("A response came that nobody waits for any more.")
        else:
            self._settle(waiting, data)
        self._request_futures.pop(identifier, None)
        self._result_types.pop(identifier, None)

    def _settle(self, waiting: Future[Any], response: dict[str, Any]) -> None:
        """Give a request of ours its response, or what is wrong with that."""
        response.setdefault("result", None)
        if "error" in response:
            del response["result"]
        try:
            self.handle_message(self.structure_message(response))
        except JsonRpcException as error:
            waiting.set_exception(error)

    def _structured(self, data: dict[str, Any], generic: type[Any]) -> Any:
        """The typed message; for methods that LSP doesn't know, one with plain parameters.

        Raises:
            JsonRpcException: the parameters aren't what the method takes.
        """
        names = ("jsonrpc", "id", "method", "params")
        fields = {name: data[name] for name in names if name in data}
        if self.get_message_type(data["method"]) is not None:
            return self.structure_message(fields)
        return generic(**{"params": None, **fields})

    def read(self, params: Any, kind: type[T]) -> T:
        """Parameters of a method that LSP doesn't know, as a type that it does.

        Raises:
            JsonRpcInvalidParams: they aren't.
        """
        try:
            return self._converter.structure(params, kind)
        except Exception as error:
            raise JsonRpcInvalidParams(f"These aren't {kind.__name__}.") from error

    def _refuse(self, identifier: int | str | None, error: JsonRpcException) -> None:
        response = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": "2.0", "id": identifier, "error": response})

    def _send_response(
        self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None
    ) -> None:
        """Answer a request; what pygls puts into ``data`` of an error is a traceback."""
        if error is None and msg_id not in self._result_types:
            # An object without a type, so that a result of null is sent as one.
            self._send_data(JsonRPCResponseMessage(id=msg_id, jsonrpc="2.0", result=result))
            return
        if error is not None and error.code == JsonRpcInternalError.CODE:
            error = types.ResponseError(error.code, "specls failed; its log says how.")
        super()._send_response(msg_id, result, error)

    def _send_handler_result(self, future: Future[Any], *, msg_id: Any) -> None:
        """Answer with a handler's result, once the coroutine that it may have returned is done."""
        done = not future.cancelled() and future.exception() is None
        if done and asyncio.iscoroutine(result := future.result()):
            task: Any = asyncio.ensure_future(result)
            self._request_futures[msg_id] = task
            task.add_done_callback(partial(self._send_handler_result, msg_id=msg_id))
            return
        super()._send_handler_result(future, msg_id=msg_id)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        """Cancel a request of the client's; what is no id, or the id of one of ours, is ignored."""
        if _is_id(msg_id) and msg_id not in self._result_types:
            super()._handle_cancel_notification(msg_id)

    # -- the life of a session ---------------------------------------------------------------

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_args: object) -> None:  # type: ignore[override]
        """End the process: 0 after a shutdown, else 1."""
        self.on_exit(0 if self._shutdown else 1)

    @property
    def was_shut_down(self) -> bool:
        """Whether the client asked for the shutdown."""
        return bool(self._shutdown)

    # -- documents ---------------------------------------------------------------------------

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take the document in."""
        self.on_open(self.documents.opened(params))

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply the changes."""
        changed = self.documents.changed(params)
        if changed is not None:
            self.on_change(*changed)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget the document."""
        self.documents.closed(params)
        self.on_close(params.text_document.uri)


def _id_of(data: object) -> int | str | None:
    """The id under which a wrong message can be answered."""
    identifier = data.get("id") if isinstance(data, dict) and "method" in data else None
    return identifier if _is_id(identifier) else None


def _is_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _short(error: Exception) -> str:
    return str(error)[:100] or type(error).__name__
