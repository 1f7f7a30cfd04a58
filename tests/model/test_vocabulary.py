"""Text and control tokens of the real vocabularies."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specls.context.document import Snapshot
from specls.context.fim import FAMILIES, Role
from specls.context.text import Position, Text
from specls.service.dialect import dialect_of
from specls.service.interface import Runtime

pytestmark = pytest.mark.model

MARKED = "a = '<|fim_prefix|><|fim_middle|><|endoftext|><|im_end|><|file_sep|>'\n"


def decoded(runtime: Runtime, tokens: list[int]) -> str:
    return b"".join(runtime.tokenizer.piece(token) for token in tokens).decode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(max_size=60))
def test_text_survives_the_tokens(pair: Runtime, text: str) -> None:
    """Any text is the same after encoding and decoding."""
    tokens = pair.tokenizer.encode(text)
    assert decoded(pair, tokens) == text.encode("utf-8", "replace").decode()


def test_text_never_becomes_a_control_token(pair: Runtime) -> None:
    """A source file that contains marker strings has no marker among its tokens."""
    tokens = pair.tokenizer.encode(MARKED)
    assert not set(tokens) & pair.tokenizer.stop_ids
    assert decoded(pair, tokens) == MARKED


def test_the_prompt_has_its_own_markers_once(pair: Runtime) -> None:
    """Prefix, suffix and middle marker stand once each, whatever the file contains."""
    snapshot = Snapshot("file:///m", 1, "python", Text(MARKED * 3))
    built = pair.prompts.build(snapshot, Position(1, 4), (500, 500))
    tokens, healed = built.tokens, built.healing.tokens if built.healing else 0
    markers = pair.prompts.dialect.markers
    found = [token for token in tokens if token in pair.tokenizer.stop_ids]
    assert found == [markers[Role.PREFIX], markers[Role.SUFFIX], markers[Role.MIDDLE]]
    assert tokens[0] == markers[Role.PREFIX]
    assert tokens[len(tokens) - healed - 1] == markers[Role.MIDDLE]


def test_the_family_and_the_file_agree(pair: Runtime) -> None:
    """The markers by the catalogue's family are those that llama.cpp finds in the vocabulary."""
    named = dialect_of(pair.tokenizer, "qwen2.5-coder")
    declared = dialect_of(pair.tokenizer, None)
    assert {role: named.markers[role] for role in declared.markers} == declared.markers
    assert {Role.REPOSITORY, Role.FILE} <= set(named.markers)
    assert (named.tells_files, declared.tells_files) == (True, False)
    assert pair.tokenizer.bos is None


def test_every_end_of_the_family_stops(pair: Runtime) -> None:
    """Each token that the family names as an end is in the vocabulary and ends a completion."""
    family = FAMILIES["qwen2.5-coder"]
    for text in family.stops:
        assert pair.tokenizer.token(text) in pair.prompts.dialect.stop_ids


def test_control_tokens_have_no_text(pair: Runtime) -> None:
    """What can't be part of a text decodes to nothing."""
    assert {pair.tokenizer.piece(token) for token in pair.tokenizer.stop_ids} == {b""}


def test_an_unknown_name_is_no_token(pair: Runtime) -> None:
    """Plain text, or a marker of another family, isn't a control token."""
    assert pair.tokenizer.token("<PRE>") is None
    assert pair.tokenizer.token("def") is None


def test_another_family_s_markers_are_not_invented(smallest: Runtime) -> None:
    """A family named for a model whose vocabulary lacks its markers counts as none."""
    assert dialect_of(smallest.tokenizer, "codegemma").markers == {}


def test_lone_surrogates_are_replaced(pair: Runtime) -> None:
    """Characters that UTF-8 can't hold become question marks."""
    assert decoded(pair, pair.tokenizer.encode("a\ud800b")) == "a?b"
