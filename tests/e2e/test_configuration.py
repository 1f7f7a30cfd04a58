"""Settings, from wherever a client sends them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import NO_MODEL, SMALL, complete, initialize, open_document, stats
from tests.e2e.editor import wait_for_state as wait
from tests.e2e.rawclient import NoAnswer, RawClient, RpcError

pytestmark = pytest.mark.e2e

CONFIGURATION = "workspace/configuration"
CHANGED = "workspace/didChangeConfiguration"
WARNING, ERROR = 2, 1


def loading_problem(name: str) -> str:
    """What the server says when it's asked to load a file that isn't there."""
    return f"specls: There is no file /nowhere/{name}.gguf."


def asks(client: RawClient, answer: object) -> None:
    """Let the client answer workspace/configuration: with this, or by raising it."""

    def handler(_params: Any) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    client.handlers[CONFIGURATION] = handler


def starts_with(client: RawClient, options: object = None, *, pull: bool = False) -> list[str]:
    """Start; the messages once loading failed, which it does in all of these tests."""
    initialize(client, options, workspace={"configuration": pull})
    wait(client, "failed")
    return [each["message"] for each in client.shown()]


def named(name: str) -> dict[str, str]:
    """Settings that can be recognised by what can't be loaded."""
    return {"model": f"/nowhere/{name}.gguf"}


@pytest.mark.parametrize("options", [named("a"), {"specls": named("a")}])
def test_options_of_initialize_are_taken(start: Start, options: object) -> None:
    """Settings come with initialize, as they are or under the name specls."""
    assert starts_with(start(), options) == [loading_problem("a")]


def test_the_client_is_asked(start: Start) -> None:
    """A client that can be asked is asked once for the section specls, and its answer counts."""
    client = start()
    asks(client, [named("asked")])
    assert starts_with(client, named("options"), pull=True) == [loading_problem("asked")]
    (request,) = client.asked(CONFIGURATION)
    assert request["params"] == {"items": [{"section": "specls"}]}


def test_a_client_that_cannot_be_asked_is_not(start: Start) -> None:
    """Without the capability no request is made, and the options of initialize count."""
    client = start()
    assert starts_with(client, named("options")) == [loading_problem("options")]
    assert client.asked(CONFIGURATION) == []


@pytest.fixture(scope="module")
def asking(start_for_module: Start) -> RawClient:
    """A server that asked its client for the settings, and got some."""
    client = start_for_module()
    asks(client, [named("asked")])
    starts_with(client, pull=True)
    return client


@pytest.mark.parametrize(
    "answer",
    [RpcError(-32603, "broken"), None, [], {}, 5],
    ids=["error", "null", "none", "object", "number"],
)
def test_no_answer_keeps_the_old_settings(asking: RawClient, answer: object) -> None:
    """Errors and strange answers to the question change nothing."""
    before = (stats(asking), asking.shown(), len(asking.asked(CONFIGURATION)))
    asks(asking, answer)
    asking.notify(CHANGED, {"settings": None})
    asking.wait(lambda: len(asking.asked(CONFIGURATION)) > before[2], "the question")
    asking.sync()
    assert (wait(asking, "failed"), asking.shown()) == before[:2]


@pytest.mark.parametrize("answer", [[None], [{}]], ids=["unset", "empty"])
def test_settings_that_disappear_are_the_options_again(start: Start, answer: object) -> None:
    """What is no longer set is what initialize said, or else the default."""
    client = start()
    asks(client, [named("asked")])
    assert starts_with(client, named("options"), pull=True) == [loading_problem("asked")]
    asks(client, answer)
    client.notify(CHANGED, {"settings": None})
    client.wait(lambda: len(client.shown()) > 1, "the second message")
    assert client.shown()[-1]["message"] == loading_problem("options")


