"""The Neovim plugin in Neovim, under tmux: with a scripted model, and with the real one.

What the model writes isn't told here: the screen and the file are compared with what was sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import psutil
import pytest

from tests.editors.conversation import Conversation
from tests.editors.nvim import GHOST, HINT, METHOD, Session, keep, lines_of, nvim
from tests.editors.recorder import said
from tests.editors.terminal import DEADLINE

pytestmark = pytest.mark.editors

LOADING = 240.0


RULES = {
    "    ret": "urn a * b",
    "    retu": "rn a * b",
    "    for _ in ra": "nge(n):\n        result.append(a)\n        a, b = b, a + b",
    "def ": "main():\n    pass",
    "sorted(num": "bers",
    "sorted(na": "mes):\n    print(name)",
    "{na": "me}'",
    " = add": "(a, b)",
}
"""What the scripted model writes."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("0.11", RULES), id="0.11-scripted"),
        pytest.param(("0.12", RULES), id="0.12-scripted"),
        pytest.param(("0.11", None), id="0.11-real", marks=pytest.mark.model),
        pytest.param(("0.12", None), id="0.12-real", marks=pytest.mark.model),
    ],
)
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    """A Neovim whose server is ready."""
    version, rules = request.param
    talk = Conversation(tmp_path_factory.mktemp(f"nvim{version}"), rules)
    with nvim(version, talk, talk.write("first.py", "\n")) as seen:
        seen.until_text("first.py [specls]", LOADING)
        yield Session(version, seen, talk)


MUL = "def add(a, b):\n    return a + b\n\n\ndef multiply(a, b):\n"
LOOP = "def fibonacci(n):\n    a, b = 0, 1\n    result = []\n"


def test_the_ghost_is_what_was_sent(session: Session) -> None:
    """What the server sends is seen, and the text has nothing of it."""
    file = session.open("ghost.py", MUL, "Go    ret")
    screen = session.ghost()
    session.keep("ghost")
    assert screen.column == len("    ret")
    assert session.asked()["context"] == {"triggerKind": 2}
    session.saved(file, MUL + "    ret\n")
    session.gone()


def test_tab_accepts_all_of_it(session: Session) -> None:
    """The file has what was sent, and the server is told."""
    file = session.open("accept.py", MUL, "Go    ret")
    session.ghost()
    rest, item = session.rest(), session.items()[0]
    session.accept()
    assert session.talk.params("workspace/executeCommand")[-1] == {
        "command": "specls.didAcceptCompletion",
        "arguments": item["command"]["arguments"],
    }
    session.saved(file, f"{MUL}    ret{rest}\n")


def test_tab_is_a_tab_where_nothing_is_shown(session: Session) -> None:
    """The key does what it did before."""
    file = session.open("tab.txt", "", ":let b:specls_enabled = v:false\n")
    session.seen.type("ia")
    session.seen.keys("Tab")
    session.seen.type("b")
    session.saved(file, "a\tb\n")


def test_words_and_lines_are_accepted(session: Session) -> None:
    """A key takes the next word, another the rest of the line; the rest stays as it was sent."""
    file = session.open("parts.py", LOOP, "Go    for _ in ra")
    session.ghost()
    rest = session.rest()
    assert "\n" in rest
    item = session.items()[0]
    before = session.asked()["position"]["character"]
    session.seen.keys("C-Right")
    told = session.talk.until(
        lambda: session.talk.params("textDocument/didPartiallyAcceptCompletion")
    )
    assert told[-1]["item"] == item
    word = item["insertText"][before : told[-1]["acceptedLength"]]
    assert word == rest[: len(word)]
    assert word.isalnum()
    session.until_ghost(rest[len(word) :])
    session.keep("word")
    session.seen.keys("C-Down")
    line, _, below = rest.partition("\n")
    session.until_ghost(below)
    session.keep("line")
    session.saved(file, f"{LOOP}    for _ in ra{line}\n")


def test_what_is_dismissed_goes(session: Session) -> None:
    """A key sends it away, and the server is told that somebody did."""
    session.open("dismiss.py", MUL, "Go    ret")
    session.ghost()
    item = session.items()[0]
    session.seen.keys("C-]")
    session.gone()
    told = session.talk.until(lambda: session.talk.params("specls/didRejectCompletion"))
    assert told[-1] == {"item": item, "ignored": False}


def test_escape_takes_it_away(session: Session) -> None:
    """Leaving insert mode does, and says that nobody cared."""
    session.open("escape.py", MUL, "Go    ret")
    session.ghost()
    item = session.items()[0]
    session.seen.keys("Escape")
    session.gone()
    session.talk.until(
        lambda: {"item": item, "ignored": True} in session.talk.params("specls/didRejectCompletion")
    )


