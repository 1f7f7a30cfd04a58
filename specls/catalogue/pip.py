"""Wheels fetched by pip, in order and some ahead, as separate processes."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from specls.catalogue.files import size_of
from specls.errors import SourceFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

AHEAD = 3
"""How many pips run at once: each starts slowly and then reads the index. Measured with wheels of
50 MB on two cores, two or four at once took 0.6 of the time that one after the other takes."""

_LOOK_SECONDS = 0.2
_NO_CONNECTION = re.compile(r"after connection broken by '(.+)': /")
_OBJECT = re.compile(r"<[^>]*>:? ?")


class PipDownload:
    """One running ``pip download`` into a new folder inside ``folder``."""

    def __init__(self, folder: Path, requirement: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # A new name each time: a pip that outlived a killed pull may still write to an old one.
        self._folder = Path(tempfile.mkdtemp(dir=folder))
        self._requirement = requirement
        # pip keeps what it has of a wheel in the system's temporary folder, which may be small.
        scratch = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self._folder))
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 -- no shell, arguments of the catalogue
                [*_PIP, "--dest", str(self._folder), requirement],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # -m puts the current folder first on Python's path: a user's own file named
                # like one of pip's modules must not be run.
                cwd=self._folder,
                env={**os.environ, **scratch},
            )

    @property
    def _log(self) -> Path:
        return self._folder / "pip.log"

    def wait(self, on_look: Callable[[], None]) -> Path:
        """The wheel, once it's there; ``on_look`` is called a few times each second meanwhile.

        Raises:
            SourceFailed: pip gave up.
        """
        while True:
            try:
                code = self._process.wait(_LOOK_SECONDS)
                break
            except subprocess.TimeoutExpired:
                on_look()
        wheels = list(self._folder.glob("*.whl"))
        if code != 0 or len(wheels) != 1:
            raise SourceFailed(f"{self._requirement}: {self._reason()}")
        return wheels[0]

    def bytes_so_far(self) -> int:
        """How much of the wheel has arrived: the largest file, for pip copies it in the end."""
        found = (
            Path(folder) / name for folder, _, names in os.walk(self._folder) for name in names
        )
        return max(map(size_of, found), default=0)

    def stop(self) -> None:
        """End pip if it still runs."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _reason(self) -> str:
        log = self._log.read_text(encoding="utf-8", errors="replace")
        said = [line.strip().removeprefix("ERROR: ") for line in log.splitlines() if line.strip()]
        reason = said[-1] if said else f"pip ended with code {self._process.returncode}"
        # pip says in the end only that it found nothing, not that it couldn't look.
        if broken := _NO_CONNECTION.findall(log):
            why = _OBJECT.sub("", broken[-1])
            reason += f" (no connection to the package index: {why})"
        return reason


def wheels_in_order(
    folder: Path, requirements: Sequence[str], on_look: Callable[[int], None]
) -> Generator[Path]:
    """The path of each requirement's wheel; the next few are fetched while one is used.

    ``on_look`` hears a few times each second how many bytes of wheels are on the way. Close the
    generator: that ends every pip.

    Raises:
        SourceFailed: pip isn't there or gave up.
    """
    if importlib.util.find_spec("pip") is None:
        raise SourceFailed(
            "this Python has no pip (`python -m ensurepip` adds it; "
            "in an environment of uv: `uv pip install pip`)"
        )
    waiting = deque(requirements)
    running: deque[PipDownload] = deque()

    def look() -> None:
        on_look(sum(download.bytes_so_far() for download in running))

    try:
        while waiting or running:
            while waiting and len(running) < AHEAD:
                running.append(PipDownload(folder, waiting.popleft()))
            wheel = running[0].wait(look)
            running.popleft()
            yield wheel
    finally:
        for download in running:
            download.stop()


_PIP = [
    sys.executable,
    "-m",
    "pip",
    "download",
    "--no-deps",
    # An sdist would have to be built, which runs its code.
    "--only-binary=:all:",
    "--no-cache-dir",
    "--no-input",
    "--disable-pip-version-check",
    "--progress-bar=off",
    "--quiet",
]
