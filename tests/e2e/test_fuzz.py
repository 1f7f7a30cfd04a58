"""Random conversations: the server's text is the client's, and each id is answered once.

The conversations are the same in each run. With ``SPECLS_FUZZ=20`` in the environment there are
twenty times as many, and others each time; what fails is shown as short as it can be made.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

import psutil
import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from tests.e2e.conftest import Start
from tests.e2e.editor import initialize, place, wait_for_state, wish
from tests.e2e.rawclient import Message, RawClient, encoded, frame
from tests.e2e.reference import Edit, edits, inserted, offset, places, texts, whole
from tests.e2e.scripted import COMMAND, INLINE, OPTIONS, Scripted
from tests.e2e.scripted_server import TEXT

pytestmark = pytest.mark.e2e

TIMES = int(os.environ.get("SPECLS_FUZZ", "0"))
EXAMPLES, STEPS = 80 * max(TIMES, 1), 50
LEAST = 10_000 * max(TIMES, 1)
GROWTH = 3 * 2**20
"""Bytes: less than one for each message, and what the allocator takes for itself."""

QUICK = {**OPTIONS, "prefixTokens": 64, "suffixTokens": 16, "maxTokens": 8}
CANCELLED, INVALID_PARAMS, INVALID_REQUEST, NO_METHOD = -32800, -32602, -32600, -32601

which = st.sampled_from((0, 0, 0, 1, 2, 3))

GARBAGE = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b"[" * 5000,
    b'[{"jsonrpc": "2.0", "id": 1, "method": "specls/stats"}]',
    b'{"jsonrpc": "2.0", "id": null, "method": "specls/stats"}',
    b'{"jsonrpc": "2.0", "id": 1.5, "method": "specls/stats"}',
    b'{"jsonrpc": "2.0", "id": 1e400, "method": "specls/stats"}',
    b'{"jsonrpc": "2.0", "id": [], "method": "specls/stats"}',
)
"""What is answered with an error and no id."""

REFUSED: tuple[tuple[str, object, int], ...] = (
    ("initialize", {"capabilities": {}}, INVALID_REQUEST),
    ("textDocument/hover", {}, NO_METHOD),
    ("$/unknown", None, NO_METHOD),
    ("initialized", {}, NO_METHOD),
    (INLINE, None, INVALID_PARAMS),
    (INLINE, {"textDocument": {"uri": 1}}, INVALID_PARAMS),
    (INLINE, wish(0, -1), INVALID_PARAMS),
    (INLINE, wish(0, 0, "file:///never"), INVALID_PARAMS),
    ("specls/context", {"position": []}, INVALID_PARAMS),
)
ANSWERED: tuple[tuple[str, object], ...] = (
    ("specls/stats", None),
    ("specls/models", None),
    ("workspace/executeCommand", {"command": "specls.didAcceptCompletion", "arguments": [1, []]}),
    ("workspace/executeCommand", {"command": "none"}),
    ("textDocument/completion", {"textDocument": {"uri": "file:///x"}, "position": place((0, 0))}),
)
"""What gets an answer, whatever it is."""

ITEM = {"insertText": "x", "command": {"title": "", "command": "", "arguments": ["none"]}}
IGNORED: tuple[tuple[str, object], ...] = (
    ("$/unknown", {}),
    ("$/cancelRequest", {"id": "none"}),
    ("$/cancelRequest", {"id": [1]}),
    ("$/setTrace", {"value": "verbose"}),
    ("initialized", {}),
    ("textDocument/didOpen", {"textDocument": {"uri": "file:///x"}}),
    ("textDocument/didClose", {"textDocument": {"uri": "file:///never"}}),
    ("textDocument/didSave", {"textDocument": {"uri": "file:///never"}}),
    ("textDocument/didFocus", {}),
    ("textDocument/didFocus", {"textDocument": {"uri": "file:///never"}}),
    ("textDocument/didShowCompletion", {"item": ITEM}),
    ("textDocument/didPartiallyAcceptCompletion", {"item": ITEM, "acceptedLength": 10**9}),
    ("specls/didRejectCompletion", {"item": {}, "ignored": 7}),
    ("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": []}}),
    ("window/workDoneProgress/cancel", {"token": 5}),
    ("textDocument/didChange", {"textDocument": {"uri": "file:///never", "version": 1}}),
)
"""What changes nothing that is looked at here."""


class Conversation(RuleBasedStateMachine):
    """One client that says anything in any order, and remembers what must come of it."""

    client: ClassVar[RawClient]
    encoding: ClassVar[str]
    sent: ClassVar[int]
    conversations: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        type(self).conversations += 1
        self.texts: dict[str, str] = {}
        """What is open, as it should be."""
        self.expected: dict[object, Callable[[Message], None]] = {}
        """By id: what looks at the answer."""
        self.nulls = 0
        """How many errors without an id must come."""
        self.again: Counter[object] = Counter()
        """Ids that were sent more than once: how often."""

    # -- helpers -----------------------------------------------------------------------------

    def uri(self, number: int) -> str:
        """The URI of one of the documents of this conversation."""
        name = ("a.py", "b.py", "ä [1].py", "c%20d.py")[number]
        return f"file:///fuzz/{self.conversations}/{name}"

    def say(self, data: bytes) -> None:
        """Send a message."""
        type(self).sent += 1
        self.client.send_bytes(data)

    def notify(self, method: str, params: object) -> None:
        self.say(encoded({"jsonrpc": "2.0", "method": method, "params": params}))

    def ask(self, method: str, params: object, check: Callable[[Message], None]) -> object:
        """Send a request; its id, which may be a text."""
        number = self.client.next_id()
        identifier: object = (number, -number, f"é {number}", number + 2**64)[number % 4]
        self.say(encoded({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}))
        self.expected[identifier] = check
        return identifier

    # -- documents ---------------------------------------------------------------------------

    @rule(number=which, text=texts, version=st.integers(-5, 5))
    def open(self, number: int, text: str, version: int) -> None:
        """Open a document, perhaps again."""
        item = {"uri": self.uri(number), "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        self.texts[self.uri(number)] = whole(text)

    @rule(number=which, changes=edits, version=st.integers(-5, 2**31 - 1))
    def change(self, number: int, changes: list[Edit], version: int) -> None:
        """Change a document, perhaps one that isn't open, at no, one or several places."""
        uri = self.uri(number)
        document = {"uri": uri, "version": version}
        events = [edit.event() for edit in changes]
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": events})
        for edit in changes:
            if uri in self.texts:
                self.texts[uri] = edit.apply(self.texts[uri], self.encoding)

    @rule(number=which, change=inserted)
    def type(self, number: int, change: Edit) -> None:
        """Change a document at one place."""
        self.change(number, [change], 1)

    @rule(number=which, text=texts)
    def replace(self, number: int, text: str) -> None:
        """Send a whole text."""
        self.change(number, [Edit(text)], 1)

    @rule(number=which)
    def close(self, number: int) -> None:
        """Close a document, perhaps one that isn't open."""
        self.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(number)}})
        self.texts.pop(self.uri(number), None)

    @rule(number=which)
    def spoil(self, number: int) -> None:
        """Send a change that nobody can understand: the document has to be opened anew."""
        document = {"uri": self.uri(number), "version": 1}
        spoilt = {"textDocument": document, "contentChanges": [{"text": 5}]}
        self.notify("textDocument/didChange", spoilt)
        self.texts.pop(self.uri(number), None)

    # -- requests ----------------------------------------------------------------------------

    @rule(number=which, where=places, kind=st.integers(0, 2), selected=st.none() | texts)
    def complete(
        self, number: int, where: tuple[int, int], kind: int, selected: str | None
    ) -> None:
        """Ask for a completion, perhaps with an entry of a menu, where nothing may be open."""
        uri = self.uri(number)
        params = wish(*where, uri, triggerKind=kind)
        if selected is not None:
            entry = {"range": {"start": place(where), "end": place(where)}, "text": selected}
            params["context"]["selectedCompletionInfo"] = entry
        if (text := self.texts.get(uri)) is None:
            self.ask(INLINE, params, has_code(INVALID_PARAMS))
            return

        def check(answer: Message) -> None:
            for item in answer["result"]["items"]:
                start, end = (
                    offset(text, (at["line"], at["character"]), self.encoding)
                    for at in (item["range"]["start"], item["range"]["end"])
                )
                assert start <= end == offset(text, where, self.encoding)
                assert selected is not None or item["insertText"].startswith(text[start:end])

        self.ask(INLINE, params, check)

    @precondition(lambda self: bool(self.expected))
    @rule(back=st.integers(1, 4))
    def cancel(self, back: int) -> None:
        """Cancel one of the last requests, which may have been answered."""
        identifier = list(self.expected)[-min(back, len(self.expected))]
        check = self.expected[identifier]

        def cancelled_or(answer: Message) -> None:
            if answer.get("error", {}).get("code") != CANCELLED:
                check(answer)

        self.expected[identifier] = cancelled_or
        self.notify("$/cancelRequest", {"id": identifier})

    @precondition(lambda self: bool(self.expected))
    @rule(back=st.integers(1, 2))
    def repeat(self, back: int) -> None:
        """Use the id of one of the last requests again, which may be in use."""
        identifier = list(self.expected)[-min(back, len(self.expected))]
        self.again[identifier] += 1
        request = {"jsonrpc": "2.0", "id": identifier, "method": "specls/stats"}
        self.say(encoded(request))

    @rule(request=st.sampled_from(REFUSED))
    def refused(self, request: tuple[str, object, int]) -> None:
        """Ask for what can't be had."""
        method, params, code = request
        self.ask(method, params, has_code(code))

    @rule(request=st.sampled_from(ANSWERED))
    def answered(self, request: tuple[str, object]) -> None:
        """Ask for something else."""
        self.ask(*request, lambda _answer: None)

    @rule(number=which, where=places)
    def context(self, number: int, where: tuple[int, int]) -> None:
        """Ask what the model would be given."""
        uri = self.uri(number)
        params = {"textDocument": {"uri": uri}, "position": place(where)}
        expected = has_code(None if uri in self.texts else INVALID_PARAMS)
        self.ask("specls/context", params, expected)

    @rule(body=st.sampled_from(GARBAGE))
    def garbage(self, body: bytes) -> None:
        """Send what is no message."""
        self.say(frame(body))
        self.nulls += 1

    @rule(notification=st.sampled_from(IGNORED))
    def ignored(self, notification: tuple[str, object]) -> None:
        """Notify of what means nothing."""
        self.notify(*notification)

    # -- what must come of it ----------------------------------------------------------------

    @rule()
    def compare(self) -> None:
        """The server's texts are the client's."""
        asked = {self.uri(number): self.client.next_id() for number in range(4)}
        for uri, identifier in asked.items():
            self.say(
                encoded(
                    {"jsonrpc": "2.0", "id": identifier, "method": TEXT, "params": {"uri": uri}}
                )
            )
        found = {uri: self.client.result(identifier) for uri, identifier in asked.items()}
        assert found == {uri: self.texts.get(uri) for uri in asked}

    def teardown(self) -> None:
        """Leave nothing for the next conversation, whatever became of this one."""
        try:
            self.conclude()
        finally:
            for number in range(4):
                self.close(number)
            self.client.sync()
            with self.client._changed:
                self.client.received.clear()

    def conclude(self) -> None:
        """Every request was answered, once, and as it should be."""
        self.compare()
        self.client.wait(self._all_answered, "the answers")
        self.client.sync()
        counts = self.client.counts()
        for identifier, check in self.expected.items():
            answers = self.client.answers(identifier)
            assert 1 <= len(answers) <= 1 + self.again[identifier]
            if not self.again[identifier]:
                check(answers[0])
        total = sum(counts[each] for each in self.expected) + counts[None]
        assert total == len(self.expected) + self.again.total() + self.nulls

    def _all_answered(self) -> bool:
        counts = self.client.counts()
        return all(counts[each] for each in self.expected)