def test_the_next_one_is_shown(session: Session) -> None:
    """Asked for by a key, others come; the screen says which of how many."""
    session.open("next.py", "import os\n", "Godef ")
    session.ghost()
    first = session.rest()
    session.seen.keys("M-]")
    screen = session.seen.until(lambda screen: bool(screen.styled(HINT)))
    session.keep("next")
    assert session.asked()["context"]["triggerKind"] == 1
    others = [item["insertText"][len("def ") :] for item in session.items()]
    texts = [first, *(text for text in others if text != first)]
    assert len(texts) > 1
    assert screen.styled(HINT) == [f" 2/{len(texts)}"]
    assert screen.styled(GHOST) == lines_of(texts[1])


def test_typing_through_keeps_it(session: Session) -> None:
    """Each key that is as suggested makes the ghost shorter, and nothing else."""
    session.open("through.py", MUL, "Go    ret")
    session.ghost()
    rest = session.rest()
    shown = len(session.talk.params("textDocument/didShowCompletion"))
    rejected = len(session.talk.params("specls/didRejectCompletion"))
    for length in range(1, 6):
        session.seen.type(rest[length - 1])
        session.until_ghost(rest[length:])
    session.ghost()
    assert len(session.talk.params("textDocument/didShowCompletion")) == shown
    assert len(session.talk.params("specls/didRejectCompletion")) == rejected


def test_inside_a_line(session: Session) -> None:
    """What stands behind the cursor stays behind the ghost, and is there once."""
    file = session.open(
        "inside.py", "numbers = [3, 1, 2]\nprint(sorted(, reverse=True))\n", "Gf,inum"
    )
    screen = session.ghost()
    session.keep("inside")
    rest = session.rest()
    assert screen.lines[1] == f"print(sorted(num{rest}, reverse=True))"
    session.accept()
    session.saved(file, f"numbers = [3, 1, 2]\nprint(sorted(num{rest}, reverse=True))\n")


def test_several_lines(session: Session) -> None:
    """They are seen where they will be, and push down what follows."""
    after = "\n\nprint(fibonacci(10))\n"
    file = session.open("lines.py", LOOP + after, "3Go    for _ in ra")
    screen = session.ghost()
    session.keep("lines")
    rest = session.rest()
    assert "\n" in rest
    text = f"{LOOP}    for _ in ra{rest}\n{after}"
    assert "\n".join(screen.lines).startswith(text.rstrip())
    session.accept()
    session.saved(file, text)


def test_a_bracket_that_was_closed(session: Session) -> None:
    """Where the editor closes a bracket, it's there once."""
    file = session.open("bracket.py", "names = ['b', 'a']\n", ":inoremap <buffer> ( ()<Left>\n")
    session.seen.type("Gofor name in sorted(na")
    screen = session.ghost()
    session.keep("bracket")
    rest = session.rest()
    assert screen.lines[1] == f"for name in sorted(na{rest})"
    session.accept()
    session.saved(file, f"names = ['b', 'a']\nfor name in sorted(na{rest})\n")


def test_crlf(session: Session) -> None:
    """A file with CRLF shows none of it, and keeps it everywhere."""
    text = LOOP.replace("\n", "\r\n")
    file = session.open("crlf.py", text, "Go    for _ in ra")
    screen = session.ghost()
    session.keep("crlf")
    rest = session.rest()
    assert "\r\n" in rest
    assert "^M" not in screen.text
    session.accept()
    session.saved(file, f"{text}    for _ in ra{rest}\r\n")


def test_characters_of_any_size(session: Session) -> None:
    """Behind an emoji and an accent the ghost is at the cursor, and accepted there."""
    text = "def greet(name):\n"
    file = session.open("emoji.py", text, "Go    return f'é😀 {na")
    screen = session.ghost()
    session.keep("emoji")
    rest = session.rest()
    assert screen.lines[1] == f"    return f'é😀 {{na{rest.split(chr(10))[0]}"
    session.accept()
    session.saved(file, f"{text}    return f'é😀 {{na{rest}\n")


def test_quick_typing(session: Session) -> None:
    """Keys faster than answers leave no old ghost, no error and no message."""
    file = session.open("quick.py", MUL, "Go")
    text = "    product = a * b\n    return product"
    for key in text:
        session.seen.type(key)
    session.talk.until(
        lambda: session.asked()["position"]["character"] == len("    return product")
    )
    answered = session.talk.until(lambda: answers_to_all(session))
    session.until_ghost(session.rest())
    assert all("error" not in each or each["error"]["code"] == -32800 for each in answered)
    session.saved(file, MUL + "    product = a * b\n    return product\n")
    messages = session.seen.screen().lines[-1]
    assert "rror" not in messages


def answers_to_all(session: Session) -> list[Any]:
    """The answers to all requests so far, if each has one."""
    numbers = [message["id"] for message in session.talk.editor(METHOD)]
    answers = [
        message
        for message in said(session.talk.log, "server")
        if message.get("id") in numbers and "method" not in message
    ]
    return answers if len(answers) == len(numbers) else []


