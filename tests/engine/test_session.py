"""What a model's cache holds for a document, and how little is decoded anew."""

from __future__ import annotations

import pytest

from specls.core import CancelToken
from specls.engine.session import NOWHERE, Session, Synced, common_prefix
from specls.engine.sessions import Beside, SessionTable
from specls.engine.spill import Spill, Spilled
from specls.errors import Cancelled, ContextFull
from tests.fakes import ScriptedModel


def model(capacity: int = 100, sequences: int = 4) -> ScriptedModel:
    return ScriptedModel(len, capacity=capacity, micro_batch=4, sequences=sequences)


@pytest.mark.parametrize(
    ("left", "right", "length"),
    [([], [1], 0), ([1, 2], [1, 2], 2), ([1, 2, 3], [1, 2], 2), ([1, 2], [3], 0), ([1], [1, 9], 1)],
)
def test_common_prefix(left: list[int], right: list[int], length: int) -> None:
    """The common beginning of two rows is found."""
    assert common_prefix(left, right) == length


def test_only_what_differs_is_decoded() -> None:
    """A prompt that shares its beginning with the last one costs its new end alone."""
    fake = model()
    session = Session(fake, 0)
    assert session.sync([1, 2, 3, 4, 5, 6]) == Synced(reused=0, prefilled=6)
    assert session.sync([1, 2, 3, 9]) == Synced(reused=3, prefilled=1)
    assert fake.batches == [4, 2, 1]
    assert fake.held[0] == session.tokens == [1, 2, 3, 9]


def test_the_last_token_is_decoded_for_its_scores() -> None:
    """The same prompt again costs one token, since its scores are wanted."""
    session = Session(model(), 0)
    session.sync([1, 2, 3])
    assert session.sync([1, 2, 3]) == Synced(reused=2, prefilled=1)


def test_a_cancelled_prefill_keeps_what_was_done() -> None:
    """A cancellation between micro-batches keeps the finished ones, and the tokens are told."""
    fake = model()
    session = Session(fake, 0)
    cancel = CancelToken()
    fake.on_decode = lambda: cancel.cancel() if fake.decoded_tokens == 8 else None
    with pytest.raises(Cancelled):
        session.sync(list(range(20)), cancel)
    assert fake.held[0] == session.tokens == list(range(8))
    assert session.sync(list(range(20))) == Synced(reused=8, prefilled=12)


def test_documents_keep_their_tokens_apart() -> None:
    """Two documents don't disturb each other while there is room."""
    table = SessionTable(model())
    table.open("a", 10).sync([1, 2, 3])
    table.open("b", 10).sync([4, 5])
    assert table.open("a", 10).sync([1, 2, 3, 4]) == Synced(reused=3, prefilled=1)


def test_the_least_recently_used_document_makes_way() -> None:
    """When the cache is full, the document that wasn't used for the longest time loses its part."""
    table = SessionTable(model(capacity=10))
    table.open("a", 4).sync([1, 2, 3, 4])
    table.open("b", 4).sync([1, 2, 3, 4])
    table.open("a", 4).sync([1, 2, 3, 4])
    table.open("c", 4).sync([1, 2, 3, 4])
    assert table.open("a", 4).tokens == [1, 2, 3, 4]
    assert table.open("b", 4).tokens == []


def test_more_documents_than_sequences() -> None:
    """A document more than there are sequences takes the oldest one's."""
    fake = model(sequences=2)
    table = SessionTable(fake)
    for document in "abc":
        table.open(document, 4).sync([1, 2])
    assert len(table) == 2
    assert {number: len(held) for number, held in fake.held.items()} == {0: 2, 1: 2}


def test_closing_gives_everything_back() -> None:
    """A closed document's tokens are forgotten and its sequence is free again."""
    fake = model(sequences=1)
    table = SessionTable(fake)
    table.open("a", 4).sync([1, 2])
    table.close("a")
    table.close("a")
    assert fake.held[0] == []
    assert table.open("b", 4).sync([7]) == Synced(reused=0, prefilled=1)


