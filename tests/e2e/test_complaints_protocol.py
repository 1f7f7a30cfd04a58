"""What users of other servers complained about: positions, ranges, menus, typing, failures."""

from __future__ import annotations

import random
import re

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import (
    change,
    complete,
    initialize,
    open_document,
    span,
    stats,
    wait_for_state,
    wish,
)
from tests.e2e.rawclient import Message
from tests.e2e.scripted import COMMAND, INLINE, OPTIONS, Scripted
from tests.fakes import MIDDLE, PREFIX, SUFFIX

pytestmark = pytest.mark.e2e

AUTOMATIC = 2
SIZES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


# -- 7: huggingface/llm-vscode#107, llm-ls#88; 8: terror/just-lsp#343, openlawlibrary/pygls#304 --


def _offset(text: str, line: int, character: int, encoding: str) -> int:
    """Where a client's position lies in a text, by another way than the server's."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)
    if line >= len(lines):
        return len(text)
    content = lines[line].rstrip("\r\n")
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    units = content.encode(codec)[: character * SIZES[encoding]]
    return sum(map(len, lines[:line])) + len(units.decode(codec, "ignore"))


def _document(prompt: str) -> str:
    """The text that a prompt of prefix, suffix and what was typed comes from."""
    prefix, suffix, middle = (chr(0xE000 + each) for each in (PREFIX, SUFFIX, MIDDLE))
    found = re.fullmatch(f"{prefix}(.*){suffix}(.*){middle}(.*)", prompt, re.DOTALL)
    assert found is not None
    return found[1] + found[3] + found[2]


@pytest.mark.parametrize("encoding", SIZES)
def test_any_place_before_in_and_behind_any_character(start: Start, encoding: str) -> None:
    """200 random edits and requests, also outside of the text: the server sees the client's text.

    The document is full of characters of two code units, and of every line ending.
    """
    server = Scripted(start(command=COMMAND))
    options = {"prefixTokens": 512, "suffixTokens": 512}
    server.ready(options, general={"positionEncodings": [encoding]})
    server.says("answer")
    chance = random.Random(encoding)
    text = "\U00010400a🤗b\r\n🤗\U00010400\n"
    uri = server.open(text)

    def somewhere() -> tuple[int, int]:
        return chance.randrange(6), chance.randrange(12)

    for _ in range(200):
        first, second = sorted((somewhere(), somewhere()))
        new = "".join(chance.choices(["\U00010400", "🤗", "é", "a", "\n", "\r\n", "\r"], k=3))
        new = chance.choice([new, new, ""]) if len(text) < 60 else ""
        server.client.notify("textDocument/didChange", change(first, second, new, uri))
        start_at, end_at = (_offset(text, *each, encoding) for each in (first, second))
        text = text[:start_at] + new + text[end_at:]
        at = somewhere()
        for item in server.items(*at):
            assert item["range"]["start"]["line"] == item["range"]["end"]["line"]
        assert _document(server.seen["prompt"]) == re.sub("\r\n?", "\n", text)
    assert stats(server.client)["requests"]["failed"] == 0


# -- 17: neovim/neovim#36529; 18: neovim/neovim#38721; microsoft/vscode#208152 -------------------


def test_a_key_and_then_accept(scripted: Scripted) -> None:
    """Who types another character and accepts the old item has the word once.

    A client replaces the range, grown to the cursor, by the item's text; the range has all of the
    line up to the cursor, so the text begins with what's there, the new character included.
    """
    scripted.says("bar(1)")
    uri = scripted.open("foo")
    (item,) = scripted.items(0, 3)
    assert (item["insertText"], item["range"]) == ("foobar(1)", span((0, 0), (0, 3)))
    scripted.client.notify("textDocument/didChange", change((0, 3), (0, 3), "b", uri))
    (again,) = scripted.items(0, 4, triggerKind=AUTOMATIC)
    assert (again["insertText"], again["range"]) == ("foobar(1)", span((0, 0), (0, 4)))


# -- 20: TabbyML/tabby#414 and #1053, microsoft/vscode#131940 and #166023, neovim#37288 ----------


def test_typing_through_shows_the_same_text(scripted: Scripted) -> None:
    """At each key of a suggestion the same line is suggested, and nothing is computed."""
    scripted.says("first + second")
    uri = scripted.open("total = \n")
    (item,) = scripted.items(0, 8, triggerKind=AUTOMATIC)
    before = stats(scripted.client)["requests"]["withoutModel"]
    for column, letter in enumerate("first + ", 8):
        edit = change((0, column), (0, column), letter, uri)
        scripted.client.notify("textDocument/didChange", edit)
        (now,) = scripted.items(0, column + 1, triggerKind=AUTOMATIC)
        assert now["insertText"] == item["insertText"] == "total = first + second"
    assert stats(scripted.client)["requests"]["withoutModel"] == before + 8


@pytest.mark.parametrize(
    ("line", "cursor", "selected", "expected"),
    [
        pytest.param(
            "home = os.pa",
            12,
            {"range": span((0, 10), (0, 12)), "text": "path.expanduser"},
            "path.expanduser(x)",
            id="an entry that goes on",
        ),
        pytest.param(
            "home = os.pa",
            12,
            {"range": span((0, 10), (0, 12)), "text": "Path"},
            "Path(x)",
            id="an entry that replaces",
        ),
        pytest.param(
            "home = os.paxy",
            12,
            {"range": span((0, 10), (0, 14)), "text": "path"},
            "path(x)",
            id="an entry that replaces what's behind the cursor",
        ),
        pytest.param(
            "home = os.",
            10,
            {"range": span((0, 10), (0, 10)), "text": "path"},
            "path(x)",
            id="nothing typed",
        ),
        pytest.param(
            "🤗 = os.pa",
            10,
            {"range": span((0, 8), (0, 10)), "text": "path"},
            "path(x)",
            id="behind a character of two units",
        ),
    ],
)
def test_the_selected_entry_is_extended(
    scripted: Scripted,
    line: str,
    cursor: int,
    selected: Message,
    expected: str,
) -> None:
    """An entry of the client's menu counts as typed: the item extends it, and has its range."""
    scripted.says("(x)")
    scripted.open(f"{line}\n")
    (item,) = scripted.items(0, cursor, selectedCompletionInfo=selected)
    assert (item["insertText"], item["range"]) == (expected, selected["range"])


