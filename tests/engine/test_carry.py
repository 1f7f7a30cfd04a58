"""What is taken along when the text before it changes, and what is decoded anew."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.core import CancelToken
from specls.engine.carry import ANEW, Match, Parking, find_match
from specls.engine.session import NOWHERE, Session, Synced
from specls.engine.sessions import Beside, SessionTable
from specls.errors import Cancelled
from tests.fakes import ScriptedModel

SUFFIX = list(range(100, 140))
LENGTH = len(SUFFIX)
MARK, MIDDLE = 1, 2


def prompt(before: list[int], suffix: list[int] = SUFFIX) -> tuple[list[int], range]:
    """A prompt and where its suffix is."""
    start = len(before) + 1
    return [*before, MARK, *suffix, MIDDLE], range(start, start + len(suffix))


class Carrying:
    """A session that carries over, and what it decodes."""

    def __init__(self) -> None:
        self.model = ScriptedModel(len, capacity=400, micro_batch=8)
        self.table = SessionTable(self.model)
        self.session = self.table.open("a", 100)

    def sync(self, before: list[int], suffix: list[int] = SUFFIX) -> Synced:
        tokens, movable = prompt(before, suffix)
        synced = self.session.sync(tokens, movable=movable, exactly=False)
        assert self.model.held[0] == self.session.tokens == tokens
        return synced


@pytest.fixture
def carrying() -> Carrying:
    """A session whose prefix is 10, 11, 12."""
    carrying = Carrying()
    carrying.sync([10, 11, 12])
    return carrying


def test_a_suffix_moves_when_text_is_inserted(carrying: Carrying) -> None:
    """Two tokens more in the prefix: they, the markers and the first of the suffix are decoded."""
    synced = carrying.sync([10, 11, 12, 13, 14])
    assert synced == Synced(3 + LENGTH - ANEW, 2 + 1 + ANEW + 1, LENGTH - ANEW)
    assert carrying.session.exact == 5 + 1 + ANEW


def test_a_suffix_moves_back_when_text_is_removed(carrying: Carrying) -> None:
    """Less text before it moves a suffix to the front."""
    assert carrying.sync([10]).carried == LENGTH - ANEW


def test_what_was_carried_moves_on(carrying: Carrying) -> None:
    """A suffix can be carried over again and again."""
    for size in range(4, 12):
        assert carrying.sync(list(range(10, 10 + size))).carried == LENGTH - ANEW


def test_the_end_of_a_suffix_moves_too(carrying: Carrying) -> None:
    """When the cursor goes down, what is left of the suffix is taken along, and more is added."""
    synced = carrying.sync([10, 11, 12, *SUFFIX[:9]], [*SUFFIX[9:], 140, 141])
    assert synced.carried == LENGTH - 9 - ANEW
    assert synced.prefilled == 9 + 1 + ANEW + 2 + 1


def test_a_longer_suffix_keeps_what_it_had(carrying: Carrying) -> None:
    """When the cursor goes up, what it passed is decoded and the rest taken along."""
    synced = carrying.sync([10], [11, 12, *SUFFIX])
    assert (synced.reused, synced.carried) == (1 + LENGTH - ANEW, LENGTH - ANEW)


def test_an_edit_in_the_suffix(carrying: Carrying) -> None:
    """Behind a change in the suffix, the rest of it is taken along."""
    changed = [*SUFFIX[:10], 7, 8, *SUFFIX[11:]]
    synced = carrying.sync([10, 11, 12], changed)
    assert synced == Synced(4 + 10 + 29 - ANEW, 2 + ANEW + 1, 29 - ANEW)


def test_little_is_not_worth_moving(carrying: Carrying) -> None:
    """A short stretch is decoded: that's less work."""
    assert carrying.sync([10, 11, 12, 13], SUFFIX[:15]).carried == 0


def test_exactly_means_decoding_anew(carrying: Carrying) -> None:
    """Asked for exactly, nothing is taken along, and what was is decoded again."""
    carrying.sync([10, 11, 12, 13])
    tokens, movable = prompt([10, 11, 12, 13])
    exact = carrying.session.exact
    synced = carrying.session.sync(tokens, movable=movable, exactly=True)
    assert synced == Synced(exact, len(tokens) - exact)
    assert carrying.session.exact == len(tokens)


