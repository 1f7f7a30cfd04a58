"""Three editors at once, in which somebody types fast for a minute."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

import psutil
import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import change, initialize, open_document, stats, wait_for_state, wish
from tests.e2e.rawclient import Message, RawClient
from tests.e2e.scripted import COMMAND, INLINE, OPTIONS, Scripted
from tests.e2e.scripted_server import SLOW

pytestmark = pytest.mark.e2e

SECONDS = float(os.environ.get("SPECLS_LOAD_SECONDS", "60"))
WARM_SECONDS = SECONDS / 4
KEYS_A_SECOND = 30
CANCELLED = -32800
GROWTH = 4 * 2**20
"""Bytes: what was shown in the last half minute is watched, and the allocator takes some for itself
(1.5 MiB were seen, and later no more). A text kept for each key would be ten times that."""

PASS_MILLISECONDS = 8
"""As a small model on a laptop's GPU: requests take longer than the next key does to come."""

IDLE_SECONDS = 5.0
IDLE_TICKS = 2


class Typist:
    """Types into one document of one server, asks at each key, and cancels every third request."""

    def __init__(self, client: RawClient, number: int) -> None:
        self.client = client
        self.uri = f"file:///load/{number}.py"
        self.sent: dict[object, float] = {}
        self.came: dict[object, float] = {}
        self.codes: dict[object, int | None] = {}
        self.cancelled: list[object] = []
        self.twice = 0
        """How many answers came for an id that had one."""
        client.on_message = self.hear
        self._column = 0
        self._line = 50

    def open(self) -> None:
        open_document(self.client, "x = 1\n" * self._line, self.uri)

    def key(self, number: int) -> None:
        """One key, and a request behind it."""
        text = "\n" if number % 40 == 39 else "ab_cd = (e)"[number % 11]
        at = (self._line, self._column)
        self.client.notify("textDocument/didChange", change(at, at, text, self.uri))
        self._line, self._column = (
            (self._line + 1, 0) if text == "\n" else (self._line, self._column + 1)
        )
        params = wish(self._line, self._column, self.uri, triggerKind=1 + number % 2)
        identifier = self.client.next_id()
        self.sent[identifier] = monotonic()
        self.client.request(INLINE, params, id=identifier)
        if number % 3 == 0:
            self.cancelled.append(identifier)
            self.client.notify("$/cancelRequest", {"id": identifier})

    def hear(self, message: Message) -> None:
        """On the reader's thread: a message came."""
        identifier = message.get("id")
        if "method" not in message and identifier in self.sent:
            self.twice += identifier in self.came
            self.came[identifier] = monotonic()
            self.codes[identifier] = message.get("error", {}).get("code")

    def forget(self) -> None:
        """Keep no message: what's measured is the server's memory, and this is quicker."""
        with self.client._changed:
            self.client.received.clear()

    def type(self, seconds: float) -> None:
        """Type at a steady pace; a late key is followed by the next one at once."""
        started, pause = monotonic(), threading.Event()
        for number in range(round(seconds * KEYS_A_SECOND)):
            pause.wait(max(started + number / KEYS_A_SECOND - monotonic(), 0.0))
            self.key(number)
            self.forget()

    def finish(self) -> None:
        """Wait for what's still to come."""
        self.client.sync()
        self.client.poll(lambda: len(self.sent) - len(self.came), (0).__eq__)
        self.forget()

    def is_idle(self) -> bool:
        """Whether nothing is computed any more, also not in the background."""
        return bool(stats(self.client)["idle"])

    @property
    def waits(self) -> list[float]:
        """How long answers took that weren't cancelled, in seconds."""
        return [self.came[each] - self.sent[each] for each in self.sent if self.codes[each] is None]


def together(typists: list[Typist], act: Callable[[Typist], None]) -> None:
    """Have all do something at the same time; what fails in one fails here."""
    failures: list[BaseException] = []

    def run(typist: Typist) -> None:
        try:
            act(typist)
        except BaseException as error:  # noqa: BLE001 - it's raised below
            failures.append(error)

    threads = [threading.Thread(target=run, args=(typist,)) for typist in typists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure


def memory(process: psutil.Process) -> int:
    """The process's own bytes."""
    return int(process.memory_full_info().uss)


def ticks(process: psutil.Process) -> float:
    """Processor time of the process so far, in the system's ticks."""
    times = process.cpu_times()
    return float((times.user + times.system) * os.sysconf("SC_CLK_TCK"))


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def ready(start: Start, number: int) -> Typist:
    """A typist with a server of their own, whose model writes a line after a while."""
    client = start(command=COMMAND)
    initialize(client, OPTIONS | {"maxTokens": 16, "prefixTokens": 128, "prefetch": True})
    wait_for_state(client, "ready")
    Scripted(client).says("value + 1\n")
    client.call(SLOW, {"milliseconds": PASS_MILLISECONDS})
    typist = Typist(client, number)
    typist.open()
    return typist


def settled(typists: list[Typist]) -> None:
    """Nothing is computed any more, also not in the background."""
    for typist in typists:
        typist.finish()
        typist.client.poll(typist.is_idle, bool)


def test_a_minute_of_typing_in_three_editors(
    start: Start, record_property: Callable[[str, object], None]
) -> None:
    """No request stays without an answer, memory stays flat, and then nothing is computed."""
    typists = [ready(start, number) for number in range(3)]
    processes = [psutil.Process(typist.client.process.pid) for typist in typists]
    together(typists, lambda typist: typist.type(WARM_SECONDS))
    settled(typists)
    before = [memory(process) for process in processes]
    together(typists, lambda typist: typist.type(SECONDS - WARM_SECONDS))
    settled(typists)
    grown = [memory(process) - held for process, held in zip(processes, before, strict=True)]
    waits = [wait for typist in typists for wait in typist.waits]
    found: dict[str, Any] = {
        "requests": sum(len(typist.sent) for typist in typists),
        "p50_ms": round(1000 * percentile(waits, 0.5), 1),
        "p99_ms": round(1000 * percentile(waits, 0.99), 1),
        "grown_kib": [each // 1024 for each in grown],
    }
    for name, value in found.items():
        record_property(name, value)
    print(found)
    assert sum(typist.twice for typist in typists) == 0
    assert found["requests"] == 3 * round(SECONDS * KEYS_A_SECOND)
    codes = {code for typist in typists for code in typist.codes.values()}
    assert codes <= {None, CANCELLED}
    assert all(
        typist.codes[each] is None
        for typist in typists
        for each in typist.sent.keys() - set(typist.cancelled)
    )
    assert max(grown) < GROWTH
    idle = [ticks(process) for process in processes]
    threading.Event().wait(IDLE_SECONDS)  # what's measured is this time itself
    used = [ticks(process) - spent for process, spent in zip(processes, idle, strict=True)]
    assert max(used) <= IDLE_TICKS
    assert [typist.client.end() for typist in typists] == [0, 0, 0]
