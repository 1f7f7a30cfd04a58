"""Connections that come and go, without a process."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import AsyncIterator
from typing import Any

import pytest

from specls.lsp import connections
from specls.lsp.connections import Connections
from specls.lsp.server import Server
from specls.lsp.transport import OnBody, OnEnd
from specls.service.service import CompletionService
from tests.service.scripted import DEADLINE, Bench, until

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
OPENED = {
    "jsonrpc": "2.0",
    "method": "textDocument/didOpen",
    "params": {
        "textDocument": {"uri": "file:///a", "languageId": "python", "version": 1, "text": "x"}
    },
}


class Wire:
    """A channel whose other end is the test."""

    framed = False
    watched = False

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.closed = asyncio.Event()
        self.trusted = False
        self._on_body: OnBody | None = None
        self.on_end: OnEnd | None = None

    def open(self, on_body: OnBody, on_end: OnEnd) -> None:
        self._on_body, self.on_end = on_body, on_end

    def trust(self) -> None:
        self.trusted = True

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data))

    async def close(self, seconds: float) -> None:
        assert seconds >= 0
        self.closed.set()

    def say(self, message: object) -> None:
        assert self._on_body is not None
        self._on_body(json.dumps(message).encode())

    def end(self) -> None:
        assert self.on_end is not None
        self.on_end(None)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """An engine, and a connection to it that does nothing."""
    bench = Bench()
    yield bench
    assert bench.service.shutdown(DEADLINE)


class Meeting:
    """Connections on the engine of a bench; remembers the servers that were made, weakly."""

    def __init__(self, bench: Bench) -> None:
        self.servers: list[weakref.ref[Server]] = []

        def make() -> Server:
            server = Server(CompletionService(bench.service._shared))
            self.servers.append(weakref.ref(server))
            return server

        self.connections = Connections(make)

    async def come(self) -> tuple[Wire, asyncio.Task[None]]:
        wire = Wire()
        task = asyncio.ensure_future(self.connections.serve(wire))
        await asyncio.sleep(0)
        return wire, task


async def test_a_connection_that_ended_is_forgotten(bench: Bench) -> None:
    """Nothing keeps the server of a client that's gone, or its documents."""
    meeting = Meeting(bench)
    wire, task = await meeting.come()
    wire.say(HELLO)
    wire.say({"jsonrpc": "2.0", "method": "initialized", "params": {}})
    wire.say(OPENED)
    assert wire.sent[0]["id"] == 1
    assert wire.trusted
    wire.end()
    await asyncio.wait_for(task, DEADLINE)
    assert wire.closed.is_set()
    del wire, task

    def forgotten() -> bool:
        gc.collect()
        return meeting.servers[0]() is None

    await until(forgotten)  # what is on its way still ends: a job of the worker, a timer
    assert len(bench.service._shared._members) == 1  # the bench's own


async def test_who_says_nothing_is_left(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection without a handshake ends after a while; one with it stays."""
    monkeypatch.setattr(connections, "GREETING_SECONDS", 0.01)
    meeting = Meeting(bench)
    (silent, _), (polite, task) = await meeting.come(), await meeting.come()
    polite.say(HELLO)
    await asyncio.wait_for(silent.closed.wait(), DEADLINE)
    assert not task.done()
    polite.end()
    await asyncio.wait_for(task, DEADLINE)


async def test_there_is_a_most(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """One connection too many is closed, and there's room again when another one ends."""
    monkeypatch.setattr(connections, "MOST", 2)
    meeting = Meeting(bench)
    wires = [await meeting.come() for _ in range(3)]
    await asyncio.wait_for(wires[2][1], DEADLINE)
    assert [wire.closed.is_set() for wire, _ in wires] == [False, False, True]
    wires[0][0].end()
    await asyncio.wait_for(wires[0][1], DEADLINE)
    again, task = await meeting.come()
    again.say(HELLO)
    assert again.sent[0]["id"] == 1
    for wire in (wires[1][0], again):
        wire.end()
    await asyncio.wait_for(asyncio.gather(task, wires[1][1]), DEADLINE)


async def test_nobody_there_for_a_while_is_the_end(bench: Bench) -> None:
    """With a time for it, waiting ends when nobody is connected; each connection puts it off."""
    there = Connections(lambda: Server(CompletionService(bench.service._shared)), None, 0.05)
    wire = Wire()
    task = asyncio.ensure_future(there.serve(wire))
    waiting = asyncio.ensure_future(there.wait())
    await asyncio.sleep(0.1)
    assert not waiting.done()
    wire.end()
    await asyncio.wait_for(waiting, DEADLINE)
    assert task.done()
