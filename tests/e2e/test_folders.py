"""Settings that differ between the workspace's folders, and project files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import wait_for_state, wait_until_idle
from tests.e2e.rawclient import RawClient
from tests.e2e.scripted import COMMAND, OPTIONS, Scripted

pytestmark = pytest.mark.e2e

CHANGED = "workspace/didChangeConfiguration"
PULLED = "workspace/configuration"
WATCHED = "workspace/didChangeWatchedFiles"
REGISTER = "client/registerCapability"
SHOWN = "textDocument/didShowCompletion"


class Workspace:
    """Two folders in an editor that can be asked for the settings of each."""

    def __init__(self, client: RawClient, folder: Path) -> None:
        self.client = client
        self.scripted = Scripted(client)
        self.folders = {name: folder / name for name in ("a", "b")}
        for each in self.folders.values():
            each.mkdir()
        self.everywhere: dict[str, object] = {"maxTokens": 64}
        self.own: dict[str | None, dict[str, object]] = {}
        client.handlers[PULLED] = lambda params: [
            OPTIONS | self.everywhere | self.own.get(item.get("scopeUri"), {})
            for item in params["items"]
        ]
        client.handlers[REGISTER] = lambda _params: None

    def uri(self, name: str) -> str:
        return self.folders[name].as_uri()

    def ready(self, **workspace: object) -> Workspace:
        """Shake hands and wait for the model."""
        self.shakes_hands(**workspace)
        wait_for_state(self.client, "ready")
        self.scripted.says("0123456789")
        return self

    def shakes_hands(self, **workspace: object) -> None:
        capabilities = {"configuration": True, "workspaceFolders": True, **workspace}
        folders = [{"uri": self.uri(name), "name": name} for name in self.folders]
        self.client.call(
            "initialize",
            {
                "processId": None,
                "workspaceFolders": folders,
                "capabilities": {
                    "workspace": capabilities,
                    "experimental": {"specls": {"status": True}},
                },
            },
        )
        self.client.notify("initialized", {})

    def writes(self, text: str, name: str = "a", *, tell: bool = True) -> None:
        """Write a folder's project file, and tell the server that it changed."""
        path = self.folders[name] / ".specls.toml"
        beside = path.with_suffix(".new")  # or the server reads half of it
        beside.write_text(text, "utf-8")
        beside.replace(path)
        if tell:
            self.client.notify(WATCHED, {"changes": [{"uri": path.as_uri(), "type": 2}]})

    def changes_settings(self) -> None:
        self.client.notify(CHANGED, {"settings": None})

    def written(self, name: str, language: str = "python", file: str = "x.py") -> int:
        """How many characters a suggestion in a new document of a folder has."""
        self.scripted.open("n = ", language, f"{self.uri(name)}/{file}")
        items = self.scripted.items(0, 4)
        return len(items[0]["insertText"]) - 4 if items else 0

    def until(self, name: str, count: int, **document: str) -> None:
        """Wait until suggestions in a folder have so many characters."""
        self.client.poll(lambda: self.written(name, **document), lambda found: bool(found == count))

    def shown(self) -> list[str]:
        return [each["message"] for each in self.client.shown()]


@pytest.fixture
def workspace(start: Start, tmp_path: Path) -> Workspace:
    return Workspace(start(command=COMMAND), tmp_path)


def test_each_folder_is_asked_for(workspace: Workspace) -> None:
    """One question has an item for all and one for each folder, and each answer counts there."""
    workspace.own[workspace.uri("b")] = {"maxTokens": 3}
    workspace.ready()
    (asked,) = workspace.client.asked(PULLED)
    assert asked["params"]["items"] == [
        {"section": "specls"},
        {"scopeUri": workspace.uri("a"), "section": "specls"},
        {"scopeUri": workspace.uri("b"), "section": "specls"},
    ]
    assert (workspace.written("a"), workspace.written("b")) == (10, 3)
    workspace.own[workspace.uri("a")] = {"maxTokens": 2, "enable": {"go": False}}
    workspace.changes_settings()
    workspace.until("a", 2)
    assert workspace.written("b") == 3
    assert workspace.written("a", "go") == 0
    assert workspace.written("b", "go") == 3
    assert workspace.scripted.seen["loads"] == 1


