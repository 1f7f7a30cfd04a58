"""The Emacs package in Emacs, by itself and under lsp-mode: what is seen, saved and said."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.rawclient import ROOT
from tests.editors.conversation import CACHE, Conversation, artefact
from tests.editors.replay import replay
from tests.editors.terminal import Screen, Terminal, terminal

pytestmark = pytest.mark.editors

PACKAGE = ROOT / "editors" / "emacs"
ARCHIVES = CACHE / "emacs/root/usr/share/emacs/site-lisp/elpa-src"
GHOST = "38;5;249"
INLINE = "textDocument/inlineCompletion"
RULES = {
    "def mul(": "a, b):\n    return a * b",
    "x = ": "add(1, 2)",
    "é😀 = ": "'ok 😀 end'",
    "call(": "one, two",
}
_COMMON = """
(setq inhibit-startup-screen t make-backup-files nil auto-save-default nil create-lockfiles nil
      mode-require-final-newline nil)
(menu-bar-mode -1)
(dolist (folder (file-expand-wildcards "{archives}/*")) (add-to-list 'load-path folder))
(add-to-list 'load-path "{package}")
(setq specls-command '({command}) specls-settings '({settings}))
"""
_OWN = "(require 'specls) (global-specls-mode)"
_LSP = """
(require 'lsp-mode-autoloads)
(setq lsp-auto-guess-root t lsp-session-file "{folder}/session" lsp-client-packages '(specls)
      lsp-enable-snippet nil lsp-headerline-breadcrumb-enable nil lsp-idle-delay 0.1)
(require 'specls-lsp)
(add-hook 'python-mode-hook #'lsp)
"""

Open = Callable[..., tuple[Terminal, Conversation]]


def ghost(screen: Screen) -> list[str]:
    """The ghost text that is seen, row by row."""
    return screen.styled(GHOST)


def lisp(value: object) -> str:
    """A setting as Emacs has it."""
    if isinstance(value, bool):
        return "t" if value else ":json-false"
    return f'"{value}"' if isinstance(value, str) else str(value)


@contextlib.contextmanager
def emacs(talk: Conversation, file: Path, kind: str = _OWN) -> Iterator[Terminal]:
    """Emacs with this file, when its server knows it."""
    settings = " ".join(f":{name} {lisp(value)}" for name, value in talk.settings.items())
    text = (_COMMON + kind).format(
        archives=ARCHIVES,
        package=PACKAGE,
        command=" ".join(map(lisp, talk.command)),
        settings=settings,
        folder=talk.folder,
    )
    init = talk.folder / "init.el"
    init.write_text(text, "utf-8")
    command = ["emacs", "-nw", "-Q", "-l", str(init), str(file)]
    with terminal(command, talk.folder, env=talk.env) as seen:
        talk.until(lambda: talk.editor("textDocument/didOpen"))
        yield seen


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens a text in Emacs, with a server that writes by rules."""
    with ExitStack() as stack:

        def start(
            text: str = "",
            rules: Mapping[str, str] = RULES,
            kind: str = _OWN,
            name: str = "a.py",
        ) -> tuple[Terminal, Conversation]:
            talk = Conversation(tmp_path, rules)
            return stack.enter_context(emacs(talk, talk.write(name, text), kind)), talk

        yield start


def partly(talk: Conversation) -> list[int]:
    """How much was accepted, as the server was told each time."""
    told = talk.params("textDocument/didPartiallyAcceptCompletion")
    return [each["acceptedLength"] for each in told]


def saved(seen: Terminal, talk: Conversation, text: str) -> None:
    """Save, and see that the file is this."""
    seen.keys("C-x", "C-s")
    talk.until_file(talk.folder / "a.py", text)


@pytest.mark.parametrize("kind", [_OWN, _LSP], ids=["own", "lsp-mode"])
def test_ghost_text_is_shown_and_accepted(opened: Open, kind: str) -> None:
    """Several lines are seen behind the cursor and below, and Tab puts just these into the file."""
    seen, talk = opened(kind=kind)
    seen.type("def mul(")
    screen = seen.until(lambda screen: len(ghost(screen)) == 2)
    artefact(seen, "emacs-ghost" if kind == _OWN else "emacs-lsp-mode-ghost")
    assert screen.lines[:2] == ["def mul(a, b):", "    return a * b"]
    assert (screen.column, screen.row) == (len("def mul("), 0)
    seen.keys("Tab")
    screen = seen.until(lambda screen: not ghost(screen))
    assert screen.lines[:2] == ["def mul(a, b):", "    return a * b"]
    assert (screen.column, screen.row) == (len("    return a * b"), 1)
    told = talk.until(lambda: talk.params("workspace/executeCommand"))
    assert [each["command"] for each in told] == ["specls.didAcceptCompletion"]
    saved(seen, talk, "def mul(a, b):\n    return a * b")


@pytest.mark.parametrize("kind", [_OWN, _LSP], ids=["own", "lsp-mode"])
def test_a_suggestion_is_dismissed(opened: Open, kind: str) -> None:
    """Ctrl-G takes it away, and the text stays as it was."""
    seen, talk = opened(kind=kind)
    seen.type("x = ")
    seen.until(lambda screen: screen.lines[0] == "x = add(1, 2)")
    seen.keys("C-g")
    seen.until(lambda screen: screen.lines[0] == "x =")
    saved(seen, talk, "x = ")


@pytest.mark.parametrize("kind", [_OWN, _LSP], ids=["own", "lsp-mode"])
def test_a_suggestion_is_accepted_by_word_and_line(opened: Open, kind: str) -> None:
    """What was accepted is in the file, the rest stays a ghost, the server is told how much."""
    seen, talk = opened(kind=kind)
    seen.type("def mul(")
    seen.until(lambda screen: len(ghost(screen)) == 2)
    seen.keys("C-Right")
    talk.until(lambda: partly(talk) == [len("def mul(a")])
    seen.keys("C-Down")
    talk.until(lambda: partly(talk)[1:] == [len("def mul(a, b):")])
    seen.keys("C-Right")
    lengths = [len(text) for text in ("def mul(a, b):", "def mul(a, b):\n    return")]
    talk.until(lambda: partly(talk)[1:] == lengths)
    screen = seen.until(lambda screen: "".join(ghost(screen)).endswith(" a * b"))
    assert screen.lines[:2] == ["def mul(a, b):", "    return a * b"]
    seen.keys("C-g")
    seen.until(lambda screen: not ghost(screen))
    saved(seen, talk, "def mul(a, b):\n    return")


@pytest.mark.parametrize("kind", [_OWN, _LSP], ids=["own", "lsp-mode"])
def test_columns_are_right_behind_an_emoji(opened: Open, kind: str) -> None:
    """What the server answers lands where it belongs, and counts as it should."""
    seen, talk = opened(kind=kind)
    seen.type("é😀 = ")
    seen.until(lambda screen: screen.lines[0] == "é😀 = 'ok 😀 end'")
    artefact(seen, "emacs-emoji" if kind == _OWN else "emacs-lsp-mode-emoji")
    # lsp-mode prefers to count characters, and the server agrees.
    assert talk.params(INLINE)[-1]["position"]["character"] == (6 if kind == _OWN else 5)
    seen.keys("C-Right", "C-Right", "C-Right")
    talk.until(lambda: partly(talk)[-1:] == [len(" = 'ok ") + 2])
    seen.keys("Tab")
    saved(seen, talk, "é😀 = 'ok 😀 end'")


@pytest.mark.parametrize("kind", [_OWN, _LSP], ids=["own", "lsp-mode"])
def test_line_endings_stay_those_of_the_file(opened: Open, kind: str) -> None:
    """A file with CRLF has only CRLF afterwards."""
    seen, talk = opened("y = 1\r\n", kind=kind)
    seen.keys("M->")
    seen.type("def mul(")
    seen.until(lambda screen: len(ghost(screen)) == 2)
    seen.keys("Tab")
    seen.until(lambda screen: not ghost(screen))
    saved(seen, talk, "y = 1\r\ndef mul(a, b):\r\n    return a * b")


def test_crlf_is_told_and_counted(opened: Open) -> None:
    """The server knows how the file ends its lines, and what is accepted counts them so."""
    seen, talk = opened("y = 1\r\n")
    seen.keys("M->")
    seen.type("def mul(")
    seen.until(lambda screen: len(ghost(screen)) == 2)
    assert talk.params("textDocument/didOpen")[0]["textDocument"]["text"] == "y = 1\r\n"
    insert = talk.answers(INLINE)[-1]["items"][0]["insertText"]
    assert insert == "def mul(a, b):\r\n    return a * b"
    seen.keys("C-Down", "C-Right")
    talk.until(lambda: partly(talk)[-1:] == [len("def mul(a, b):\r\n    return")])


def test_a_suggestion_stays_while_it_is_typed(opened: Open) -> None:
    """Typing what it says shortens it without asking again; typing something else ends it."""
    seen, talk = opened()
    seen.type("x = ")
    seen.until(lambda screen: ghost(screen) == ["add(1, 2)"])
    asked = len(talk.editor(INLINE))
    seen.type("ad")
    seen.until(lambda screen: ghost(screen) == ["d(1, 2)"])
    assert len(talk.editor(INLINE)) == asked
    seen.type("z")
    screen = seen.until(lambda screen: not ghost(screen))
    assert screen.lines[0] == "x = adz"
    told = talk.until(lambda: talk.params("specls/didRejectCompletion"))
    assert [(each["item"]["insertText"], each["ignored"]) for each in told] == [
        ("x = add(1, 2)", True)
    ]
    talk.until(lambda: len(talk.editor(INLINE)) == asked + 1)


def test_a_suggestion_is_shown_inside_of_a_line(opened: Open) -> None:
    """What stands behind the cursor stays behind it."""
    seen, talk = opened()
    seen.type("call + 1")
    seen.keys(*["Left"] * len(" + 1"))
    seen.type("(")
    screen = seen.until(lambda screen: ghost(screen) == ["one, two"])
    artefact(seen, "emacs-inside")
    assert screen.lines[0] == "call(one, two + 1"
    assert screen.column == len("call(")
    seen.keys("Tab")
    saved(seen, talk, "call(one, two + 1")


@pytest.mark.parametrize("kind", [_OWN, _LSP], ids=["own", "lsp-mode"])
def test_an_answer_that_comes_too_late_is_dropped(opened: Open, kind: str) -> None:
    """The cursor went on while the server answered: nothing is shown."""
    seen, talk = opened(kind=kind)
    talk.until_ready()
    seen.type("x")
    talk.hold()
    seen.type(" = ")
    talk.until(lambda: any(each["items"] for each in talk.answers(INLINE)))
    seen.keys("Left")
    seen.until(lambda screen: screen.column == 3)
    talk.release()
    seen.keys("C-a")
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
    seen.type("q😀\x1f")  # typed and undone
    seen.keys("M->")
    seen.type("é😀 z\nw")
    seen.type("\x1bxsort-lines\n")
    seen.keys("C-x", "h")
    seen.type("\x1bxupcase-region\ny")
    seen.keys("M-<", "C-k", "C-k", "M->", "C-y")
    seen.type("\x1bxreplace-regexp\n[AB]\n\\&\\&😀\n")
    seen.keys("M-<")
    seen.type("\x1bxreplace-regexp\n[AB]\n\\&\\&😀\n")
    seen.keys("C-x", "h", "C-M-\\")
    seen.keys("C-x", "C-s")
    talk.until(lambda: talk.editor("textDocument/didSave"))
    text = (talk.folder / "a.py").read_text("utf-8")
    assert ("😀" in text, len(text.splitlines())) == (True, 5)
    assert replay(talk) == text


def test_a_missing_program_is_one_message(tmp_path: Path) -> None:
    """It says what to do, and typing goes on."""
    talk = Conversation(tmp_path, {})
    talk.command = ["specls-is-not-here"]
    file = talk.write("a.py", "")
    init = tmp_path / "init.el"
    init.write_text(
        _COMMON.format(archives="", package=PACKAGE, command='"specls-is-not-here"', settings="")
        + _OWN
    )
    with terminal(["emacs", "-nw", "-Q", "-l", str(init), str(file)], tmp_path) as seen:
        seen.until_text("specls:error")
        seen.until_text("there is no program")
        seen.type("x = 1")
        saved(seen, talk, "x = 1")


def test_a_server_that_dies_is_started_again(opened: Open) -> None:
    """After a second it's back, knows the file, and suggests."""
    seen, talk = opened()
    kill = "(delete-process (jsonrpc--process specls-client--connection))"
    seen.type(f"\x1b:{kill}\n")
    talk.until(lambda: len(talk.editor("textDocument/didOpen")) == 2)
    seen.type("x = ")
    seen.until(lambda screen: ghost(screen) == ["add(1, 2)"])


@pytest.mark.parametrize("name", sorted(file.stem for file in PACKAGE.glob("*.el")))
def test_it_compiles_without_warnings(tmp_path: Path, name: str) -> None:
    """Neither the compiler nor checkdoc nor package-lint has anything to say."""
    copy = tmp_path / "emacs"
    main = "specls-lsp" if name == "specls-lsp" else "specls"
    subprocess.run(["cp", "-r", str(PACKAGE), str(copy)], check=True)
    commands = [
        f'(dolist (each (file-expand-wildcards "{ARCHIVES}/*")) (add-to-list \'load-path each))',
        f'(add-to-list \'load-path "{copy}")',
        "(let ((inhibit-message t)) (require 'lsp-mode) (require 'lsp-inline-completion))",
        "(setq byte-compile-error-on-warn t)",
        f'(unless (byte-compile-file "{copy}/{name}.el") (kill-emacs 1))',
        f'(checkdoc-file "{copy}/{name}.el")',
        "(require 'package-lint)",
        f'(setq-default package-lint-main-file "{copy}/{main}.el")',
        f'(find-file "{copy}/{name}.el")',
        '(dolist (each (package-lint-buffer)) (message "%S" each))',
    ]
    arguments = [part for command in commands for part in ("--eval", command)]
    done = subprocess.run(
        ["emacs", "-Q", "--batch", *arguments], capture_output=True, text=True, check=False
    )
    # It isn't in an archive, nor is lsp-mode in one that is known here.
    left_out = ("is not installable", "should have a Homepage")
    lines = [
        line for line in done.stderr.splitlines() if not any(each in line for each in left_out)
    ]
    about = [line for line in lines if name in line or line.startswith("(")]
    assert (done.returncode, about) == (0, []), done.stderr


@pytest.mark.model
@pytest.mark.parametrize("kind", [_OWN, _LSP], ids=["own", "lsp-mode"])
def test_the_real_model_suggests(tmp_path: Path, kind: str) -> None:
    """What the real model says is seen, and accepted as it was sent."""
    talk = Conversation(tmp_path)
    file = talk.write("a.py", "def add(a, b):\n    return a + b\n\n\n")
    with emacs(talk, file, kind) as seen:
        talk.until_ready(240)
        seen.keys("M->")
        seen.type("def multiply(a, b):")
        seen.keys("Enter")
        seen.type("ret")
        seen.until(lambda screen: bool(ghost(screen)), 240)
        artefact(seen, "emacs-real" if kind == _OWN else "emacs-lsp-mode-real")
        insert = talk.answers(INLINE)[-1]["items"][0]["insertText"]
        seen.keys("Tab")
        saved(seen, talk, f"def add(a, b):\n    return a + b\n\n\ndef multiply(a, b):\n{insert}")
