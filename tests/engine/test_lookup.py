"""Drafts from what the open documents and earlier suggestions say."""

from __future__ import annotations

import numpy as np
import pytest

from specls.core import Source
from specls.engine.lookup import LookupDrafter, PreviousDrafter, matches
from tests.fakes import END


def lookup(text: str, limit: int = 8, shortest: int = 3) -> str:
    drafter = LookupDrafter(frozenset({END}), shortest=shortest)
    tokens = list(text.encode())
    drafter.begin("a", tokens)
    return bytes(drafter.propose(tokens, limit)).decode()


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        ("for x in items: for x", " in item"),
        ("abc", ""),
        ("", ""),
        ("a", ""),
        ("xyab zzab", ""),
        ("abcdX abcdY abcd", "Y abcd"),
        ("Qabcd1 abcd2 Qabcd", "1 abcd2 "),
        ("aaaaaa", "a"),
    ],
)
def test_the_longest_and_then_the_latest_match_is_continued(text: str, draft: str) -> None:
    """What followed the longest earlier match, of several as long the latest, is proposed."""
    assert lookup(text) == draft


def test_short_matches_are_no_idea() -> None:
    """Fewer tokens than ``shortest`` propose nothing."""
    assert lookup("ab1 ab", shortest=2) == "1 ab"
    assert lookup("ab1 ab", shortest=3) == ""


def test_the_limit_holds() -> None:
    """No more tokens than asked for are proposed."""
    assert lookup("for x in items: for x", limit=3) == " in"


def test_nothing_behind_a_control_token_is_proposed() -> None:
    """A draft ends where the prompt has a marker."""
    drafter = LookupDrafter(frozenset({END}))
    tokens = [*b"abcd", END, *b"zzz abc"]
    drafter.begin("a", tokens)
    assert drafter.propose(tokens, 8) == [*b"d"]


def test_new_tokens_are_looked_up_as_well() -> None:
    """What was generated since the beginning counts as context."""
    drafter = LookupDrafter()
    drafter.begin("a", [1, 2])
    assert drafter.propose([1, 2], 4) == []
    assert drafter.propose([1, 2, 7, 8, 9, 5, 7, 8, 9], 4) == [5, 7, 8, 9]
    drafter.forget("a")
    drafter.begin("b", [7, 8, 9])
    assert drafter.propose([7, 8, 9], 4) == []


def test_what_follows_most_often_is_taken() -> None:
    """Of several matches as long, the continuation that stands there most often wins."""
    assert lookup(".abcX.abcX.abcY.abc", limit=1) == "X"
    assert lookup(".abcX.abcY.abc", limit=1) == "Y"


def test_other_documents_are_looked_up() -> None:
    """What the document itself doesn't say may stand in another one, until that's closed."""
    drafter = LookupDrafter()
    drafter.begin("other", list(b"def area(self): return 1"))
    drafter.finish(list(b"def area(self): return 1"), 3)
    here = list(b"class B: def area")
    drafter.begin("here", here)
    assert bytes(drafter.propose(here, 7)) == b"(self):"
    drafter.forget("other")
    drafter.begin("here", here)
    assert drafter.propose(here, 7) == []


def test_the_own_text_counts_first() -> None:
    """With matches as long in both, the document's own text is continued."""
    drafter = LookupDrafter()
    drafter.begin("other", list(b"abcX"))
    drafter.finish(list(b"abcX"), 1)
    here = list(b"abcY abc")
    drafter.begin("here", here)
    assert bytes(drafter.propose(here, 1)) == b"Y"


def test_only_some_documents_are_kept() -> None:
    """Of many documents the ones used last are looked through."""
    drafter = LookupDrafter()
    for number in range(40):
        drafter.begin(number, [number] * 4)
        drafter.finish([number, number, number, 99], 1)
    drafter.begin("here", [])
    assert drafter.propose([39, 39, 39], 1) == [99]
    assert drafter.propose([0, 0, 0], 1) == []


