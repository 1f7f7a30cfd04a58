"""The hub as a source: metadata and addresses by its own library, the bytes by its HTTP session.

``hf_hub_download`` isn't used, for newer versions of it (1.33 and 2.4 were looked at) throw away
what an interrupted download had fetched. The session that the library hands out honours the
proxies, certificates, tokens and ``HF_*`` variables of the environment just the same.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from huggingface_hub import get_hf_file_metadata, get_session, hf_hub_url
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # public, in no __all__
    build_hf_headers,
    hf_raise_for_status,
)

from specls import __version__
from specls.catalogue.files import size_of
from specls.catalogue.sources import Identity, Progress, in_one_line
from specls.errors import SourceFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from specls.catalogue.entries import HubSource, ModelEntry

ANSWER_SECONDS = 5.0
"""How long the hub may take to answer before the next source is tried."""

STALL_SECONDS = 20.0
"""How long a download may stand still."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


class HubFile:
    """A file in a repository of the hub."""

    scratch_bytes = 0

    def __init__(self, entry: ModelEntry, source: HubSource) -> None:
        self._entry = entry
        self._source = source
        # Read now, for the library reads it only once, when it is imported.
        endpoint = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or None
        self._url = hf_hub_url(
            source.repo, source.file, revision=source.revision, endpoint=endpoint
        )

    @property
    def name(self) -> str:
        """The address without the file's name, which the user knows."""
        return self._url.rsplit("/", 1)[0]

    def identify(self) -> Identity:
        """See :class:`Source`: the size and hash in the hub's metadata."""
        with _as_source_failed():
            found = get_hf_file_metadata(self._url, timeout=ANSWER_SECONDS, headers=_headers())
        if found.size is None or found.etag is None or not _SHA256.fullmatch(found.etag):
            raise SourceFailed("it names no size and sha256 for this file")
        for what, wanted, offered in (
            ("size", self._entry.bytes, found.size),
            ("sha256", self._entry.sha256, found.etag),
        ):
            if wanted is not None and wanted != offered:
                raise SourceFailed(
                    f"it has another file by this name now ({what} {offered} instead of {wanted})"
                )
        return Identity(found.size, found.etag)

    def fetch(self, partial: Path, identity: Identity, progress: Progress) -> None:
        """See :class:`Source`: reconnects as long as each connection brings something."""
        partial.touch()
        have = size_of(partial)
        while have < identity.bytes:
            before, reason = have, "it ended the transfer too early"
            try:
                self._append(partial, identity, progress)
            except SourceFailed as error:
                reason = str(error)
            have = size_of(partial)
            if have <= before:
                raise SourceFailed(f"{reason} (after {have:,} of {identity.bytes:,} bytes)")

    def _append(self, partial: Path, identity: Identity, progress: Progress) -> None:
        with partial.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            for offset, chunk in self._chunks(file.tell()):
                if offset != file.tell():
                    file.seek(offset)
                    file.truncate()
                file.write(chunk)
                progress.report(self._entry.id, min(file.tell(), identity.bytes), identity.bytes)
                if file.tell() > identity.bytes:
                    raise SourceFailed("it sends more bytes than the file should have")

    def _chunks(self, start: int) -> Iterator[tuple[int, bytes]]:
        """The file's bytes from ``start`` on, or from 0 if the server can't skip, with offsets."""
        headers = {**_headers(), "Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        with (
            _as_source_failed(),
            get_session().stream(
                "GET", self._url, headers=headers, timeout=STALL_SECONDS, follow_redirects=True
            ) as response,
        ):
            hf_raise_for_status(response)
            offset = start if response.status_code == 206 else 0  # noqa: PLR2004 -- HTTP's number
            # As it arrives: with a chunk size, a broken connection would take a piece with it.
            for chunk in response.iter_bytes():
                yield offset, chunk
                offset += len(chunk)


def _headers() -> dict[str, str]:
    return build_hf_headers(library_name="specls", library_version=__version__)


@contextmanager
def _as_source_failed() -> Iterator[None]:
    # NOTE: everything is caught, for which HTTP library raises depends on huggingface_hub's
    # version. Only calls of the library may stand inside: an error of the disk isn't the hub's.
    try:
        yield
    except Exception as error:
        raise SourceFailed(in_one_line(error)) from error