def has_code(code: int | None) -> Callable[[Message], None]:
    """A look at an answer: it's an error with this code; None is a result."""

    def check(answer: Message) -> None:
        assert answer.get("error", {}).get("code") == code, json.dumps(answer)

    return check


def memory(client: RawClient) -> int:
    """The server's bytes, without what it only mapped."""
    return int(psutil.Process(client.process.pid).memory_full_info().uss)


@pytest.mark.parametrize(("encoding", "start_of"), [("utf-8", 0), ("utf-16", 2), ("utf-32", 4)])
def test_any_conversation_is_held(start: Start, encoding: str, start_of: int) -> None:
    """Texts are the same, ids are answered once, and nothing is left of it in memory."""
    client = start(command=COMMAND)
    initialize(client, QUICK, general={"positionEncodings": [encoding]})
    wait_for_state(client, "ready")
    Scripted(client).says("🤗 = é\n")
    kind: Any = type("Talk", (Conversation,), {"client": client, "encoding": encoding})
    kind.sent = kind.conversations = 0

    def talk(examples: int, number: int) -> None:
        options = settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            database=None,
            suppress_health_check=list(HealthCheck),
            deadline=None,
        )
        conversations = kind if TIMES else seed(number)(kind)
        run_state_machine_as_test(conversations, settings=options)

    talk(EXAMPLES // 4, start_of)
    before = memory(client)
    talk(EXAMPLES, start_of + 1)
    assert memory(client) - before < GROWTH
    assert 3 * kind.sent >= LEAST
    assert "Traceback" not in client.log()
    assert client.end() == 0
