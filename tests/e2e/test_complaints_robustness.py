"""What users of other servers complained about: files of any size and kind, and what they cost.

Work is counted, not timed: tokens that the model read, and characters that were tokenised.
"""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest

from specls.catalogue.store import ModelStore
from tests.conftest import SMALLEST
from tests.e2e.conftest import Start
from tests.e2e.editor import (
    SMALL,
    change,
    complete,
    initialize,
    open_document,
    stats,
    wait_for_state,
    wait_until_idle,
)
from tests.e2e.rawclient import RawClient, frame
from tests.e2e.scripted import OPTIONS, Scripted

pytestmark = pytest.mark.e2e

AUTOMATIC = 2
MARKERS = "<|fim_prefix|><|fim_suffix|><|fim_middle|><|endoftext|><|file_sep|><PRE> <SUF> <MID>\n"
NESTED = "".join("    " * (depth % 40) + "if (a[{" * 3 + "\n" for depth in range(5000))


# -- 23: continuedev/continue#2202, #4253, #3616; TabbyML/tabby#4293 -----------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("value = 1\n" * 1_000_000, 500_000, id="10 MB"),
        pytest.param("x = [" + "value, " * 150_000, 0, id="a line of 1 MB"),
        pytest.param("\n" * 1_000_000, 999_999, id="a million empty lines"),
        pytest.param(MARKERS * 5000, 2500, id="markers"),
        pytest.param(NESTED, 5000, id="deep nesting"),
        pytest.param("(" * 100_000, 0, id="nothing but brackets"),
        pytest.param("s = '\ud83e\udd17\ud83e'\n" * 1000, 1000, id="lone surrogates"),
        pytest.param("\u0301" * 10_000, 0, id="combining characters"),
    ],
)
def test_a_key_costs_the_same_in_every_file(scripted: Scripted, text: str, line: int) -> None:
    """Ten keys, each with a request: what's read and tokenised follows the window, not the file."""
    client = scripted.client
    scripted.says("é = 1")
    uri = scripted.open(text)
    column = len(text.split("\n")[line].encode("utf-16-le", "surrogatepass")) // 2
    scripted.items(line, column)
    wait_until_idle(client)  # what was left to read of the window isn't a key's
    tokens, characters = [], []
    for key in range(10):
        before = stats(client)["decodedTokens"], scripted.seen["characters"]
        edit = change((line, column + key), (line, column + key), "a", uri)
        client.notify("textDocument/didChange", edit)
        (item,) = scripted.items(line, column + key + 1, triggerKind=AUTOMATIC)
        assert item["insertText"].endswith("aé = 1")
        tokens.append(stats(client)["decodedTokens"] - before[0])
        characters.append(scripted.seen["characters"] - before[1])
    assert max(tokens) <= 40
    assert max(characters) <= 1500
    assert stats(client)["requests"]["failed"] == 0


def test_a_surrogate_before_the_cursor_comes_back(scripted: Scripted) -> None:
    """Half a character on the cursor's line is part of the range, and stays what it is."""
    scripted.says("1")
    scripted.open("s\ud83e = ")
    (item,) = scripted.items(0, 5)
    assert item["insertText"] == "s\ud83e = 1"
    assert item["range"]["end"]["character"] == 5


@pytest.mark.parametrize("depth", [200, 900, 100_000])
def test_json_of_any_depth_is_answered(modelless: RawClient, depth: int) -> None:
    """A message that's nested deeply is an answer or an error, and the server lives on."""
    nested = '{"a":' * depth + "1" + "}" * depth
    start = f'{{"jsonrpc":"2.0","id":"deep-{depth}","method":"specls/stats","params":'
    modelless.send_bytes(frame(f"{start}{nested}}}".encode()))
    modelless.wait(
        lambda: bool(modelless.answers(f"deep-{depth}") or modelless.answers(None)), "an answer"
    )
    assert stats(modelless)["state"] == "failed"


@pytest.mark.parametrize("depth", [200, 900])
def test_settings_of_any_depth_harm_nothing(modelless: RawClient, depth: int) -> None:
    """Settings that are nested deeply are told as wrong, and the server lives on."""
    nested = json.loads('{"a":' * depth + "1" + "}" * depth)
    modelless.notify("workspace/didChangeConfiguration", {"settings": {"specls": nested}})
    modelless.sync()
    assert stats(modelless)["state"] in {"failed", "loading"}
    wait_for_state(modelless, "failed")


# -- no growth -----------------------------------------------------------------------------------


def _memory(client: RawClient) -> int:
    """The server's memory in KiB, without what it only mapped."""
    return psutil.Process(client.process.pid).memory_full_info().uss // 1024


def test_a_thousand_requests_take_no_memory(scripted: Scripted) -> None:
    """Typing 1,000 keys with a request each, in documents that open and close, leaves nothing."""
    client = scripted.client
    scripted.says("value")

    def type_keys(count: int) -> int:
        for _ in range(count // 50):
            uri = scripted.open("x = 1\n" * 50)
            for key in range(50):
                edit = change((50, key), (50, key), "a", uri)
                client.notify("textDocument/didChange", edit)
                scripted.items(50, key + 1, triggerKind=AUTOMATIC)
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        client.received.clear()
        return _memory(client)

    before = type_keys(300)
    after = type_keys(1000)
    assert after - before < 2048


def test_toggling_leaves_nothing(scripted: Scripted) -> None:
    """continuedev/continue#3616: switched off and on 100 times, specls is as it was."""
    client = scripted.client
    scripted.says("value")
    scripted.open("x = ")

    def toggle(count: int) -> int:
        for _ in range(count):
            for enable in ({"*": False}, {}):
                settings = OPTIONS | {"enable": enable}
                client.notify(
                    "workspace/didChangeConfiguration", {"settings": {"specls": settings}}
                )
                assert len(scripted.items(0, 4)) == (not enable)
        return _memory(client)

    before = toggle(20)
    loads = scripted.seen["loads"]
    assert toggle(100) - before < 1024
    assert scripted.seen["loads"] == loads


# -- 25: TabbyML/tabby#2713, #3360, #2739 --------------------------------------------------------


@pytest.mark.model
def test_a_proxy_changes_nothing(start: Start, store: ModelStore, tmp_path: Path) -> None:
    """Completing opens no connection, proxy or not; a path with blanks and umlauts is a path."""
    folder = tmp_path / "mein Ordner ü 模型"
    folder.mkdir()
    model = folder / "das Modell.gguf"
    model.symlink_to(store.resolve(SMALLEST).path)
    nowhere = "http://127.0.0.1:9"
    names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    client = start(env=dict.fromkeys(names, nowhere))
    initialize(client, SMALL | {"model": str(model)})
    wait_for_state(client, "ready")
    open_document(client, "x = [1, 2, ")
    assert len(complete(client, 0, 11)) == 1
    assert psutil.Process(client.process.pid).net_connections() == []


@pytest.mark.model
def test_requests_of_a_real_model_take_no_memory(start: Start) -> None:
    """The same with llama.cpp, and fewer of them: what a request takes there is given back."""
    client = start()
    initialize(
        client, SMALL | {"maxTokens": 1, "prefixTokens": 32, "kvBudgetMiB": 0, "prefetch": False}
    )
    wait_for_state(client, "ready")

    def ask(count: int) -> int:
        uri = "file:///memory"
        open_document(client, "x = [", uri)
        for key in range(count):
            client.notify("textDocument/didChange", change((0, 5 + key), (0, 5 + key), "1", uri))
            complete(client, 0, 6 + key, uri)
        client.received.clear()
        return _memory(client)

    before = ask(50)
    assert ask(200) - before < 4096
