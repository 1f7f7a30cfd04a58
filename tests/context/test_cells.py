"""The cells of a notebook as one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.context.cells import Cell, Joined, cell_with
from specls.context.text import Encoding, Position, Text

PIECES = st.lists(st.sampled_from(["a", "é", "😀", "\n", "\r", "\r\n", "b c"]), max_size=6)
TEXTS = PIECES.map("".join)
LANGUAGES = ("python", "markdown", "sql")


def python(uri: str, text: str) -> Cell:
    return Cell(uri, "python", Text(text))


def markdown(uri: str, text: str) -> Cell:
    return Cell(uri, "markdown", Text(text), remark=True)


def sql(uri: str, text: str) -> Cell:
    return Cell(uri, "sql", Text(text))


MAKERS = st.sampled_from([python, markdown, sql])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "# # Prices\n#\n# in euros\n\nimport pandas\n\n%time x = 1"),
        ("sql", "-- # Prices\n--\n-- in euros\n\nselect 1"),
        ("markdown", "# Prices\n\nin euros"),
        ("plaintext", ""),
    ],
)
def test_each_language_has_a_text(language: str, text: str) -> None:
    """Cells of a language stand in their order; what people wrote is told as comments."""
    cells = [
        markdown("1", "# Prices\n\nin euros"),
        python("2", "import pandas"),
        sql("3", "select 1"),
        python("4", "%time x = 1"),
    ]
    assert str(Joined(language, cells).text) == text


def test_a_picture_is_no_text() -> None:
    """A line that is very long is cut, as one with a picture in it is."""
    joined = Joined("python", [markdown("1", "![](data:" + "A" * 10_000 + ")")])
    assert len(str(joined.text)) == 202


def _lines(joined: Joined, uri: str) -> str:
    """The text of a cell as it stands in the joined one."""
    lines = joined.lines(uri)
    whole = "".join(joined.text.lines(lines.start, lines.stop))
    return whole[: len(whole) - len(joined.text.line(lines[-1]))] + joined.text.content(lines[-1])


@given(
    st.lists(st.tuples(MAKERS, TEXTS), min_size=1, max_size=5),
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.tuples(st.integers(0, 4), st.integers(0, 4)),
            st.tuples(st.integers(0, 4), st.integers(0, 4)),
            TEXTS,
        ),
        max_size=6,
    ),
)
def test_edits_make_what_joining_anew_makes(
    made: list[tuple[object, str]],
    edits: list[tuple[int, tuple[int, int], tuple[int, int], str]],
) -> None:
    """After any edits the text is that of the cells as they are, and each cell is found in it."""
    cells = [maker(str(n), text) for n, (maker, text) in enumerate(made)]  # type: ignore[operator]
    joined = {language: Joined(language, cells) for language in LANGUAGES}
    for number, first, last, new in edits:
        at = number % len(cells)
        text = cells[at].text
        start, end = sorted(text.clamp(*each, Encoding.UTF32) for each in (first, last))
        cells[at] = cell_with(cells[at], text.replace(start, end, new))
        for each in joined.values():
            if str(at) in each:
                each.edit(cells[at], start, end, new)
    for language, each in joined.items():
        assert str(each.text) == str(Joined(language, cells).text)
        for cell in cells:
            if cell.language == language:
                assert _lines(each, cell.uri) == str(cell.text)


def test_an_edit_leaves_the_rest_as_it_is() -> None:
    """What an edit in a cell doesn't touch is shared with the text before it."""
    cells = [python(str(n), "".join(f"x{n} = {m}\n" for m in range(600))) for n in range(20)]
    joined = Joined("python", cells)
    before = joined.text
    edited = cells[10].text.replace(Position(3, 0), Position(3, 0), "y = 1\n")
    joined.edit(cell_with(cells[10], edited), Position(3, 0), Position(3, 0), "y = 1\n")
    shared = sum(any(chunk is old for old in before._chunks) for chunk in joined.text._chunks)
    assert len(joined.text._chunks) - shared <= 3
    assert joined.lines("11").start == 601 * 11 + 11 + 1
