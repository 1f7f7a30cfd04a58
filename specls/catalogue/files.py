"""The files of one model in the models' folder, and what is remembered about a checked one."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

GGUF_MAGIC = b"GGUF"

_BLOCK = 4 << 20


def models_folder() -> Path:
    """Where models lie: ``SPECLS_MODELS``, or a folder in the user's cache folder."""
    chosen = os.environ.get("SPECLS_MODELS", "").strip()
    if chosen:
        return Path(chosen).expanduser().absolute()
    # Imported here, for someone who chose a folder doesn't need it.
    from platformdirs import user_cache_path  # noqa: PLC0415

    return user_cache_path("specls", appauthor=False) / "models"


@dataclass(frozen=True)
class ModelFiles:
    """The names of everything that belongs to one model."""

    folder: Path
    name: str

    @property
    def model(self) -> Path:
        """The model itself, whole or absent: it gets this name after all checks."""
        return self.folder / self.name

    @property
    def record(self) -> Path:
        """What was found when the model was checked last."""
        return self.folder / f"{self.name}.json"

    @property
    def lock(self) -> Path:
        """Held while the model is fetched or removed."""
        return self.folder / f".{self.name}.lock"

    @property
    def work(self) -> Path:
        """A folder for what a source needs in between; worthless after a pull."""
        return self.folder / f".{self.name}.work"

    def partial(self, sha256: str) -> Path:
        """The first bytes of the file with this hash, whichever source they came from."""
        return self.folder / f"{self.name}.{sha256[:12]}.partial"

    def partials(self) -> list[Path]:
        """Every partial file, also of versions that the hub has replaced since."""
        if not self.folder.is_dir():
            return []
        start = f"{self.name}."
        return [
            path
            for path in sorted(self.folder.iterdir())
            if path.name.startswith(start) and path.name.endswith(".partial")
        ]


@dataclass(frozen=True)
class Record:
    """A checked file's size, time of change (nanoseconds) and hash."""

    bytes: int
    mtime_ns: int
    sha256: str

    @classmethod
    def read(cls, path: Path) -> Record | None:
        """The record in ``path``, or None if there is none that makes sense."""
        try:
            values: Any = json.loads(path.read_text(encoding="utf-8"))
            return cls(int(values["bytes"]), int(values["mtime_ns"]), str(values["sha256"]))
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return None

    @classmethod
    def of(cls, model: Path, sha256: str) -> Record:
        """The record of ``model``, whose hash is known to be ``sha256``.

        Raises:
            OSError: the file can't be looked at.
        """
        status = model.stat()
        return cls(status.st_size, status.st_mtime_ns, sha256)

    def write(self, path: Path) -> None:
        """Keep it in ``path``. A folder that can't be written only costs the next check time."""
        with suppress(OSError):
            path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    def describes(self, model: Path) -> bool:
        """Whether ``model`` hasn't changed since the record was made."""
        return self == Record.of(model, self.sha256)


def sha256_of(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """The file's hash in hex, read in blocks; ``on_bytes`` hears how many bytes are done.

    Raises:
        OSError: the file can't be read.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            if on_bytes is not None:
                on_bytes(file.tell())
    return digest.hexdigest()


def is_gguf(path: Path) -> bool:
    """Whether the file begins like a GGUF.

    Raises:
        OSError: the file can't be read.
    """
    with path.open("rb") as file:
        return file.read(len(GGUF_MAGIC)) == GGUF_MAGIC


def size_of(path: Path) -> int:
    """The file's bytes; 0 if it doesn't exist."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


def in_words(amount: int) -> str:
    """Bytes for people, in powers of 1000: ``491.4 MB``."""
    if amount < 1000:  # noqa: PLR2004 -- no unit below the kilobyte
        return f"{amount} bytes"
    value = float(amount)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.95:  # noqa: PLR2004 -- what rounds to 1000.0 takes the next unit
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} TB"
