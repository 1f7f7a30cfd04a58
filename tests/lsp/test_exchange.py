"""What pygls leaves open of JSON-RPC, without a process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from io import BytesIO
from typing import Any, BinaryIO, cast

import pytest
from pygls.lsp.server import LanguageServer

from specls.lsp.exchange import Exchange
from specls.lsp.frames import FramingError, Refused, read_frame

Message = dict[str, Any]


class Wire:
    """What the server wrote, as messages."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def write(self, data: bytes) -> None:
        self.messages.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None:
        return


class Conversation:
    """An exchange with one method, ``test/it``, over a wire."""

    def __init__(self, handler: Callable[[], object]) -> None:
        server = LanguageServer("test", "1", protocol_cls=Exchange)
        self.exchange = cast("Exchange", server.protocol)
        self.wire = Wire()
        self.exchange.set_writer(self.wire)
        server.feature("test/it")(lambda _params: handler())
        self.send(1, "initialize", {"capabilities": {}})

    def send(self, identifier: object, method: str, params: object = None) -> None:
        message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
        self.exchange.receive(json.dumps(message).encode())

    def answers(self, identifier: object) -> list[Message]:
        return [each for each in self.wire.messages if each["id"] == identifier]


@pytest.mark.parametrize("result", [float("nan"), {1, 2}, {"a": [object]}, b"x"])
def test_a_result_that_is_no_json_is_an_error(result: object) -> None:
    """What can't be written is answered with -32603, so that nobody waits for it."""
    talk = Conversation(lambda: result)
    talk.send(2, "test/it")
    (answer,) = talk.answers(2)
    assert (answer["error"]["code"], "Traceback" in str(answer)) == (-32603, False)


async def test_shutdown_cancels_all_that_runs() -> None:
    """Requests in a queue, ours among them, don't keep the shutdown from being answered."""

    async def wait() -> None:
        await asyncio.get_running_loop().create_future()

    def handler() -> Coroutine[Any, Any, None]:
        return wait()

    talk = Conversation(handler)
    for number in (2, 3):
        talk.send(number, "test/it")
    talk.exchange.send_request("workspace/configuration", None)
    talk.send(4, "shutdown")
    assert [answer["result"] for answer in talk.answers(4)] == [None]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    codes = [answer["error"]["code"] for number in (2, 3) for answer in talk.answers(number)]
    assert codes == [-32800, -32800]


def test_a_second_answer_is_never_sent() -> None:
    """Whatever a handler does, an id is answered once."""
    talk = Conversation(lambda: 5)
    talk.send(2, "test/it")
    talk.exchange._send_response(2, result=6)
    assert [answer["result"] for answer in talk.answers(2)] == [5]


class Endless:
    """A stream of a header and as many bytes as are asked for, never many at once."""

    def __init__(self, header: bytes) -> None:
        self._header = BytesIO(header)
        self._piece = bytes(2**20)
        self.largest = 0

    def readline(self, limit: int) -> bytes:
        return self._header.readline(limit)

    def read(self, count: int) -> memoryview:
        self.largest = max(self.largest, count)
        return memoryview(self._piece)[:count]


def test_ten_gigabytes_are_passed_over_in_pieces() -> None:
    """A body that nobody can want is read to its end, and never held."""
    stream = Endless(b"Content-Length: 10000000000\r\n\r\n")
    frame = read_frame(cast("BinaryIO", stream))
    assert frame == Refused("The message has 10000000000 bytes; the most is 268435456.")
    assert stream.largest == 2**20


def test_a_length_that_is_garbage_ends_the_stream() -> None:
    """A petabyte is no message."""
    with pytest.raises(FramingError, match="a message of 1000000000000000 bytes"):
        read_frame(cast("BinaryIO", Endless(b"Content-Length: 1000000000000000\r\n\r\n")))