def test_a_folder_can_be_switched_off(workspace: Workspace) -> None:
    """The setting enabled of one folder disables its documents; the others go on."""
    workspace.own[workspace.uri("b")] = {"enabled": False}
    workspace.ready()
    assert (workspace.written("a"), workspace.written("b")) == (10, 0)
    told = workspace.client.notifications
    workspace.client.wait(lambda: told("specls/status")[-1]["state"] == "disabled", "the status")
    status = told("specls/status")[-1]
    assert status["reason"] == "the setting enabled is false"
    assert status["uri"] == f"{workspace.uri('b')}/x.py"


def test_a_folder_that_comes_is_asked_for(workspace: Workspace, tmp_path: Path) -> None:
    """Settings of a folder that's added to the workspace are followed, and its project file."""
    workspace.ready()
    workspace.folders["c"] = tmp_path / "c"
    workspace.folders["c"].mkdir()
    workspace.own[workspace.uri("c")] = {"maxTokens": 4}
    workspace.writes('exclude = ["gen/"]\n', "c", tell=False)
    added = {"added": [{"uri": workspace.uri("c"), "name": "c"}], "removed": []}
    workspace.client.notify("workspace/didChangeWorkspaceFolders", {"event": added})
    workspace.until("c", 4)
    assert workspace.written("c", file="gen/x.py") == 0
    assert workspace.written("a", file="gen/x.py") == 10


def test_a_project_file_is_followed(workspace: Workspace) -> None:
    """It holds for its folder, from the start, and again when it changed or is gone."""
    workspace.writes("maxTokens = 5\n", tell=False)
    workspace.ready()
    assert (workspace.written("a"), workspace.written("b")) == (5, 10)
    workspace.writes("maxTokens = 6\n")
    workspace.until("a", 6)
    (workspace.folders["a"] / ".specls.toml").unlink()
    uri = f"{workspace.uri('a')}/.specls.toml"
    workspace.client.notify(WATCHED, {"changes": [{"uri": uri, "type": 3}]})
    workspace.until("a", 10)
    assert workspace.shown() == []


def test_a_project_file_that_is_saved_is_read(workspace: Workspace) -> None:
    """A client that watches no files says that it saved one."""
    workspace.ready()
    workspace.writes("maxTokens = 5\n", tell=False)
    uri = f"{workspace.uri('a')}/.specls.toml"
    workspace.client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    workspace.until("a", 5)


@pytest.mark.parametrize("dynamic", [True, False])
def test_a_client_is_asked_to_tell_of_changes(workspace: Workspace, *, dynamic: bool) -> None:
    """One that can be asked is asked for changes of its settings and of project files."""
    workspace.ready(
        didChangeWatchedFiles={"dynamicRegistration": dynamic},
        didChangeConfiguration={"dynamicRegistration": dynamic},
    )
    workspace.client.sync()
    registrations: list[Any] = [
        (each["method"], each.get("registerOptions"))
        for request in workspace.client.asked(REGISTER)
        for each in request["params"]["registrations"]
        if each["method"] in {WATCHED, CHANGED}
    ]
    watchers = {"watchers": [{"globPattern": "**/.specls.toml"}]}
    assert registrations == ([(CHANGED, None), (WATCHED, watchers)] if dynamic else [])


def test_the_editor_counts_before_the_project(workspace: Workspace) -> None:
    """A value that the editor sets stays; the setting projectFile leaves the file aside."""
    workspace.writes('maxTokens = 5\nmultiline = "never"\nexclude = ["gen/"]\n', tell=False)
    workspace.own[workspace.uri("a")] = {"maxTokens": 7}
    workspace.ready()
    assert workspace.written("a") == 7
    assert workspace.written("a", file="gen/x.py") == 0
    workspace.own[workspace.uri("a")] = {"maxTokens": 7, "projectFile": False}
    workspace.changes_settings()
    workspace.until("a", 7, file="gen/x.py")