def test_accepting_the_entry_shows_the_same_text(scripted: Scripted) -> None:
    """What was shown behind an entry of the menu is shown still when the entry is accepted."""
    scripted.says("(home)")
    uri = scripted.open("x = os.pa\n")
    selected = {"range": span((0, 7), (0, 9)), "text": "path"}
    (item,) = scripted.items(0, 9, triggerKind=AUTOMATIC, selectedCompletionInfo=selected)
    assert item["insertText"] == "path(home)"
    scripted.says("(other)")
    scripted.client.notify("textDocument/didChange", change((0, 7), (0, 9), "path", uri))
    (again,) = scripted.items(0, 11, triggerKind=AUTOMATIC)
    assert again["insertText"] == "x = os.path(home)"


# -- 22: TabbyML/tabby#4293 and #3313, ggml-org/llama.vim#61, llama.vscode#102 and #217 ----------


def test_a_failed_load_is_told_once(start: Start) -> None:
    """One message, no progress that stays, empty lists; other settings help without a restart."""
    server = Scripted(start(command=COMMAND))
    client = server.client
    initialize(client, OPTIONS | {"model": "missing"}, window={"workDoneProgress": True})
    wait_for_state(client, "failed")
    server.says("1")
    uri = server.open("x = ")
    for column in range(4, 24):
        client.notify("textDocument/didChange", change((0, column), (0, column), "a", uri))
        assert server.items(0, column + 1, triggerKind=AUTOMATIC) == []
    (message,) = client.shown()
    assert "missing isn't on this machine yet" in message["message"]
    kinds = [each["value"]["kind"] for each in client.notifications("$/progress")]
    assert kinds.count("begin") == kinds.count("end") <= 1
    assert server.seen["loads"] == 0
    client.notify("workspace/didChangeConfiguration", {"settings": {"specls": OPTIONS}})
    wait_for_state(client, "ready")
    assert len(server.items(0, 24)) == 1
    assert len(client.shown()) == 1


