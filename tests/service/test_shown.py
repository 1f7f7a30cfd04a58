"""A suggestion that was shown and still fits is answered without the model."""

from __future__ import annotations

import pytest

from specls.context.document import Change, Snapshot
from specls.context.text import Encoding, Position, Text, split_lines
from specls.service.shown import ShownSuggestions

URI = "file:///a"


class Ghost:
    """A document in which ``text`` was suggested at the ``|``."""

    def __init__(self, marked: str, text: str) -> None:
        before, after = marked.split("|")
        lines = split_lines(before)
        self.position = Position(len(lines) - 1, len(lines[-1]))
        self.snapshot = Snapshot(URI, 1, "python", Text(before + after))
        self.shown = ShownSuggestions()
        self.shown.remember(self.snapshot, self.position, text)

    def edit(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        version = self.snapshot.version + 1
        self.snapshot = self.snapshot.changed([Change(text, start, end)], version, Encoding.UTF32)

    def type(self, text: str, behind: str = "") -> None:
        place = (self.position.line, self.position.column)
        self.edit(place, place, text + behind)
        lines = text.replace("\r\n", "\n").split("\n")
        column = len(lines[-1]) + (self.position.column if len(lines) == 1 else 0)
        self.position = Position(self.position.line + len(lines) - 1, column)

    def find(self) -> str | None:
        found = self.shown.find(self.snapshot, self.position)
        return None if found is None else found.rest


def test_typing_what_is_suggested_shows_the_rest() -> None:
    """Key by key, the same ghost text gets shorter, until nothing is left of it."""
    ghost = Ghost("x\n  |\ny\n", "return a")
    assert ghost.find() == "return a"
    for char, rest in zip(
        "return ", ["eturn a", "turn a", "urn a", "rn a", "n a", " a", "a"], strict=True
    ):
        ghost.type(char)
        assert ghost.find() == rest
    ghost.type("a")
    assert ghost.find() is None


def test_another_key_ends_it() -> None:
    """A key that isn't the next one of the suggestion needs the model."""
    ghost = Ghost("x\n  |\ny\n", "return a")
    ghost.type("f")
    assert ghost.find() is None


def test_deleting_back_into_it_shows_it_again() -> None:
    """A wrong key that is deleted, and right ones that are, bring the ghost text back."""
    ghost = Ghost("|", "return a")
    ghost.type("re")
    ghost.type("f")
    assert ghost.find() is None
    ghost.edit((0, 2), (0, 3), "")
    ghost.position = Position(0, 2)
    assert ghost.find() == "turn a"
    ghost.edit((0, 0), (0, 2), "")
    ghost.position = Position(0, 0)
    assert ghost.find() == "return a"


def test_a_change_elsewhere_ends_it() -> None:
    """The document's whole state counts, not the text before the cursor."""
    ghost = Ghost("x\n  |\ny\n", "return a")
    ghost.edit((2, 0), (2, 1), "z")
    assert ghost.find() is None


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_are_typed_through(ending: str) -> None:
    """Several lines, accepted line by line, whatever the document's line ending."""
    ghost = Ghost(f"x{ending}|{ending}y{ending}", "if a:\n    b()\nc()")
    ghost.type(f"if a:{ending}")
    assert ghost.find() == "    b()\nc()"
    ghost.type("    b")
    assert ghost.find() == "()\nc()"


def test_brackets_that_the_editor_closes_don_t_end_it() -> None:
    """When the editor closes what is typed, the rest comes without what it closed."""
    ghost = Ghost("x = |\ny\n", "sum(items)")
    ghost.type("sum")
    ghost.type("(", behind=")")
    assert ghost.find() == "items"
    ghost.type("it")
    assert ghost.find() == "ems"


@pytest.mark.parametrize(
    ("text", "typed", "rest"),
    [
        ("str(row) for row in rows)", "str", "row"),
        ("check(x):\n    raise E('a')", "check", "x"),
        ("f()", "f", None),
    ],
)
def test_a_bracket_is_closed_once(text: str, typed: str, rest: str | None) -> None:
    """Behind a bracket that the editor closed, the rest ends before its partner."""
    ghost = Ghost("x = |\ny\n", text)
    ghost.type(typed)
    ghost.type("(", behind=")")
    assert ghost.find() == rest


def test_typing_over_the_bracket_goes_on() -> None:
    """Once the editor's bracket is typed over, the whole suggestion fits again."""
    ghost = Ghost("x = |\ny\n", "sum(items) + 1")
    ghost.type("sum(", behind=")")
    ghost.type("items")
    ghost.position = Position(ghost.position.line, ghost.position.column + 1)
    assert ghost.find() == " + 1"


def test_a_far_jump_costs_nothing() -> None:
    """A cursor further away than the suggestion is long is no place of it."""
    ghost = Ghost("|\n" + "x\n" * 100_000, "a\nb")
    ghost.position = Position(2, 0)
    assert ghost.find() is None
    ghost.position = Position(90_000, 1)
    assert ghost.find() is None


def test_several_suggestions_are_remembered() -> None:
    """Going back to a place where something was suggested finds it there."""
    ghost = Ghost("a |\nb\n", "= 1")
    ghost.shown.remember(ghost.snapshot, Position(1, 1), " = 2")
    assert ghost.find() == "= 1"
    ghost.position = Position(1, 1)
    assert ghost.find() == " = 2"


def test_forgotten_suggestions_are_gone() -> None:
    """A closed document, and other models, leave nothing behind."""
    closed, changed = Ghost("a |\n", "= 1"), Ghost("a |\n", "= 1")
    closed.shown.forget(URI)
    changed.shown.clear()
    assert closed.find() is None
    assert changed.find() is None


def test_a_position_outside_finds_nothing() -> None:
    """A line that isn't there any more is no place of a suggestion."""
    ghost = Ghost("a\nb\nc |", "= 1")
    ghost.edit((0, 0), (2, 2), "")
    assert ghost.find() is None


def test_of_a_suggestion_that_was_typed_nothing_else_is_shown() -> None:
    """Who accepts one of several suggestions doesn't see the rest of another one."""
    shown, before = ShownSuggestions(), Snapshot("file:///a", 1, "python", Text("x = \n"))
    for text in ("foo_bar()", "foo"):
        shown.remember(before, Position(0, 4), text)
    after = Snapshot("file:///a", 2, "python", Text("x = foo\n"))
    assert shown.find(after, Position(0, 7)) is None
    shown.remember(after, Position(0, 7), "(1)", ahead=True)
    found = shown.find(after, Position(0, 7))
    assert found is not None
    assert found.rest == "(1)"
