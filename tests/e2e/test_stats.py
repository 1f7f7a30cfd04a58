"""The request ``specls/stats``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.editor import close_document, complete, open_document, stats, wish
from tests.e2e.rawclient import RawClient

pytestmark = [pytest.mark.e2e, pytest.mark.model]

URI = "file:///stats.py"


def requests(client: RawClient) -> Any:
    """The counters of requests."""
    return stats(client)["requests"]


def test_the_models_are_named(small: RawClient) -> None:
    """The numbers say what is loaded and how it is used."""
    numbers = stats(small)
    assert (numbers["state"], numbers["message"]) == ("ready", "")
    models = numbers["models"]
    assert models["target"] == "smollm2-135m"
    assert (models["draft"], models["speculation"]) == (None, "off")
    assert models["fillInTheMiddle"] is False


def test_a_completion_is_counted(small: RawClient) -> None:
    """An answer raises the counters by one and by the tokens that it took."""
    before = stats(small)
    open_document(small, "numbers = [1, 2, 3, ", URI)
    assert len(complete(small, 0, 20, URI)) == 1
    after = stats(small)
    last = after["lastCompletion"]
    assert after["requests"]["received"] == before["requests"]["received"] + 1
    assert after["requests"]["answered"] == before["requests"]["answered"] + 1
    assert last["promptTokens"] == last["reusedTokens"] + last["prefilledTokens"]
    decoded = after["decodedTokens"] - before["decodedTokens"]
    assert decoded == last["prefilledTokens"] + last["targetPasses"]
    assert 0 < last["generatedTokens"] <= 8 + last["healedTokens"]
    assert (last["drafted"], last["accepted"], last["tokensPerPass"]) == ({}, {}, 1)


def test_the_second_completion_reuses_the_first(small: RawClient) -> None:
    """The same request again decodes the prompt's last token and the healed ones only."""
    uri = "file:///again.py"
    open_document(small, "letters = ['a', 'b', 'c', ", uri)
    first = complete(small, 0, 26, uri)
    assert complete(small, 0, 26, uri) == first
    last = stats(small)["lastCompletion"]
    assert last["prefilledTokens"] == 1 + last["healedTokens"]


def test_a_secret_is_not_completed_and_the_numbers_say_why(small: RawClient) -> None:
    """A file of secrets gets an empty answer, and not a token of it is read."""
    uri = "file:///project/.env"
    before = stats(small)
    open_document(small, "API_TOKEN=abc\nSECOND=", uri)
    assert complete(small, 1, 7, uri) == []
    after = stats(small)
    assert after["decodedTokens"] == before["decodedTokens"]
    assert after["requests"]["excluded"] == before["requests"]["excluded"] + 1
    assert after["excluded"] == {
        uri: "it may hold secrets (.env); '!.env' in the setting exclude allows it"
    }
    close_document(small, uri)


def test_every_request_is_counted_once(small: RawClient) -> None:
    """Received is the sum of what became of the requests."""
    open_document(small, "words = ['one', 'two', ", URI)
    identifiers = [
        small.request("textDocument/inlineCompletion", wish(0, column, URI))
        for column in range(15, 23)
    ]
    small.notify("$/cancelRequest", {"id": identifiers[-1]})
    for identifier in identifiers:
        small.answer(identifier)
    close_document(small, URI)
    counters = requests(small)
    ends = ("answered", "superseded", "cancelled", "unavailable", "excluded", "unwanted", "failed")
    assert counters["received"] == sum(counters[end] for end in ends)
    assert counters["empty"] + counters["withoutModel"] <= counters["answered"]
    assert counters["failed"] == 0
