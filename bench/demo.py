"""The main job, shown: one completion with its sources, then a line typed over LSP.

python -m bench.demo
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from rich.console import Console
from rich.table import Table

SAMPLE = Path(__file__).parent / "samples" / "inventory.py"
LINE = 24
"""The line of the sample, from 1, that is completed and typed."""

TYPED = "total = sum("
LOAD_SECONDS = 120
console = Console()


def main() -> int:
    """Show both."""
    console.rule("1. specls complete: which tokens were drafted, and which the target wrote")
    place = f"{SAMPLE.relative_to(Path.cwd()) if _is_here() else SAMPLE}:{LINE}:9"
    command = [sys.executable, "-m", "specls", "complete", place, "--speculation", "draft"]
    done = subprocess.run(command, check=False)
    if done.returncode:
        return done.returncode
    console.rule("2. a language server session: what came after each key")
    return asyncio.run(_session())


def _is_here() -> bool:
    return SAMPLE.is_relative_to(Path.cwd())


class Editor(LanguageClient):
    """As much of an editor as typing takes."""

    def __init__(self) -> None:
        super().__init__("specls-demo", "1")
        self.loaded = asyncio.Event()
        self.messages: list[str] = []
        self.document_version = 1
        self.feature(types.PROGRESS)(partial(self._progress))
        self.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda _params: None)
        self.feature(types.WINDOW_SHOW_MESSAGE)(partial(self._message))

    def _progress(self, params: types.ProgressParams) -> None:
        value: Any = params.value
        if (value["kind"] if isinstance(value, dict) else value.kind) == "end":
            self.loaded.set()

    def _message(self, params: types.ShowMessageParams) -> None:
        self.messages.append(params.message)

    async def open(self, uri: str, text: str) -> None:
        """Start the server, open the document, wait until the models are there."""
        await self.start_io(sys.executable, "-m", "specls", "serve", "--stdio")
        window = types.WindowClientCapabilities(work_done_progress=True)
        await self.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(window=window),
                process_id=os.getpid(),
                initialization_options={"maxTokens": 24},
            )
        )
        self.initialized(types.InitializedParams())
        item = types.TextDocumentItem(uri, "python", self.document_version, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await asyncio.wait_for(self.loaded.wait(), LOAD_SECONDS)

    def type(self, uri: str, position: types.Position, text: str) -> None:
        """Insert text."""
        self.document_version += 1
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.document_version, uri),
                [types.TextDocumentContentChangePartial(types.Range(position, position), text)],
            )
        )

    async def ghost(self, uri: str, position: types.Position) -> tuple[str, float]:
        """The text that would appear behind the cursor, and the milliseconds until it came."""
        started = perf_counter()
        answer = await self.text_document_inline_completion_async(
            types.InlineCompletionParams(
                context=types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
                text_document=types.TextDocumentIdentifier(uri),
                position=position,
            )
        )
        milliseconds = 1000 * (perf_counter() - started)
        items = answer.items if isinstance(answer, types.InlineCompletionList) else answer
        return _behind(items[0], position) if items else "", milliseconds


def _behind(item: types.InlineCompletionItem, position: types.Position) -> str:
    assert isinstance(item.insert_text, str)
    assert item.range is not None
    return item.insert_text[position.character - item.range.start.character :]


async def _session() -> int:
    editor, uri = Editor(), SAMPLE.resolve().as_uri()
    await editor.open(uri, SAMPLE.read_text(encoding="utf-8"))
    for message in editor.messages:
        console.print(message, style="yellow")
    table = Table()
    for name in ("typed so far", "after", "answered by", "read"):
        table.add_column(name, no_wrap=True)
    table.add_column("ghost text", overflow="fold")
    line, column = LINE - 1, 8
    for count in range(len(TYPED) + 1):
        if count:
            editor.type(uri, types.Position(line, column), TYPED[count - 1])
            column += 1
        text, milliseconds = await editor.ghost(uri, types.Position(line, column))
        stats = await editor.protocol.send_request_async("specls/stats")
        last = stats.lastCompletion
        table.add_row(
            TYPED[:count],
            f"{milliseconds:.0f} ms",
            last.origin,
            str(last.promptTokens - last.reusedTokens),
            text.replace("\n", "⏎") or "(nothing)",
        )
    console.print(table)
    await editor.shutdown_async(None)
    editor.exit(None)
    await editor.stop()  # type: ignore[no-untyped-call]
    return 0


if __name__ == "__main__":
    sys.exit(main())
