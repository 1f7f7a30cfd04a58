"""How a pull gets on, on stderr: a bar where there is a terminal, else a line now and then."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from specls.catalogue.files import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import TaskID

_PAUSE_SECONDS = 2.0
"""Between two lines of one piece of work; shorter work gets no line at all."""


_STEP_SECONDS = 0.25
"""Between two lines for a program."""


class BarProgress:
    """A bar with amount, speed and time left for each label; notes scroll by above it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def report(self, label: str, done: int, total: int) -> None:
        """See :class:`specls.catalogue.sources.Progress`."""
        if label not in self._tasks:
            # Begun with what an earlier pull left, which mustn't count for the speed.
            self._tasks[label] = self._progress.add_task(label, total=total, completed=done)
        self._progress.update(self._tasks[label], completed=done, total=total)

    def note(self, text: str) -> None:
        """See :class:`specls.catalogue.sources.Progress`."""
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)


class LineProgress:
    """Plain lines without control characters: one for each tenth of the way that took a while."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._said: dict[str, tuple[int, float]] = {}

    def report(self, label: str, done: int, total: int) -> None:
        """See :class:`specls.catalogue.sources.Progress`."""
        tenths, now = 10 * done // max(total, 1), self._clock()
        last, when = self._said.setdefault(label, (tenths, now))
        if tenths > last and now - when >= _PAUSE_SECONDS:
            self._said[label] = (tenths, now)
            self.note(f"{label}: {10 * tenths} % ({in_words(done)} of {in_words(total)})")

    def note(self, text: str) -> None:
        """See :class:`specls.catalogue.sources.Progress`."""
        self._out.write(f"{text}\n")
        self._out.flush()


class JsonProgress:
    """An object in each line, for the editor that runs the pull; notes go to stderr.

    ``state`` is ``fetching`` or ``checking``, in the last line ``done``, ``interrupted`` or
    ``failed`` (with a ``message``). Amounts are bytes.
    """

    def __init__(
        self,
        identifier: str,
        out: TextIO,
        notes: TextIO,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._id = identifier
        self._out = out
        self._notes = notes
        self._clock = clock
        self._amounts = (0, 0)
        self._said: dict[str, float] = {}

    def report(self, label: str, done: int, total: int) -> None:
        """See :class:`specls.catalogue.sources.Progress`."""
        self._amounts = (done, total)
        state, now = "fetching" if label == self._id else "checking", self._clock()
        if done == total or now - self._said.get(state, -_STEP_SECONDS) >= _STEP_SECONDS:
            self._said[state] = now
            self._write(state)

    def note(self, text: str) -> None:
        """See :class:`specls.catalogue.sources.Progress`."""
        self._notes.write(f"{text}\n")
        self._notes.flush()

    def end(self, state: str, message: str = "") -> None:
        """How it ended."""
        self._write(state, **({"message": message} if message else {}))

    def _write(self, state: str, **more: str) -> None:
        done, total = self._amounts
        line = {"id": self._id, "done": done, "total": total, "state": state, **more}
        self._out.write(f"{json.dumps(line)}\n")
        self._out.flush()


@contextmanager
def progress_on_stderr() -> Iterator[BarProgress | LineProgress]:
    """The progress that suits what stderr is; the bars stay on the screen in the end."""
    console = Console(stderr=True)
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        yield LineProgress(sys.stderr)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        yield BarProgress(progress)
