"""What the server says about itself."""

from __future__ import annotations

import pytest

import specls
from tests.e2e.conftest import Start
from tests.e2e.editor import NO_MODEL, initialize, wait_for_state

pytestmark = pytest.mark.e2e


def test_the_answer_announces_what_there_is(start: Start) -> None:
    """Inline completion, incremental changes and UTF-16 are announced, and no other feature."""
    result = initialize(start(), NO_MODEL, textDocument={"inlineCompletion": {}})
    assert result["serverInfo"] == {"name": "specls", "version": specls.__version__}
    capabilities = result["capabilities"]
    assert capabilities["inlineCompletionProvider"] == {"workDoneProgress": True}
    assert capabilities["positionEncoding"] == "utf-16"
    sync = capabilities["textDocumentSync"]
    assert (sync["openClose"], sync["change"]) == (True, 2)
    providers = {name for name in capabilities if name.endswith("Provider")}
    assert providers <= {"inlineCompletionProvider", "executeCommandProvider"}


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-8"], "utf-8"),
        (["utf-32", "utf-16"], "utf-32"),
        (["utf-7", "utf-8", "utf-16"], "utf-8"),
        ([], "utf-16"),
    ],
)
def test_the_first_known_encoding_is_chosen(start: Start, offered: list[str], chosen: str) -> None:
    """Positions are counted in the first of the client's encodings that the server knows."""
    result = initialize(start(), NO_MODEL, general={"positionEncodings": offered})
    assert result["capabilities"]["positionEncoding"] == chosen


def test_a_client_may_say_little(start: Start) -> None:
    """Empty capabilities, no options and no initialized notification: the server answers."""
    client = start()
    assert "capabilities" in client.call("initialize", {"capabilities": {}})
    assert client.call("specls/stats")["state"] == "idle"
    assert client.shown() == []


def test_a_client_may_say_much(start: Start) -> None:
    """Fields and capabilities that the server doesn't know are ignored."""
    client = start()
    params = {
        "processId": None,
        "clientInfo": {"name": "tomorrow's editor", "version": "99"},
        "rootUri": "file:///tmp/a%20folder",
        "workspaceFolders": [{"uri": "file:///tmp/a%20folder", "name": "a folder"}],
        "trace": "verbose",
        "locale": "de",
        "future": {"deep": [1, 2, {"deeper": None}]},
        "capabilities": {"future": True, "textDocument": {"inlineCompletion": {"future": 1}}},
        "initializationOptions": NO_MODEL,
    }
    assert "capabilities" in client.call("initialize", params)
    client.notify("initialized", {})
    client.notify("$/setTrace", {"value": "off"})
    assert wait_for_state(client, "failed")["message"] == "There is no file /nowhere/none.gguf."
