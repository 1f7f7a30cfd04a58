"""The Vim plugin in Vim: what is seen on the screen, what stands in the file, what is said."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.rawclient import ROOT
from tests.editors.conversation import Conversation, artefact
from tests.editors.replay import replay
from tests.editors.terminal import Screen, Terminal, terminal

pytestmark = pytest.mark.editors

PLUGIN = ROOT / "editors" / "vim"
GHOST = "38;5;244"
RULES = {
    "def mul(": "a, b):\n    return a * b",
    "x = ": "add(1, 2)",
    "é😀 = ": "'ok 😀 end'",
    "call(": "one)",
}
_RC = """set nocompatible noswapfile noshowcmd
syntax on
filetype plugin on
set runtimepath^={plugin}
set laststatus=2 statusline=%f\\ %{{specls#Statusline()}}
let g:specls = json_decode('{options}')
"""

Open = Callable[..., tuple[Terminal, Conversation]]


def ghost(screen: Screen) -> list[str]:
    """The ghost text that is seen, row by row."""
    return screen.styled(GHOST)


@contextlib.contextmanager
def vim(talk: Conversation, file: Path) -> Iterator[Terminal]:
    """Vim with this file, when its server is ready."""
    options = json.dumps({"cmd": talk.command, "settings": talk.settings}).replace("'", "''")
    rc = talk.folder / "vimrc"
    rc.write_text(_RC.format(plugin=PLUGIN, options=options), "utf-8")
    command = ["vim.nox", "-u", str(rc), "-i", "NONE", str(file)]
    with terminal(command, talk.folder, env=talk.env) as seen:
        talk.until(lambda: talk.editor("textDocument/didOpen"))
        yield seen


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens a text in Vim, with a server that writes by rules."""
    with ExitStack() as stack:

        def start(
            text: str = "\n", rules: Mapping[str, str] = RULES, name: str = "a.py"
        ) -> tuple[Terminal, Conversation]:
            talk = Conversation(tmp_path, rules)
            return stack.enter_context(vim(talk, talk.write(name, text))), talk

        yield start


def partly(talk: Conversation) -> list[int]:
    """How much was accepted, as the server was told each time."""
    told = talk.params("textDocument/didPartiallyAcceptCompletion")
    return [each["acceptedLength"] for each in told]


def saved(seen: Terminal, talk: Conversation, text: str, name: str = "a.py") -> None:
    """Save, and see that the file is this."""
    seen.keys("Escape")
    seen.type(":write\n")
    talk.until_file(talk.folder / name, text)


def test_ghost_text_is_shown_and_accepted(opened: Open) -> None:
    """Several lines are seen behind the cursor and below, and Tab puts just these into the file."""
    seen, talk = opened()
    seen.type("idef mul(")
    screen = seen.until(lambda screen: len(ghost(screen)) == 2)
    artefact(seen, "vim-ghost")
    assert ghost(screen) == ["a, b):", "    return a * b"]
    assert screen.lines[:2] == ["def mul(a, b):", "    return a * b"]
    assert (screen.column, screen.row) == (len("def mul("), 0)
    seen.keys("Tab")
    screen = seen.until(lambda screen: not ghost(screen))
    assert screen.lines[:2] == ["def mul(a, b):", "    return a * b"]
    assert (screen.column, screen.row) == (len("    return a * b"), 1)
    told = talk.until(lambda: talk.params("workspace/executeCommand"))
    assert [each["command"] for each in told] == ["specls.didAcceptCompletion"]
    saved(seen, talk, "def mul(a, b):\n    return a * b\n")


def test_tab_is_a_tab_where_nothing_is_shown(opened: Open) -> None:
    """The key keeps what it does."""
    seen, talk = opened()
    seen.type("iif y:\n")
    seen.keys("Tab")
    seen.type("z")
    saved(seen, talk, "if y:\n    z\n")


def test_a_suggestion_is_dismissed(opened: Open) -> None:
    """Ctrl-] takes it away, the text stays as it was, and the server is told."""
    seen, talk = opened()
    seen.type("ix = ")
    seen.until(lambda screen: ghost(screen) == ["add(1, 2)"])
    seen.keys("C-]")
    screen = seen.until(lambda screen: not ghost(screen))
    assert screen.lines[0] == "x ="
    told = talk.until(lambda: talk.params("specls/didRejectCompletion"))
    assert [(each["item"]["insertText"], each["ignored"]) for each in told] == [
        ("x = add(1, 2)", False)
    ]
    saved(seen, talk, "x = \n")


def test_a_suggestion_is_accepted_by_word_and_line(opened: Open) -> None:
    """What was accepted is in the file, the rest stays a ghost, the server is told how much."""
    seen, talk = opened()
    seen.type("idef mul(")
    seen.until(lambda screen: len(ghost(screen)) == 2)
    seen.keys("C-Right")
    seen.until(lambda screen: ghost(screen) == [", b):", "    return a * b"])
    seen.keys("C-Down")
    seen.until(lambda screen: ghost(screen) == ["    return a * b"])
    seen.keys("C-Right")
    screen = seen.until(lambda screen: ghost(screen) == [" a * b"])
    assert screen.lines[:2] == ["def mul(a, b):", "    return a * b"]
    lengths = [len(text) for text in ("def mul(a", "def mul(a, b):", "def mul(a, b):\n    return")]
    talk.until(lambda: partly(talk) == lengths)
    seen.keys("Escape")
    seen.until(lambda screen: not ghost(screen))
    saved(seen, talk, "def mul(a, b):\n    return\n")


def test_a_suggestion_stays_while_it_is_typed(opened: Open) -> None:
    """Typing what it says shortens it without asking again; typing something else ends it."""
    seen, talk = opened()
    seen.type("ix = ")
    seen.until(lambda screen: ghost(screen) == ["add(1, 2)"])
    asked = len(talk.editor("textDocument/inlineCompletion"))
    seen.type("ad")
    seen.until(lambda screen: ghost(screen) == ["d(1, 2)"])
    assert len(talk.editor("textDocument/inlineCompletion")) == asked
    seen.type("z")
    screen = seen.until(lambda screen: not ghost(screen))
    assert screen.lines[0] == "x = adz"
    talk.until(lambda: len(talk.editor("textDocument/inlineCompletion")) == asked + 1)


def test_columns_are_right_behind_an_emoji(opened: Open) -> None:
    """The server gets UTF-16 columns, and what it answers lands where it belongs."""
    seen, talk = opened()
    seen.type("ié😀 = ")
    seen.until(lambda screen: ghost(screen) == ["'ok 😀 end'"])
    artefact(seen, "vim-emoji")
    asked = talk.params("textDocument/inlineCompletion")[-1]
    assert asked["position"] == {"line": 0, "character": 6}
    seen.keys("C-Right", "C-Right", "C-Right")
    seen.until(lambda screen: ghost(screen) == [" end'"])
    talk.until(lambda: partly(talk)[-1:] == [len(" = 'ok ") + 2])
    seen.keys("Tab")
    saved(seen, talk, "é😀 = 'ok 😀 end'\n")


def test_a_suggestion_is_shown_inside_of_a_line(opened: Open) -> None:
    """What stands behind the cursor stays behind it."""
    seen, talk = opened(rules={"call(": "one, two"})
    seen.type("icall + 1")
    seen.keys(*["Left"] * len(" + 1"))
    seen.type("(")
    screen = seen.until(lambda screen: ghost(screen) == ["one, two"])
    artefact(seen, "vim-inside")
    assert screen.lines[0] == "call(one, two + 1"
    seen.keys("Tab")
    saved(seen, talk, "call(one, two + 1\n")


def test_line_endings_stay_those_of_the_file(opened: Open) -> None:
    """A file with CRLF has only CRLF afterwards, and the server was told so."""
    seen, talk = opened("y = 1\r\n\r\n")
    seen.type("jidef mul(")
    seen.until(lambda screen: len(ghost(screen)) == 2)
    (document,) = talk.params("textDocument/didOpen")
    assert document["textDocument"]["text"] == "y = 1\r\n\r\n"
    assert talk.answers("textDocument/inlineCompletion")[-1]["items"][0]["insertText"] == (
        "def mul(a, b):\r\n    return a * b"
    )
    seen.keys("C-Down", "Tab")
    seen.until(lambda screen: not ghost(screen))
    saved(seen, talk, "y = 1\r\ndef mul(a, b):\r\n    return a * b\r\n")


def test_an_answer_that_comes_too_late_is_dropped(opened: Open) -> None:
    """The cursor went on while the server answered: nothing is shown."""
    seen, talk = opened()
    talk.until_ready()
    seen.type("i")
    talk.hold()
    seen.type("x = ")
    talk.until(lambda: any(each["items"] for each in talk.answers("textDocument/inlineCompletion")))
    seen.keys("Left")
    seen.until(lambda screen: screen.column == 3)
    talk.release()
    seen.keys("Home")
    screen = seen.until(lambda screen: screen.column == 0)
    assert (screen.lines[0], ghost(screen)) == ("x =", [])


def test_a_file_is_called_what_the_protocol_calls_it(opened: Open) -> None:
    """Blanks and letters of all kinds are escaped in its URI."""
    _, talk = opened(name="ä b%.py")
    told = talk.params("textDocument/didOpen")[0]["textDocument"]
    assert told["uri"] == (talk.folder / "ä b%.py").as_uri()


def test_the_server_has_what_the_buffer_has(opened: Open) -> None:
    """After edits of all kinds, undone and done again, both have the same text."""
    seen, talk = opened("a\nb\nc\nd\n", {})
    seen.type(":2,3delete\n")
    seen.type("uggOtop\x1bjJ:%s/[a-d]/&&/\nGo😀\x1bggddpu:1move $\n:sort\n")
    seen.type("gg0iq\x1b:normal! 2yyGp\n")
    seen.type(":write\n")
    talk.until(lambda: talk.editor("textDocument/didSave"))
    text = (talk.folder / "a.py").read_text("utf-8")
    assert ("😀" in text, len(text.splitlines())) == (True, 6)
    assert replay(talk) == text


def test_another_suggestion_is_shown(opened: Open) -> None:
    """Ctrl-G n asks for more than one, as somebody who wants to choose."""
    seen, talk = opened()
    seen.type("ix = ")
    seen.until(lambda screen: ghost(screen) == ["add(1, 2)"])
    seen.keys("C-g", "n")
    talk.until(
        lambda: talk.params("textDocument/inlineCompletion")[-1]["context"] == {"triggerKind": 1}
    )


def test_what_the_server_does_can_be_seen(opened: Open) -> None:
    """:Specls says how it is, what it counted and what the model is given."""
    seen, talk = opened("x = 1\n")
    talk.until_ready()
    seen.type(":Specls status\n")
    seen.until_text("specls: scripted is ready.")
    seen.type(":Specls stats\n")
    seen.until_text("target: scripted")
    seen.type(":q\n:Specls context\n")
    seen.until_text("kind: marker")
    seen.type(":q\n:Specls log\n")
    seen.until_text("specls://log")
    seen.type(":q\n:Specls nothing\n")
    seen.until_text("there is no :Specls nothing")


def test_suggestions_are_turned_off_and_on(opened: Open) -> None:
    """Off, nothing is asked and the status line says so."""
    seen, talk = opened()
    seen.type(":Specls disable\n")
    seen.until_text("a.py specls off")
    asked = len(talk.editor("textDocument/inlineCompletion"))
    seen.type("ix = \x1b:Specls enable\n")
    seen.until_text("specls\n")
    assert len(talk.editor("textDocument/inlineCompletion")) == asked
    seen.type("A")
    seen.until(lambda screen: ghost(screen) == ["add(1, 2)"])


def test_a_missing_program_is_one_message(tmp_path: Path) -> None:
    """It says what to do, once, and typing goes on."""
    talk = Conversation(tmp_path, {})
    talk.command = ["specls-is-not-here"]
    rc = tmp_path / "vimrc"
    rc.write_text(_RC.format(plugin=PLUGIN, options=json.dumps({"cmd": talk.command})), "utf-8")
    file = talk.write("a.py", "\n")
    with terminal(["vim.nox", "-u", str(rc), "-i", "NONE", str(file)], tmp_path) as seen:
        screen = seen.until_text("there is no program")
        assert "pipx install ." in " ".join(screen.lines)
        seen.keys("Enter")
        seen.type("ix = 1")
        saved(seen, talk, "x = 1\n")


def test_a_server_that_dies_is_started_again(opened: Open) -> None:
    """After a second it's back, knows the file, and suggests."""
    seen, talk = opened()
    seen.type(":call job_stop(job_info()[0], 'kill')\n")
    talk.until(lambda: len(talk.editor("textDocument/didOpen")) == 2)
    seen.type("ix = ")
    seen.until(lambda screen: ghost(screen) == ["add(1, 2)"])


def test_all_functions_compile(tmp_path: Path) -> None:
    """Vim compiles a function when it's called first; here all of them are, at once."""
    copy = tmp_path / "vim"
    subprocess.run(["cp", "-r", str(PLUGIN), str(copy)], check=True)
    commands = [f"set nocompatible runtimepath^={copy}"]
    for script in sorted(copy.glob("**/*.vim")):
        if script.parent.name != "test":
            script.write_text(script.read_text("utf-8") + "\ndefcompile\n", "utf-8")
            commands.append(f"source {script}")
    rc = tmp_path / "compile.vim"
    rc.write_text("\n".join([*commands, "qall!"]), "utf-8")
    done = subprocess.run(
        ["vim.nox", "-es", "-u", "NONE", "-i", "NONE", "-V1", "-S", str(rc)],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr.decode().strip()) == (0, "")


@pytest.mark.model
def test_the_real_model_suggests(tmp_path: Path) -> None:
    """What the real model says is seen, and accepted as it was sent."""
    talk = Conversation(tmp_path)
    file = talk.write("a.py", "def add(a, b):\n    return a + b\n\n\n\n")
    with vim(talk, file) as seen:
        seen.until_text("a.py specls\n", 240)
        seen.type("Gidef multiply(a, b):\n    ret")
        seen.until(lambda screen: bool(ghost(screen)), 240)
        artefact(seen, "vim-real")
        insert = talk.answers("textDocument/inlineCompletion")[-1]["items"][0]["insertText"]
        seen.keys("Tab")
        text = f"def add(a, b):\n    return a + b\n\n\ndef multiply(a, b):\n{insert}\n"
        saved(seen, talk, text)
