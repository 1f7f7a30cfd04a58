"""How a user sees that models load, or why they don't."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from specls.catalogue.store import ModelStore
from tests.e2e.conftest import Start
from tests.e2e.editor import CODER, SMALL, complete, initialize, open_document, stats
from tests.e2e.editor import wait_for_state as wait
from tests.e2e.rawclient import NoAnswer, RawClient, RpcError
from tests.e2e.scripted import COMMAND, OPTIONS

pytestmark = pytest.mark.e2e

CREATE = "window/workDoneProgress/create"
WITH_PROGRESS = {"window": {"workDoneProgress": True}}
ERROR, WARNING = 1, 2
SMALL_BYTES = 98_362_432


def kinds(client: RawClient) -> list[Any]:
    """The kinds of the progress notifications, repeated ones once."""
    all_kinds = [each["value"]["kind"] for each in client.notifications("$/progress")]
    return [kind for at, kind in enumerate(all_kinds) if all_kinds[at - 1 : at] != [kind]]


def alive(client: RawClient) -> None:
    """Prove that a server without a model answers: empty lists, and a good end."""
    open_document(client, "x = 1\n")
    assert complete(client, 1, 0) == []
    assert complete(client, 1, 0) == []
    assert stats(client)["requests"]["unavailable"] == 2
    assert client.end() == 0
    assert "Traceback" not in client.log()


# -- progress --------------------------------------------------------------------------------


@pytest.mark.model
def test_loading_is_a_progress(start: Start) -> None:
    """A client that shows progress gets begin, reports in ascending order and end."""
    client = start()
    initialize(client, CODER, **WITH_PROGRESS)
    wait(client, "ready")
    client.sync()
    (create,) = client.asked(CREATE)
    progress = client.notifications("$/progress")
    assert {each["token"] for each in progress} == {create["params"]["token"]}
    assert kinds(client) == ["begin", "report", "end"]
    assert progress[0]["value"]["title"] == "specls"
    shares = [each["value"]["percentage"] for each in progress[:-1]]
    assert shares == sorted(set(shares))
    assert all(0 <= share <= 100 for share in shares)


def test_a_progress_that_comes_too_late_ends(start: Start) -> None:
    """A client that agrees when all is loaded is told the end at once: some would wait for it."""
    client = start(command=COMMAND)

    def wait_before_answering(_params: object) -> None:
        raise NoAnswer

    client.handlers[CREATE] = wait_before_answering
    initialize(client, OPTIONS, **WITH_PROGRESS)
    wait(client, "ready")
    (create,) = client.asked(CREATE)
    client.send({"jsonrpc": "2.0", "id": create["id"], "result": None})
    client.wait(lambda: bool(client.notifications("$/progress")), "the progress")
    client.sync()
    progress = client.notifications("$/progress")
    assert [each["token"] for each in progress] == [create["params"]["token"]] * 2
    assert kinds(client) == ["begin", "end"]


@pytest.mark.model
def test_a_client_without_progress_gets_none(start: Start) -> None:
    """Without the capability there is neither a token nor a report."""
    client = start()
    initialize(client, SMALL)
    wait(client, "ready")
    client.sync()
    assert client.asked(CREATE) == []
    assert client.notifications("$/progress") == []


@pytest.mark.model
@pytest.mark.parametrize("refusal", [RpcError(-32603, "no"), NoAnswer()])
def test_a_client_may_refuse_progress(start: Start, refusal: Exception) -> None:
    """Without the client's consent nothing is reported, and the model is loaded all the same."""
    client = start()

    def refuse(_params: object) -> None:
        raise refusal

    client.handlers[CREATE] = refuse
    initialize(client, SMALL, **WITH_PROGRESS)
    wait(client, "ready")
    client.sync()
    assert client.notifications("$/progress") == []
    assert client.end() == 0
    assert "Traceback" not in client.log()


@pytest.mark.model
def test_a_model_without_markers_is_told_once(start: Start) -> None:
    """One warning says that the model can't see what follows the cursor."""
    client = start()
    initialize(client, SMALL)
    wait(client, "ready")
    open_document(client, "x = [1, 2, ")
    assert len(complete(client, 0, 11)) == 1
    assert client.shown() == [
        {
            "type": WARNING,
            "message": "specls: smollm2-135m knows no fill-in-the-middle markers: it continues "
            "the text before the cursor and can't see what follows.",
        }
    ]


# -- failures --------------------------------------------------------------------------------