def test_a_model_that_can_t_shift(carrying: Carrying, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where positions can't change, all behind the change is decoded."""
    monkeypatch.setattr(carrying.model, "can_shift", False, raising=False)
    assert carrying.sync([10, 11, 12, 13]) == Synced(3, 1 + 1 + LENGTH + 1)


def test_cancelled_on_the_way(carrying: Carrying) -> None:
    """A suffix on its way waits for the next prompt, whatever that looks like before it."""
    cancel = CancelToken()
    before = carrying.model.decoded_tokens
    tokens, movable = prompt(list(range(10, 40)))

    def stop() -> None:
        if carrying.model.decoded_tokens > before:
            cancel.cancel()

    carrying.model.on_decode = stop
    with pytest.raises(Cancelled):
        carrying.session.sync(tokens, cancel, movable=movable, exactly=False)
    assert carrying.model.held[0] == carrying.session.tokens == list(range(10, 21))
    synced = carrying.sync(list(range(10, 42)))
    assert synced.carried == LENGTH - 2 * ANEW
    assert synced.reused == 11 + synced.carried


def test_what_waits_is_given_up_when_it_doesn_t_fit(carrying: Carrying) -> None:
    """A suffix that waits and isn't wanted any more takes no room."""
    cancel = CancelToken()
    carrying.model.on_decode = cancel.cancel
    tokens, movable = prompt([10, 11, 12, 13])
    with pytest.raises(Cancelled):
        carrying.session.sync(tokens, cancel, movable=movable, exactly=False)
    assert len(carrying.model.cells) > len(carrying.session.tokens)
    carrying.sync([10, 11, 12, 13], list(range(200, 240)))
    assert len(carrying.model.cells) == len(carrying.session.tokens)


def test_closing_gives_back_what_waits(carrying: Carrying) -> None:
    """A document that's closed while its suffix is on the way leaves nothing."""
    cancel = CancelToken()
    carrying.model.on_decode = cancel.cancel
    tokens, movable = prompt([10, 11, 12, 13])
    with pytest.raises(Cancelled):
        carrying.session.sync(tokens, cancel, movable=movable, exactly=False)
    carrying.table.close("a")
    assert carrying.model.cells == []


def test_what_waits_is_counted() -> None:
    """A suffix on its way takes room: others make way for it, and nothing fails."""
    model = ScriptedModel(len, capacity=200, micro_batch=8)
    table = SessionTable(model)
    tokens, movable = prompt(list(range(10, 40)))
    session = table.open("a", len(tokens))
    session.sync(tokens, movable=movable)
    table.open("other", 100).sync(list(range(500, 600)))
    cancel = CancelToken()
    before = model.decoded_tokens
    model.on_decode = lambda: cancel.cancel() if model.decoded_tokens > before else None
    longer, places = prompt(list(range(10, 90)))
    with pytest.raises(Cancelled):
        table.open("a", len(longer), longer, places, exactly=False).sync(
            longer, cancel, movable=places, exactly=False
        )
    model.on_decode = lambda: None
    other, places = prompt(list(range(10, 130)), SUFFIX[:25])
    session = table.open("a", len(other), other, places, exactly=False)
    assert session.sync(other, movable=places, exactly=False).carried > 0
    assert model.held[session.sequence] == other
    assert len(model.cells) == len(other)


def test_text_that_repeats_itself_takes_no_time() -> None:
    """Thousands of equal tokens are no reason to look for long; finding nothing is right then."""
    held = [7] * 4000
    started = perf_counter()
    find_match(held, range(4000), held, range(4000))
    assert perf_counter() - started < 1


def test_a_beginning_is_shared(carrying: Carrying) -> None:
    """A document that begins as another one does needn't decode that again, nor room for it."""
    head = list(range(300, 340))
    table, model = carrying.table, carrying.model
    table.open("b", 100).sync([*head, 1, 2])
    decoded, cells = model.decoded_tokens, len(model.cells)
    wanted = [*head, 3, 4]
    assert table.reusable("c", wanted, NOWHERE, exactly=True) == 40
    session = table.open("c", 100, wanted)
    assert session.sync(wanted) == Synced(40, 2)
    assert (model.decoded_tokens, len(model.cells)) == (decoded + 2, cells + 2)
    assert (session.cells, session.shared) == (2, 40)
    table.close("b")
    assert model.held[session.sequence] == wanted
    assert (session.cells, session.shared) == (42, 0)


def test_what_is_shared_is_counted_once() -> None:
    """However sessions share, grow and end, what they take is what the cache holds."""
    model = ScriptedModel(len, capacity=1000, micro_batch=64, sequences=8)
    table = SessionTable(model)
    head = list(range(300, 360))
    table.open("a", 100).sync([*head, 1])
    table.open("b", 100, [*head[:40], 2, 3]).sync([*head[:40], 2, 3])
    table.open("c", 100, [*head[:40], 2, 4]).sync([*head[:40], 2, 4])
    table.open("d", 100, [*head[:50], 5]).sync([*head[:50], 5])

    def taken() -> int:
        return sum(session.cells for session in table._sessions.values())

    assert taken() == len(model.cells) == 61 + 2 + 1 + 1
    table.open("a", 100).sync([*head[:45], 6])
    assert taken() == len(model.cells)
    table.close("b")
    assert taken() == len(model.cells)
    table.close("a")
    assert taken() == len(model.cells) == 42 + 11
    table.open("d", 100).truncate(10)
    assert taken() == len(model.cells)


def test_what_is_built_beside_a_document_shares_with_it() -> None:
    """In a cache that's nearly full, a document isn't put away for what is to replace it."""
    model = ScriptedModel(len, capacity=150, micro_batch=64)
    table = SessionTable(model)
    tokens = list(range(300, 400))
    table.open("a", 100).sync(tokens)
    longer = [*tokens[:90], *range(20)]
    session = table.open(Beside("a"), len(longer), longer)
    assert session.sync(longer) == Synced(90, 20)
    assert table.open("a", 100).tokens == tokens


def test_a_suffix_is_never_shared(carrying: Carrying) -> None:
    """Of a prompt that another document has as a whole, the suffix is decoded: it may move."""
    tokens, movable = prompt(list(range(300, 340)))
    table = carrying.table
    table.open("b", 100).sync(tokens, movable=movable)
    session = table.open("c", 100, tokens, movable)
    assert session.sync(tokens, movable=movable).reused == 41
    longer, places = prompt([*range(300, 340), 9])
    assert table.open("b", 100).sync(longer, movable=places, exactly=False).carried > 0


@given(st.data())
def test_what_is_said_to_be_reusable_is_reused(data: st.DataObject) -> None:
    """Whatever was asked before, a prompt costs what :meth:`reusable` said it would."""
    model = ScriptedModel(len, capacity=400, micro_batch=8)
    model.can_shift = data.draw(st.booleans())
    table = SessionTable(model)
    for _ in range(data.draw(st.integers(1, 6))):
        document = data.draw(st.sampled_from("ab"))
        size = data.draw(st.integers(1, 40))
        skip = data.draw(st.integers(0, 20))
        tokens, movable = prompt(list(range(10, 10 + size)), SUFFIX[skip:])
        exactly = data.draw(st.booleans())
        said = table.reusable(document, tokens, movable, exactly=exactly)
        session = table.open(document, len(tokens), tokens, movable, exactly=exactly)
        polls = data.draw(st.integers(1, 12))
        model.on_decode, cancel = _cancels_after(polls)
        try:
            synced = session.sync(tokens, cancel, movable=movable, exactly=exactly)
        except Cancelled:
            assert model.held[session.sequence] == session.tokens
            continue
        assert synced.reused == min(said, len(tokens) - 1)
        assert model.held[session.sequence] == tokens
        parked = len(table._parking.tokens)
        assert sum(each.cells for each in table._sessions.values()) + parked == len(model.cells)


def _cancels_after(passes: int) -> tuple[Callable[[], None], CancelToken]:
    cancel = CancelToken()
    left = itertools.count(passes - 1, -1)
    return lambda: cancel.cancel() if next(left) == 0 else None, cancel


@pytest.mark.parametrize(
    ("held", "new", "match"),
    [
        (range(40), range(40), Match(3, 3, 37)),
        (range(40), range(-5, 40), Match(3, 8, 37)),
        (range(40), range(10, 50), Match(13, 3, 27)),
        (range(18), range(18), None),
        (range(40), range(50, 90), None),
    ],
)
def test_the_longest_stretch(held: range, new: range, match: Match | None) -> None:
    """The longest common stretch is found, without its first tokens, and only if it's long."""
    found = find_match(list(held), range(len(held)), list(new), range(len(new)))
    assert found == match


def test_parking_holds_one_stretch() -> None:
    """What is parked makes way for the next."""
    model = ScriptedModel(len, capacity=100)
    parking = Parking(model, model.sequences)
    session = Session(model, 0, parking)
    session.sync(list(range(20)))
    parking.park(session, 0, 4, session.tokens[4:9])
    parking.park(session, 0, 10, session.tokens[10:12])
    assert [cell.position for cell in model.cells_of(model.sequences)] == [10, 11]
    assert parking.places == range(10, 12)
    assert session.movable == NOWHERE
