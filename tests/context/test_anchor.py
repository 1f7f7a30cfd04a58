"""A prompt that stays while somebody types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specls.context.anchor import Anchor, Anchored, follow, is_stale, typed_since
from specls.context.document import Change, Snapshot
from specls.context.text import Encoding, Position, Text
from specls.context.window import Window


def words(text: str) -> int:
    return len(text.split()) + text.count("\n")


def numbered(lines: int) -> str:
    return "".join(f"{line}\n" for line in range(lines))


class Editing:
    """A document with a cursor, typed into like a person does."""

    def __init__(self, marked: str) -> None:
        before, after = marked.split("|")
        lines = before.split("\n")
        self.snapshot = Snapshot("file:///a", 1, "python", Text(before + after))
        self.cursor = Position(len(lines) - 1, len(lines[-1]))
        self.anchor: Anchor | None = None

    def look(self, budget: tuple[int, int] = (100, 100)) -> Anchored:
        seen = follow(self.anchor, self.snapshot, self.cursor, budget, words)
        self.anchor = seen.anchor
        return seen

    def type(self, text: str, behind: str = "") -> None:
        place = (self.cursor.line, self.cursor.column)
        self._change(Change(text + behind, place, place))
        lines = text.split("\n")
        column = len(lines[-1]) + (self.cursor.column if len(lines) == 1 else 0)
        self.cursor = Position(self.cursor.line + len(lines) - 1, column)

    def backspace(self, count: int = 1) -> None:
        end = (self.cursor.line, self.cursor.column)
        self.cursor = Position(self.cursor.line, self.cursor.column - count)
        self._change(Change("", (self.cursor.line, self.cursor.column), end))

    def edit(self, line: int, text: str) -> None:
        self._change(Change(text, (line, 0), (line, 0)))

    def _change(self, change: Change) -> None:
        version = self.snapshot.version + 1
        self.snapshot = self.snapshot.changed([change], version, Encoding.UTF32)


def parts(seen: Anchored) -> tuple[str, str, str]:
    return seen.anchor.prefix, seen.typed, seen.anchor.suffix


def test_the_anchor_is_some_lines_above() -> None:
    """At first, four lines and what stands in this one before the cursor count as typed."""
    seen = Editing(numbered(10) + "  c|\nd\n").look()
    assert parts(seen) == (numbered(6), "6\n7\n8\n9\n  c", "\nd\n")
    assert seen.moved
    assert seen.window == Window(numbered(10) + "  c", "\nd\n")


@pytest.mark.parametrize(("above", "typed"), [(0, 0), (1, 0), (2, 1), (5, 2), (8, 4)])
def test_at_least_half_of_what_stands_above_is_before_the_anchor(above: int, typed: int) -> None:
    """At the top of a file, the model still sees something before the middle."""
    seen = Editing(numbered(above) + "|\nd\n").look()
    assert seen.typed == "".join(f"{line}\n" for line in range(above - typed, above))


def test_what_counts_as_typed_is_a_part_of_the_window() -> None:
    """In a small window, lines above stay before the anchor; together they fit."""
    editing = Editing("a b c d e f g h i\n" * 10 + "|\nd\n")
    assert editing.look((50, 50)).typed == "a b c d e f g h i\n"
    editing.anchor = None
    seen = editing.look((30, 50))
    assert (seen.typed, seen.anchor.prefix) == ("", "a b c d e f g h i\n" * 3)


def test_the_first_lines_are_anchored_behind_their_indentation() -> None:
    """Where no line above counts as typed, the indentation doesn't, either."""
    assert parts(Editing("a\n  c|\nd\n").look()) == ("a\n  ", "c", "\nd\n")


def test_typing_moves_nothing_but_what_is_typed() -> None:
    """Keys, line breaks and backspaces change the typed part alone."""
    editing = Editing("a\n  c|\nd\n")
    frozen = editing.look().anchor
    for text, typed in (("x", "cx"), (" = 1", "cx = 1"), ("\n  ", "cx = 1\n  ")):
        editing.type(text)
        seen = editing.look()
        assert (seen.anchor, seen.typed, seen.moved) == (frozen, typed, False)
    editing.backspace(2)
    assert editing.look().typed == "cx = 1\n"


