"""What becomes of suggestions: what the client says, what the documents show, what stays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.service.suggestions import Suggestions

NOTHING = {
    "shown": 0,
    "accepted": 0,
    "partlyAccepted": 0,
    "rejected": 0,
    "ignored": 0,
    "characters": 0,
    "charactersKept": 0,
    "charactersPending": 0,
}


@dataclass
class Clock:
    """Seconds, as a test sets them."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Editor:
    """A document with a cursor, and the suggestions in it."""

    text: str
    clock: Clock = field(default_factory=Clock)
    language: str = "python"

    def __post_init__(self) -> None:
        self.suggestions = Suggestions(self.clock)
        before, _, after = self.text.partition("|")
        self.at = self._place(before)
        self.snapshot = Snapshot("file:///a", 1, self.language, Text(before + after))

    @staticmethod
    def _place(before: str) -> Position:
        lines = before.split("\n")
        return Position(len(lines) - 1, len(lines[-1]))

    def offer(self, text: str) -> str:
        """A suggestion at the cursor; its id."""
        return self.suggestions.offered(self.snapshot, self.at, text)

    def type(self, text: str) -> None:
        """Type key by key."""
        for char in text:
            self.insert(char)

    def insert(self, text: str, behind: str = "", *, ends: bool = True) -> None:
        """Write at the cursor at once, and something behind it, as editors close brackets."""
        lines = text.split("\n")
        column = len(lines[-1]) + (self.at.column if len(lines) == 1 else 0)
        end = Position(self.at.line + len(lines) - 1, column)
        self.edit(self.at, self.at, text + behind, end if ends else None)
        self.at = end

    def delete(self, number: int) -> None:
        """Delete characters before the cursor, in its line."""
        start = Position(self.at.line, self.at.column - number)
        self.edit(start, self.at, "", start)
        self.at = start

    def edit(self, start: Position, end: Position, text: str, ends: Position | None) -> None:
        """Change the document anywhere."""
        before = self.snapshot
        changed = before.text.replace(start, end, text)
        self.snapshot = replace(before, version=before.version + 1, text=changed)
        self.suggestions.changed(before, self.snapshot, ends)

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that aren't zero."""
        counts: Any = self.suggestions.as_dict()
        (by_language,) = counts["byLanguage"].values()
        assert by_language == counts["total"]
        assert set(by_language) == set(NOTHING)
        return {name: number for name, number in by_language.items() if number}


def test_without_a_suggestion_nothing_is_counted() -> None:
    """There's a total of nothing, and no language."""
    assert Suggestions().as_dict() == {"total": NOTHING, "byLanguage": {}}


# -- the client says nothing ---------------------------------------------------------------------


def test_what_comes_in_at_once_was_accepted() -> None:
    """The whole suggestion in one change: accepted, with its characters."""
    editor = Editor("x = |\n")
    editor.offer("foo(a)")
    editor.insert("foo(a)")
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 6,
        "charactersPending": 6,
    }


def test_what_is_typed_key_by_key_was_not_accepted() -> None:
    """The same text typed: ignored, once it's typed to its end."""
    editor = Editor("x = |\n")
    editor.offer("foo(a)")
    editor.type("foo(a")
    assert editor.numbers == {"shown": 1}
    editor.type(")")
    assert editor.numbers == {"shown": 1, "ignored": 1}


def test_several_changes_in_one_message_were_typed() -> None:
    """A client that sends keys in bundles accepts nothing by that."""
    editor = Editor("x = |\n")
    editor.offer("foo(a)")
    editor.insert("foo(a)", ends=False)
    assert editor.numbers == {"shown": 1, "ignored": 1}


def test_only_what_was_not_typed_counts_as_accepted() -> None:
    """Three letters typed, the rest accepted: the rest's characters count."""
    editor = Editor("|\n")
    editor.offer("return a + b")
    editor.type("ret")
    editor.insert("urn a + b")
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 9,
        "charactersPending": 9,
    }


