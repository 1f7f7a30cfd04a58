"""Completions in the cells of a notebook."""

from __future__ import annotations

import random
import re

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import CODER, NO_MODEL, initialize, span, stats, wait_for_state, wish
from tests.e2e.notebooks import VsCodeNotebook, capabilities
from tests.e2e.rawclient import RawClient
from tests.e2e.scripted import COMMAND, Scripted
from tests.fakes import MIDDLE, PREFIX, SUFFIX

pytestmark = pytest.mark.e2e

WHOLE = {"prefixTokens": 4096, "suffixTokens": 4096, "coldBudgetMs": 0}


@pytest.fixture
def server(start: Start) -> Scripted:
    """A server over a scripted model that sees whole notebooks."""
    return Scripted(start(command=COMMAND)).ready(WHOLE, **capabilities())


@pytest.fixture
def notebook(server: Scripted) -> VsCodeNotebook:
    """A notebook that isn't open yet."""
    return VsCodeNotebook(server.client)


def seen(server: Scripted) -> str:
    """The document that the last prompt was made from."""
    prefix, suffix, middle = (chr(0xE000 + each) for each in (PREFIX, SUFFIX, MIDDLE))
    prompt = server.seen["prompt"]
    found = re.fullmatch(f"{prefix}(.*){suffix}(.*){middle}(.*)", prompt, re.DOTALL)
    assert found is not None
    return found[1] + found[3] + found[2]


def test_notebooks_are_announced(start: Start) -> None:
    """All cells of all notebooks are wanted, of clients that have notebooks."""
    client = start()
    result = initialize(client, NO_MODEL, **capabilities())
    assert result["capabilities"]["notebookDocumentSync"] == {
        "notebookSelector": [{"notebook": "*"}],
        "save": True,
    }
    without = initialize(start(), NO_MODEL)["capabilities"]
    assert "notebookDocumentSync" not in without


def test_a_cell_knows_the_others(server: Scripted, notebook: VsCodeNotebook) -> None:
    """The model sees the cells before and behind, and the item's range is in the cell."""
    notebook.open("md:# Prices", "import pandas", "%matplotlib inline\nx = ", "print(x)")
    server.says("pandas")
    (item,) = notebook.ask(2, 1, 4)
    assert (item["insertText"], item["range"]) == ("x = pandas", span((1, 0), (1, 4)))
    cells = ["# # Prices", "import pandas", "%matplotlib inline\nx = ", "print(x)"]
    assert seen(server) == "\n\n".join(cells)


def test_the_next_cell_is_not_suggested(server: Scripted, notebook: VsCodeNotebook) -> None:
    """What the model writes of the next cell isn't shown, whether that's code or text."""
    notebook.open("x = 1\n", "print(x)\ny = 2", "md:Some words")
    server.says("z = x\nprint(x)\ny = 2")
    (item,) = notebook.ask(0, 1, 0)
    assert item["insertText"].rstrip("\n") == "z = x"
    server.says("+ 1\n# Some words\n")
    (item,) = notebook.ask(1, 1, 5)
    assert item["insertText"] == "y = 2+ 1"


def test_each_language_is_its_own_document(server: Scripted, notebook: VsCodeNotebook) -> None:
    """Cells of another language aren't part of it; in text for people, other text is."""
    notebook.open("md:Our sales", "sql:select 1", "x = 1", "sql:select ", "md:The end")
    server.says("2")
    assert notebook.ask(3, 0, 7)[0]["insertText"] == "select 2"
    assert seen(server) == "-- Our sales\n\nselect 1\n\nselect \n\n-- The end"
    notebook.ask(4, 0, 7)
    assert seen(server) == "Our sales\n\nThe end"


def test_places_outside_of_the_cell(server: Scripted, notebook: VsCodeNotebook) -> None:
    """A position behind the cell's end is its end, never a place in the next one."""
    notebook.open("a = 1", "b = ", "c = 3")
    server.says("2")
    for place in ((0, 99), (1, 0), (99, 99)):
        (item,) = notebook.ask(1, *place)
        assert (item["insertText"], item["range"]) == ("b = 2", span((0, 0), (0, 4)))


def test_typing_costs_what_is_typed(server: Scripted, notebook: VsCodeNotebook) -> None:
    """A key in a cell decodes a token or two, in a notebook of many cells; so it does elsewhere."""
    notebook.open(*(f"value_{number} = {number}\nprint(value_{number})" for number in range(60)))
    server.says("x")
    notebook.type(30, (1, 16), (1, 16), "\n")
    notebook.ask(30, 2, 0)
    server.client.poll(lambda: stats(server.client)["idle"], bool)
    before = stats(server.client)["decodedTokens"]
    for column, letter in enumerate("total = value"):
        notebook.type(30, (2, column), (2, column), letter)
        notebook.ask(30, 2, column + 1, triggerKind=1)
    assert stats(server.client)["decodedTokens"] - before < 13 * 12


