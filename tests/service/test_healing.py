"""Token healing: which tokens are taken back, and what may be written instead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from specls.context.document import Snapshot
from specls.context.fim import Order, Role
from specls.context.text import Position, Text
from specls.core import CancelToken
from specls.engine.controllers import FixedController
from specls.engine.decode import Healing, Limits
from specls.engine.engine import Engine
from specls.engine.interface import Logits
from specls.service.dialect import Dialect
from specls.service.healing import Spelling
from specls.service.prompts import PromptBuilder
from tests.fakes import END, MIDDLE, PREFIX, SUFFIX, ByteTokenizer, ScriptedModel

WORDS = (b"return", b" return", b"ret", b"urn", b" ", b"return_value", "é".encode())


class WordTokenizer(ByteTokenizer):
    """Bytes, and a few words as tokens of their own, the longest first."""

    first = 300

    @property
    def size(self) -> int:
        return self.first + len(WORDS)

    def piece(self, token: int) -> bytes:
        return WORDS[token - self.first] if token >= self.first else super().piece(token)

    def encode(self, text: str) -> list[int]:
        raw, tokens = text.encode(), []
        while raw:
            fitting = [word for word in WORDS if raw.startswith(word)]
            word = max(fitting, key=len, default=raw[:1])
            tokens.append(self.first + WORDS.index(word) if fitting else raw[0])
            raw = raw[len(word) :]
        return tokens


TOKENIZER = WordTokenizer()
SPELLING = Spelling(TOKENIZER)


def pieces(tokens: npt.NDArray[np.int32]) -> set[bytes]:
    return {TOKENIZER.piece(int(token)) for token in tokens}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("x = retu", b" retu"),
        ("    retu", b" retu"),
        ("(retu", b"retu"),
        ("a.b", b"b"),
        ("foo(", b"("),
        ("x  =", b" ="),
        ("x = ", b" "),
        ("x\n    ", b"\n    "),
        ("x:\n", b""),
        ("x\n\n", b""),
        ("\n", b""),
        ("", b""),
        ("é", "é".encode()),
    ],
)
def test_the_last_word_is_taken_back(text: str, taken: bytes) -> None:
    """A word or a run of signs with the blank before it, or white space, but no line's end."""
    tokens = TOKENIZER.encode(text)
    count = SPELLING.taken_back(tokens)
    assert b"".join(map(TOKENIZER.piece, tokens[len(tokens) - count :])) == taken


def test_only_some_tokens_are_taken_back() -> None:
    """Of a word of many tokens, the last eight are spelt anew."""
    assert SPELLING.taken_back(TOKENIZER.encode("x" * 50)) == 8


def test_what_fits_is_longer_or_shorter() -> None:
    """Tokens that begin with the rest, or that the rest begins with, may come, and no others."""
    assert pieces(SPELLING.fitting(b" ret")) == {b" return", b" "}
    assert pieces(SPELLING.fitting(b"retu")) == {b"return", b"return_value", b"ret", b"r"}
    assert pieces(SPELLING.fitting(b"\xff")) == {b"\xff"}


def test_spelling_ends_when_all_is_spelt() -> None:
    """After each token the rest gets shorter, until anything may come."""
    bound = SPELLING.bound_to(b"retu")
    ret = TOKENIZER.first + WORDS.index(b"ret")
    allowed = bound.allowed([ret])
    assert allowed is not None
    assert pieces(allowed) == {b"u", b"urn"}
    assert bound.allowed([ret, TOKENIZER.first + WORDS.index(b"urn")]) is None


class Preferring:
    """A model that scores tokens by a list of wishes."""

    def __init__(self, *wishes: bytes) -> None:
        self.wishes = wishes

    def run(self, text: str) -> tuple[bytes, int, ScriptedModel]:
        """What is written behind ``text``, healed, how much of it is known, and the model."""
        prompt = TOKENIZER.encode(text)
        count = SPELLING.taken_back(prompt)
        rest = b"".join(map(TOKENIZER.piece, prompt[len(prompt) - count :]))
        model = _WishfulModel(self.wishes, prompt[: len(prompt) - count])
        engine = Engine(model, {}, FixedController())
        healing = Healing(count, SPELLING.bound_to(rest))
        generation = engine.generate(
            "a", prompt, Limits(6, frozenset({END})), CancelToken(), healing
        )
        new = b"".join(TOKENIZER.piece(token.id) for step in generation for token in step)
        return new, len(rest), model