def test_mistakes_in_a_project_file_are_told_once(workspace: Workspace) -> None:
    """File, line and name are told, once; the value before stays, and no path is a model."""
    path = workspace.folders["a"] / ".specls.toml"
    workspace.writes("maxTokens = 5\n", tell=False)
    workspace.ready()
    wrong = 'maxTokens = 0\nmodel = "/tmp/x.gguf"\nexclude = ["!.env"]\n'
    workspace.writes(wrong)
    workspace.client.wait(lambda: bool(workspace.shown()), "the message")
    (message,) = workspace.shown()
    assert message.startswith(f"specls: {path}: line 1: maxTokens: 0 isn't allowed;")
    assert "; line 2: model: '/tmp/x.gguf' isn't allowed; a project file names an id" in message
    assert "; line 3: exclude: a project file can't allow what is excluded" in message
    assert workspace.written("a") == 5
    assert workspace.written("a", file=".env") == 0
    workspace.writes(wrong + "maxLines = 3\n")
    workspace.writes(wrong + "enabled = false\n")
    workspace.until("a", 0)
    assert len(workspace.shown()) == 1


def test_a_project_names_a_model_of_the_catalogue(workspace: Workspace) -> None:
    """An id that is known is loaded, for all folders."""
    workspace.everywhere["model"] = None
    workspace.writes('model = "scripted"\n', tell=False)
    workspace.ready()
    assert wait_for_state(workspace.client, "ready")["models"]["target"] == "scripted"
    assert workspace.scripted.seen["loads"] == 1


def test_a_project_s_model_that_is_not_here_is_told(workspace: Workspace) -> None:
    """A project can't have nothing completed by naming a model that nobody fetched."""
    workspace.writes('model = "missing"\n', tell=False)
    workspace.ready()
    (message,) = workspace.shown()
    assert message.endswith(
        "line 1: model: missing isn't on this machine; `specls models pull missing` fetches it"
    )
    assert workspace.written("a") == 10
    workspace.writes("maxTokens = 4\n", tell=False)
    workspace.client.call("workspace/executeCommand", {"command": "specls.reload"})
    workspace.until("a", 4)
    assert workspace.scripted.seen["loads"] == 2


def test_settings_that_come_at_once_load_nothing_twice(workspace: Workspace) -> None:
    """A client that pushes its settings right after the handshake has the project's followed."""
    workspace.everywhere["model"] = None
    workspace.writes('model = "scripted"\n', tell=False)
    workspace.shakes_hands()
    for _ in range(3):
        workspace.client.notify(CHANGED, {"settings": {"specls": {"maxLines": 9}}})
    assert wait_for_state(workspace.client, "ready")["models"]["target"] == "scripted"
    workspace.client.sync()
    assert workspace.scripted.seen["loads"] == 1


def test_many_mistakes_are_a_short_message(workspace: Workspace) -> None:
    """The first five are told, and how many more there are."""
    workspace.ready()
    workspace.writes("".join(f"wrong{number} = 1\n" for number in range(9)))
    workspace.client.wait(lambda: bool(workspace.shown()), "the message")
    (message,) = workspace.shown()
    assert message.count("no such setting") == 5
    assert message.endswith("; and 4 more")


def test_a_folder_s_settings_hold_for_what_is_shown(workspace: Workspace) -> None:
    """Where a folder wants nothing done ahead, a report that an item is shown starts nothing."""
    workspace.everywhere["prefetch"] = True
    workspace.own[workspace.uri("a")] = {"prefetch": False}
    workspace.ready()
    decoded = []
    for name in ("a", "b"):
        workspace.scripted.open("n = ", "python", f"{workspace.uri(name)}/x.py")
        (item,) = workspace.scripted.items(0, 4)
        at_rest = wait_until_idle(workspace.client)["decodedTokens"]
        workspace.client.notify(SHOWN, {"item": item})
        decoded.append(wait_until_idle(workspace.client)["decodedTokens"] - at_rest)
    assert decoded == [0, 0]  # in the second folder it was done when the item was sent