def test_changes_of_all_kinds(server: Scripted, notebook: VsCodeNotebook) -> None:
    """Cells come, go, move, get other languages and other text: the model sees what is there."""
    notebook.open("a = 1", "b = 2", "md:words")
    server.says("1")

    def now(cell: int) -> str:
        notebook.ask(cell, 0, 0)
        return seen(server)

    assert now(0) == "a = 1\n\nb = 2\n\n# words"
    notebook.insert(1, "c = 3")
    assert now(1) == "a = 1\n\nc = 3\n\nb = 2\n\n# words"
    notebook.move(0, 3)
    assert now(3) == "c = 3\n\nb = 2\n\n# words\n\na = 1"
    notebook.type(2, (0, 0), (0, 5), "other\nwords")
    assert now(3) == "c = 3\n\nb = 2\n\n# other\n# words\n\na = 1"
    notebook.retype(1, "markdown")
    assert now(0) == "c = 3\n\n# b = 2\n\n# other\n# words\n\na = 1"
    notebook.run(0)
    notebook.delete(0)
    assert now(2) == "# b = 2\n\n# other\n# words\n\na = 1"
    notebook.type(2, (0, 1), (0, 1), "\n")
    assert now(2) == "# b = 2\n\n# other\n# words\n\na\n = 1"
    notebook.retype(0, "python")
    assert now(0) == "b = 2\n\n# other\n# words\n\na\n = 1"
    notebook.close()
    request = server.client.request("textDocument/inlineCompletion", wish(0, 0, "cell:gone"))
    assert server.client.code(request) == -32602


def test_a_notebook_changes_at_random(server: Scripted, notebook: VsCodeNotebook) -> None:
    """After 300 random changes, the model sees the cells as the editor has them."""
    chance = random.Random(7)
    server.says("1")
    notebook.open("a = 1", "md:words\nmore", "b = 2", "sql:select")

    def change() -> None:
        count = len(notebook.cells)
        number = chance.randrange(count)
        match chance.randrange(8):
            case 0 if count < 8:
                text = chance.choice(["c = 3", "md:text", "sql:x", ""])
                notebook.insert(chance.randrange(count + 1), text)
            case 1 if count > 2:
                notebook.delete(number)
            case 2:
                notebook.move(number, chance.randrange(count))
            case 3:
                notebook.retype(number, chance.choice(["python", "markdown", "sql"]))
            case _:
                lines = notebook.texts[notebook.uri_of(number)].split("\n")
                places = [
                    (line, chance.randint(0, len(lines[line])))
                    for line in (chance.randrange(len(lines)), chance.randrange(len(lines)))
                ]
                start, end = sorted(places)
                notebook.type(number, start, end, chance.choice(["x", "\n", "a\nb", ""]))

    for _ in range(300):
        change()
    for number, cell in enumerate(notebook.cells):
        notebook.ask(number, 0, 0)
        assert seen(server) == expected(notebook, notebook.languages[cell["document"]])
    assert stats(server.client)["requests"]["failed"] == 0


def test_the_notebooks_path_counts(start: Start) -> None:
    """A notebook that is excluded by its path is excluded cell by cell, whatever its cells say."""
    server = Scripted(start(command=COMMAND))
    server.ready(WHOLE | {"exclude": ["private/"]}, **capabilities())
    server.says("1")
    secret = VsCodeNotebook(server.client, "/project/private/a.ipynb")
    secret.open("x = ", "y = 2")
    assert secret.ask(0, 0, 4) == []
    assert list(stats(server.client)["excluded"]) == [f"{secret.uri}#python"]
    secret.close()
    assert stats(server.client)["excluded"] == {}


def test_the_focus_may_be_a_cell(start: Start) -> None:
    """A client that says which cell is looked at is told whether its notebook is excluded."""
    server = Scripted(start(command=COMMAND))
    experimental = {"specls": {"status": True}}
    server.ready({"exclude": ["private/"]}, experimental=experimental, **capabilities())
    client, uri = server.client, "file:///project/private/a.ipynb#python"
    notebook = VsCodeNotebook(client, "/project/private/a.ipynb")
    notebook.open("x = ")
    other = server.open("x = ")
    client.notify("textDocument/didFocus", {"textDocument": {"uri": other}})
    client.sync()
    client.notify("textDocument/didFocus", {"textDocument": {"uri": notebook.uri_of(0)}})

    def told() -> tuple[str, str]:
        last = client.notifications("specls/status")[-1]
        return last["state"], last["uri"]

    client.poll(told, lambda last: bool(last == ("disabled", uri)))


