"""One completion, from the document to the text, with a scripted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.core import CancelToken, FinishReason, Source
from specls.engine.controllers import FixedController
from specls.engine.engine import Engine
from specls.engine.interface import Plan
from specls.errors import Cancelled, DecodeFailed
from specls.service.completion import (
    Budget,
    Completion,
    Request,
    budget_of,
    complete,
)
from specls.service.dialect import dialect_of
from specls.service.interface import Runtime
from specls.service.prompts import PromptBuilder
from specls.service.reading import _readable
from specls.settings import Settings
from tests.fakes import (
    END,
    MIDDLE,
    PREFIX,
    SUFFIX,
    ByteTokenizer,
    ListDrafter,
    ScriptedModel,
    Torn,
    writes,
)
from tests.service.scripted import place


class Scene:
    """A runtime whose model writes bytes behind the middle marker, or behind the whole prompt."""

    def __init__(self, writes: bytes, *, markers: bool = True, bos: int | None = None) -> None:
        self.written: list[int] = [*writes, END]
        self.prompt: list[int] = []
        self.model = ScriptedModel(self._script, micro_batch=64, capacity=512)
        self.drafter = ListDrafter(Source.LOOKUP)
        engine = Engine(
            self.model, {Source.LOOKUP: self.drafter}, FixedController(Plan(Source.LOOKUP, 8))
        )
        tokenizer = ByteTokenizer(markers=markers, bos=bos)
        prompts = PromptBuilder(tokenizer, dialect_of(tokenizer, None), None)
        self.runtime = Runtime(engine, tokenizer, prompts, {}, (), lambda: None)

    def _script(self, held: Sequence[int]) -> int:
        at = len(held) - len(self.prompt)
        return self.written[min(max(at, 0), len(self.written) - 1)]

    def complete(self, marked: str, settings: Settings | None = None) -> Completion:
        before, after = marked.split("|")
        lines = before.split("\n")
        snapshot = Snapshot("file:///a", 1, "python", Text(before + after))
        position = Position(len(lines) - 1, len(lines[-1]))
        request = Request(snapshot, position, settings or Settings(max_tokens=40))
        self.prompt = self.runtime.prompts.build(snapshot, position, (200, 100)).tokens
        return complete(self.runtime, request, CancelToken())


def test_the_prompt_is_prefix_suffix_middle() -> None:
    """What stands before and behind the cursor is laid out with the markers by id."""
    scene = Scene(b"x")
    scene.complete("ab|cd")
    assert scene.prompt == [PREFIX, *b"ab", SUFFIX, *b"cd", MIDDLE]


def test_a_model_without_markers_sees_the_prefix() -> None:
    """Without markers, the prompt is a first token and the text before the cursor."""
    scene = Scene(b"x", markers=False, bos=7)
    scene.complete("ab|cd")
    assert scene.prompt == [7, *b"ab"]


def test_an_empty_document_has_a_prompt() -> None:
    """Also without any text there's something to decode."""
    assert Scene(b"x = 1", markers=False).complete("|").text == "x = 1"
    assert Scene(b"x = 1").complete("|").text == "x = 1"


def test_the_sources_of_the_text_are_told() -> None:
    """The spans say who wrote what, cut where the text is cut."""
    scene = Scene(b"return x\n\nmore")
    scene.drafter.drafts = [[*b"eturn"], [*b"x\n\nm"]]
    completion = scene.complete("def f(x):\n    |\n")
    assert completion.text == "return x"
    assert [(span.text, span.source.value) for span in completion.spans] == [
        ("r", "target"),
        ("e", "lookup"),
        ("t", "lookup"),
        ("u", "lookup"),
        ("r", "lookup"),
        ("n", "lookup"),
        (" ", "target"),
        ("x", "lookup"),
    ]
    assert completion.stats.finish is FinishReason.STOP_RULE


def test_characters_come_whole() -> None:
    """Bytes of several tokens become one character, and a half one at the end is dropped."""
    assert Scene("ä😀".encode()).complete("x|").text == "ä😀"
    assert Scene("ab😀".encode()[:4]).complete("x|").text == "ab"


def test_the_stop_rule_saves_tokens() -> None:
    """Once a rule says stop, nothing more is decoded."""
    scene = Scene(b"1\n" + b"y" * 100)
    assert scene.complete("x = |\n").text == "1"
    assert scene.model.decoded_tokens == len(scene.prompt) + 1


def test_a_cancelled_request_computes_nothing() -> None:
    """A request whose token is set already decodes nothing."""
    scene, cancel = Scene(b"x"), CancelToken()
    cancel.cancel()
    snapshot = Snapshot("file:///a", 1, "python", Text("a"))
    with pytest.raises(Cancelled):
        complete(scene.runtime, Request(snapshot, Position(0, 1), Settings()), cancel)
    assert scene.model.decoded_tokens == 0