def test_matches_tell_how_long_they_are() -> None:
    """The longest match's length and every place of it are told."""
    history = np.array([1, 2, 3, 9, 2, 3, 8, 1, 2, 3], dtype=np.int32)
    follows, length = matches(history, [7, 1, 2, 3])
    assert (follows.tolist(), length) == ([3], 3)
    follows, length = matches(history, [5, 2, 3])
    assert (follows.tolist(), length) == ([3, 6], 2)
    assert matches(history, [5])[1] == 0


class Suggested:
    """A document for which something was suggested."""

    def __init__(self, before: str, text: str) -> None:
        self.drafter = PreviousDrafter(frozenset({END}))
        self.drafter.begin("a", list(before.encode()))
        self.drafter.finish(list((before + text).encode()), len(text))

    def propose(self, before: str, limit: int = 30) -> str:
        tokens = list(before.encode())
        self.drafter.begin("a", tokens)
        return bytes(self.drafter.propose(tokens, limit)).decode()


@pytest.mark.parametrize(
    ("now", "draft"),
    [
        ("x = call(", "one, two)"),
        ("x = call(on", "e, two)"),
        ("yy = call(", "one, two)"),
        ("x = call(zero, one", ", two)"),
        ("x = call(t", "wo)"),
        ("x = called(one, ", "two)"),
        ("x = q", ""),
    ],
)
def test_the_rest_of_a_suggestion_is_found_again(now: str, draft: str) -> None:
    """Behind what was inserted, deleted or replaced, the suggestion goes on where it fits."""
    assert Suggested("x = ", "call(one, two)").propose(now) == draft


def test_the_suggestion_that_fits_best_goes_on() -> None:
    """Of several, the one with the longest match, and then the newest."""
    suggested = Suggested("x = ", "first(a)")
    suggested.drafter.finish(list(b"x = first(b)"), 8)
    assert suggested.propose("x = first(") == "b)"
    suggested.drafter.finish(list(b"y = second(first(c))"), 16)
    assert suggested.propose("x = first(") == "b)"


def test_a_closed_document_has_no_suggestions() -> None:
    """What was suggested in a document is forgotten with it, and isn't for others."""
    suggested = Suggested("x = ", "call(one)")
    suggested.drafter.begin("b", [])
    assert suggested.drafter.propose(list(b"x = ca"), 9) == []
    suggested.drafter.forget("a")
    assert suggested.propose("x = ca") == ""


def test_nothing_written_is_nothing_suggested() -> None:
    """A generation that ended at once is no suggestion."""
    suggested = Suggested("x = ca", "")
    assert suggested.propose("x = c") == ""


def test_what_others_drafted_is_gone_on_from() -> None:
    """Both find the way on behind a draft, and forget it when it's refused."""
    suggested = Suggested("x = ", "call(one, two)")
    suggested.drafter.begin("a", [])
    assert bytes(suggested.drafter.propose(list(b"x ="), 4, None, b" call(on")) == b"e, t"
    drafter = LookupDrafter(frozenset({END}))
    drafter.begin("a", list(b"for x in items: f"))
    assert bytes(drafter.propose(list(b"for x in items: f"), 4, None, b"or x")) == b" in "
    assert drafter.propose(list(b"for x in items: fq"), 4) == []


def test_long_and_short_matches_are_two_sources() -> None:
    """Behind a long match the one for short matches says nothing, and the other way round."""
    short = LookupDrafter(longest=7)
    long = LookupDrafter(shortest=8, source=Source.COPY)
    for text, says in (("abcdefgh1 abcdefgh", long), ("abcde1 abcde", short)):
        tokens = list(text.encode())
        for drafter in (short, long):
            drafter.begin("a", tokens)
            assert bytes(drafter.propose(tokens, 1)) == (b"1" if drafter is says else b"")
    assert (short.source, long.source) == (Source.LOOKUP, Source.COPY)
