"""The request ``specls/context``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import (
    CODER,
    complete,
    open_document,
    place,
    stats,
    wait_for_state,
    wait_until_idle,
)
from tests.e2e.rawclient import Message, RawClient, RpcError

pytestmark = [pytest.mark.e2e, pytest.mark.model]

STORE = """\
class Basket:
    def put_in(self, article, quantity):
        self.articles.append((article, quantity))

    def total_price(self, currency):
        return sum(article.price_in(currency) * quantity for article, quantity in self.articles)
"""
MAIN = """\
from store import Basket


def checkout(article, quantity, currency):
    basket = Basket()
    basket.put_in(article, quantity)
    return basket.
"""
LINE, COLUMN = 6, 18
WORD = "return basket."


def context(client: RawClient, line: int, character: int, uri: str) -> Any:
    """What the model is given at a place."""
    params = {"textDocument": {"uri": uri}, "position": place((line, character))}
    return client.call("specls/context", params)


def kinds(answer: Any) -> list[str]:
    return [part["kind"] for part in answer["parts"]]


@pytest.fixture
def project(start: Start, tmp_path: Path) -> tuple[RawClient, str]:
    """A server with a workspace of two files, the first of them open; its URI."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "store.py").write_text(STORE, encoding="utf-8")
    (folder / "main.py").write_text(MAIN, encoding="utf-8")
    (folder / ".env").write_text("KEY=secret\n", encoding="utf-8")
    client = start()
    settings = {
        **CODER,
        "model": "qwen2.5-coder-0.5b",
        "draftModel": "none",
        "prefetch": False,
        "workspaceTokens": 512,
        "coldBudgetMs": 0,
    }
    params: Message = {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}}
    client.call("initialize", {**params, "initializationOptions": settings})
    client.notify("initialized", {})
    wait_for_state(client, "ready")
    uri = (folder / "main.py").as_uri()
    open_document(client, MAIN, uri)
    return client, uri


def test_it_is_what_the_model_is_given(project: tuple[RawClient, str]) -> None:
    """Its tokens are as many as the next completion reads, and its text is the document's."""
    client, uri = project
    answer = context(client, LINE, COLUMN, uri)
    assert answer["excluded"] is None
    assert answer["tokens"] == sum(part["tokens"] for part in answer["parts"])
    complete(client, LINE, COLUMN, uri)
    assert stats(client)["lastCompletion"]["promptTokens"] == answer["tokens"]
    texts = {part["kind"]: part["text"] for part in answer["parts"]}
    before = MAIN[: MAIN.index(WORD) + len(WORD)]
    assert texts["prefix"] + texts["typed"] == before
    assert texts["suffix"] == "\n"


def test_an_imported_file_is_told_of_after_a_pause(project: tuple[RawClient, str]) -> None:
    """A file that's imported and on disk only stands before the document, in the model's format."""
    client, uri = project
    complete(client, LINE, COLUMN, uri)
    wait_until_idle(client)
    answer = context(client, LINE, COLUMN, uri)
    parts = answer["parts"]
    assert kinds(answer)[:6] == ["marker", "head", "marker", "file", "marker", "head"]
    assert (parts[0]["text"], parts[1]["text"]) == ("<|repo_name|>", "project\n")
    assert (parts[3]["path"], parts[3]["text"]) == ("store.py", "store.py\n" + STORE)
    assert (parts[4]["text"], parts[5]["text"]) == ("<|file_sep|>", "main.py\n")
    complete(client, LINE, COLUMN, uri)
    assert stats(client)["lastCompletion"]["promptTokens"] == answer["tokens"]
    assert stats(client)["lastCompletion"]["prefilledTokens"] < 16


def test_an_excluded_document_says_why(project: tuple[RawClient, str]) -> None:
    """Of a document in which nothing is read, there are no parts, and the reason."""
    client, uri = project
    secret = uri.replace("main.py", ".env")
    open_document(client, "KEY=secret\n", secret, "dotenv")
    answer = context(client, 0, 4, secret)
    assert (answer["parts"], answer["tokens"]) == ([], 0)
    assert ".env" in answer["excluded"]


def test_wrong_parameters_are_refused(modelless: RawClient) -> None:
    """Without a position, or for a document that isn't open, it's an error and no crash."""
    with pytest.raises(RpcError) as refused:
        modelless.call("specls/context", {"textDocument": {"uri": "file:///a.py"}})
    assert refused.value.code == -32602
    with pytest.raises(RpcError) as unknown:
        context(modelless, 0, 0, "file:///never-opened.py")
    assert unknown.value.code == -32602


def test_without_a_model_nothing_is_given(modelless: RawClient) -> None:
    """Where no model is loaded, there are no parts."""
    open_document(modelless, "x = 1\n", "file:///context.py")
    assert context(modelless, 0, 0, "file:///context.py")["parts"] == []
