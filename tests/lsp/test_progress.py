"""What is sent of a request before its answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from lsprotocol import types

from specls.lsp import progress
from specls.lsp.convert import first_line
from specls.lsp.progress import PartialItems, WorkDone, in_words


class Client:
    """Takes notifications."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def notify(self, method: str, params: Any) -> None:
        assert (method, params.token) == (types.PROGRESS, 7)
        self.values.append(params.value)

    @property
    def kinds(self) -> list[str]:
        return [value.kind for value in self.values]


def item(text: str) -> types.InlineCompletionItem:
    return types.InlineCompletionItem(insert_text=text)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\nb", "a"), ("a", "a"), ("\n    a\nb", "\n    a"), ("  \n\n a \n", "  \n\n a "), ("", "")],
)
def test_the_first_line_has_something_in_it(text: str, line: str) -> None:
    """Blank lines before it belong to it."""
    assert first_line(text) == line


@pytest.mark.parametrize(
    ("lines", "words"),
    [("", "writing"), ("\n", "writing"), ("\n  a", "1 line"), ("a\n\nb", "3 lines")],
)  # fmt: skip
def test_lines_are_counted(lines: str, words: str) -> None:
    """A message tells how far a suggestion is."""
    assert in_words(lines) == words


def test_only_the_first_line_is_sent_early() -> None:
    """Of lines that come one by one the first is sent, once; then all that isn't sent."""
    client = Client()
    items = PartialItems(client.notify, 7, item)
    for lines in ("", "a", "a\nb"):
        items.see(lines)
    assert client.values == [[item("a")]]
    assert items.answer(["a\nb", "a", "c"]) == []
    assert client.values == [[item("a")], [item("a\nb"), item("c")]]


def test_after_nothing_came_early_all_is_in_the_answer() -> None:
    """A client that was sent nothing gets all items at once, with a token or without."""
    client = Client()
    for token in (7, None):
        items = PartialItems(client.notify, token, item)
        items.see("a" if token is None else "")
        assert items.answer(["a\nb"]) == [item("a\nb")]
    assert client.values == []


async def begun(client: Client) -> None:
    """Wait until a progress begins."""
    while not client.values:  # noqa: ASYNC110 - a timer of the loop decides
        await asyncio.sleep(0)


async def test_a_progress_begins_late_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was reported before it began is what it begins with; the same isn't told twice."""
    monkeypatch.setattr(progress, "_MOMENT_SECONDS", 0.01)
    client = Client()
    work = WorkDone(client.notify, 7, "reading")
    work.report("writing")
    assert client.values == []
    await begun(client)
    assert (client.kinds, client.values[0].message) == (["begin"], "writing")
    for message in ("writing", "1 line"):
        work.report(message)
    work.close()
    assert client.kinds == ["begin", "report", "end"]


async def test_a_quick_one_never_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is closed before the moment is over sends nothing, then or later."""
    monkeypatch.setattr(progress, "_MOMENT_SECONDS", 0.0)
    client = Client()
    WorkDone(client.notify, 7, "reading").close()
    other = Client()
    WorkDone(other.notify, 7, "reading")
    await begun(other)
    assert client.values == []