def test_a_client_that_never_answers_is_not_waited_for_forever(start: Start) -> None:
    """Without an answer the models are loaded after a while, and a late answer is ignored."""
    client = start()
    asks(client, NoAnswer())
    assert starts_with(client, named("options"), pull=True) == [loading_problem("options")]
    (request,) = client.asked(CONFIGURATION)
    client.send({"jsonrpc": "2.0", "id": request["id"], "result": [named("late")]})
    client.send({"jsonrpc": "2.0", "id": request["id"], "result": [named("later")]})
    assert stats(client)["message"] == "There is no file /nowhere/options.gguf."
    assert client.end() == 0
    assert "Traceback" not in client.log()


def test_pushed_settings_are_taken(start: Start) -> None:
    """Settings in didChangeConfiguration replace the ones before."""
    client = start()
    starts_with(client, named("before"))
    client.notify(CHANGED, {"settings": {"specls": named("pushed")}})
    client.wait(lambda: len(client.shown()) > 1, "the next failure")
    assert client.shown()[1]["message"] == loading_problem("pushed")


def test_changed_settings_are_asked_for(start: Start) -> None:
    """After a didChangeConfiguration that says nothing the client is asked again."""
    client = start()
    asks(client, [named("before")])
    starts_with(client, pull=True)
    asks(client, [named("after")])
    client.notify(CHANGED, {"settings": None})
    client.wait(lambda: len(client.shown()) > 1, "the next failure")
    assert client.shown()[1]["message"] == loading_problem("after")
    assert len(client.asked(CONFIGURATION)) == 2


@pytest.mark.parametrize("settings", [None, [], {}, {"other": {"model": "x"}}, 5])
def test_pushed_settings_of_others_change_nothing(modelless: RawClient, settings: object) -> None:
    """A didChangeConfiguration without a section specls is ignored."""
    before = (stats(modelless), len(modelless.shown()))
    modelless.notify(CHANGED, {"settings": settings})
    modelless.sync()
    assert (stats(modelless), len(modelless.shown())) == before


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("maxTokens", 0, "a whole number from 1 to 1024"),
        ("maxTokens", "many", "a whole number from 1 to 1024"),
        ("maxTokens", 2.5, "a whole number from 1 to 1024"),
        ("maxTokens", True, "a whole number from 1 to 1024"),
        ("speculation", "sometimes", '"off" or "lookup" or "draft" or "auto"'),
        ("threads", "all", '"auto" or a whole number from 1 to 512'),
        ("model", "", "a non-empty text"),
        ("model", ["a"], "a non-empty text"),
        ("kvType", {}, '"f16" or "q8_0"'),
    ],
)
def test_a_wrong_value_is_named(
    modelless: RawClient, name: str, value: object, allowed: str
) -> None:
    """One warning names the setting, the value and what is allowed."""
    before = len(modelless.shown())
    modelless.notify(CHANGED, {"settings": {"specls": {name: value}}})
    modelless.sync()
    (message,) = modelless.shown()[before:]
    assert message == {
        "type": WARNING,
        "message": "specls: these settings are wrong and were ignored: "
        f"{name}: {value!r} isn't allowed; it must be {allowed}",
    }


def test_several_mistakes_are_one_message(start: Start) -> None:
    """Wrong values and unknown names come in one message, and what is right is taken."""
    client = start()
    wrong = {"maxTokens": -1, "colour": "blue", **named("right")}
    first, second = starts_with(client, wrong)
    assert "maxTokens: -1 isn't allowed" in first
    assert "colour: no such setting; known are enabled, model, draftModel" in first
    assert second == loading_problem("right")
    assert [each["type"] for each in client.shown()] == [WARNING, ERROR]