def test_closing_punctuation_isn_t_part_of_the_suffix() -> None:
    """What an editor closes by itself comes and goes without moving the anchor."""
    editing = Editing("a\nf|\nd\n")
    editing.look()
    editing.type("(", behind=")")
    seen = editing.look()
    assert not seen.moved
    assert parts(seen) == ("a\n", "f(", "\nd\n")
    assert seen.window.after == ")\nd\n"


def test_other_text_behind_the_cursor_is() -> None:
    """In the middle of a line, the rest of the line belongs to the suffix."""
    editing = Editing("a\nx = |b + c\nd\n")
    assert parts(editing.look()) == ("a\n", "x = ", "b + c\nd\n")
    editing.type("q")
    assert not editing.look().moved


@pytest.mark.parametrize("line", [0, 3])
def test_an_edit_elsewhere_moves_the_anchor(line: int) -> None:
    """A change of the frozen text above or below makes a new anchor."""
    editing = Editing("a\nb\nc|\nd\n")
    editing.look()
    editing.edit(line, "new ")
    seen = editing.look()
    assert seen.moved
    assert parts(seen)[1] == "b\nc"


def test_going_elsewhere_moves_the_anchor() -> None:
    """A cursor in another line, above or below, makes a new anchor there."""
    editing = Editing("a\nb\nc|\nd\ne\n")
    editing.look()
    for line, expected in ((4, ("a\nb\n", "c\nd\ne", "\n")), (1, ("a\n", "b", "\nc\nd\ne\n"))):
        editing.cursor = Position(line, 1)
        seen = editing.look()
        assert (seen.moved, parts(seen)) == (True, expected)


def test_a_long_way_from_the_anchor_makes_a_new_one() -> None:
    """After more than thirty lines, or thousands of characters, the prompt is frozen anew."""
    editing = Editing("a\n|\nz\n")
    editing.look()
    moved = []
    for _ in range(32):
        editing.type("x = 1\n")
        moved.append(editing.look().moved)
    assert moved == [False] * 30 + [True, False]
    editing.type("y" * 4000)
    assert editing.look().moved


def test_undoing_everything_finds_the_anchor_again() -> None:
    """Deleting what was typed back to the anchor's line keeps it."""
    editing = Editing("a\nbc|\nd\n")
    editing.look()
    editing.backspace(2)
    seen = editing.look()
    assert (seen.moved, seen.typed) == (False, "")


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_are_compared_as_the_model_sees_them(ending: str) -> None:
    """In a file with other line endings the anchor holds as well."""
    editing = Editing("a\nb|\nd\n".replace("\n", ending))
    editing.cursor = Position(1, 1)
    assert parts(editing.look()) == ("a\n", "b", "\nd\n")
    editing.snapshot = editing.snapshot.changed([Change("x", (1, 1), (1, 1))], 2, Encoding.UTF32)
    editing.cursor = Position(1, 2)
    seen = editing.look()
    assert (seen.moved, seen.typed) == (False, "bx")


def test_an_empty_document_has_an_anchor() -> None:
    """In an empty file everything is empty, and typing is typed."""
    editing = Editing("|")
    assert parts(editing.look()) == ("", "", "")
    editing.type("import os")
    assert editing.look().typed == "import os"


def test_a_huge_line_is_anchored_at_the_cursor() -> None:
    """In a line of a megabyte the typed part is what was typed, not the line."""
    line = "abcd" * 250_000
    editing = Editing(line[:600_000] + "|" + line[600_000:])
    seen = editing.look((40, 20))
    assert seen.typed == ""
    assert line[:600_000].endswith(seen.anchor.prefix)
    editing.type("xyz")
    seen = editing.look((40, 20))
    assert (seen.moved, seen.typed) == (False, "xyz")


EDITS = st.lists(
    st.one_of(
        st.sampled_from("ab ()\n").map(lambda text: ("type", text)),
        st.just(("back", "")),
        st.integers(0, 6).map(lambda line: ("go", str(line))),
        st.integers(0, 6).map(lambda line: ("edit", str(line))),
    ),
    max_size=12,
)


