"""Suggestions under any history of edits, offers and reports: the numbers always add up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.service.fates import Fate
from specls.service.suggestions import Suggestions

URIS = ("file:///a", "file:///b")
WORDS = st.text(alphabet="ab( )\n\r🙂", max_size=12)
NUMBERS = st.integers(0, 40)


class History(RuleBasedStateMachine):
    """Two documents, whose editor may say anything at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.suggestions = Suggestions(lambda: self.now)
        self.open = {uri: Snapshot(uri, 1, uri[-1], Text("a = b\n\nfoo(a)\n" * 2)) for uri in URIS}
        self.names: list[str] = []
        self.offered: list[tuple[Snapshot, Position, str]] = []

    def place(self, uri: str, line: int, column: int) -> Position:
        text = self.open[uri].text
        line = min(line, len(text) - 1)
        return Position(line, min(column, len(text.content(line))))

    def change(self, uri: str, start: Position, end: Position, new: str, *, single: bool) -> None:
        before = self.open[uri]
        start, end = sorted((start, end))
        lines = new.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        column = len(lines[-1]) + (start.column if len(lines) == 1 else 0)
        after = replace(before, text=before.text.replace(start, end, new))
        self.open[uri] = after
        where = Position(start.line + len(lines) - 1, column)
        self.suggestions.changed(before, after, where if single else None)

    @rule(uri=st.sampled_from(URIS), line=NUMBERS, column=NUMBERS, text=WORDS)
    def offer(self, uri: str, line: int, column: int, text: str) -> None:
        text = text.replace("\r", "") or "x"
        where = self.place(uri, line, column)
        self.names.append(self.suggestions.offered(self.open[uri], where, text))
        self.offered.append((self.open[uri], where, text))

    @precondition(lambda self: self.offered)
    @rule(size=st.integers(1, 12), single=st.booleans(), ending=st.sampled_from(("\n", "\r\n")))
    def take(self, size: int, single: bool, ending: str) -> None:  # noqa: FBT001
        """A part of the last suggestion comes in, if the document is as it was."""
        snapshot, where, text = self.offered.pop()
        if self.open[snapshot.uri] is snapshot:
            new = text[:size].replace("\n", ending)
            self.change(snapshot.uri, where, where, new, single=single)

    @rule(
        uri=st.sampled_from(URIS),
        start=st.tuples(NUMBERS, NUMBERS),
        end=st.tuples(NUMBERS, NUMBERS),
        new=WORDS,
        single=st.booleans(),
    )
    def edit(
        self,
        uri: str,
        start: tuple[int, int],
        end: tuple[int, int],
        new: str,
        single: bool,  # noqa: FBT001
    ) -> None:
        first, last = self.place(uri, *start), self.place(uri, *end)
        self.change(uri, first, last, new, single=single)

    @precondition(lambda self: self.names)
    @rule(number=NUMBERS, kind=st.sampled_from(("show", "accept", "part", "no")), left=NUMBERS)
    def say(self, number: int, kind: str, left: int) -> None:
        name = self.names[number % len(self.names)]
        if kind == "show":
            self.suggestions.displayed(name)
        elif kind == "accept":
            self.suggestions.accepted(name)
        elif kind == "part":
            self.suggestions.partly_accepted(name, left)
        else:
            self.suggestions.rejected(name, ignored=bool(left % 2))

    @rule(uri=st.sampled_from(URIS))
    def close(self, uri: str) -> None:
        self.suggestions.closed(uri)

    @rule(seconds=st.sampled_from((1.0, 29.0, 31.0)))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def the_numbers_add_up(self) -> None:
        counts: Any = self.suggestions.as_dict()
        current = self.suggestions._current.values()
        still_open = sum(each.shown and each.fate is None for each in current)
        total = counts["total"]
        ends = ("accepted", "partlyAccepted", "rejected", "ignored")
        assert total["shown"] == sum(total[end] for end in ends) + still_open
        assert total["charactersKept"] + total["charactersPending"] <= total["characters"]
        assert min(total.values()) >= 0
        for name, number in total.items():
            assert number == sum(each[name] for each in counts["byLanguage"].values())

    @invariant()
    def what_is_over_has_ended(self) -> None:
        over = [item.suggestion for item in self.suggestions._items.values()]
        current = list(self.suggestions._current.values())
        assert all(each.fate is not None for each in over if each.shown and each not in current)
        assert all(each.fate is not Fate.IGNORED or each.shown for each in over)


TestHistory = History.TestCase
TestHistory.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestHistory.__doc__ = "Whatever happens, each suggestion is counted once and nothing fails."