@pytest.mark.parametrize(
    ("text", "part", "partly"),
    [
        ("return a + b", "return", True),
        ("return a + b", "return ", True),
        ("return a + b", "retu", False),  # half a word: typed fast, or something else
        ("if x:\n    return a", "if x:\n", True),
        ("foo(a)", "fo", False),
        ("\n    return a", "\n    ", False),  # the editor indents a new line
        ("()", "()", False),  # the editor closes a bracket
        ("(a, b)", "(a", False),
        ("self.a)", "self", True),
    ],
)
def test_a_part_that_comes_in_at_once(text: str, part: str, partly: bool) -> None:  # noqa: FBT001
    """Words and lines are accepted; what an editor or a fast typist writes isn't."""
    editor = Editor("x|\n")
    editor.offer(text)
    editor.insert(part)
    taken = {"partlyAccepted": 1, "characters": len(part), "charactersPending": len(part)}
    typed = {"ignored": 1} if part == text else {}
    assert editor.numbers == {"shown": 1, **(taken if partly else typed)}


def test_word_by_word_to_the_end_is_accepted() -> None:
    """The last part makes it accepted, and not partly: each is counted once."""
    editor = Editor("|\n")
    editor.offer("return value + other")
    for part in ("return ", "value ", "+ ", "other"):
        editor.insert(part)
        if part != "other":
            editor.offer("return value + other"[editor.at.column :])
    # "+ " is too short to be told from typing
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 18,
        "charactersPending": 18,
    }


def test_the_rest_of_a_suggestion_is_no_new_one() -> None:
    """Somebody types what is suggested, and is offered the rest at each key."""
    editor = Editor("|\n")
    editor.offer("return a + b")
    for key in "return":
        editor.insert(key)
        editor.offer("return a + b"[editor.at.column :])
    assert editor.numbers == {"shown": 1}


def test_another_text_is_a_new_one() -> None:
    """Something else is offered: the one before was ignored."""
    editor = Editor("|\n")
    editor.offer("return a + b")
    editor.type("return ")
    editor.offer("None")
    assert editor.numbers == {"shown": 2, "ignored": 1}


def test_what_does_not_fit_was_ignored() -> None:
    """Something else is typed."""
    editor = Editor("|\n")
    editor.offer("return a + b")
    editor.type("x")
    assert editor.numbers == {"shown": 1, "ignored": 1}


def test_it_is_offered_again_after_a_wrong_key() -> None:
    """A wrong key, deleted: the same suggestion, which may be accepted yet."""
    editor = Editor("|\n")
    editor.offer("return a + b")
    editor.type("x")
    editor.delete(1)
    editor.offer("return a + b")
    assert editor.numbers == {"shown": 1}
    editor.insert("return a + b")
    assert editor.numbers["accepted"] == 1


def test_alternatives_are_one_suggestion() -> None:
    """Several texts at one place: shown once, and accepted when one of them is."""
    editor = Editor("x = |\n")
    for text in ("first()", "second()", "third()"):
        editor.offer(text)
    editor.insert("second()")
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 8,
        "charactersPending": 8,
    }


def test_a_line_that_is_completed_to_more_lines_is_one_suggestion() -> None:
    """What is shown first and its continuation are one, accepted when all of it is."""
    editor = Editor("x = |\n")
    editor.offer("first(")
    editor.offer("first(\n    value)")
    editor.insert("first(")
    assert editor.numbers["partlyAccepted"] == 1
    editor.insert("\n    value)")
    assert editor.numbers["accepted"] == 1


def test_a_bracket_that_the_editor_closes_changes_nothing() -> None:
    """Typed with a bracket, which the editor closes: the rest still fits and is accepted."""
    editor = Editor("foo|\n")
    editor.offer("(first, second)")
    editor.insert("(", behind=")")
    editor.offer("first, second")
    assert editor.numbers == {"shown": 1}
    editor.insert("first, second")
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 13,
        "charactersPending": 13,
    }


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (Position(0, 0), Position(0, 0), "import b\n"),
        (Position(0, 0), Position(1, 0), ""),
        (Position(3, 0), Position(3, 3), "other\nlines"),
    ],
)
def test_an_edit_elsewhere_leaves_it(start: Position, end: Position, text: str) -> None:
    """Lines above or below change, half-way typed: what's accepted then is accepted."""
    editor = Editor("import a\n\nx = |\nend\n")
    editor.offer("foo(a)\n    + 1")
    editor.type("fo")
    lines = len(editor.snapshot.text)
    editor.edit(start, end, text, None)
    if start.line < editor.at.line:
        moved = len(editor.snapshot.text) - lines
        editor.at = replace(editor.at, line=editor.at.line + moved)
    assert editor.numbers == {"shown": 1}
    editor.insert("o(a)\n    + 1")
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 12,
        "charactersPending": 12,
    }


