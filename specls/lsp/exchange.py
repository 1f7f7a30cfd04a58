"""JSON-RPC as LSP has it, on top of pygls: every request gets exactly one answer.

What differs from pygls 2.1.1, each with a test in ``tests/e2e``: malformed JSON, parameters and
requests at the wrong time get the error code of the specification; errors say what is wrong, carry
no traceback and raise no popup; an id that is in use isn't taken again; a handler that returns a
coroutine has seen the documents as they were when its message came; a result that can't be written
as JSON is answered with an error.
"""

from __future__ import annotations

import asyncio
import json
import logging
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
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, LanguageServerProtocol
from pygls.protocol.json_rpc import JsonRPCResponseMessage

from specls.errors import short
from specls.lsp.frames import Refused
from specls.lsp.messages import id_of, is_id, problems_of

logger = logging.getLogger(__name__)

T = TypeVar("T")

_FAILED = "specls failed; its log says how."


class Exchange(LanguageServerProtocol):
    """See the module."""

    def __init__(self, server: Any, converter: Converter) -> None:
        self._initialized = False
        self._unanswered: set[int | str] = set()
        """The ids of the client's requests that wait for their answer."""
        super().__init__(server, converter)

    @property
    def was_shut_down(self) -> bool:
        """Whether the client asked for the shutdown."""
        return bool(self._shutdown)

    @property
    def was_initialized(self) -> bool:
        """Whether the handshake has begun, and the client was let in."""
        return self._initialized

    # pygls caches these two in a way that keeps every connection in memory.

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """The type of a request or notification that LSP knows."""
        return types.METHOD_TO_TYPES.get(method, (None,))[0]

    def get_result_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """The type of an answer, to a request that LSP knows."""
        return types.METHOD_TO_TYPES.get(method, (None, None))[1]

    # -- what comes --------------------------------------------------------------------------

    def receive(self, body: bytes | Refused) -> None:
        """Handle one message. Never raises for anything that a client may send."""
        if isinstance(body, Refused):
            logger.warning("A message wasn't read: %s", body.reason)
            self._refuse(None, JsonRpcInvalidRequest(body.reason))
            return
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            logger.warning("A message isn't JSON.")
            self._refuse(None, JsonRpcParseError(f"The message isn't JSON: {short(error)}"))
            return
        if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
            self._refuse(id_of(data), JsonRpcInvalidRequest("A message is one of JSON-RPC 2.0."))
        elif "method" not in data:
            self._take_response(data)
        elif "id" in data:
            self._take_request(data)
        else:
            self._take_notification(data)

    def _take_request(self, data: dict[str, Any]) -> None:
        identifier, method = data["id"], data["method"]
        if not is_id(identifier) or not isinstance(method, str):
            error = JsonRpcInvalidRequest("A request has an id and a method's name.")
            self._refuse(id_of(data), error)
            return
        if identifier in self._unanswered:
            # Under its own id, this would be taken for the answer to the request that has it.
            error = JsonRpcInvalidRequest(f"The id {short(repr(identifier))} is in use.")
            self._refuse(None, error)
            return
        self._unanswered.add(identifier)
        try:
            self._check_order(method)
            self._check_method(method)
            message = self._structured(data, JsonRPCRequestMessage)
            if method == types.INITIALIZE:
                self.greeted(message.params)
        except JsonRpcException as error:
            self._refuse(identifier, error)
            return
        self._initialized = True  # before, only initialize comes this far
        self.handle_message(message)

    def greeted(self, params: types.InitializeParams) -> None:
        """The handshake begins. What this raises refuses it.

        Raises:
            JsonRpcException: the client doesn't belong here.
        """

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
            self.misunderstood(method, data.get("params"))
            return
        self.handle_message(message)

    def misunderstood(self, method: str, params: object) -> None:
        """A notification was ignored, since its parameters aren't what the method takes."""

    def _take_response(self, data: dict[str, Any]) -> None:
        identifier = data.get("id")
        if not is_id(identifier) or identifier not in self._result_types:
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
        kind = self.get_message_type(data["method"])
        if kind is None:
            return generic(**{"params": None, **fields})
        try:
            return self._converter.structure(fields, kind)
        except Exception as error:
            raise JsonRpcInvalidParams(f"Invalid parameters: {problems_of(error)}.") from error

    def read(self, params: Any, kind: type[T]) -> T:
        """Parameters of a method that LSP doesn't know, as a type that it does.

        Raises:
            JsonRpcInvalidParams: they aren't.
        """
        try:
            return self._converter.structure(params, kind)
        except Exception as error:
            raise JsonRpcInvalidParams(f"Invalid parameters: {problems_of(error)}.") from error

    # -- what goes ---------------------------------------------------------------------------

    def _refuse(self, identifier: int | str | None, error: JsonRpcException) -> None:
        if identifier is not None:
            self._unanswered.discard(identifier)
        response = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": "2.0", "id": identifier, "error": response})

    def _send_response(
        self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None
    ) -> None:
        """Answer a request; what pygls puts into ``data`` of an error is a traceback."""
        if msg_id not in self._unanswered:
            logger.error("A second answer to the request %r was dropped.", msg_id)
            return
        self._unanswered.discard(msg_id)
        if error is None and msg_id not in self._result_types:
            # An object without a type, so that a result of null is sent as one.
            self._send_data(JsonRPCResponseMessage(id=msg_id, jsonrpc="2.0", result=result))
            return
        if error is not None and error.code == JsonRpcInternalError.CODE:
            error = types.ResponseError(error.code, _FAILED)
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

    def _send_data(self, data: Any) -> None:
        """Send a message. An answer that can't be written as JSON becomes an error."""
        try:
            body = json.dumps(data, default=self._serialize_message, allow_nan=False)
        except Exception:
            logger.exception("A message can't be written as JSON")
            if not hasattr(data, "method"):
                self._refuse(data.id, JsonRpcInternalError(_FAILED))
            return
        logger.debug("Sending %s", body)
        header = f"Content-Length: {len(body)}\r\n\r\n" if self._include_headers else ""
        if self.writer is not None:
            self.writer.write((header + body).encode())

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        """Cancel a request of the client's; what is no id, or the id of one of ours, is ignored."""
        if is_id(msg_id) and msg_id not in self._result_types:
            super()._handle_cancel_notification(msg_id)
