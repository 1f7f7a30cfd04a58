"""The models that specls knows, as the catalogue file names them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from specls.errors import ModelError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROLES = ("target", "draft")

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class HubSource:
    """One file in a repository of the hub."""

    repo: str
    file: str
    revision: str = "main"


@dataclass(frozen=True)
class WheelSource:
    """Wheels that carry the file's bytes: part after part, each as one member of one wheel.

    ``{part}`` in ``distribution`` and ``member`` stands for the part's number, from 1 on.
    """

    distribution: str
    version: str
    member: str
    parts: int
    part_bytes: int
    """The bytes of each part but the last, which may be shorter."""

    def requirement(self, part: int) -> str:
        """What pip is asked for to get ``part``."""
        return f"{self.distribution.format(part=part)}=={self.version}"

    def member_of(self, part: int) -> str:
        """The archive member that holds ``part``."""
        return self.member.format(part=part)


AnySource: TypeAlias = HubSource | WheelSource


@dataclass(frozen=True)
class ModelEntry:
    """One model of the catalogue."""

    id: str
    role: str
    """What it is meant for, ``target`` or ``draft``; a draft may be used as a target as well."""
    file: str
    """The file's name in the models' folder."""
    parameters: str
    quantisation: str
    bytes: int | None
    """The file's size; None if only the hub knows it."""
    sha256: str | None
    """The file's hash in lower-case hex; None if only the hub knows it."""
    licence: str
    fim_family: str | None
    """Which markers it knows for fill-in-the-middle; None if it only continues a prefix."""
    context_length: int
    """The tokens that it was trained to see at once."""
    sources: tuple[AnySource, ...]
    """Where the file comes from, in the order in which they are tried."""
    drafts: tuple[str, ...]
    """The ids of draft models with the same vocabulary, the best one first."""

    @property
    def auto_draft(self) -> str | None:
        """The draft that the setting ``auto`` means, if there is one."""
        return self.drafts[0] if self.drafts else None


@dataclass(frozen=True)
class Catalogue:
    """All entries, in the file's order."""

    entries: tuple[ModelEntry, ...]

    def __iter__(self) -> Iterator[ModelEntry]:
        return iter(self.entries)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in the file's order."""
        return tuple(entry.id for entry in self.entries)

    def get(self, name: str) -> ModelEntry | None:
        """The entry with this id."""
        return next((entry for entry in self.entries if entry.id == name), None)


def load_catalogue(path: Path | None = None) -> Catalogue:
    """Read ``path``, or the catalogue that came with specls.

    Raises:
        ModelError: the file can't be read, isn't TOML, or isn't a catalogue.
    """
    path = path or _shipped_file()
    try:
        return parse_catalogue(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"The model catalogue can't be read: {error}") from error
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def _shipped_file() -> Path:
    packaged = resources.files("specls.catalogue") / "catalogue.toml"
    if isinstance(packaged, Path) and packaged.is_file():
        return packaged
    # In a checkout the catalogue lies in the top-level folder; the wheel's build copies it.
    return Path(__file__).resolve().parents[2] / "models" / "catalogue.toml"


def parse_catalogue(text: str) -> Catalogue:
    """The catalogue that ``text`` describes in TOML.

    Raises:
        ModelError: names the first thing that is wrong, and in which model.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"not TOML: {error}") from error
    tables = _Table(document, "the catalogue").only({"model": list})["model"]
    catalogue = Catalogue(tuple(_entry(table, number) for number, table in enumerate(tables, 1)))
    _check_names(catalogue)
    return catalogue


def _check_names(catalogue: Catalogue) -> None:
    for what in ("id", "file"):
        seen: set[str] = set()
        for entry in catalogue:
            name = getattr(entry, what)
            if name in seen:
                raise ModelError(f"two models have the {what} {name!r}")
            seen.add(name)
    for entry in catalogue:
        for draft in entry.drafts:
            if draft == entry.id or catalogue.get(draft) is None:
                raise ModelError(f"model {entry.id!r}: its draft {draft!r} is no other model's id")


class _Table:
    """One table of the file, which complains about itself by name."""

    def __init__(self, values: object, name: str) -> None:
        if not isinstance(values, dict):
            raise ModelError(f"{name} must be a table")
        self.values: dict[str, Any] = values
        self.name = name

    def fail(self, problem: str) -> ModelError:
        return ModelError(f"{self.name}: {problem}")

    def only(
        self, required: Mapping[str, type], optional: Mapping[str, type] | None = None
    ) -> dict[str, Any]:
        """The values, all names and types checked; an absent optional one is None."""
        allowed = {**required, **(optional or {})}
        for key, value in self.values.items():
            if key not in allowed:
                raise self.fail(f"unknown key {key!r}; known are {', '.join(allowed)}")
            if type(value) is not allowed[key] or value == "":
                raise self.fail(f"{key} must be a (non-empty) {allowed[key].__name__}")
        for key in required:
            if key not in self.values:
                raise self.fail(f"{key} is missing")
        return {key: self.values.get(key) for key in allowed}


def _entry(table: object, number: int) -> ModelEntry:
    name = table.get("id", number) if isinstance(table, dict) else number
    checked = _Table(table, f"model {name!r}")
    values = checked.only(
        {
            "id": str,
            "role": str,
            "file": str,
            "parameters": str,
            "quantisation": str,
            "licence": str,
            "context_length": int,
            "drafts": list,
            "source": list,
        },
        {"bytes": int, "sha256": str, "fim_family": str},
    )
    if values["role"] not in ROLES:
        raise checked.fail(f"role must be one of {', '.join(ROLES)}")
    if Path(values["file"]).name != values["file"]:
        raise checked.fail("file must be a name without folders")
    if values["sha256"] is not None and not _SHA256.fullmatch(values["sha256"]):
        raise checked.fail("sha256 must be 64 lower-case hex digits")
    if not all(isinstance(draft, str) for draft in values["drafts"]):
        raise checked.fail("drafts must be ids")
    sources = values.pop("source")
    if not sources:
        raise checked.fail("it needs at least one source")
    values["drafts"] = tuple(values["drafts"])
    values["sources"] = tuple(_source(source, values, checked.name) for source in sources)
    return ModelEntry(**values)


def _source(table: object, model: Mapping[str, Any], name: str) -> AnySource:
    checked = _Table(table, f"{name}, a source")
    kind = checked.values.pop("kind", None)
    if kind == "hub":
        return HubSource(**checked.only({"repo": str, "file": str, "revision": str}))
    if kind == "wheels":
        return _wheels(checked, model)
    raise checked.fail("kind must be hub or wheels")


def _wheels(table: _Table, model: Mapping[str, Any]) -> WheelSource:
    values = table.only(
        {"distribution": str, "version": str, "member": str}, {"parts": int, "part_bytes": int}
    )
    if model["bytes"] is None or model["sha256"] is None:
        raise table.fail("wheels need the model's bytes and sha256, for nobody else knows them")
    values["parts"] = values["parts"] or 1
    values["part_bytes"] = values["part_bytes"] or model["bytes"]
    full = (values["parts"] - 1) * values["part_bytes"]
    if not full < model["bytes"] <= full + values["part_bytes"]:
        raise table.fail("parts and part_bytes don't add up to the model's bytes")
    return WheelSource(**values)
