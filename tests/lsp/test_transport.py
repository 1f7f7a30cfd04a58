"""What waits between a client and the loop, and how much of it there can be."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from typing import BinaryIO

import pytest

from specls.lsp import transport
from specls.lsp.frames import FramingError, Refused, read_frame
from specls.lsp.transport import FrameReader, FrameWriter

DEADLINE = 30.0


@pytest.fixture
def pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A reading and a writing end."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as read, os.fdopen(writer, "wb", buffering=0) as write:
        yield read, write


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


async def test_what_nobody_reads_is_bounded(
    pipe: tuple[BinaryIO, BinaryIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When more waits for a client than is allowed, it's left, and nothing more is kept for it."""
    monkeypatch.setattr(transport, "MOST_UNREAD", 1 << 20)
    reasons: list[str] = []
    writer = FrameWriter(pipe[1], reasons.append)
    piece = b"x" * (1 << 18)
    for _ in range(4):
        writer.write(piece)
    assert reasons == []
    for _ in range(1000):
        writer.write(piece)
    assert len(reasons) >= 999
    assert set(reasons) == {"The client doesn't read: 1048576 bytes wait for it."}
    assert writer._unread <= 1 << 20
    threading.Thread(target=pipe[0].read, daemon=True).start()
    writer.close(DEADLINE)
    assert not writer._thread.is_alive()


async def test_what_is_read_is_forgotten(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    """A client that reads can be sent any amount."""
    writer = FrameWriter(pipe[1], pytest.fail)
    taken = threading.Thread(target=pipe[0].read, args=(3 * (1 << 20),), daemon=True)
    taken.start()
    for _ in range(3):
        writer.write(b"x" * (1 << 20))
    writer.close(DEADLINE)
    taken.join(DEADLINE)
    assert writer._unread == 0


async def test_a_client_that_writes_faster_than_it_is_answered_waits(
    pipe: tuple[BinaryIO, BinaryIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the loop is busy only so much is read; then all comes, in order."""
    monkeypatch.setattr(transport, "_MOST_UNHANDLED", 1 << 16)
    bodies: list[bytes | Refused] = []
    ended = asyncio.Event()
    reader = FrameReader(pipe[0], bodies.append, lambda _problem: ended.set())
    sent = [b"%05d" % number + b"x" * 8192 for number in range(200)]
    most = 0

    def send() -> None:
        for each in sent:
            pipe[1].write(frame(each))
        pipe[1].close()

    threading.Thread(target=send, daemon=True).start()
    while not ended.is_set():
        most = max(most, reader._unhandled)
        await asyncio.sleep(0)
    assert bodies == sent
    assert most <= (1 << 16) + 8197


def test_no_page_gets_a_message_in(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    """What a browser sends when a page asks it to isn't taken for a header, colon or not."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
    request = b"POST /a:b HTTP/1.1\r\nHost: 127.0.0.1:7777\r\nContent-Length: %d\r\n\r\n%s"
    pipe[1].write(request % (len(body), body))
    with pytest.raises(FramingError, match="a line that is no header"):
        read_frame(pipe[0])
