"""From tokens to the text that may be shown."""

from __future__ import annotations

from itertools import count
from math import log, nan

import pytest

from specls.context.place import place_of
from specls.context.window import Window
from specls.core import FinishReason, Source
from specls.engine.decode import Token
from specls.service import completion
from specls.service.completion import Completion
from specls.service.writer import Span, Writer
from specls.settings import Settings
from tests.fakes import ByteTokenizer
from tests.service.test_completion import Scene


def writer(marked: str = "|", confidence: float = 0.0, skip: int = 0) -> Writer:
    """At the place of the ``|`` of a text."""
    before, after = marked.split("|")
    place = place_of(Window(before, after), "python")
    return Writer(ByteTokenizer(), skip, place, confidence)


def tokens(text: str, sure: float = nan, source: Source = Source.TARGET) -> list[Token]:
    """The bytes of a text, each with the probability ``sure``."""
    return [Token(byte, source, log(sure)) for byte in text.encode()]


def text_of(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans)


def test_sources_stay_with_what_they_wrote() -> None:
    """Also where the file's own indentation takes the place of the model's."""
    found = writer("class A:\n\tx = 1\n\tif x:|\n")
    found.add(tokens("\n        "))
    found.add(tokens("y = 1", source=Source.DRAFT))
    assert text_of(found.shown()) == "\n\t\ty = 1"
    drafted = [span.text for span in found.shown() if span.source is Source.DRAFT]
    assert "".join(drafted).strip() == "y = 1"


@pytest.mark.parametrize(
    ("marked", "parts", "shown"),
    [
        ("x = |", [("foo(a)", 0.9), (" + b", 0.1)], "foo(a)"),
        ("x = |", [("foo.ba", 0.9), ("r", 0.1)], "foo."),
        ("x = |", [("f", 0.1), ("oo", 0.9)], ""),
        ("x = |", [("foo ", 0.9), ("b", 0.1)], "foo"),
        ("def f():\n    |", [("a = 1\n    b = ", 0.9), ("2", 0.1)], "a = 1"),
        ("def f():\n    |", [("a = 1\n    ", 0.9), ("b", 0.1)], "a = 1"),
        ("x = |", [("foo", 0.9), (" + b", nan)], "foo + b"),
    ],
)
def test_what_the_model_doubts_isnt_shown(
    marked: str, parts: list[tuple[str, float]], shown: str
) -> None:
    """It ends before the word with the first weak token, several lines behind a whole one."""
    found = writer(marked, confidence=0.5)
    for text, sure in parts:
        if not found.ended:
            found.add(tokens(text, sure))
    assert text_of(found.shown()) == shown
    assert found.doubts is (parts[-1][1] == 0.1 or parts[0][1] == 0.1)


def test_half_a_character_isnt_shown() -> None:
    """A character whose bytes didn't all come is left out, and one that's broken ends the text."""
    found = writer()
    found.add(tokens("a\N{SNOWMAN}")[:-1])
    assert text_of(found.shown()) == "a"
    found.add(tokens("b"))
    assert text_of(found.shown()) == "a"


def timed(monkeypatch: pytest.MonkeyPatch, marked: str, text: str, budget: int) -> Completion:
    """A completion on a machine whose clock goes on by a tenth of a second at each look."""
    clock = count()
    monkeypatch.setattr(completion, "perf_counter", lambda: next(clock) / 10)
    return Scene(text.encode()).complete(marked, Settings(max_tokens=100, answer_budget_ms=budget))


def test_what_takes_long_ends_with_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the budget, what is shown ends with the last whole line; the rest can follow."""
    text = "a = 1\n    bcdefgh = 2\n    c = 3"
    found = timed(monkeypatch, "def f():\n    |\n", text, budget=1000)
    assert (found.text, found.stats.finish) == ("a = 1", FinishReason.TIME)
    found = timed(monkeypatch, "def f():\n    |\n", text, budget=0)
    assert (found.text, found.stats.finish) == (text, FinishReason.END_OF_TEXT)


def test_a_single_line_has_more_time_and_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line may take eight times the budget, and is shown as far as it came then."""
    line = "".join(f"{number}x" for number in range(40, 80))
    found = timed(monkeypatch, "x = |\n", line[:30], budget=500)
    assert (found.text, found.stats.finish) == (line[:30], FinishReason.END_OF_TEXT)
    found = timed(monkeypatch, "x = |\n", line, budget=500)
    assert found.stats.finish is FinishReason.TIME
    assert found.text == line[: len(found.text)]
    assert 38 <= len(found.text) <= 42


def test_a_text_that_is_too_long_ends_with_a_line() -> None:
    """Where the tokens are used up, half a line behind a whole one isn't shown."""
    scene = Scene(b"a = 1\n    b = 2\n    c = 3")
    found = scene.complete("def f():\n    |\n", Settings(max_tokens=13))
    assert (found.text, found.stats.finish) == ("a = 1", FinishReason.MAX_TOKENS)
