"""docs/protocol.md, the table of custom messages, and what the server really does are the same."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any, Literal

import pytest

from specls.lsp import custom, shapes, status
from specls.lsp.custom import CUSTOM, Custom, Kind
from specls.lsp.server import Server
from tests.lsp.shapes import problems
from tests.service.scripted import Bench

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
SECTIONS = {
    "Requests of the client": Kind.REQUEST,
    "Notifications of the client": Kind.FROM_CLIENT,
    "Notifications of the server": Kind.FROM_SERVER,
    "Commands": Kind.COMMAND,
}


def described() -> dict[str, Kind]:
    """The messages that the page describes, and as what."""
    found = {}
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        kind = SECTIONS.get(section.partition("\n")[0])
        for name in re.findall(r"^### `(.+)`$", section, re.MULTILINE):
            assert kind is not None, f"{name} stands in a section of its own"
            found[name] = kind
    return found


def examples(name: str, part: str) -> list[Any]:
    """The examples of a message's parameters or result."""
    _, _, rest = PAGE.partition(f"### `{name}`\n")
    text = re.split(r"^##", rest, flags=re.MULTILINE)[0]
    blocks = re.findall(rf"^```json {part}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [json.loads(block) for block in blocks]


def of(*kinds: Kind) -> set[str]:
    """The names in the table, of some kinds."""
    return {each.name for each in CUSTOM if each.kind in kinds}


def registered() -> tuple[set[str], set[str]]:
    """The methods that LSP doesn't know and the commands of a server."""
    server = Server(Bench().service)
    features, commands = server.protocol.fm.features, server.protocol.fm.commands
    unknown = {each for each in features if server.protocol.get_message_type(each) is None}
    return unknown, set(commands)


def strings(path: Path) -> set[str]:
    """The string constants of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def test_each_is_on_the_page_in_its_section() -> None:
    """The page's headings are the table."""
    assert described() == {each.name: each.kind for each in CUSTOM}


def test_each_is_registered() -> None:
    """The server takes the requests, notifications and commands of the table, and no others."""
    methods, commands = registered()
    assert methods == of(Kind.REQUEST, Kind.FROM_CLIENT)
    assert commands == of(Kind.COMMAND)


def test_what_a_client_may_send_beside_settings_is_on_the_page() -> None:
    """Each key of initializationOptions that is no setting stands in the table of the page."""
    table = PAGE.partition("## What a client may announce")[2].partition("\n## ")[0]
    missing = [
        name for name in (*status._EXTRAS, "token") if not re.search(rf"`[^`]*\b{name}\b", table)
    ]
    assert missing == []


def test_names_are_written_once() -> None:
    """No other module of the protocol spells a name: it uses the table's, so none is forgotten."""
    names = {each.name for each in CUSTOM} - {custom.DID_CHANGE_STATUS}  # a capability, too
    modules = set((ROOT / "specls" / "lsp").glob("*.py")) - {Path(str(custom.__file__))}
    spelt = {module.name: strings(module) & names for module in modules}
    assert {name: found for name, found in spelt.items() if found} == {}


@pytest.mark.parametrize("message", CUSTOM, ids=lambda message: message.name)
def test_its_examples_are_what_the_table_says(message: Custom) -> None:
    """Each example has the keys and types of its shape; there is one where there is a shape."""
    for part, shape in (("params", message.params), ("result", message.result)):
        found = examples(message.name, part)
        assert len(found) == (shape is not None)
        assert [problem for each in found for problem in problems(each, shape)] == []


@pytest.mark.parametrize(
    ("value", "shape", "expected"),
    [
        ({"uri": "a"}, shapes.DocumentId, []),
        ({}, shapes.DocumentId, ["$.uri: missing"]),
        ({"uri": 1}, shapes.DocumentId, ["$.uri: 1 is no <class 'str'>"]),
        ({"uri": "a", "x": 1}, shapes.DocumentId, ["$.x: unknown"]),
        ([], shapes.DocumentId, ["$: [] is no object"]),
        ({"textDocument": {}}, shapes.FocusParams, ["$.textDocument.uri: missing"]),
        ({"line": True, "character": 1}, shapes.Place, ["$.line: True is no <class 'int'>"]),
        (["a", 1], list[str], ["$.1: 1 is no <class 'str'>"]),
        ("c", Literal["a", "b"], ["$: 'c' is none of typing.Literal['a', 'b']"]),
        ({"a": "b"}, dict[str, int], ["$.a: 'b' is no <class 'int'>"]),
        (1, float, []),
        (None, str | None, []),
        (1, str | None, ["$: 1 is none of str | None"]),
    ],
)
def test_a_wrong_example_is_found(value: object, shape: object, expected: list[str]) -> None:
    """What is missing, unknown or of the wrong type is a problem with its path."""
    assert problems(value, shape) == expected
