"""Helix, which shows no ghost text: suggestions in its completion menu, as its page sets it up."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.rawclient import ROOT
from tests.editors.conversation import CACHE, Conversation, artefact
from tests.editors.recorder import said
from tests.editors.terminal import Terminal, terminal

pytestmark = pytest.mark.editors

HELIX = CACHE / "helix"
RULES = {
    "total = pri": "ces[0]",
    "def mul(": "a, b",
    "# é😀 tot": "al 😀 end",
    "    if val": "ue:\n        return 1",
}
COMPLETION = "textDocument/completion"

Open = Callable[..., tuple[Terminal, Conversation]]


def set_up(talk: Conversation) -> Path:
    """Helix' configuration folder, from the block of our page; only the server is another one."""
    page = (ROOT / "editors" / "helix" / "README.md").read_text("utf-8")
    block = re.search(r"```toml\n(\[language-server\.specls\]\n.*?)```", page, re.DOTALL)
    assert block is not None
    program, *arguments = talk.command
    settings = ", ".join(f"{name} = {json.dumps(value)}" for name, value in talk.settings.items())
    text = block[1].replace('command = "specls"', f"command = {json.dumps(program)}")
    text = text.replace('args = ["serve"]', f"args = {json.dumps(arguments)}")
    text = re.sub(r"^config = .*$", f"config = {{ {settings} }}", text, flags=re.MULTILINE)
    # The page's other server of this language isn't on every machine.
    text = re.sub(r'language-servers = \[.*"specls"\]', 'language-servers = ["specls"]', text)
    folder = talk.folder / "config"
    (folder / "helix").mkdir(parents=True)
    (folder / "helix" / "languages.toml").write_text(text, "utf-8")
    return folder


@contextlib.contextmanager
def helix(talk: Conversation, file: Path) -> Iterator[Terminal]:
    """Helix with this file, when its server is ready, in insert mode at the file's end."""
    env = talk.env | {
        "HELIX_RUNTIME": str(HELIX / "root/usr/lib/hx/runtime"),
        "XDG_CONFIG_HOME": str(set_up(talk)),
        "XDG_CACHE_HOME": str(talk.folder / "cache"),
    }
    with terminal([str(HELIX / "bin/hx"), str(file)], talk.folder, env=env) as seen:
        talk.until(lambda: talk.editor("textDocument/didOpen"))
        seen.keys("g", "e", "i")
        seen.until_text(" INS ")
        yield seen


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens a text in Helix, with a server that writes by rules."""
    with ExitStack() as stack:

        def start(text: str = "\n") -> tuple[Terminal, Conversation]:
            talk = Conversation(tmp_path, RULES)
            return stack.enter_context(helix(talk, talk.write("a.py", text))), talk

        yield start


def loaded(talk: Conversation) -> bool:
    """Whether Helix was told that the model is loaded: it shows a progress for that."""
    told = said(talk.log, "server", "$/progress")
    return any(each["params"]["value"]["kind"] == "end" for each in told)


def saved(seen: Terminal, talk: Conversation, text: str) -> None:
    """Save, and see that the file is this."""
    seen.keys("Escape")
    seen.until_text(" NOR ")
    seen.type(":write")
    seen.keys("Enter")
    talk.until_file(talk.folder / "a.py", text)


def test_a_suggestion_is_in_the_menu_and_accepted(opened: Open) -> None:
    """While a word is typed the menu opens with it; Tab selects it and Enter puts it in."""
    seen, talk = opened()
    seen.type("total = pri")
    screen = seen.until_text("prices[0]")
    artefact(seen, "helix-menu")
    assert next(line for line in screen.lines if "total = pri" in line).endswith("total = pri")
    seen.keys("Tab", "Enter")
    seen.until_text("total = prices[0]")
    saved(seen, talk, "total = prices[0]\n")


def test_a_suggestion_is_asked_for(opened: Open) -> None:
    """Ctrl-X opens the menu where no word is being typed."""
    seen, talk = opened()
    seen.type("def mul(")
    seen.keys("C-x")
    seen.until_text("a, b text")
    seen.keys("Tab", "Enter")
    saved(seen, talk, "def mul(a, b)\n")


def test_several_lines_keep_their_indentation(opened: Open) -> None:
    """Helix indents what is put in; that is allowed for."""
    seen, talk = opened("def f():\n    \n")
    seen.keys("End")
    seen.type("if val")
    seen.until_text("value: …")
    artefact(seen, "helix-lines")
    seen.keys("Tab", "Enter")
    saved(seen, talk, "def f():\n    if value:\n        return 1\n")


def test_line_endings_stay_those_of_the_file(opened: Open) -> None:
    """A file with CRLF has only CRLF afterwards."""
    seen, talk = opened("def f():\r\n    \r\n")
    seen.keys("End")
    seen.type("if val")
    seen.until_text("value: …")
    seen.keys("Tab", "Enter")
    saved(seen, talk, "def f():\r\n    if value:\r\n        return 1\r\n")


def test_columns_are_right_behind_an_emoji(opened: Open) -> None:
    """Helix prefers to count bytes, and the server agrees."""
    seen, talk = opened()
    seen.type("# é😀 tot")
    seen.until_text("total 😀 end")
    assert talk.params(COMPLETION)[-1]["position"]["character"] == len("# é😀 tot".encode())
    seen.keys("Tab", "Enter")
    saved(seen, talk, "# é😀 total 😀 end\n")


def test_the_menu_goes_away(opened: Open) -> None:
    """Ctrl-C closes it, and the text stays as it was."""
    seen, talk = opened()
    seen.type("total = pri")
    seen.until_text("prices[0]")
    seen.keys("C-c")
    seen.until(lambda screen: "prices[0]" not in screen.text)
    saved(seen, talk, "total = pri\n")


@pytest.mark.model
def test_the_real_model_suggests(tmp_path: Path) -> None:
    """What the real model says is in the menu, and accepted as it was sent."""
    talk = Conversation(tmp_path)
    text = "def add(a, b):\n    return a + b\n\n\ndef multiply(a, b):\n    "
    file = talk.write("a.py", f"{text}\n")
    with helix(talk, file) as seen:
        talk.until(lambda: loaded(talk), 240)
        seen.keys("End")
        seen.type("ret")
        talk.until(lambda: any(each["items"] for each in talk.answers(COMPLETION)), 240)
        item = talk.answers(COMPLETION)[-1]["items"][0]
        seen.until_text(item["label"])
        artefact(seen, "helix-real")
        seen.keys("Tab", "Enter")
        saved(seen, talk, f"{text}{item['textEdit']['newText']}\n")