# -- 24: cursor/cursor#1388, microsoft/vscode-copilot-release#13619 and #10507, zed#60184 --------


def test_secrets_are_left_alone(start: Start) -> None:
    """Files of secrets get nothing and are never read; their templates are files like others."""
    server = Scripted(start(command=COMMAND)).ready({"exclude": ["private/"]})
    server.says("value")

    def completed(path: str) -> bool:
        server.open("TOKEN = ", uri=f"file:///project/{path}")
        return bool(server.items(0, 8))

    secrets = [".env", ".env.local", ".ssh/config", "private/a.py", "a/credentials.json"]
    assert [path for path in secrets if completed(path)] == []
    assert server.seen["characters"] == 0
    assert list(stats(server.client)["excluded"]) == [f"file:///project/{each}" for each in secrets]
    others = [".env.example", "environment.py", "src/secrets_test.py"]
    assert [path for path in others if completed(path)] == others
    settings = OPTIONS | {"exclude": ["!.env"]}
    server.client.notify("workspace/didChangeConfiguration", {"settings": {"specls": settings}})
    assert completed(".env")
    assert not completed(".env.local")


def test_a_language_can_be_switched_off(scripted: Scripted) -> None:
    """continuedev/continue#4311: `enable` says in which languages anything is completed."""

    def completed(language: str) -> bool:
        scripted.open("x = ", language)
        return bool(scripted.items(0, 4))

    scripted.says("value")
    settings = OPTIONS | {"enable": {"markdown": False}}
    scripted.client.notify("workspace/didChangeConfiguration", {"settings": {"specls": settings}})
    assert [completed(each) for each in ("markdown", "python")] == [False, True]
    scripted.client.notify("workspace/didChangeConfiguration", {"settings": {"specls": OPTIONS}})
    assert completed("markdown")


# -- further reports -----------------------------------------------------------------------------


def test_every_document_is_completed(scripted: Scripted) -> None:
    """milanglacier/minuet-ai.nvim#143: the second tab and those after it work like the first."""
    uris = [scripted.open(f"name{number} = ") for number in range(8)]
    for number, uri in [*enumerate(uris), *enumerate(uris)]:
        scripted.says(f"value{number}")
        (item,) = complete(scripted.client, 0, 8, uri)
        assert item["insertText"] == f"name{number} = value{number}"


def test_documents_opened_before_the_models_were_there(start: Start) -> None:
    """zed#35883: an editor opens its buffers in one breath with the handshake, and all work."""
    server = Scripted(start(command=COMMAND))
    client = server.client
    client.call(
        "initialize",
        {"processId": None, "capabilities": {}, "rootUri": None, "initializationOptions": OPTIONS},
    )
    early, late = "file:///project/early.py", "file:///project/late.py"
    open_document(client, "early = ", early)
    client.notify("initialized", {})
    open_document(client, "late = ", late)
    wait_for_state(client, "ready")
    server.says("1")
    assert [item["insertText"] for item in complete(client, 0, 8, early)] == ["early = 1"]
    assert [item["insertText"] for item in complete(client, 0, 7, late)] == ["late = 1"]


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "untitled:/project/new.py", "vim:///1"])
def test_documents_without_a_file(scripted: Scripted, uri: str) -> None:
    """A buffer that was never saved is completed like a file."""
    scripted.says("1")
    scripted.open("x = ", uri=uri)
    assert [item["insertText"] for item in scripted.items(0, 4)] == ["x = 1"]