def test_a_menu_entry_that_counts_as_typed() -> None:
    """Entry and suggestion come in together: the suggestion's own characters are accepted."""
    editor = Editor("con|\n")
    entered = replace(editor.snapshot, text=Text("console\n"))
    editor.suggestions.offered(entered, Position(0, 7), ".log(x)")
    editor.type("s")
    editor.suggestions.offered(entered, Position(0, 7), ".log(x)")
    assert editor.numbers == {"shown": 1}
    editor.edit(Position(0, 0), Position(0, 4), "console.log(x)", Position(0, 14))
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 7,
        "charactersPending": 7,
    }


def test_lines_end_as_the_file_has_it() -> None:
    """With other line endings, the same is accepted, and a line's end is one character."""
    editor = Editor("x = |\n")
    editor.snapshot = replace(editor.snapshot, text=Text("x = \r\ny\r\n"))
    editor.offer("foo(\n    a)")
    editor.edit(editor.at, editor.at, "foo(\r\n    a)", Position(1, 6))
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 11,
        "charactersPending": 11,
    }


def test_a_closed_document_ends_its_suggestion() -> None:
    """What was open in it was ignored."""
    editor = Editor("|")
    editor.offer("x = 1")
    editor.suggestions.closed("file:///a")
    assert editor.numbers == {"shown": 1, "ignored": 1}


def test_accepted_again_after_undo_is_another_one() -> None:
    """A suggestion that was accepted is at its end; the same text afterwards is a new one."""
    editor = Editor("|")
    editor.offer("x = 1")
    editor.insert("x = 1")
    editor.delete(5)
    editor.offer("x = 1")
    editor.insert("x = 1")
    assert (editor.numbers["shown"], editor.numbers["accepted"]) == (2, 2)


def test_languages_are_counted_apart() -> None:
    """The total is the sum of the languages."""
    suggestions = Suggestions()
    for uri, language in (("file:///a", "python"), ("file:///b", "go"), ("file:///c", "go")):
        snapshot = Snapshot(uri, 1, language, Text(""))
        suggestions.offered(snapshot, Position(0, 0), "x")
    suggestions.closed("file:///c")
    assert suggestions.as_dict() == {
        "total": {**NOTHING, "shown": 3, "ignored": 1},
        "byLanguage": {
            "go": {**NOTHING, "shown": 2, "ignored": 1},
            "python": {**NOTHING, "shown": 1},
        },
    }


def test_many_languages_take_little_room() -> None:
    """Names that a client makes up are counted together from the 65th on."""
    suggestions = Suggestions()
    for number in range(100):
        snapshot = Snapshot(f"file:///{number}", 1, f"l{number}", Text(""))
        suggestions.offered(snapshot, Position(0, 0), "x")
    counts: Any = suggestions.as_dict()
    assert counts["total"]["shown"] == 100
    assert len(counts["byLanguage"]) == 65
    assert counts["byLanguage"]["other"]["shown"] == 36


# -- the client says something -------------------------------------------------------------------


def test_the_command_before_the_change() -> None:
    """Accepted, says the client, and then the text comes, in whatever pieces."""
    editor = Editor("x = |\n")
    name = editor.offer("fo(a)")
    editor.suggestions.accepted(name)
    assert editor.numbers == {"shown": 1, "accepted": 1}
    editor.insert("fo", ends=False)
    editor.insert("(a)", ends=False)
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 5,
        "charactersPending": 5,
    }


