"""An editor in a terminal: what is typed into it, and what is seen on its screen."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

DEADLINE = float(os.environ.get("SPECLS_DEADLINE") or 60.0)
"""Seconds until a wait fails: far more than anything takes, since machines can be busy."""

_POLL = 0.05
_ESCAPE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x0e|\x0f")
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Run:
    """Neighbouring characters of one look; ``style`` is the terminal's codes for it, sorted."""

    text: str
    style: frozenset[str]


@dataclass(frozen=True)
class Screen:
    """What is seen. ``column`` and ``row`` tell where the cursor is, from 0, in cells."""

    rows: tuple[tuple[Run, ...], ...]
    column: int
    row: int

    @property
    def lines(self) -> list[str]:
        """The text of each row, without blanks at its end."""
        return ["".join(run.text for run in row).rstrip() for row in self.rows]

    @property
    def text(self) -> str:
        """All rows."""
        return "\n".join(self.lines)

    def styled(self, *codes: str) -> list[str]:
        """What has all of these codes, row by row; rows with nothing of it are left out."""
        wanted = set(codes)
        rows = ("".join(run.text for run in row if wanted <= run.style) for row in self.rows)
        return [row.rstrip() for row in rows if row.strip()]


def read_row(raw: str, style: frozenset[str]) -> tuple[tuple[Run, ...], frozenset[str]]:
    """One row with its escapes, in runs; and the style that goes on in the next row."""
    runs: list[Run] = []
    at = 0
    for match in _ESCAPE.finditer(raw):
        if match.start() > at:
            runs.append(Run(raw[at : match.start()], style))
        at = match.end()
        if match[1] is not None:
            style = _restyled(style, match[1])
    if raw[at:]:
        runs.append(Run(raw[at:], style))
    return tuple(runs), style


def _restyled(style: frozenset[str], codes: str) -> frozenset[str]:
    """The style after these codes; a colour and what it's of is one code: ``38;5;8``."""
    parts = re.findall(r"[345]8[;:]5[;:]\d+|[345]8[;:]2[;:]\d+[;:]\d+[;:]\d+|\d+", codes) or ["0"]
    for part in parts:
        ground = _ground(part)
        if part == "0":
            style = frozenset()
        elif ground:
            style = frozenset(code for code in style if _ground(code) != ground)
        if part not in {"0", "39", "49"}:
            style |= {part.replace(":", ";")}
    return style


def _ground(code: str) -> str:
    """What a code colours: the text, what's behind it, or nothing."""
    number = int(re.split("[;:]", code)[0])
    if 30 <= number <= 39 or 90 <= number <= 97:
        return "text"
    return "behind" if 40 <= number <= 49 or 100 <= number <= 107 else ""


class Terminal:
    """A program under tmux, on a server of its own."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        size: tuple[int, int] = (90, 20),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._socket = f"specls-{os.getpid()}-{next(_NUMBERS)}"
        columns, rows = size
        settings = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "screen-256color"}
        variables = [f"{name}={value}" for name, value in {**settings, **(env or {})}.items()]
        line = shlex.join(["env", *variables, *command])
        clean = {name: value for name, value in os.environ.items() if name != "TMUX"}
        self._env = clean | settings
        size_options = ["-x", str(columns), "-y", str(rows)]
        self._tmux("-f", os.devnull, "new-session", "-d", *size_options, "-c", str(folder), line)
        self._tmux("set-option", "-g", "escape-time", "0")
        self._tmux("set-option", "-g", "remain-on-exit", "on")

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-u", "-L", self._socket, *arguments]
        done = subprocess.run(command, capture_output=True, env=self._env, check=False)
        if done.returncode:
            raise AssertionError(f"{shlex.join(command)}: {done.stderr.decode()}")
        return done.stdout.decode()

    def keys(self, *names: str) -> None:
        """Press keys, by tmux' names: ``Tab``, ``Escape``, ``C-Right``, ``M-]``."""
        self._tmux("send-keys", *names)

    def type(self, text: str) -> None:
        """Type characters as they are, all at once."""
        self._tmux("send-keys", "-l", "--", text)

    def screen(self) -> Screen:
        """What is seen now."""
        form = "#{cursor_x} #{cursor_y}"
        where, *raw = self._tmux(
            "display-message", "-p", form, ";", "capture-pane", "-p", "-e"
        ).split("\n")
        column, row = map(int, where.split())
        rows = []
        style: frozenset[str] = frozenset()
        for each in raw:
            runs, style = read_row(each, style)
            rows.append(runs)
        return Screen(tuple(rows), column, row)

    def until(self, wanted: Callable[[Screen], bool], seconds: float = DEADLINE) -> Screen:
        """Wait until the screen is as wanted, twice in a row; that screen.

        One look may come while a program is drawing.

        Raises:
            AssertionError: it wasn't in time; the message has the last screen.
        """
        end = monotonic() + seconds
        while not (wanted(self.screen()) and wanted(screen := self.screen())):
            if monotonic() > end:
                raise AssertionError(f"The screen never was as wanted:\n{self.screen().text}")
            threading.Event().wait(_POLL)
        return screen

    def until_text(self, text: str, seconds: float = DEADLINE) -> Screen:
        """Wait until this text is somewhere on the screen."""
        return self.until(lambda screen: text in screen.text, seconds)

    def keep(self, file: Path) -> None:
        """Write what is seen to a file, for people to look at: with escapes, and plainly."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_suffix(".ansi").write_text(self._tmux("capture-pane", "-p", "-e"), "utf-8")
        file.with_suffix(".txt").write_text(self.screen().text + "\n", "utf-8")

    def close(self) -> None:
        """End the program."""
        with contextlib.suppress(AssertionError):
            self._tmux("kill-server")


@contextlib.contextmanager
def terminal(
    command: Sequence[str],
    folder: Path,
    *,
    size: tuple[int, int] = (90, 20),
    env: Mapping[str, str] | None = None,
) -> Iterator[Terminal]:
    """A program under tmux while the block runs."""
    opened = Terminal(command, folder, size=size, env=env)
    try:
        yield opened
    finally:
        opened.close()