def test_a_prompt_larger_than_the_cache_is_refused() -> None:
    """What can never fit is an error that says what to change, and no document is forgotten."""
    table = SessionTable(model(capacity=10))
    table.open("a", 4).sync([1, 2, 3, 4])
    with pytest.raises(ContextFull, match="raise contextTokens"):
        table.open("b", 11)
    assert table.open("a", 4).tokens == [1, 2, 3, 4]


def test_a_document_that_made_way_comes_back() -> None:
    """With a spill, an evicted document's tokens are restored and not decoded again."""
    fake = model(capacity=10)
    table = SessionTable(fake, Spill(1000))
    for document in "abc":
        table.open(document, 4).sync([1, 2, 3, 4])
    decoded = fake.decoded_tokens
    assert table.reusable("a", [1, 2, 3, 4, 5], NOWHERE, exactly=True) == 4
    session = table.open("a", 5)
    assert (session.tokens, session.restored) == ([1, 2, 3, 4], 4)
    assert session.sync([1, 2, 3, 4, 5]) == Synced(reused=4, prefilled=1)
    assert fake.decoded_tokens == decoded + 1
    assert sum(map(len, fake.held.values())) <= 10


def test_a_state_that_can_t_be_restored_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the model refuses a state, the document begins anew."""
    fake = model(capacity=10)
    table = SessionTable(fake, Spill(1000))
    for document in "abc":
        table.open(document, 4).sync([1, 2, 3, 4])
    monkeypatch.setattr(fake, "restore", lambda _sequence, _state: False)
    session = table.open("a", 5)
    assert (session.tokens, session.restored) == ([], 0)
    assert session.sync([1, 2]) == Synced(reused=0, prefilled=2)


def test_a_closed_document_comes_back() -> None:
    """Closing frees the cache, and the state is kept for when the document is opened again."""
    fake = model(capacity=10)
    table = SessionTable(fake, Spill(1000))
    table.open("a", 4).sync([1, 2, 3, 4])
    table.close("a")
    assert fake.cells == []
    session = table.open("a", 4)
    assert (session.tokens, session.exact, session.restored) == ([1, 2, 3, 4], 4, 4)


def test_a_closed_document_is_forgotten_without_a_spill() -> None:
    """With nowhere to keep it, a closed document begins anew."""
    table = SessionTable(model(capacity=10))
    table.open("a", 4).sync([1, 2, 3, 4])
    table.close("a")
    assert table.open("a", 4).tokens == []


def test_the_spill_keeps_within_its_budget() -> None:
    """The oldest states go first, and one that is too large isn't kept at all."""
    spill = Spill(100)
    for document in "abc":
        spill.put(document, Spilled([1], bytes(40), 1, NOWHERE))
    spill.put("d", Spilled([1], bytes(101), 1, NOWHERE))
    assert spill.size == 80
    assert [spill.take(document) is not None for document in "abcd"] == [False, True, True, False]
    assert spill.size == 0


def test_a_session_takes_another_s_place() -> None:
    """A session that was built beside another replaces it, whose sequence is free again."""
    fake = model(sequences=2)
    table = SessionTable(fake)
    table.open("a", 4).sync([1, 2])
    table.open(Beside("a"), 4).sync([3, 4, 5])
    table.take_over("a")
    assert table.open("a", 4).tokens == [3, 4, 5]
    assert table.open("b", 4).tokens == []
    assert len(table) == 2


def test_closing_gives_up_what_is_built_beside() -> None:
    """A document that's closed while its window is read leaves nothing of that."""
    fake = model()
    table = SessionTable(fake, Spill(1000))
    table.open(Beside("a"), 4).sync([3, 4, 5])
    table.close("a")
    assert fake.cells == []
    assert table.counts.spilled == 0


def test_a_state_that_is_larger_than_the_cache_is_left() -> None:
    """A state of a larger cache isn't taken, and nobody makes way for it."""
    fake = model(capacity=10)
    spill = Spill(1000)
    table = SessionTable(fake, spill)
    table.open("b", 4).sync([1, 2, 3, 4])
    spill.put("a", Spilled(list(range(11)), bytes(44), 11, NOWHERE))
    assert table.open("a", 4).sync([1, 2]) == Synced(0, 2)
    assert table.open("b", 4).tokens == [1, 2, 3, 4]