class _WishfulModel(ScriptedModel):
    """Wants to write its wishes one after the other, and then the end."""

    def __init__(self, wishes: Sequence[bytes], before: Sequence[int]) -> None:
        ids = [TOKENIZER.first + WORDS.index(wish) if wish in WORDS else wish[0] for wish in wishes]
        wanted = [*ids, END]
        super().__init__(lambda held: wanted[min(max(len(held) - len(before), 0), len(ids))])

    def logits(self, row: int) -> Logits:
        scores = np.zeros(TOKENIZER.size, dtype=np.float32)
        scores[self._rows[row]] = 20.0
        return scores


def test_the_model_may_choose_a_longer_token() -> None:
    """A half word becomes the whole one that the model wanted, and only the new part is new."""
    new, known, model = Preferring(b" return", b"x").run("x = retu")
    assert (new, known) == (b" returnx", 5)
    assert bytes(b"".join(map(TOKENIZER.piece, model.held[0]))) == b"x = returnx"


def test_the_same_tokens_cost_nothing_twice() -> None:
    """Where the model agrees with what stands there, the prompt's own batch is enough."""
    prompt = TOKENIZER.encode("x(")
    new, known, model = Preferring(b"(", b"y").run("x(")
    assert (new, known) == (b"(y", 1)
    assert model.decoded_tokens == len(prompt) + 1


def test_an_indentation_isn_t_made_deeper() -> None:
    """White space behind a line break is spelt as it is, and what follows isn't blank."""
    bound = SPELLING.bound_to(b"\n ")
    newline, blank = 10, TOKENIZER.first + WORDS.index(b" ")
    allowed = bound.allowed([newline])
    assert allowed is not None
    assert pieces(allowed) == {b" return", b" "}
    allowed = bound.allowed([newline, blank])
    assert allowed is not None
    assert blank not in allowed
    assert {END, ord("r")} <= set(allowed.tolist())
    assert bound.allowed([newline, blank, ord("r")]) is None


def test_what_was_typed_is_never_changed() -> None:
    """A model that wants something else must spell what stands there all the same."""
    new, known, _ = Preferring(b"z", b"z", b"z").run("x = retu")
    assert new.startswith(b" retu")
    assert known == 5


def test_the_anchored_prompt_ends_with_what_was_typed() -> None:
    """Typed text stands behind the middle marker, and its last word is healed."""
    markers = {Role.PREFIX: PREFIX, Role.SUFFIX: SUFFIX, Role.MIDDLE: MIDDLE}
    builder = PromptBuilder(TOKENIZER, Dialect(markers), SPELLING)
    snapshot = Snapshot("file:///a", 1, "python", Text("a\nb = c\nd\n"))
    built = builder.build(snapshot, Position(1, 4), (100, 100), "anchored")
    assert built.tokens == [
        *(PREFIX, *TOKENIZER.encode("a\n")),
        *(SUFFIX, *TOKENIZER.encode("c\nd\n")),
        *(MIDDLE, *TOKENIZER.encode("b = ")),
    ]
    assert built.rest == b" "
    assert built.anchor_moved
    assert not builder.build(snapshot, Position(1, 4), (100, 100), "anchored").anchor_moved
    builder.forget("file:///a")
    assert builder.build(snapshot, Position(1, 4), (100, 100), "anchored").anchor_moved


def test_a_suffix_first_family_keeps_its_order() -> None:
    """Where the suffix comes first by nature, the anchored layout isn't needed."""
    markers = {Role.PREFIX: PREFIX, Role.SUFFIX: SUFFIX}
    builder = PromptBuilder(TOKENIZER, Dialect(markers, Order.SUFFIX_FIRST), SPELLING)
    snapshot = Snapshot("file:///a", 1, "python", Text("a\nbc"))
    built = builder.build(snapshot, Position(1, 1), (100, 100), "anchored")
    assert built.tokens == [SUFFIX, *b"c", PREFIX, *b"a\nb"]
    assert not built.anchor_moved
