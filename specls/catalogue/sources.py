"""What a source of a model's file must be able to do, and what it may use."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from specls.catalogue.files import in_words
from specls.errors import DownloadFailed

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Identity:
    """Which bytes a model's file must hold."""

    bytes: int
    sha256: str


class Progress(Protocol):
    """Hears how a pull gets on, from the thread that pulls; it must not raise."""

    def report(self, label: str, done: int, total: int) -> None:
        """``done`` of ``total`` bytes of the work called ``label`` are finished."""

    def note(self, text: str) -> None:
        """Something that the user should know now, as one sentence."""


class Source(Protocol):
    """One place that the file may come from."""

    @property
    def name(self) -> str:
        """What the user is told that was tried."""

    @property
    def scratch_bytes(self) -> int:
        """How much disk it needs for the time of the fetch, besides the file itself."""

    def identify(self) -> Identity:
        """Which bytes it would deliver. Changes no file; may use the network.

        Raises:
            SourceFailed: it doesn't answer, doesn't know, or has other bytes than the catalogue
                asks for.
        """

    def fetch(self, partial: Path, identity: Identity, progress: Progress) -> None:
        """Append to ``partial`` until it has ``identity.bytes`` bytes; nothing else is touched.

        What is in ``partial`` already is taken as right, whoever wrote it; whatever arrived
        stays there when it raises. The caller checks the hash.

        Raises:
            SourceFailed: it stopped answering or delivered something else.
            OSError: the disk failed.
        """


def require_space(folder: Path, needed: int) -> None:
    """Make sure that ``needed`` more bytes fit on the disk of ``folder``, which exists.

    Raises:
        DownloadFailed: they don't.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DownloadFailed(
            f"The disk of {folder} has {in_words(free)} free, and {in_words(needed)} are needed. "
            "Free some space, or choose a folder on another disk with SPECLS_MODELS."
        )


def in_one_line(error: BaseException, limit: int = 300) -> str:
    """An error's text without line breaks, its type in front if it has none, cut to ``limit``."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"
