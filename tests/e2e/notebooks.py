"""A notebook as VS Code has it, which sends what VS Code's client sends."""

from __future__ import annotations

import itertools
from typing import Any

from tests.e2e.editor import place, span
from tests.e2e.rawclient import Message, RawClient

SCHEME = "vscode-notebook-cell"


def capabilities() -> Message:
    """What VS Code's client says about notebooks."""
    sync = {"dynamicRegistration": True, "executionSummarySupport": True}
    return {"notebookDocument": {"synchronization": sync}}


class VsCodeNotebook:
    """Sends what a person does in a notebook; keeps the texts of its cells, with LF."""

    def __init__(self, client: RawClient, path: str = "/project/a.ipynb") -> None:
        self._client = client
        self._path = path
        self._numbers = itertools.count()
        self._versions = itertools.count(1)
        self.uri = f"file://{path}"
        self.cells: list[Message] = []
        self.texts: dict[str, str] = {}
        self.languages: dict[str, str] = {}

    def open(self, *cells: str) -> None:
        """Open it; a cell that begins with ``md:`` is one for people, with ``sql:`` one of SQL."""
        items = [self._made(cell) for cell in cells]
        self._client.notify(
            "notebookDocument/didOpen",
            {
                "notebookDocument": {
                    "uri": self.uri,
                    "notebookType": "jupyter-notebook",
                    "version": next(self._versions),
                    "metadata": {"kernelspec": {"name": "python3"}},
                    "cells": self.cells,
                },
                "cellTextDocuments": items,
            },
        )

    def uri_of(self, number: int) -> str:
        """The URI of the cell that stands there now."""
        return str(self.cells[number]["document"])

    def insert(self, number: int, text: str) -> None:
        """Add a cell there."""
        item = self._made(text)
        cell = self.cells.pop()
        self._splice(number, 0, [cell], opened=[item])

    def delete(self, number: int) -> None:
        """Delete a cell."""
        self._splice(number, 1, [], closed=[{"uri": self.uri_of(number)}])

    def move(self, number: int, to: int) -> None:
        """Move a cell: the smallest splice that does it, in which no text is opened or closed."""
        order = list(self.cells)
        order.insert(to, order.pop(number))
        first, last = sorted((number, to))
        self._splice(first, last - first + 1, order[first : last + 1])

    def retype(self, number: int, language: str) -> None:
        """Give a cell another language: its document is closed and opened."""
        uri = self.uri_of(number)
        item = self._item(uri, language, self.texts[uri])
        cell = {"kind": 1 if language == "markdown" else 2, "document": uri}
        self._splice(number, 1, [cell], opened=[item], closed=[{"uri": uri}])

    def type(self, number: int, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Replace a piece of a cell's text; positions are in ASCII."""
        uri = self.uri_of(number)
        lines = self.texts[uri].split("\n")
        head = "\n".join([*lines[: start[0]], lines[start[0]][: start[1]]])
        tail = "\n".join([lines[end[0]][end[1] :], *lines[end[0] + 1 :]])
        self.texts[uri] = head + text + tail
        document = {"uri": uri, "version": next(self._versions)}
        edit = {"range": span(start, end), "rangeLength": 0, "text": text}
        self._change({"textContent": [{"document": document, "changes": [edit]}]})

    def run(self, number: int) -> None:
        """Run a cell: its summary changes."""
        summary = {"executionOrder": 1, "success": True}
        self.cells[number] = {**self.cells[number], "executionSummary": summary}
        self._change({"data": [self.cells[number]]})

    def close(self) -> None:
        """Close it."""
        identifiers = [{"uri": cell["document"]} for cell in self.cells]
        params = {"notebookDocument": {"uri": self.uri}, "cellTextDocuments": identifiers}
        self._client.notify("notebookDocument/didClose", params)

    def ask(self, number: int, line: int, character: int, **context: Any) -> list[Message]:
        """Ask for a completion in a cell; the items, without what accepting them executes."""
        items = self.offers(number, line, character, **context)
        return [{name: item[name] for name in ("insertText", "range")} for item in items]

    def offers(self, number: int, line: int, character: int, **context: Any) -> list[Message]:
        """Ask for a completion in a cell; the items as they come."""
        params = {
            "textDocument": {"uri": self.uri_of(number)},
            "position": place((line, character)),
            "context": {"triggerKind": 1, **context},
        }
        items: list[Message] = self._client.call("textDocument/inlineCompletion", params)["items"]
        return items

    def _made(self, cell: str) -> Message:
        kind, _, text = cell.partition(":") if cell.startswith(("md:", "sql:")) else ("", "", cell)
        language = {"md": "markdown", "sql": "sql", "": "python"}[kind]
        uri = f"{SCHEME}:{self._path}#W{next(self._numbers)}sZmlsZQ%3D%3D"
        self.cells.append({"kind": 1 if kind == "md" else 2, "document": uri})
        return self._item(uri, language, text)

    def _item(self, uri: str, language: str, text: str) -> Message:
        self.texts[uri], self.languages[uri] = text, language
        return {"uri": uri, "languageId": language, "version": 1, "text": text}

    def _splice(
        self,
        start: int,
        count: int,
        cells: list[Message],
        *,
        opened: list[Message] | None = None,
        closed: list[Message] | None = None,
    ) -> None:
        array = {"start": start, "deleteCount": count, "cells": cells}
        self.cells[start : start + count] = cells
        structure = {"array": array, "didOpen": opened or [], "didClose": closed or []}
        self._change({"structure": structure})

    def _change(self, cells: Message) -> None:
        document = {"uri": self.uri, "version": next(self._versions)}
        params = {"notebookDocument": document, "change": {"cells": cells}}
        self._client.notify("notebookDocument/didChange", params)