def test_settings_change_while_it_runs(session: Session) -> None:
    """A setting counts from the next key on, without a restart."""
    session.seen.keys("Escape")
    session.seen.type(":Specls set multiline=never\n")
    session.open("settings.py", LOOP, "Go    for _ in ra")
    session.ghost()
    assert "\n" not in session.rest()
    session.seen.keys("Escape")
    session.seen.type(":Specls set multiline=auto\n")
    session.open("settings2.py", LOOP, "Go    for _ in ra")
    session.ghost()
    assert "\n" in session.rest()


def test_it_is_switched_off_and_on(session: Session) -> None:
    """Switched off nothing is shown, and the status line says so."""
    session.open("switch.py", MUL, ":Specls toggle\nGo    ret")
    session.seen.until_text("switch.py [specls off]")
    assert session.seen.screen().styled(GHOST) == []
    session.seen.keys("Escape")
    session.seen.type(":Specls toggle\n")
    session.seen.until_text("switch.py [specls]")
    session.seen.type("Au")
    session.ghost()


def test_how_long_it_takes(
    session: Session, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    """From a key to its ghost on the screen; beside it what the server took of that."""
    switch = "<Cmd>let b:specls_enabled = v:{}<CR>"
    on, off = (
        f":inoremap <F{key}> {switch.format(to)}\n" for key, to in ((2, "true"), (3, "false"))
    )
    session.open("time.py", MUL, f"{on}{off}Go")
    total, served = [], []
    for number in range(10):
        session.seen.keys("F3")
        session.seen.type(f"\n    number_{number} = ad")
        session.seen.keys("F2")
        session.seen.until_text(f"number_{number} = ad")
        begin = monotonic()
        session.seen.type("d")
        while not session.seen.screen().styled(GHOST) and monotonic() < begin + DEADLINE:
            pass
        total.append(monotonic() - begin)
        session.ghost()
        served.append(latency(session))
        session.seen.type("(a, b)")
    with capsys.disabled():
        print(
            f"\nNeovim {request.node.callspec.id}: key to ghost {1000 * median(total):.0f} ms,"
            f" of which the server {1000 * median(served):.0f} ms (median of {len(total)})"
        )


def latency(session: Session) -> float:
    """Seconds from the newest request to the first that came of it."""
    request: Any = None
    first = 0.0
    for line in session.talk.log.read_text("utf-8").splitlines():
        each = json.loads(line)
        message = each["message"]
        if each["from"] == "editor" and message.get("method") == METHOD:
            request, first = each, 0.0
        elif request is not None and each["from"] == "server" and not first:
            token = request["message"]["params"].get("partialResultToken")
            early = (message.get("params") or {}).get("token") == token
            if early or message.get("id") == request["message"]["id"]:
                first = each["at"] - request["at"]
    return first


def test_a_killed_server_comes_back(session: Session) -> None:
    """It's started again, for the same files."""
    session.open("killed.py", MUL, "Go    ret")
    session.ghost()
    opened = len(session.talk.params("textDocument/didOpen"))
    for process in psutil.process_iter(["cmdline"]):
        if str(session.talk.log) in (process.info["cmdline"] or []):
            for child in process.children():
                child.kill()
    session.talk.until(lambda: len(session.talk.params("textDocument/didOpen")) > opened)
    session.seen.until_text("killed.py [specls]", LOADING)
    session.seen.keys("Escape", "Escape")
    session.open("back.py", MUL, "Go    ret")
    session.ghost()
    session.keep("back")


@pytest.mark.model
@pytest.mark.parametrize("version", ["0.11", "0.12"])
def test_a_model_that_is_not_there(version: str, tmp_path: Path) -> None:
    """One message says what to do, keys make no more of them, and another model helps at once."""
    talk = Conversation(tmp_path)
    file = talk.write("missing.py", MUL)
    with nvim(version, talk, file, model="qwen2.5-coder-7b") as seen:
        seen.until_text(":Specls models pull qwen2.5-coder-7b")
        seen.until_text("missing.py [specls error]")
        keep(seen, version, "missing")
        seen.keys("Enter")
        seen.type("Go    return a")
        seen.until_text("    return a\n")
        seen.keys("Escape")
        seen.type(":checkhealth specls\n")
        seen.until_text("ERROR The model qwen2.5-coder-7b")
        keep(seen, version, "health")
        seen.type(":bdelete\n:Specls set model=qwen2.5-coder-1.5b\n")
        seen.until_text("missing.py [specls]", LOADING)
        seen.type("o    ret")
        seen.until(lambda screen: bool(screen.styled(GHOST)))
        messages = [
            each["params"]["message"] for each in said(talk.log, "server", "window/showMessage")
        ]
        assert len(messages) == 1
