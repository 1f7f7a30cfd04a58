"""The page with Monaco in Chromium, with a server over a WebSocket."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.e2e.rawclient import ROOT
from tests.editors.conversation import STUB, Conversation
from tests.editors.workbench import SCREENS, chromium

pytestmark = pytest.mark.editors

PAGE = ROOT / "editors" / "monaco"
RULES = {
    "if x:": "\n    return a * b",
    "x = ": "add(1, 2)",
    "é😀 = ": "'ok 😀 end'",
}
_GHOST = "[class*=ghost-text]"
_TEXT = "() => editor.getModel().getValue()"
_EMPTY = "() => editor.getModel().setValue('')"


class Window:
    """The page, with an empty text."""

    def __init__(self, page: Any, talk: Conversation) -> None:
        self.page = page
        self.talk = talk

    def start_over(self) -> None:
        """An empty text and no suggestion."""
        self.page.keyboard.press("Escape")
        self.page.evaluate(_EMPTY)
        self.until_ghost("")

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def until_ghost(self, text: str) -> None:
        """Wait until the ghost text is this, in one line."""
        found = (
            "([selector, wanted]) => [...document.querySelectorAll(selector)]"
            ".filter((each) => !each.querySelector(selector))"
            ".map((each) => each.textContent.replace(/\\u00a0/g, ' ')).join('') === wanted"
        )
        self.page.wait_for_function(found, arg=[_GHOST, text])

    def until_text(self, text: str) -> None:
        """Wait until the editor's text is this."""
        self.page.wait_for_function(f"(wanted) => ({_TEXT})() === wanted", arg=text)


@contextlib.contextmanager
def listening(command: list[str], word: str, **options: Any) -> Iterator[str]:
    """A process, while the block runs; the address behind ``word`` in the line that has it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        assert process.stdout is not None
        try:
            line = next(line for line in process.stdout if word in line)
            yield line.split(word)[1].split()[0].rstrip(".")
        finally:
            process.kill()


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """The page in Chromium, when the server is ready."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only these tests need it

    assert (PAGE / "dist" / "page.js").exists(), "not built: tests/editors/setup_monaco.sh"
    talk = Conversation(tmp_path_factory.mktemp("monaco"), RULES)
    serve = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with listening(serve, "port ", cwd=PAGE, stderr=subprocess.DEVNULL) as port:
        origin = f"http://127.0.0.1:{port}"
        server = [*STUB, "--ws", "127.0.0.1:0", "--allow-origin", origin]
        with (
            listening(server, "listening on ", env=talk.env, cwd=ROOT) as place,
            sync_playwright() as play,
        ):
            context = chromium(play, tmp_path_factory.mktemp("profile"))
            page = context.pages[0]
            page.set_default_timeout(30_000)
            record(page, talk.log)
            query = urlencode({"server": place, "settings": json.dumps(talk.settings)})
            page.goto(f"{origin}/?{query}")
            page.wait_for_function(
                "() => document.getElementById('status').textContent.endsWith('is ready.')"
            )
            yield Window(page, talk)
            context.close()


def record(page: Any, log: Path) -> None:
    """Write down what the page and the server say, as the recorder does."""

    def add(sender: str, payload: str | bytes) -> None:
        line = json.dumps({"from": sender, "at": 0, "message": json.loads(payload)})
        with log.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def follow(socket: Any) -> None:
        socket.on("framesent", lambda payload: add("editor", payload))
        socket.on("framereceived", lambda payload: add("server", payload))

    page.on("websocket", follow)


@pytest.fixture
def editor(window: Window) -> Window:
    """The page with an empty text."""
    window.start_over()
    return window


def test_ghost_text_is_shown_and_accepted(editor: Window) -> None:
    """Several lines are seen, Tab puts them in, and the server is told."""
    editor.type("if x:")
    editor.until_ghost("    return a * b")
    SCREENS.mkdir(exist_ok=True)
    editor.page.screenshot(path=SCREENS / "monaco-ghost.png")
    editor.press("Tab")
    editor.until_text("if x:\n    return a * b")
    commands = [each["command"] for each in editor.talk.params("workspace/executeCommand")]
    assert commands == ["specls.didAcceptCompletion"]


def test_a_suggestion_is_dismissed(editor: Window) -> None:
    """Escape takes it away, and the text stays as it was."""
    editor.type("x = ")
    editor.until_ghost("add(1, 2)")
    editor.press("Escape")
    editor.until_ghost("")
    editor.until_text("x = ")


def test_a_word_is_accepted(editor: Window) -> None:
    """The rest stays a ghost, and the server is told how much."""
    editor.type("x = ")
    editor.until_ghost("add(1, 2)")
    editor.press("Control+ArrowRight")
    editor.until_text("x = add")
    editor.until_ghost("(1, 2)")
    told = editor.talk.params("textDocument/didPartiallyAcceptCompletion")
    assert told[-1]["acceptedLength"] == len("x = add")


def test_a_suggestion_stays_while_it_is_typed(editor: Window) -> None:
    """Typing what it says shortens it; typing something else ends it."""
    editor.type("x = ")
    editor.until_ghost("add(1, 2)")
    editor.type("ad")
    editor.until_ghost("d(1, 2)")
    editor.type("z")
    editor.until_ghost("")
    editor.until_text("x = adz")


def test_columns_are_right_behind_an_emoji(editor: Window) -> None:
    """Both count UTF-16 code units."""
    editor.type("é😀 = ")
    editor.until_ghost("'ok 😀 end'")
    asked = editor.talk.params("textDocument/inlineCompletion")[-1]
    assert asked["position"] == {"line": 0, "character": 6}
    editor.press("Tab")
    editor.until_text("é😀 = 'ok 😀 end'")
