"""Values that are sent now and then, with a clock that the test turns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from specls.lsp.latest import Lasting, Latest


class Clock:
    """Calls what is due when it's turned."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[Call] = []

    def later(self, seconds: float, call: Callable[[], None]) -> Call:
        self.calls.append(Call(self, self.now + seconds, call))
        return self.calls[-1]

    def turn(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [each for each in self.calls if each.when <= end]:
            first = min(due, key=lambda each: each.when)
            self.calls.remove(first)
            self.now = first.when
            first.call()
        self.now = end


class Call:
    """A call that is to come."""

    def __init__(self, clock: Clock, when: float, call: Callable[[], None]) -> None:
        self.clock, self.when, self.call = clock, when, call

    def cancel(self) -> None:
        self.clock.calls.remove(self)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_first_value_is_sent_at_once(clock: Clock) -> None:
    """A change after a pause isn't delayed, and the same value again is none."""
    sent: list[int] = []
    latest = Latest(sent.append, clock.later, 0.125)
    latest.offer(1)
    clock.turn(1.0)
    latest.offer(1)
    latest.offer(2)
    assert sent == [1, 2]


def test_quick_changes_are_sent_now_and_then_and_the_last_always(clock: Clock) -> None:
    """Of many values in a pause only the last is sent, at its end."""
    sent: list[tuple[float, int]] = []
    latest = Latest[int](lambda value: sent.append((clock.now, value)), clock.later, 0.125)
    for value in range(33):
        latest.offer(value)
        clock.turn(1 / 64)
    clock.turn(1.0)
    assert sent == [(0.0, 0), (0.125, 7), (0.25, 15), (0.375, 23), (0.5, 31), (0.625, 32)]


def test_what_is_as_it_was_isn_t_sent(clock: Clock) -> None:
    """A value that changed and changed back within the pause is told to nobody."""
    sent: list[int] = []
    latest = Latest(sent.append, clock.later, 0.125)
    for value in (1, 2, 1):
        latest.offer(value)
    clock.turn(1.0)
    assert sent == [1]


def test_nothing_runs_while_nothing_changes(clock: Clock) -> None:
    """After the pause there's no timer."""
    latest = Latest[int](lambda _value: None, clock.later, 0.125)
    latest.offer(1)
    clock.turn(0.125)
    assert clock.calls == []


def test_only_what_lasts_is_told(clock: Clock) -> None:
    """Something short is told to nobody; what lasts is told, and its end, too."""
    told: list[tuple[float, bool]] = []
    lasting: Lasting = Lasting(
        lambda: told.append((clock.now, lasting.lasts)), clock.later, 0.125, 0.25
    )
    for _ in range(3):
        lasting.set(True)
        clock.turn(0.0625)
        lasting.set(False)
    assert told == []
    lasting.set(True)
    clock.turn(0.0625)
    lasting.set(True)
    clock.turn(0.4375)
    lasting.set(False)
    clock.turn(1.0)
    lasting.set(False)
    assert told == [(0.3125, True), (0.9375, False)]
    assert clock.calls == []


def test_a_short_pause_is_not_told(clock: Clock) -> None:
    """What begins again soon hasn't ended."""
    told: list[tuple[float, bool]] = []
    lasting: Lasting = Lasting(
        lambda: told.append((clock.now, lasting.lasts)), clock.later, 0.125, 0.25
    )
    lasting.set(True)
    clock.turn(0.25)
    for _ in range(5):
        lasting.set(False)
        clock.turn(0.125)
        lasting.set(True)
        clock.turn(1.0)
    assert told == [(0.125, True)]
    assert clock.calls == []