def test_a_mistake_is_told_once(start: Start) -> None:
    """What stays wrong isn't told again, nor is what the options said; another mistake is."""
    client = start()
    starts_with(client, named("a") | {"maxTokens": 0})

    def pushes(**values: object) -> list[str]:
        """Push settings; what is said to be wrong with them."""
        before = len(client.shown())
        client.notify(CHANGED, {"settings": {"specls": values}})
        client.sync()
        return [each["message"] for each in client.shown()[before:] if "wrong" in each["message"]]

    assert pushes(maxTokens=0) == []
    (message,) = pushes(maxTokens=0, maxLines=0)
    assert "maxLines" in message
    assert "maxTokens" not in message
    assert pushes(maxTokens=0, maxLines=0, multiline="never") == []
    assert pushes(maxTokens=0) == []
    assert len(pushes(maxTokens=0, maxLines=0)) == 1


@pytest.mark.parametrize("options", [5, [1]])
def test_options_of_another_kind_are_named(start: Start, options: object) -> None:
    """Options that are no object are told about, and the defaults are used."""
    client = start()
    initialize(client, options)
    client.sync()
    assert client.shown()[0] == {
        "type": WARNING,
        "message": "specls: these settings are wrong and were ignored: "
        "specls: the settings must be an object of names and values",
    }


@pytest.mark.model
def test_a_wrong_value_keeps_the_old_one(start: Start) -> None:
    """After a wrong maxTokens completions are as long as before; a right one is followed."""
    client = start()
    initialize(client, SMALL | {"maxTokens": 4})
    wait(client, "ready")
    text = "numbers = [1, 2, 3, 4, "
    open_document(client, text)

    def generated() -> int:
        complete(client, 0, len(text))
        last = stats(client)["lastCompletion"]
        return int(last["generatedTokens"]) - int(last["healedTokens"])

    before = generated()
    client.notify(CHANGED, {"settings": {"specls": {"maxTokens": 5000}}})
    assert generated() == before
    client.notify(CHANGED, {"settings": {"specls": {"maxTokens": 12}}})
    client.sync()
    assert generated() > before
    assert stats(client)["state"] == "ready"


@pytest.mark.model
def test_another_model_is_loaded(start: Start) -> None:
    """A change of the model loads it; one that can't be had is told and replaces nothing."""
    client = start()
    initialize(client, NO_MODEL)
    wait(client, "failed")
    client.notify(CHANGED, {"settings": {"specls": SMALL}})
    assert wait(client, "ready")["models"]["target"] == "smollm2-135m"
    open_document(client, "x = [1, 2, ")
    assert len(complete(client, 0, 11)) == 1
    client.notify(CHANGED, {"settings": {"specls": SMALL | named("gone")}})
    client.wait(
        lambda: any("gone.gguf" in each["message"] for each in client.shown()), "the notice"
    )
    assert client.shown()[-1]["message"].endswith("that were loaded before are still used.")
    assert wait(client, "ready")["models"]["target"] == "smollm2-135m"
    assert len(complete(client, 0, 11)) == 1


@pytest.mark.model
def test_models_change_while_one_answers(start: Start) -> None:
    """From the request for another model until it's there, each completion is answered."""
    client = start()
    initialize(client, SMALL | {"model": "qwen2.5-coder-0.5b"})
    assert wait(client, "ready")["models"]["target"] == "qwen2.5-coder-0.5b"
    open_document(client, "x = [1, 2, ")
    assert len(complete(client, 0, 11)) == 1
    client.notify(CHANGED, {"settings": {"specls": SMALL}})
    answers: list[int] = []
    while stats(client)["models"].get("target") != "smollm2-135m":
        answers.append(len(complete(client, 0, 11)))
    assert len(complete(client, 0, 11)) == 1
    assert set(answers) == {1}
    assert wait(client, "ready")["requests"]["unavailable"] == 0


def test_another_try_is_told_of_again(start: Start) -> None:
    """Who asks for another load hears that it failed, also if nothing has changed."""
    client = start()
    assert starts_with(client, named("a")) == [loading_problem("a")]
    client.call("workspace/executeCommand", {"command": "specls.reload"})
    client.wait(lambda: len(client.shown()) > 1, "the message")
    assert [each["message"] for each in client.shown()] == 2 * [loading_problem("a")]
