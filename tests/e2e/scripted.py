"""A client of the scripted server: says what the model writes, and reads what becomes of it."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from typing import Any

from tests.e2e.editor import initialize, open_document, wait_for_state, wish
from tests.e2e.rawclient import Message, RawClient
from tests.e2e.scripted_server import ANSWER, HOLD, SEEN

COMMAND = (sys.executable, "-m", "tests.e2e.scripted_server")
INLINE = "textDocument/inlineCompletion"
OPTIONS = {
    "model": "scripted",
    "alternatives": 1,
    "prefetch": False,
    "prefixTokens": 256,
    "suffixTokens": 64,
    "maxTokens": 128,
    "confidence": 0.0,
    "answerBudgetMs": 0,
}

Answer = str | bytes | list[int]


@dataclass(frozen=True)
class Marked:
    """A document with a cursor, which ``|`` stands for."""

    before: str
    after: str

    @classmethod
    def read(cls, text: str) -> Marked:
        before, after = text.split("|")
        return cls(before, after)

    @property
    def text(self) -> str:
        return self.before + self.after

    @property
    def position(self) -> tuple[int, int]:
        """Line and character, in UTF-16 code units."""
        lines = self.before.replace("\r\n", "\n").split("\n")
        return len(lines) - 1, len(lines[-1].encode("utf-16-le", "surrogatepass")) // 2


class Scripted:
    """A conversation with the scripted server. Each question is asked in a document of its own."""

    def __init__(self, client: RawClient) -> None:
        self.client = client
        self._numbers = itertools.count(1)
        self.uri = ""
        """Of the document that was opened last."""

    def ready(self, options: Message | None = None, **more: object) -> Scripted:
        """Shake hands and wait for the model."""
        initialize(self.client, OPTIONS | (options or {}), **more)
        wait_for_state(self.client, "ready")
        return self

    def says(self, answer: Answer, *, endless: bool = False, pause: str = "") -> None:
        """What the model writes from now on: text, bytes or tokens; perhaps again and again.

        Behind ``pause`` it waits while ``holds(pause=True)``.
        """
        tokens = list(answer.encode() if isinstance(answer, str) else answer)
        told = {"tokens": tokens, "endless": endless, "pause": list(pause.encode())}
        self.client.call(ANSWER, told)

    def holds(self, **gates: bool) -> None:
        """Have the model wait, or go on: when it decodes, when one is loaded, at a pause."""
        self.client.call(HOLD, gates)

    @property
    def seen(self) -> Any:
        """What the model was given, and how much was tokenised so far."""
        return self.client.call(SEEN)

    def open(self, text: str, language: str = "python", uri: str = "") -> str:
        """Open another document; its URI."""
        self.uri = uri or f"file:///project/{next(self._numbers)}.py"
        open_document(self.client, text, self.uri, language)
        return self.uri

    def items(self, line: int, character: int, **context: object) -> list[Message]:
        """The items at a place of the document that was opened last."""
        result = self.client.call(INLINE, wish(line, character, self.uri, **context))
        items: list[Message] = result["items"]
        return items

    def written(self, text: str, answer: Answer, *, endless: bool = False) -> str:
        """What is inserted at the bar in ``text`` when the model writes ``answer``.

        Sees that accepting it changes the document nowhere else.
        """
        marked = Marked.read(text)
        self.says(answer, endless=endless)
        self.open(marked.text)
        items = self.items(*marked.position)
        if not items:
            return ""
        (item,) = items
        line, character = marked.position
        assert item["range"]["end"] == {"line": line, "character": character}
        assert item["range"]["start"]["line"] == line
        head = marked.before.replace("\r\n", "\n").rpartition("\n")[2]
        covered = head[item["range"]["start"]["character"] :]
        assert item["insertText"].startswith(covered)
        return str(item["insertText"])[len(covered) :]