@given(EDITS)
def test_prefix_typed_and_suffix_are_always_the_document(edits: list[tuple[str, str]]) -> None:
    """After any edits, what the model sees is what stands around the cursor."""
    editing = Editing("one\n  two\n\nthree|\nfour\n")
    editing.look()
    for kind, value in edits:
        if kind == "type":
            editing.type(value)
        elif kind == "back" and editing.cursor.column:
            editing.backspace()
        elif kind == "go":
            line = min(int(value), len(editing.snapshot.text) - 1)
            editing.cursor = Position(line, len(editing.snapshot.text.content(line)))
        elif kind == "edit":
            editing.edit(min(int(value), len(editing.snapshot.text) - 1), "")
        seen = editing.look()
        whole = str(editing.snapshot.text)
        lines = whole.split("\n")
        at = sum(len(each) + 1 for each in lines[: editing.cursor.line]) + editing.cursor.column
        assert seen.anchor.prefix + seen.typed == seen.window.before == whole[:at]
        assert whole[at:].startswith(seen.window.after)


def test_what_is_written_below_an_anchor_at_the_end_is_seen() -> None:
    """A suffix that reached the end of the document isn't found again where more text follows."""
    editing = Editing("import os\n\n|\n")
    editing.look()
    editing.type("def f(x):\n    x = 1\n    return x\n")
    editing.look()
    editing.cursor = Position(3, 9)
    seen = editing.look()
    assert seen.moved
    assert seen.window.after == "\n    return x\n\n"


def test_the_rest_of_the_line_is_seen_in_a_file_that_was_empty() -> None:
    """Where nothing was behind the cursor, something is now."""
    editing = Editing("|")
    editing.look()
    editing.type("total = compute(values, key)")
    editing.look()
    editing.cursor = Position(0, 15)
    assert editing.look().window == Window("total = compute", "(values, key)")


def test_a_place_outside_of_the_text_has_no_anchor() -> None:
    """When lines were removed, a place that's gone isn't seen from where it was."""
    editing = Editing("a\nb\n  c|\n")
    anchor = editing.look().anchor
    shorter = Snapshot("file:///a", 2, "python", Text("a"))
    assert typed_since(anchor, shorter, Position(2, 3)) is None


def test_an_import_above_pushes_the_window() -> None:
    """Lines that come in above the window move it, and nothing of it changes."""
    editing = Editing("a\nb\n  c|\nd\n")
    before = parts(editing.look())
    editing.edit(0, "import x\nimport y\n")
    editing.cursor = Position(4, 3)
    seen = editing.look()
    assert (parts(seen), seen.moved, seen.anchor.pushed) == (before, False, True)
    assert is_stale(seen.anchor, editing.cursor)
    assert seen.anchor.start == Position(2, 0)


def test_the_window_begins_where_it_began() -> None:
    """A new anchor some lines further down keeps the beginning of the window."""
    lines = "".join(f"x{number} = {number}\n" for number in range(200))
    editing = Editing(lines + "|" + lines)
    start = editing.look((300, 50)).anchor.start
    editing.cursor = Position(231, 0)
    seen = editing.look((600, 50))
    assert seen.moved
    assert seen.anchor.start == start
    editing.cursor = Position(330, 0)
    assert editing.look((600, 50)).anchor.start > start


def test_a_jump_in_a_large_file_reads_the_window_alone() -> None:
    """However far the cursor goes, what's counted is a window, and not what lies between."""
    lines = [f"x{number} = {number}\n" for number in range(20_000)]
    snapshot = Snapshot("file:///a", 1, "python", Text("".join(lines) + "y" * 100_000 + "\nz\n"))
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return words(text)

    anchor = follow(None, snapshot, Position(100, 0), (300, 100), count).anchor
    for line in (20_002, 300, 19_990, 20_001):
        counted.clear()
        anchor = follow(anchor, snapshot, Position(line, 0), (300, 100), count).anchor
        assert sum(counted) < 50_000
        assert len(counted) < 800


@pytest.mark.parametrize("width", [120, 1000, 3000])
def test_a_new_anchor_holds_for_the_next_key(width: int) -> None:
    """Between long lines, too, what counts as typed leaves room for typing."""
    editing = Editing(f"{'word ' * (width // 5)}\n" * 12 + "|\nd\n")
    editing.look((8192, 100))
    for _ in range(40):
        editing.type("abcde ")
        assert not editing.look((8192, 100)).moved


@pytest.mark.parametrize("budget", [16, 40, 100])
def test_the_window_has_what_fits_with_the_line_itself(budget: int) -> None:
    """Prefix and typed text together are within the budget, also where the line is long."""
    editing = Editing("one two three\n" * 30 + "a b c d e f g h i j k l|\nd\n")
    seen = editing.look((budget, 100))
    assert words(seen.window.before) <= budget
    assert seen.window.before.endswith("a b c d e f g h i j k l")