def failure(client: RawClient, options: object) -> str:
    """Start with a model that can't be loaded; the one message that the user sees."""
    initialize(client, options, **WITH_PROGRESS)
    numbers = wait(client, "failed")
    client.sync()
    (message,) = client.shown()
    assert message["type"] == ERROR
    assert message["message"] == f"specls: {numbers['message']}"
    assert kinds(client) in ([], ["begin", "end"], ["begin", "report", "end"])
    return str(message["message"])


def test_a_file_that_is_not_there_is_named(start: Start) -> None:
    """A path without a file is told with the path."""
    client = start()
    told = failure(client, {"model": "/nowhere/my model.gguf"})
    assert told == "specls: There is no file /nowhere/my model.gguf."
    alive(client)


def test_an_unknown_id_is_named(start: Start) -> None:
    """An id that the catalogue doesn't know is told with the ids that are spelt nearly so."""
    client = start()
    told = failure(client, {"model": "qwen2.5-coder-1.5"})
    assert "There is no model 'qwen2.5-coder-1.5'" in told
    assert "qwen2.5-coder-1.5b" in told
    assert "specls models list" in told
    alive(client)


def test_a_model_that_was_not_fetched_is_named(start: Start, tmp_path: Path) -> None:
    """An id whose file isn't here is told with the command that fetches it."""
    client = start(env={"SPECLS_MODELS": str(tmp_path / "ein Ordner")})
    assert "specls models pull qwen2.5-coder-1.5b" in failure(client, {})
    alive(client)


def test_a_file_of_a_wrong_size_is_named(start: Start, tmp_path: Path) -> None:
    """A catalogue model whose file is too short is told with both sizes and what to do."""
    (tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF" + bytes(996))
    client = start(env={"SPECLS_MODELS": str(tmp_path)})
    told = failure(client, SMALL)
    assert f"it has 1,000 bytes instead of {SMALL_BYTES:,}" in told
    assert "specls models pull smollm2-135m" in told
    alive(client)


def test_a_changed_file_is_named(start: Start, tmp_path: Path) -> None:
    """A catalogue model of the right size and another content is told, and what to do."""
    path = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    path.write_bytes(b"GGUF")
    os.truncate(path, SMALL_BYTES)
    client = start(env={"SPECLS_MODELS": str(tmp_path)})
    told = failure(client, SMALL)
    assert "its sha256 is wrong" in told
    assert "specls models pull smollm2-135m" in told
    alive(client)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"this is a text\n" * 100, "isn't a GGUF file"),
        (b"", "isn't a GGUF file"),
        (b"GGUF", "can't load"),
        (b"GGUF" + bytes(range(256)) * 100, "can't load"),
    ],
    ids=["text", "empty", "magic", "noise"],
)
def test_a_file_that_is_no_model_is_named(
    start: Start, tmp_path: Path, content: bytes, told: str
) -> None:
    """A file of one's own that is no GGUF is told with its path."""
    path = tmp_path / "mein Modell.gguf"
    path.write_bytes(content)
    client = start()
    message = failure(client, {"model": str(path)})
    assert str(path) in message
    assert told in message
    alive(client)


@pytest.mark.model
def test_a_truncated_model_is_named(start: Start, tmp_path: Path) -> None:
    """The first half of a real model is told as truncated."""
    whole = ModelStore().path("smollm2-135m")
    path = tmp_path / "half.gguf"
    with whole.open("rb") as file:
        path.write_bytes(file.read(SMALL_BYTES // 2))
    client = start()
    assert f"{path} is truncated" in failure(client, {"model": str(path)})
    alive(client)


@pytest.mark.model
def test_a_draft_of_another_vocabulary_is_told(start: Start) -> None:
    """One warning names the mismatch, and completions come from the target alone."""
    client = start()
    initialize(client, CODER | {"draftModel": "smollm2-135m", "speculation": "draft"})
    numbers = wait(client, "ready")
    assert numbers["models"]["draft"] is None
    (message,) = client.shown()
    assert message["type"] == WARNING
    assert "The draft model can't be used, so the target works alone." in message["message"]
    assert "vocabular" in message["message"]
    open_document(client, "import os\nhome = os.pa")
    (item,) = complete(client, 1, 12)
    assert item["insertText"].startswith("home = os.path")


@pytest.mark.model
def test_a_draft_that_is_not_there_is_told(start: Start) -> None:
    """A draft model that can't be found costs the draft, not the completions."""
    client = start()
    options = SMALL | {"draftModel": "/nowhere/draft.gguf", "speculation": "draft"}
    initialize(client, options)
    wait(client, "ready")
    told = [each["message"] for each in client.shown()]
    assert sum("/nowhere/draft.gguf" in each for each in told) == 1
    open_document(client, "x = [1, 2, ")
    assert len(complete(client, 0, 11)) == 1