@pytest.mark.parametrize("text", ["f(", "return a + b"])
def test_the_command_behind_the_change(text: str) -> None:
    """The text came already, taken for accepted or for typed: its characters count once."""
    editor = Editor("x = |\n")
    name = editor.offer(text)
    editor.insert(text)
    editor.suggestions.accepted(name)
    editor.suggestions.accepted(name)
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": len(text),
        "charactersPending": len(text),
    }


def test_a_short_rest_that_was_edited_before_the_command_came() -> None:
    """The place of what may have been accepted is followed until the client says so."""
    editor = Editor("x = |\n")
    name = editor.offer("f(")
    editor.insert("f(")
    editor.edit(Position(0, 0), Position(0, 1), "long", None)
    editor.suggestions.accepted(name)
    editor.edit(Position(0, 7), Position(0, 8), "", None)
    editor.clock.now = 30.0
    assert editor.numbers == {"shown": 1, "accepted": 1, "characters": 2, "charactersKept": 1}


def test_an_accepted_word() -> None:
    """The client says what is left: what was typed before isn't accepted."""
    editor = Editor("|\n")
    editor.offer("if x and y")
    editor.type("i")
    name = editor.offer("f x and y")
    editor.insert("f")
    assert editor.numbers == {"shown": 1}
    editor.suggestions.partly_accepted(name, 8)
    assert editor.numbers == {
        "shown": 1,
        "partlyAccepted": 1,
        "characters": 1,
        "charactersPending": 1,
    }
    editor.suggestions.partly_accepted(name, 6)
    editor.insert(" x")
    assert editor.numbers["characters"] == 3
    editor.suggestions.partly_accepted(name, 0)
    editor.insert(" and y")
    assert editor.numbers == {
        "shown": 1,
        "accepted": 1,
        "characters": 9,
        "charactersPending": 9,
    }


@pytest.mark.parametrize(("ignored", "end"), [(False, "rejected"), (True, "ignored")])
def test_a_rejected_suggestion(ignored: bool, end: str) -> None:  # noqa: FBT001
    """No was said, or nothing; what follows in the document doesn't change that."""
    editor = Editor("|\n")
    name = editor.offer("return a")
    editor.suggestions.rejected(name, ignored=ignored)
    editor.suggestions.rejected(name, ignored=True)
    editor.type("x")
    assert editor.numbers == {"shown": 1, end: 1}


def test_what_is_rejected_after_a_part_was_accepted() -> None:
    """It stays partly accepted."""
    editor = Editor("|\n")
    name = editor.offer("return a + b")
    editor.insert("return")
    editor.suggestions.rejected(name, ignored=False)
    assert editor.numbers["partlyAccepted"] == 1
    assert "rejected" not in editor.numbers


def test_a_client_that_says_late_that_it_accepted() -> None:
    """Another suggestion took its place already: accepted all the same, nothing is followed."""
    editor = Editor("|\n")
    name = editor.offer("return a")
    editor.type("x")
    editor.offer(" = 1")
    assert editor.numbers == {"shown": 2, "ignored": 1}
    editor.suggestions.accepted(name)
    assert editor.numbers == {"shown": 2, "accepted": 1}


def test_a_client_that_reports_what_it_shows() -> None:
    """From the first report on only what it showed counts, and so for what went before."""
    editor = Editor("|\n")
    editor.offer("never displayed")
    editor.type("x")
    name = editor.offer(" = 1")
    assert editor.numbers == {"shown": 2, "ignored": 1}
    editor.suggestions.displayed(name)
    editor.suggestions.displayed(name)
    assert editor.numbers == {"shown": 1}
    editor.type("y")
    editor.offer(" + never displayed either")
    editor.type("z")
    assert editor.numbers == {"shown": 1, "ignored": 1}


def test_what_is_accepted_was_shown() -> None:
    """A client reports, but not this one: it's counted when it's accepted."""
    editor = Editor("|\n")
    editor.suggestions.displayed("unknown")
    editor.offer("return a")
    assert editor.suggestions.as_dict() == {"total": NOTHING, "byLanguage": {}}
    editor.insert("return a")
    assert (editor.numbers["shown"], editor.numbers["accepted"]) == (1, 1)