def test_a_workspace_of_several_folders(start: Start) -> None:
    """Patterns begin at each folder of the workspace, those that came later included."""
    server = Scripted(start(command=COMMAND))
    client = server.client
    folders = [{"uri": f"file:///{name}", "name": name} for name in ("one", "two", "three")]
    client.call(
        "initialize",
        {
            "processId": None,
            "capabilities": {"workspace": {"workspaceFolders": True}},
            "rootUri": None,
            "workspaceFolders": folders[:2],
            "initializationOptions": OPTIONS | {"exclude": ["/build/"]},
        },
    )
    client.notify("initialized", {})
    wait_for_state(client, "ready")
    server.says("1")

    def completed(uri: str) -> bool:
        server.open("x = ", uri=uri)
        return bool(server.items(0, 4))

    assert [completed(f"file:///{name}/build/a.py") for name in ("one", "two")] == [False, False]
    assert completed("file:///three/build/a.py")
    assert completed("file:///one/src/build/a.py")
    event = {"added": folders[2:], "removed": folders[:1]}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    assert not completed("file:///three/build/a.py")
    assert completed("file:///one/build/a.py")


def test_who_asks_gets_no_old_text(scripted: Scripted) -> None:
    """twinny: an explicit request gets what the model says now and here, not what it said last."""
    scripted.says("old")
    scripted.open("x = \ny = \n")
    assert scripted.items(0, 4, triggerKind=AUTOMATIC)[0]["insertText"] == "x = old"
    scripted.says("new")
    assert scripted.items(1, 4, triggerKind=1)[0]["insertText"] == "y = new"
    assert scripted.items(0, 4, triggerKind=1)[0]["insertText"] == "x = new"


def test_an_empty_prefix(scripted: Scripted) -> None:
    """continuedev/continue#4194: at the very beginning, what follows is seen, and nothing else."""
    scripted.says("import os")
    scripted.open("\nx = os.path\n")
    (item,) = scripted.items(0, 0)
    assert (item["insertText"], item["range"]) == ("import os", span((0, 0), (0, 0)))
    assert _document(scripted.seen["prompt"]) == "\nx = os.path\n"


def test_what_was_just_deleted_isn_t_suggested(scripted: Scripted) -> None:
    """Zed's reversal ratio: while somebody deletes, the deleted text isn't suggested at once."""
    scripted.says("keep(first)")
    uri = scripted.open("x = 1\nkeep(first)\ny = 2\n")
    edit = change((1, 0), (1, 11), "", uri)
    scripted.client.notify("textDocument/didChange", edit)
    assert scripted.items(1, 0, triggerKind=AUTOMATIC) == []
    assert len(scripted.items(1, 0, triggerKind=1)) == 1


def test_inside_a_word_only_who_asks_gets_a_text(scripted: Scripted) -> None:
    """jupyterlab#17060: in the middle of a word nothing is suggested unless it's asked for."""
    scripted.says("r_")
    scripted.open("name = bana_split\n")
    assert scripted.items(0, 9, triggerKind=AUTOMATIC) == []
    assert len(scripted.items(0, 9, triggerKind=1)) == 1


def test_an_answer_is_for_the_text_when_it_was_asked(scripted: Scripted) -> None:
    """language-server-protocol#1529: an answer to an older text is empty, and comes."""
    scripted.says("1", endless=True)
    uri = scripted.open("x = ")
    identifier = scripted.client.next_id()
    request = {"jsonrpc": "2.0", "id": identifier, "method": INLINE, "params": wish(0, 4, uri)}
    edit = {
        "jsonrpc": "2.0",
        "method": "textDocument/didChange",
        "params": change((0, 0), (0, 4), "", uri),
    }
    scripted.client.send(request, edit)
    assert scripted.client.result(identifier) == {"items": []}
