"""Pieces of other files that are like the surroundings of a cursor."""

from __future__ import annotations

import pytest

from specls.context.chunks import Chunk, Wish, around, choose, chunked, cost, words
from specls.context.text import Position, Text

HUGE = 10**9


def count(text: str) -> int:
    return len(text.split())


def lines(name: str, number: int) -> str:
    return "".join(f"{name}_{each} = {each}\n" for each in range(number))


CART = Chunk("cart.py", 0, "class Cart:\n    def add_item(self, item, price):\n        pass\n")
TAX = Chunk("tax.py", 0, "def tax_of(price, rate):\n    return price * rate\n")
LOG = Chunk("log.py", 0, "def logged(message):\n    print(message)\n")
HERE = "cart = Cart()\ncart.add_item(thing, price)\n"


def test_all_of_a_file_is_in_its_chunks() -> None:
    """Chunks have about 32 lines and together every line that isn't blank, in order."""
    text = "".join(lines(f"part{number}", 11) + "\n" for number in range(30))
    chunks = chunked("a.py", Text(text), HUGE)
    assert "".join(chunk.text for chunk in chunks).replace("\n", "") == text.replace("\n", "")
    assert {24 <= chunk.text.count("\n") <= 40 for chunk in chunks[:-1]} == {True}
    for chunk in chunks:
        assert text.split("\n")[chunk.first] == chunk.text.split("\n")[0]
        assert text.split("\n")[chunk.last] == chunk.text.split("\n")[-2]


def test_chunks_end_where_something_ends() -> None:
    """A function that ends near the 32nd line isn't cut."""
    text = "def one():\n" + "    x\n" * 26 + "\ndef two():\n" + "    y\n" * 30
    first, second = chunked("a.py", Text(text), HUGE)
    assert first.text.startswith("def one")
    assert first.text.count("\n") == 27
    assert second.text.startswith("def two")


def test_a_line_of_data_is_no_chunk() -> None:
    """What no person wrote by hand, in lines of thousands of characters, is left out."""
    text = "x = '" + "a" * 5000 + "'\n" + "\n" * 40 + "y = 1\n"
    assert [chunk.text for chunk in chunked("a.py", Text(text), HUGE)] == ["y = 1\n"]


def test_line_endings_are_plain() -> None:
    """Files of Windows are cut as others are."""
    (chunk,) = chunked("a.py", Text("a = 1\r\nb = 2\r\n"), HUGE)
    assert chunk.text == "a = 1\nb = 2\n"


def test_a_huge_file_isn_t_looked_at_further() -> None:
    """Behind a limit of characters nothing is read."""
    chunks = chunked("a.py", Text(lines("x", 10_000)), 2000)
    assert sum(len(chunk.text) for chunk in chunks) <= 2000


def test_the_surroundings_are_some_lines() -> None:
    """Compared are lines above the cursor and some below, not the whole document."""
    seen = around(Text(lines("x", 200)), Position(100, 0))
    assert seen.split("\n")[0] == "x_76 = 76"
    assert seen.count("\n") == 33


def test_the_most_similar_comes_last() -> None:
    """What shares rare words with the surroundings is chosen, the best nearest to the cursor."""
    assert choose([CART, TAX, LOG], Wish(HERE), HUGE, count) == (TAX, CART)


def test_a_word_that_all_have_says_nothing() -> None:
    """Words are weighted by how few chunks have them."""
    pool = [Chunk(f"{n}.py", 0, f"self value common{n}\n") for n in range(4)]
    rare = Chunk("r.py", 0, "self special\n")
    here = Wish("self.value = special()\n")
    assert choose([*pool, rare], here, cost(rare, count), count) == (rare,)


def test_nothing_in_common_is_nothing_chosen() -> None:
    """Where no chunk shares a word, none is chosen."""
    assert choose([CART, TAX, LOG], Wish("zebra giraffe\n"), HUGE, count) == ()


def test_the_budget_holds() -> None:
    """What is chosen has no more tokens than allowed, paths and markers included."""
    pool = [Chunk(f"f{n}.py", 0, f"price item_{n}\n" * 3) for n in range(40)]
    chosen = choose(pool, Wish("item_1 item_2 item_3 item_7 item_30 price\n"), 50, count)
    assert len(chosen) >= 1
    assert sum(cost(chunk, count) for chunk in chosen) <= 50


def test_what_says_the_same_is_chosen_once() -> None:
    """Of two files with mostly the same lines, one is enough."""
    copy = Chunk("copy.py", 0, CART.text + "    more = 1\n")
    chosen = choose([CART, copy, TAX], Wish(HERE), HUGE, count)
    assert len({chunk.path for chunk in chosen} & {"cart.py", "copy.py"}) == 1


def test_what_stands_at_the_cursor_isn_t_chosen() -> None:
    """A chunk that says what the surroundings say is left out."""
    twin = Chunk("twin.py", 0, HERE)
    assert twin not in choose([twin, CART], Wish(HERE), HUGE, count)


def test_imported_files_come_first() -> None:
    """A chunk of an imported file goes before a slightly better one of another file."""
    budget = max(cost(CART, count), cost(TAX, count))
    here = "cart = Cart()\ncart.add_item(thing, price, rate)\n"
    assert choose([CART, TAX, LOG], Wish(here), budget, count) == (CART,)
    assert choose([CART, TAX, LOG], Wish(here, frozenset({"tax.py"})), budget, count) == (TAX,)


def test_an_imported_file_must_be_similar_too() -> None:
    """What an import names, and has nothing to do with the place, isn't chosen for that."""
    assert LOG not in choose([CART, TAX, LOG], Wish(HERE, frozenset({"log.py"})), HUGE, count)


def test_visited_places_count_more() -> None:
    """Of two chunks that are as good, the one in which somebody was comes before."""
    first, second = (Chunk(f"{name}.py", 0, f"alpha {name}\n") for name in "ab")
    budget = cost(first, count)
    pool = [first, second, LOG]
    assert choose(pool, Wish("alpha\n"), budget, count) == (first,)
    assert choose(pool, Wish("alpha\n", visited={"b.py": [0]}), budget, count) == (second,)


def test_what_was_chosen_stays_while_it_s_good() -> None:
    """A slightly better choice doesn't replace one: the model would read everything anew."""
    budget = 2 * cost(CART, count)
    before = (TAX, CART)
    here = "cart = Cart()\ncart.add_item(thing, price)\nlogged\n"
    assert choose([CART, TAX, LOG], Wish(here), budget, count, before) == before


@pytest.mark.parametrize(
    "here", ["logged(message + 1)\nprint(message[1:])\n", "def logged\nmessage\nprint\n"]
)
def test_what_isn_t_good_any_more_is_replaced(here: str) -> None:
    """Elsewhere, something else is chosen."""
    assert choose([CART, TAX, LOG], Wish(here), HUGE, count, (TAX, CART)) != (TAX, CART)


def test_what_isn_t_there_any_more_is_replaced() -> None:
    """A chunk of a file that was changed, or mayn't be read any more, doesn't stay."""
    assert choose([TAX, LOG], Wish(HERE), HUGE, count, (TAX, CART)) == (TAX,)


def test_the_choice_is_always_the_same() -> None:
    """The order of the pool doesn't decide."""
    pool = [Chunk(f"f{n}.py", 0, f"word{n % 3} price\n") for n in range(9)]
    wish = Wish("word0 word1 word2\n")
    assert choose(pool, wish, 20, count) == choose(pool[::-1], wish, 20, count)


def test_words_are_names() -> None:
    """Numbers and single characters are no words."""
    assert words("x = 12 + total_1 * été") == {"total_1", "été"}