def test_the_whole_that_would_be_there() -> None:
    """An item that's displayed is told with all of its text, also of what was typed of it."""
    editor = Editor("|\n")
    editor.offer("return a")
    editor.type("ret")
    shown = editor.suggestions.displayed(editor.offer("urn a"))
    assert shown is not None
    assert (str(shown.snapshot.text), shown.position) == ("\n", Position(0, 0))
    assert shown.text == "return a"


def test_ids() -> None:
    """The same text at the same place keeps its id; every other one has its own."""
    editor = Editor("|\n")
    first = editor.offer("return a")
    assert editor.offer("return a") == first
    other = editor.offer("return b")
    editor.type("r")
    rest = editor.offer("eturn a")
    assert len({first, other, rest}) == 3
    assert editor.offer("eturn a") == rest


def test_unknown_ids_are_ignored() -> None:
    """What no item is called changes no number."""
    editor = Editor("|\n")
    editor.offer("return a")
    for name in ("", "unknown"):
        editor.suggestions.accepted(name)
        editor.suggestions.partly_accepted(name, 3)
        editor.suggestions.rejected(name, ignored=False)
    assert editor.numbers == {"shown": 1}


# -- what stays ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (29.9, {"charactersPending": 6}),
        (30.0, {"charactersKept": 6}),
    ],
)
def test_after_half_a_minute_it_is_looked_at(seconds: float, expected: dict[str, int]) -> None:
    """Until then it's pending."""
    editor = Editor("x = |\n")
    editor.offer("foo(a)")
    editor.insert("foo(a)")
    editor.clock.now = seconds
    assert editor.numbers == {"shown": 1, "accepted": 1, "characters": 6, **expected}


def test_what_is_edited_is_not_kept() -> None:
    """Two characters are changed, and the rest moves: four are kept."""
    editor = Editor("x = |\n")
    editor.offer("foo(a)")
    editor.insert("foo(a)")
    editor.edit(Position(0, 4), Position(0, 6), "g", None)
    editor.edit(Position(0, 0), Position(0, 0), "import a\n\n", None)
    editor.clock.now = 30.0
    assert editor.numbers == {"shown": 1, "accepted": 1, "characters": 6, "charactersKept": 4}


def test_what_happens_later_does_not_count() -> None:
    """The first event after half a minute counts what was there before it."""
    editor = Editor("x = |\n")
    editor.offer("foo(a)")
    editor.insert("foo(a)")
    editor.clock.now = 31.0
    editor.delete(6)
    assert editor.numbers == {"shown": 1, "accepted": 1, "characters": 6, "charactersKept": 6}


def test_what_was_there_when_the_document_was_closed_is_kept() -> None:
    """Nobody edits it any more."""
    editor = Editor("x = |\n")
    editor.offer("foo(a)")
    editor.insert("foo(a)")
    editor.delete(2)
    editor.suggestions.closed("file:///a")
    assert editor.numbers == {"shown": 1, "accepted": 1, "characters": 6, "charactersKept": 4}


def test_a_session_of_days_takes_little_room() -> None:
    """Of a thousand suggestions, accepted and typed, only the last ones are remembered."""
    editor = Editor("|")
    for _ in range(1000):
        editor.offer("abc = f(x)")
        editor.insert("abc")
        for _ in range(3):
            editor.offer("abc = f(x)"[editor.at.column :])
            editor.type("abc = f(x)"[editor.at.column])
        editor.edit(Position(0, 0), editor.at, "", Position(0, 0))
        editor.at = Position(0, 0)
    suggestions = editor.suggestions
    assert editor.numbers["partlyAccepted"] == 1
    assert len(suggestions._items) <= 512
    assert len(suggestions._names) <= 512
    assert len(suggestions._keeping._watched) <= 64
    assert len(suggestions._current) == 1


def test_what_is_over_keeps_no_document() -> None:
    """Only the newest suggestion of a document holds on to a version of it."""
    editor = Editor("|\n")
    editor.offer("return a")
    first = editor.suggestions._current["file:///a"]
    editor.type("x")
    editor.offer(" = 1")
    assert (str(first._snapshot.text), str(first.newest)) == ("", "")
