"""What the model is told of other files: when it's read, and that nobody waits for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from specls.context.document import Snapshot
from specls.context.text import Text
from specls.engine.spill import Spill
from specls.service import ahead
from specls.service.parts import Kind, joined
from specls.service.service import CompletionService
from specls.settings import Settings
from tests.fakes import FILE, MIDDLE, PREFIX, REPOSITORY, SUFFIX, FamilyTokenizer
from tests.service.scripted import Bench, place, until

TOLD = Settings(prefetch=False, workspace_tokens=400, prefix_tokens=200, suffix_tokens=64)
MAIN = "import store\ncart = Cart()\ncart.add_item(|\n"
STORE = "class Cart:\n    def add_item(self, price):\n        pass\n"
URI, OTHER = "file:///project/main.py", "file:///project/store.py"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typing pauses after a moment."""
    monkeypatch.setattr(ahead, "_FOLLOW_SECONDS", 0.001)
    monkeypatch.setattr(ahead, "_PAUSE_SECONDS", 0.02)


def idle(service: CompletionService) -> bool:
    return service._background.idle and not service._ahead._timers


def store(text: str = STORE, uri: str = OTHER) -> Snapshot:
    return Snapshot(uri, 1, "python", Text(text))


async def begin(bench: Bench, settings: Settings = TOLD) -> None:
    """Two documents are open in a folder, one of them imports the other."""
    bench.tokenizer, bench.family = FamilyTokenizer(), FamilyTokenizer.FAMILY
    bench.service._held._heads._seconds = 1e9
    bench.service.roots = ("file:///project",)
    await bench.service.configure(settings)
    bench.service.opened(store())
    bench.service.opened(place(MAIN, URI)[0])
    await until(lambda: idle(bench.service))


async def ask(bench: Bench, text: str = MAIN) -> None:
    await bench.complete(text, URI, fresh=True)
    await until(lambda: idle(bench.service))


def held(bench: Bench) -> list[list[int]]:
    """The sequences that tell of other files."""
    return [tokens for tokens in bench.model.held.values() if FILE in tokens]


WHOLE = [
    REPOSITORY,
    *b"project\n",
    FILE,
    *b"store.py\n" + STORE.encode(),
    FILE,
    *b"main.py\n",
    PREFIX,
    *b"import store\n",
    SUFFIX,
    *b"\n",
    MIDDLE,
    *b"cart = Cart()\ncart.add_item(",
]


async def test_other_files_are_told_of_after_a_pause(bench: Bench) -> None:
    """The first answer comes without; then they stand before the prompt, in the family's format."""
    await begin(bench)
    await bench.complete(MAIN, URI)
    assert held(bench) == []
    await until(lambda: idle(bench.service))
    (tokens,) = held(bench)
    assert tokens == WHOLE


async def test_a_key_costs_no_more_than_without(bench: Bench) -> None:
    """What stands before the prompt stays, byte for byte, while somebody types."""
    await begin(bench)
    await ask(bench)
    await bench.complete(MAIN.replace("|", "a|"), URI, fresh=True)
    assert (bench.last.prefilled_tokens, bench.last.reused_tokens) == (1, len(WHOLE))


async def test_elsewhere_in_the_file_it_stays(bench: Bench) -> None:
    """At another place of the document, what was told needn't be told again."""
    await begin(bench)
    await ask(bench)
    await bench.complete("import store\n|cart = Cart()\ncart.add_item(\n", URI, fresh=True)
    assert bench.last.reused_tokens >= WHOLE.index(PREFIX)


async def test_other_work_on_the_file_goes_on_behind_it(bench: Bench) -> None:
    """While what's open elsewhere changes a little, nothing is read anew."""
    await begin(bench)
    await ask(bench)
    decoded = bench.model.decoded_tokens
    await ask(bench)
    assert bench.model.decoded_tokens - decoded < 16


async def test_what_changed_is_told_anew_after_a_pause(bench: Bench) -> None:
    """A document that was edited is told of as it is now; until then as it was."""
    await begin(bench)
    await ask(bench)
    changed = STORE.replace("price", "total")
    bench.service.changed(store(changed))
    await bench.complete(MAIN, URI, fresh=True)
    assert bench.last.prefilled_tokens == 1
    await until(lambda: idle(bench.service))
    (tokens,) = held(bench)
    assert bytes(tokens[tokens.index(FILE) + 1 : tokens.index(PREFIX) - 9]).decode() == (
        "store.py\n" + changed
    )


async def test_nothing_is_told_where_it_s_off(bench: Bench) -> None:
    """With a budget of 0 the prompt is what it was; switched off, it's so at once."""
    await begin(bench)
    await ask(bench)
    assert len(held(bench)) == 1
    await bench.service.configure(Settings(prefetch=False, workspace_tokens=0))
    await ask(bench)
    assert held(bench) == []


async def test_nothing_is_told_to_a_model_that_was_not_trained_for_it(bench: Bench) -> None:
    """Without markers of its own for files, a model gets the document alone."""
    bench.service.roots = ("file:///project",)
    await bench.service.configure(TOLD)
    bench.service.opened(store())
    await ask(bench)
    assert held(bench) == []


