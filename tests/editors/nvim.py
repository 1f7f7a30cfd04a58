"""The Neovims that `setup_nvim.sh` puts on this machine, with the plugin, in a terminal."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.e2e.rawclient import ROOT
from tests.editors.conversation import CACHE, Conversation, artefact
from tests.editors.recorder import said
from tests.editors.terminal import Screen, Terminal, terminal

PLUGIN = ROOT / "editors" / "nvim"
FOLDER = CACHE / "nvim"
VERSIONS = ("0.10", "0.11", "0.12")


METHOD = "textDocument/inlineCompletion"
SETTINGS = {"alternatives": 3, "confidence": 0.0, "answerBudgetMs": 0}
"""What is suggested depends neither on the machine nor on how sure the model is."""
GHOST, HINT = "38;5;244", "38;5;178"
_INIT = """
vim.opt.runtimepath:prepend('{plugin}')
vim.o.termguicolors = false
vim.o.autoindent = false
vim.cmd('filetype indent off')
vim.o.laststatus = 2
vim.o.statusline = "%t [%{{v:lua.require'specls'.statusline()}}]"
vim.o.shortmess = vim.o.shortmess .. 'I'
vim.api.nvim_set_hl(0, 'SpeclsGhost', {{ ctermfg = 244 }})
vim.api.nvim_set_hl(0, 'SpeclsHint', {{ ctermfg = 178 }})
require('specls').setup(vim.json.decode([==[{options}]==]))
"""


def program(version: str) -> str:
    """The path of a Neovim.

    Raises:
        FileNotFoundError: it isn't set up.
    """
    path = FOLDER / f"nvim-{version}"
    if not path.exists():
        raise FileNotFoundError(f"{path} isn't there: `make test-editors` sets it up.")
    return str(path)


@contextlib.contextmanager
def nvim(version: str, talk: Conversation, file: Path, **settings: object) -> Iterator[Terminal]:
    """Neovim with this file and the plugin."""
    options = {
        "cmd": talk.command,
        "settings": {**talk.settings, **SETTINGS, **settings},
        "keymaps": True,
    }
    init = talk.folder / "init.lua"
    init.write_text(_INIT.format(plugin=PLUGIN, options=json.dumps(options)), "utf-8")
    command = [program(version), "--clean", "-n", "-u", str(init), str(file)]
    with terminal(command, talk.folder, size=(100, 24), env=talk.env) as seen:
        yield seen


def keep(seen: Terminal, version: str, name: str) -> None:
    """Keep a screen for people to look at."""
    artefact(seen, f"nvim{version.removeprefix('0.')}-{name}")


def lines_of(text: str) -> list[str]:
    """A text as rows with something on them, as a screen tells them."""
    return [line.rstrip() for line in text.replace("\r\n", "\n").split("\n") if line.strip()]


class Session:
    """One Neovim for all tests of a version: the model is loaded once."""

    def __init__(self, version: str, seen: Terminal, talk: Conversation) -> None:
        self.version, self.seen, self.talk = version, seen, talk

    def open(self, name: str, text: str, keys: str = "") -> Path:
        """Edit a new file; then these keys, in normal mode."""
        file = self.talk.write(name, text)
        self.seen.keys("Escape")
        self.seen.type(f":edit! {name}\n")
        self.seen.until_text(f"\n{name} [specls")
        self.seen.type(keys)
        return file

    def ghost(self) -> Screen:
        """Wait for a ghost that is the last thing that was sent; the screen."""
        return self.seen.until(lambda screen: lines_of(self.rest()) == screen.styled(GHOST) != [])

    def until_ghost(self, text: str) -> Screen:
        """Wait until this is the ghost."""
        return self.seen.until(lambda screen: screen.styled(GHOST) == lines_of(text))

    def accept(self) -> None:
        """Take all of it, and wait until the server knows."""
        before = len(self.talk.params("workspace/executeCommand"))
        self.seen.keys("Tab")
        self.talk.until(lambda: len(self.talk.params("workspace/executeCommand")) > before)

    def gone(self) -> Screen:
        """Wait until there's none."""
        return self.seen.until(lambda screen: not screen.styled(GHOST))

    def asked(self) -> Any:
        """The parameters of the newest request."""
        return self.talk.params(METHOD)[-1]

    def items(self) -> list[Any]:
        """All that was sent for the newest request, once it's answered: early, or as its answer."""
        asked = self.talk.editor(METHOD)
        if not asked:
            return []
        token = asked[-1]["params"].get("partialResultToken")
        items: list[Any] = []
        for message in said(self.talk.log, "server"):
            if message.get("method") == "$/progress":
                if message["params"]["token"] == token:
                    items = message["params"]["value"]
            elif message.get("id") == asked[-1]["id"] and "method" not in message:
                return (message.get("result") or {}).get("items") or items
        return []

    def rest(self) -> str:
        """What is to be inserted at the cursor, of the first item that was sent last."""
        items = self.items()
        if not items:
            return ""
        insert: str = items[0]["insertText"]
        place = self.asked()["position"]
        line, *_ = self.buffer()[place["line"] :] or [""]
        # An item covers the line from its beginning, or from behind an emoji.
        first = items[0]["range"]["start"]["character"]
        head = line.encode()[first : place["character"]].decode("utf-8", "replace")
        return insert.removeprefix(head) if insert.startswith(head) else ""

    def buffer(self) -> list[str]:
        """The text as the server has it, by what it was told."""
        opened = self.talk.params("textDocument/didOpen")[-1]["textDocument"]
        text = str(opened["text"])
        for change in self.talk.params("textDocument/didChange"):
            if change["textDocument"]["uri"] == opened["uri"]:
                for each in change["contentChanges"]:
                    text = edited(text, each)
        return text.replace("\r\n", "\n").split("\n")

    def saved(self, file: Path, text: str) -> None:
        """Save, and see that the file is this."""
        self.seen.keys("Escape")
        self.seen.type(":write\n")
        self.talk.until_file(file, text)

    def keep(self, name: str) -> None:
        """Keep the screen for people to look at."""
        keep(self.seen, self.version, name)


def edited(text: str, change: Any) -> str:
    """A text after a change whose columns count bytes."""
    if "range" not in change:
        return str(change["text"])
    lines = text.encode().split(b"\n")

    def offset(place: Any) -> int:
        before = lines[: place["line"]]
        return sum(len(line) + 1 for line in before) + int(place["character"])

    start, end = offset(change["range"]["start"]), offset(change["range"]["end"])
    whole = text.encode()
    new: str = change["text"]
    return (whole[:start] + new.encode() + whole[end:]).decode()
