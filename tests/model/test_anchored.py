"""The anchored prompt on the real target: what a key costs, and that it changes no answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specls.context.document import Change, Snapshot
from specls.context.text import Encoding, Position, Text
from specls.core import CancelToken
from specls.engine.controllers import FixedController
from specls.service.completion import Completion, Request, accepted, complete
from specls.service.healing import Spelling
from specls.service.interface import Runtime
from specls.service.reading import grow
from specls.settings import Settings
from tests.model.places import close_all

pytestmark = pytest.mark.model

SETTINGS = Settings(max_tokens=10, prefix_tokens=160, suffix_tokens=96, cold_budget_ms=0)
BEFORE = '''import json


class Settings:
    """What a user may change."""

    def __init__(self, path):
        self.path = path
        self.values = {}

    def load(self):
        with open(self.path, encoding="utf-8") as file:
            self.values = json.load(file)

    def save(self):
'''
AFTER = """

    def get(self, name, default=None):
        return self.values.get(name, default)

    def remove(self, name):
        self.values.pop(name, None)
"""


@pytest.fixture
def plain(pair: Runtime) -> Runtime:
    """The default target without drafts."""
    return replace(pair, engine=pair.engine.with_controller(FixedController()))


class Typing:
    """Somebody who types in a document."""

    def __init__(self, runtime: Runtime, name: str, settings: Settings = SETTINGS) -> None:
        self.runtime = runtime
        self.settings = settings
        self.snapshot = Snapshot(f"file:///{name}", 1, "python", Text(BEFORE + AFTER))
        self.position = Position(BEFORE.count("\n"), 0)

    def type(self, text: str) -> None:
        place = (self.position.line, self.position.column)
        change = Change(text, place, place)
        version = self.snapshot.version + 1
        self.snapshot = self.snapshot.changed([change], version, Encoding.UTF32)
        self.position = Position(self.position.line, self.position.column + len(text))

    def complete(self, max_tokens: int | None = None) -> Completion:
        settings = replace(self.settings, max_tokens=max_tokens or self.settings.max_tokens)
        request = Request(self.snapshot, self.position, settings)
        return complete(self.runtime, request, CancelToken())


def test_a_key_costs_its_own_tokens(plain: Runtime) -> None:
    """While a line is typed, a few tokens are decoded per key, whatever the suffix is."""
    close_all(plain)
    typing = Typing(plain, "keys")
    first = typing.complete()
    assert first.stats.prompt_tokens > 95
    for key in "        with open(":
        typing.type(key)
        stats = typing.complete(max_tokens=1).stats
        assert not stats.anchor_moved
        assert stats.prefilled_tokens <= 6
        assert stats.prefilled_tokens >= stats.healed_tokens


def test_what_was_typed_is_kept(plain: Runtime) -> None:
    """The text continues what stands before the cursor in the middle of a word, too."""
    typing = Typing(plain, "word")
    typing.type("        with open(self.pa")
    assert typing.complete().text.startswith("th")


def test_an_anchored_answer_is_that_of_a_fresh_session(plain: Runtime) -> None:
    """An answer after many keys equals the one to the same prompt in an empty session."""
    typing = Typing(plain, "typed")
    typing.complete()
    for part in ("        ", "wi", "th op"):
        typing.type(part)
        reused = typing.complete()
    tokens = plain.engine.target.decoded_tokens
    close_all(plain)
    fresh = typing.complete()
    assert plain.engine.target.decoded_tokens - tokens > 95
    assert reused.stats.prefilled_tokens < 10
    assert fresh.stats.prefilled_tokens > 95
    assert fresh.text == reused.text


def test_a_small_window_grows_behind_the_answer(plain: Runtime) -> None:
    """After the whole window was read beside it, the next key has it and decodes a few tokens."""
    settings = Settings(max_tokens=4, prefix_tokens=600, suffix_tokens=100, cold_budget_ms=1)
    typing = Typing(plain, "small", settings)
    typing.snapshot = replace(typing.snapshot, text=Text("value = 1\n" * 120 + BEFORE + AFTER))
    typing.position = Position(120 + BEFORE.count("\n"), 0)
    first = typing.complete()
    assert first.stats.partial_window
    assert first.stats.prompt_tokens <= 212
    grow(plain, Request(typing.snapshot, typing.position, settings), CancelToken())
    typing.type(" ")
    second = typing.complete()
    assert not second.stats.anchor_moved
    assert second.stats.prompt_tokens > first.stats.prompt_tokens + 200
    assert second.stats.prefilled_tokens <= 6


def test_an_accepted_suggestion_costs_a_few_tokens(plain: Runtime) -> None:
    """After a suggestion was accepted, its tokens are in the cache already."""
    typing = Typing(plain, "accept")
    typing.type("        with open(self.path, ")
    first = typing.complete()
    assert first.text
    following = accepted(Request(typing.snapshot, typing.position, SETTINGS), first.text)
    stats = complete(plain, following, CancelToken()).stats
    assert not stats.anchor_moved
    assert stats.prefilled_tokens <= 8


def test_the_vocabulary_can_spell_anything(pair: Runtime) -> None:
    """For any bytes there's a token that begins to spell them."""
    spelling = Spelling(pair.tokenizer)
    for rest in (b" return", b"\xff", "é".encode(), b"\n\n\t", b"\x00"):
        pieces = {pair.tokenizer.piece(int(token)) for token in spelling.fitting(rest)}
        assert pieces
        assert all(piece.startswith(rest) or rest.startswith(piece) for piece in pieces)