def test_what_is_not_there(server: Scripted, notebook: VsCodeNotebook) -> None:
    """Changes of unknown notebooks and cells, and nonsense, are ignored; the server goes on."""
    notebook.open("x = ")
    server.says("1")
    client = server.client
    other = VsCodeNotebook(client, "/project/other.ipynb")
    other.cells = [{"kind": 2, "document": "cell:1"}]
    other.texts = {"cell:1": ""}
    other.type(0, (0, 0), (0, 0), "x")
    notebook.cells.append({"kind": 2, "document": "cell:unknown"})
    notebook.texts["cell:unknown"] = ""
    notebook.type(1, (0, 0), (0, 0), "x")
    notebook.move(0, 1)  # a cell whose text never came
    (item,) = notebook.ask(1, 0, 4)
    assert item["insertText"] == "x = 1"
    client.notify("notebookDocument/didChange", {"notebookDocument": {"uri": notebook.uri}})
    request = client.request("textDocument/inlineCompletion", wish(0, 4, notebook.uri_of(1)))
    assert client.code(request) == -32602
    notebook.open("y = ")
    assert notebook.ask(2, 0, 4)[0]["insertText"] == "y = 1"


def test_two_notebooks(server: Scripted) -> None:
    """Cells know those of their own notebook only."""
    server.says("1")
    books = [VsCodeNotebook(server.client, f"/project/{name}.ipynb") for name in ("a", "b")]
    for book in books:
        book.open(f"name = '{book.uri}'", "x = ")
    for book in books:
        book.ask(1, 0, 4)
        assert seen(server) == f"name = '{book.uri}'\n\nx = "


def expected(notebook: VsCodeNotebook, language: str) -> str:
    """The document of a language, made in another way than the server's."""
    sign = {"python": "# ", "sql": "-- "}.get(language)
    parts = []
    for uri in (cell["document"] for cell in notebook.cells):
        if notebook.languages[uri] == language:
            parts.append(notebook.texts[uri])
        elif notebook.languages[uri] == "markdown" and sign:
            lines = notebook.texts[uri].split("\n")
            parts.append("\n".join((sign + line).rstrip() for line in lines))
    return "\n\n".join(parts)


@pytest.mark.model
def test_a_name_of_an_earlier_cell_is_completed(start: Start) -> None:
    """The real model calls the function that another cell defines, with its own arguments."""
    client: RawClient = start()
    initialize(client, CODER | {"prefixTokens": 256}, **capabilities())
    wait_for_state(client, "ready")
    notebook = VsCodeNotebook(client)
    notebook.open(
        "md:# Orders\nThe discount depends on the customer's tier.",
        "def discounted_price_for_tier(price, tier):\n"
        "    return price * {'gold': 0.8, 'silver': 0.9}.get(tier, 1.0)",
        "prices = [10.0, 20.0]\ntiers = ['gold', 'silver']",
        "# apply the discount to each of the prices\nfor price, tier in zip(prices, tiers):\n"
        "    print(disc",
        "md:The end.",
    )
    (item,) = notebook.ask(3, 2, 14)
    assert item["range"] == span((2, 0), (2, 14))
    assert item["insertText"].startswith("    print(discounted_price_for_tier(price, tier))")


def test_what_is_accepted_in_a_cell_is_counted(server: Scripted, notebook: VsCodeNotebook) -> None:
    """A suggestion of a cell is followed like that of any document, also from its URI on focus."""
    notebook.open("import pandas", "x = ")
    server.says("foo(a)")
    (item,) = notebook.offers(1, 0, 4, triggerKind=2)
    server.client.notify("textDocument/didFocus", {"textDocument": {"uri": notebook.uri_of(1)}})
    notebook.type(1, (0, 4), (0, 4), "foo(a)")
    command = item["command"]
    params = {"command": command["command"], "arguments": command["arguments"]}
    assert server.client.call("workspace/executeCommand", params) is None
    notebook.type(0, (0, 0), (0, 0), "\n\n")
    counts = stats(server.client)["suggestions"]["total"]
    assert {name: number for name, number in counts.items() if number} == {
        "shown": 1,
        "accepted": 1,
        "characters": 6,
        "charactersPending": 6,
    }
