"""The index of runs of tokens: it says what a search through the whole text says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from specls.engine.ngrams import NGrams


def searched(text: list[int], end: list[int], shortest: int, longest: int) -> tuple[list[int], int]:
    """The same by looking at every place."""
    lengths = {}
    for place in range(len(text) - 1, 0, -1):
        length = 0
        while (
            length < min(longest, len(end), place) and text[place - length - 1] == end[-length - 1]
        ):
            length += 1
        if length >= shortest:
            lengths[place] = length
    best = max(lengths.values(), default=0)
    return [place for place, length in lengths.items() if length == best], best


TEXT = st.lists(st.integers(0, 2), max_size=24)


@given(st.lists(TEXT, min_size=1, max_size=6), TEXT, TEXT, st.integers(1, 3))
def test_matches_are_those_of_a_search(
    texts: list[list[int]], more: list[int], end: list[int], shortest: int
) -> None:
    """Whatever was held before, the latest and longest matches of what's held now are found."""
    index = NGrams(shortest)
    for text in texts:
        index.replace(text)
    index.extend(more)
    held = [*texts[-1], *more]
    assert index.tokens == held
    assert index.matches(end, 8) == searched(held, end, shortest, 8)
    assert index.matches(held[-5:], 8) == searched(held, held[-5:], shortest, 8)


@given(TEXT)
def test_an_emptied_index_holds_nothing(text: list[int]) -> None:
    """No trace is left of what isn't held any more."""
    index = NGrams(2)
    index.replace(text)
    index.replace([])
    assert (index.tokens, index._behind) == ([], {})


def test_of_very_many_matches_the_latest_are_looked_at() -> None:
    """A run that stands everywhere doesn't make a look-up slow."""
    index = NGrams(2)
    index.replace([1] * 5000)
    found, length = index.matches([1] * 8, 16)
    assert length == 8
    assert found == list(range(4999, 4936, -1))
