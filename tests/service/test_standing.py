"""What a person is told of several things that are so at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specls.service.models import State, Status
from specls.service.standing import Focus, Loaded, Stand, Standing, standing

PAIR = Loaded("big", "small")
READY = Status(State.READY, 1.0)
FAILED = Status(State.FAILED, message="big isn't here.", remedy="specls models pull big")
OPEN, SHUT = Focus("file:///a.py"), Focus("file:///b.md", "the setting enable switches b off")


@pytest.mark.parametrize(
    ("status", "focus", "expected"),
    [
        (Status(State.IDLE), None, Standing(Stand.STARTING, "specls is starting.")),
        (
            Status(State.LOADING, 0.404),
            SHUT,
            Standing(
                Stand.LOADING,
                "The models are being loaded: 40 %; big with small answers until then.",
                PAIR,
                progress=40,
            ),
        ),
        (READY, None, Standing(Stand.READY, "big with small is ready.", PAIR)),
        (READY, OPEN, Standing(Stand.READY, "big with small is ready.", PAIR)),
        (
            READY,
            SHUT,
            Standing(
                Stand.DISABLED,
                "Nothing is completed in this document: the setting enable switches b off.",
                PAIR,
                uri="file:///b.md",
                reason="the setting enable switches b off",
            ),
        ),
        (
            FAILED,
            OPEN,
            Standing(
                Stand.ERROR,
                "big isn't here.",
                PAIR,
                reason="big isn't here.",
                remedy="specls models pull big",
                again=True,
            ),
        ),
        (
            replace(FAILED, state=State.OFF),
            OPEN,
            Standing(
                Stand.OFF,
                "big isn't here.",
                PAIR,
                reason="big isn't here.",
                remedy="specls models pull big",
                again=True,
            ),
        ),
        (
            replace(FAILED, state=State.READY),
            OPEN,
            Standing(
                Stand.READY,
                "big with small is ready.",
                PAIR,
                reason="big isn't here.",
                remedy="specls models pull big",
                again=True,
            ),
        ),
    ],
)
def test_what_matters_most_is_told(status: Status, focus: Focus | None, expected: Standing) -> None:
    """What failed comes first, then what is going on, then the document at hand."""
    loaded = Loaded() if status.state is State.IDLE else PAIR
    assert standing(status, loaded, focus, enabled=True, busy=False) == expected


def test_a_request_that_runs_is_told() -> None:
    """Busy is said of models that are ready."""
    assert standing(READY, Loaded("big"), OPEN, enabled=True, busy=True) == Standing(
        Stand.BUSY, "big is completing.", Loaded("big")
    )


@pytest.mark.parametrize(
    ("focus", "stand"),
    [(None, Stand.OFF), (SHUT, Stand.OFF), (OPEN, Stand.READY)],
)
def test_switched_off_is_off_but_where_it_is_on(focus: Focus | None, stand: Stand) -> None:
    """The setting enabled switches all off but the folders that have another value."""
    assert standing(READY, PAIR, focus, enabled=False, busy=False).stand is stand