@pytest.mark.parametrize(
    ("settings", "capacity", "budget"),
    [
        (Settings(), 8192, Budget(1536, 512, 64)),
        (Settings(workspace_tokens=4000), 8192, Budget(1536, 512, 64, 1968)),
        (Settings(workspace_tokens=400), 3000, Budget(1536, 512, 64)),
        (Settings(), 1024, Budget(708, 236, 64)),
        (Settings(max_tokens=1024), 256, Budget(84, 28, 128)),
        (Settings(prefix_tokens=16, suffix_tokens=0), 256, Budget(16, 0, 64)),
    ],
)
def test_budgets_fit_into_the_cache(settings: Settings, capacity: int, budget: Budget) -> None:
    """Windows larger than the cache shrink in proportion, so that every request fits."""
    assert budget_of(settings, capacity) == budget
    total = budget.prefix_tokens + budget.suffix_tokens + budget.max_tokens
    assert total < capacity


def test_windows_larger_than_the_cache_work() -> None:
    """With a small cache and default windows a long document is completed all the same."""
    scene = Scene(b"x")
    text = "value = 1\n" * 200
    snapshot = Snapshot("file:///a", 1, "python", Text(text))
    request = Request(snapshot, Position(150, 0), Settings())
    completion = complete(scene.runtime, request, CancelToken())
    assert completion.stats.prompt_tokens > 180


@pytest.mark.parametrize(
    ("speed", "windows"),
    [(0.0, (1500, 500)), (1000.0, (1500, 500)), (30.0, (675, 225)), (1.0, (384, 128))],
)
def test_what_is_read_in_the_background_is_read_in_time(
    speed: float, windows: tuple[int, int]
) -> None:
    """A slow machine reads smaller windows, in proportion, but never very small ones."""
    assert _readable((1500, 500), speed) == windows


CHOICES = Settings(max_tokens=40, prompt_layout="cursor")


def choose(
    marked: str,
    script: str,
    nearly: Mapping[int, str],
    wanted: int = 3,
    settings: Settings = CHOICES,
) -> Completion:
    """A completion with alternatives, of a model that nearly says something else."""
    tokenizer = ByteTokenizer()
    prompts = PromptBuilder(tokenizer, dialect_of(tokenizer, None), None)
    snapshot, position = place(marked)
    length = len(prompts.build(snapshot, position, (200, 100)).tokens)
    model = Torn(writes(script, length), nearly, length, capacity=512)
    engine = Engine(model, {}, FixedController())
    runtime = Runtime(engine, tokenizer, prompts, {}, (), lambda: None)
    completion = complete(runtime, Request(snapshot, position, settings, wanted), CancelToken())
    assert all(model.tokens_of(fork) == [] for fork in model.forks)
    return completion


def test_alternatives_come_with_the_most_likely_text() -> None:
    """Where the model was in doubt there are others, each complete and cut by the same rules."""
    completion = choose("x = |\n", "call(a)\nmore", {0: "b", 5: "z"})
    assert completion.text == "call(a)"
    assert completion.alternatives == ("ball(a)", "call(z)")


@pytest.mark.parametrize(
    ("script", "nearly", "wanted", "alternatives"),
    [
        ("call(a)", {}, 3, ()),
        ("call(a)", {0: "b", 5: "z"}, 2, ("ball(a)",)),
        ("call(a)", {0: "b", 5: "z"}, 1, ()),
        ("call(a)\nmore", {9: "z"}, 3, ()),
        ("a\nmore", {1: " "}, 3, ()),
    ],
)
def test_alternatives_are_wanted_and_different(
    script: str, nearly: dict[int, str], wanted: int, alternatives: tuple[str, ...]
) -> None:
    """No more than asked for, none for a doubt behind what's shown, none that looks the same."""
    assert choose("x = |\n", script, nearly, wanted).alternatives == alternatives


def test_where_the_model_has_nothing_to_say_its_second_choice_is_shown() -> None:
    """Somebody who asks gets what the model would have said instead of an end."""
    assert choose("x = |\n", "", {0: "b"}).text == "b"
    assert choose("x = |\n", "", {}).text == ""


def test_a_temperature_leaves_texts_to_chance() -> None:
    """With a temperature a torn model says either; of alternatives the first is the likeliest."""
    texts = set()
    for seed in range(12):
        drawn = replace(CHOICES, temperature=2.0, sampling_seed=seed)
        texts.add(choose("x = |\n", "ab", {0: "b"}, 1, drawn).text)
        assert choose("x = |\n", "ab", {0: "b"}, 3, drawn).text == "ab"
    assert texts == {"ab", "bb"}


def test_a_failure_of_the_others_leaves_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the forks fail, what was written before them is shown."""

    def fails(*_given: object) -> None:
        raise DecodeFailed("broken")

    monkeypatch.setattr(Torn, "decode_each", fails)
    completion = choose("x = |\n", "call(a)\nmore", {0: "b"})
    assert (completion.text, completion.alternatives) == ("call(a)", ())


def test_an_alternative_has_no_half_line() -> None:
    """One that is longer than there's time for ends with its last whole line, or isn't shown."""
    long = "b" * 200
    assert choose("x = |\n", "c\nmore", {0: "b"}).alternatives == ("b",)
    completion = choose("x = |\n", "c" + long, {0: "d"}, 3, replace(CHOICES, max_tokens=30))
    assert completion.text == "c" + long[:29]
    assert completion.alternatives == ()
