"""What an inline item replaces, and by what."""

from __future__ import annotations

import pytest
from lsprotocol import types

from specls.context.document import Snapshot
from specls.context.text import Encoding, Position, Text
from specls.lsp.convert import Spot, inline_item, spot_of

Place = tuple[int, int]
UTF8, UTF16, UTF32 = Encoding.UTF8, Encoding.UTF16, Encoding.UTF32


def document(text: str) -> Snapshot:
    return Snapshot("file:///a.py", 1, "python", Text(text))


def span(start: Place, end: Place) -> types.Range:
    return types.Range(types.Position(*start), types.Position(*end))


def entry(start: Place, end: Place, text: str) -> types.SelectedCompletionInfo:
    return types.SelectedCompletionInfo(span(start, end), text)


def spot(text: str, position: Place, selected: types.SelectedCompletionInfo | None = None) -> Spot:
    found = spot_of(document(text), Position(*position), selected, UTF16)
    assert found is not None
    return found


def completed(found: Spot) -> tuple[str, str]:
    """What the model sees before and behind the place that it completes."""
    text, position = found.snapshot.text, found.position
    lines = [text.line(number) for number in range(len(text))]
    line = lines[position.line]
    before = [*lines[: position.line], line[: position.column]]
    return "".join(before), "".join([line[position.column :], *lines[position.line + 1 :]])


# -- without a menu --------------------------------------------------------------------------


def test_the_range_reaches_from_the_beginning_of_the_line() -> None:
    """The item replaces what was typed of the line by itself and more."""
    found = spot("a = 1\n    x = [1, ", (1, 12))
    assert (found.start, found.end, found.covered) == (
        Position(1, 0),
        Position(1, 12),
        "    x = [1, ",
    )
    item = inline_item(found, document("a = 1\n    x = [1, "), "2]", UTF16)
    assert (item.insert_text, item.range) == ("    x = [1, 2]", span((1, 0), (1, 12)))


def test_in_a_very_long_line_it_covers_the_word() -> None:
    """An item isn't a megabyte because its line is."""
    line = "value, " * 1000 + "val"
    found = spot(line, (0, len(line)))
    assert (found.start.column, found.covered) == (len(line) - 3, "val")


def test_it_covers_no_emoji() -> None:
    """VS Code doesn't show an item that covers one, since it counts that as one column."""
    found = spot("é = '🤗🤗'; b", (0, 10))
    assert (found.start.column, found.covered) == (7, "'; ")


@pytest.mark.parametrize(
    ("encoding", "start", "end"), [(UTF8, 10, 13), (UTF16, 7, 10), (UTF32, 6, 9)], ids=str
)
def test_the_range_is_in_the_clients_units(encoding: Encoding, start: int, end: int) -> None:
    """Offsets behind signs of several bytes and halves are in what the client counts."""
    text = "é = '🤗', x"
    found = spot_of(document(text), Position(0, 9), None, encoding)
    assert found is not None
    item = inline_item(found, document(text), "y", encoding)
    assert item.range == span((0, start), (0, end))


def test_a_suggestion_gets_the_files_line_endings() -> None:
    """Lines come with LF from the model and leave with CRLF where the file has it."""
    text = "if x:\r\n    "
    item = inline_item(spot(text, (1, 4)), document(text), "a\n    b", UTF16)
    assert item.insert_text == "    a\r\n    b"


# -- with an entry selected in the client's menu ---------------------------------------------


@pytest.mark.parametrize(
    ("text", "position", "selected", "seen"),
    [
        ("home = os.pa\n", (0, 12), entry((0, 10), (0, 12), "path"), ("home = os.path", "\n")),
        ("console.", (0, 8), entry((0, 7), (0, 8), ".log"), ("console.log", "")),
        ("x = OS.PA", (0, 9), entry((0, 7), (0, 9), "path"), ("x = OS.path", "")),
        ("f(fobar)", (0, 4), entry((0, 2), (0, 7), "foobar"), ("f(foobar", ")")),
        ("x = ab", (0, 6), entry((0, 6), (0, 6), "c"), ("x = abc", "")),
        ("x = ab", (0, 6), entry((0, 4), (0, 6), ""), ("x = ", "")),
        ("x = ab", (0, 6), entry((0, 6), (0, 4), "abc"), ("x = abc", "")),
        ("x = ab", (0, 6), entry((0, 4), (0, 99), "abc"), ("x = abc", "")),
        ("fo\nend\n", (0, 2), entry((0, 0), (0, 2), "for x:\n\tpa"), ("for x:\n\tpa", "\nend\n")),
        ("fo\r\nend", (0, 2), entry((0, 0), (0, 2), "for:\r\n\tx"), ("for:\r\n\tx", "\r\nend")),
        ("'🤗', ab", (0, 8), entry((0, 6), (0, 8), "abc"), ("'🤗', abc", "")),
    ],
)  # fmt: skip
def test_the_entry_counts_as_typed(
    text: str, position: Place, selected: types.SelectedCompletionInfo, seen: tuple[str, str]
) -> None:
    """What is completed is the document as it would be with the entry, behind it."""
    column = Text(text).clamp(*position, UTF16).column
    assert completed(spot(text, (position[0], column), selected)) == seen


@pytest.mark.parametrize("text", ["path", "", "for x in y:\n    pass", "a\r\nb"])
def test_the_item_extends_the_entry(text: str) -> None:
    """The item has the entry's range, and begins with its text to the letter."""
    before = "home = os.pa # x\n"
    found = spot(before, (0, 12), entry((0, 10), (0, 12), text))
    item = inline_item(found, document(before), "!\n", UTF16)
    assert (item.insert_text, item.range) == (text + "!\n", span((0, 10), (0, 12)))


def test_the_entry_is_extended_in_a_very_long_line() -> None:
    """The range is the entry's however far the line's beginning is."""
    line = "value, " * 1000 + "va"
    found = spot(line, (0, len(line)), entry((0, 7000), (0, 7002), "value_of"))
    assert (found.start, found.end) == (Position(0, 7000), Position(0, 7002))
    assert found.covered == "value_of"


@pytest.mark.parametrize(
    "selected",
    [
        entry((0, 4), (1, 0), "far"),
        entry((1, 0), (1, 0), "elsewhere"),
        entry((9, 9), (9, 9), "outside"),
    ],
)
def test_what_no_item_can_extend_gets_none(selected: types.SelectedCompletionInfo) -> None:
    """With a range that isn't on the line of the cursor there's nothing to suggest."""
    assert spot_of(document("x = ab\ny"), Position(0, 6), selected, UTF16) is None