async def test_a_slow_machine_is_told_less(bench: Bench) -> None:
    """What takes too long to read isn't told."""
    await begin(bench)
    bench.service._held._heads._seconds = 0.0
    await ask(bench)
    assert held(bench) == []


async def test_where_time_doesn_t_matter_all_is_told(bench: Bench) -> None:
    """Without a limit of time for new places there's none for other files."""
    await begin(bench, replace(TOLD, cold_budget_ms=0))
    bench.service._held._heads._seconds = 0.0
    await ask(bench)
    assert len(held(bench)) == 1


async def test_what_is_excluded_now_is_forgotten(bench: Bench) -> None:
    """When a file is excluded, nothing of it stays in the cache."""
    await begin(bench)
    await ask(bench)
    await bench.service.configure(
        Settings(prefetch=False, workspace_tokens=400, exclude=("store.py",))
    )
    await ask(bench)
    assert held(bench) == []


async def test_a_document_that_is_opened_again_has_it_still(bench: Bench) -> None:
    """What was read before it was closed is restored, head and all."""
    bench.spill = Spill(2**20)
    await begin(bench)
    await ask(bench)
    bench.service.close(URI)
    bench.service.opened(place(MAIN, URI)[0])
    await until(lambda: idle(bench.service))
    decoded = bench.model.decoded_tokens
    await bench.complete(MAIN, URI, fresh=True)
    assert bench.last.reused_tokens == len(WHOLE) - 1
    await until(lambda: idle(bench.service))
    assert bench.model.decoded_tokens - decoded < 16
    assert [tokens[: len(WHOLE)] for tokens in held(bench)] == [WHOLE]


async def test_excluded_meanwhile_it_is_not_restored(bench: Bench) -> None:
    """A state that tells of a file which is excluded by now isn't used again."""
    bench.spill = Spill(2**20)
    await begin(bench)
    await ask(bench)
    bench.service.close(URI)
    await bench.service.configure(
        Settings(prefetch=False, workspace_tokens=400, exclude=("store.py",))
    )
    await ask(bench)
    assert held(bench) == []


async def test_the_parts_are_what_the_model_is_given(bench: Bench) -> None:
    """The parts of specls/context, one behind the other, are the tokens that are decoded."""
    await begin(bench)
    await ask(bench)
    context = await bench.service.context(*place(MAIN, URI))
    assert joined(context.parts) == WHOLE
    assert [part.kind for part in context.parts] == [
        Kind.MARKER,
        Kind.HEAD,
        Kind.MARKER,
        Kind.FILE,
        Kind.MARKER,
        Kind.HEAD,
        Kind.MARKER,
        Kind.PREFIX,
        Kind.MARKER,
        Kind.SUFFIX,
        Kind.MARKER,
        Kind.TYPED,
    ]
    assert context.parts[3].path == "store.py"
    assert context.parts[2].text == "<|file_sep|>"
    for part in context.parts:
        assert part.kind is Kind.MARKER or bytes(part.tokens).decode() == part.text


@pytest.mark.parametrize("layout", ["anchored", "cursor"])
async def test_the_parts_of_each_layout(bench: Bench, layout: str) -> None:
    """In any layout a completion reads what the parts say, and asking for them changes nothing."""
    settings = Settings(prefetch=False, workspace_tokens=400, prompt_layout=layout)
    await begin(bench, settings)
    await ask(bench)
    text = MAIN.replace("|", "thing|")
    context = await bench.service.context(*place(text, URI))
    again = await bench.service.context(*place(text, URI))
    assert context == again
    await bench.complete(text, URI, fresh=True)
    tokens = joined(context.parts)
    assert bench.last.prompt_tokens == len(tokens)
    assert any(row[: len(tokens)] == tokens for row in bench.model.held.values())


async def test_an_excluded_document_has_no_parts(bench: Bench) -> None:
    """Nothing is told of a document in which nothing is completed but why."""
    await begin(bench)
    context = await bench.service.context(*place("A=|", "file:///project/.env"))
    assert context.parts == ()
    assert context.excluded is not None
    assert ".env" in context.excluded


async def test_a_request_never_waits_for_other_files(bench: Bench, tmp_path: Path) -> None:
    """On the way of a request nothing is looked for in the workspace."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "store.py").write_text(STORE, encoding="utf-8")
    bench.tokenizer, bench.family = FamilyTokenizer(), FamilyTokenizer.FAMILY
    bench.service._held._heads._seconds = 1e9
    bench.service.roots = (folder.as_uri(),)
    await bench.service.configure(TOLD)
    asked: list[object] = []
    choose = bench.service._held._heads._workspace.pool

    def pool(*given: object) -> object:
        asked.append(given)
        assert not bench.service.busy
        return choose(*given)  # type: ignore[arg-type]

    bench.service._held._heads._workspace.pool = pool  # type: ignore[assignment, method-assign]
    await bench.complete(MAIN, (folder / "main.py").as_uri())
    await until(lambda: idle(bench.service))
    assert len(asked) >= 1
    assert len(held(bench)) == 1
