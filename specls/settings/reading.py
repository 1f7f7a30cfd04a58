"""Settings from what a person wrote: right values are taken, wrong ones named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from specls.errors import short
from specls.settings.values import DEFINITIONS, Settings


@dataclass(frozen=True)
class Problem:
    """One value that was refused."""

    name: str
    message: str

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


def parse(
    raw: object, base: Settings | None = None, current: Settings | None = None
) -> tuple[Settings, list[Problem]]:
    """Settings from an editor's JSON object on top of ``base``.

    A wrong value is reported, and that of ``current`` (by default ``base``) stays; an unknown name
    is reported as well.
    ``None`` (what editors send for a setting that isn't set) and a null value change nothing.
    """
    settings = base or Settings()
    if raw is None:
        return settings, []
    if not isinstance(raw, Mapping):
        return settings, [Problem("specls", "the settings must be an object of names and values")]
    known = {definition.name: definition for definition in DEFINITIONS}
    problems: list[Problem] = []
    for name, value in raw.items():
        definition = known.get(name)
        if definition is None:
            problems.append(Problem(short(name), f"no such setting; known are {', '.join(known)}"))
        elif value is None:
            continue
        elif definition.accepts(value):
            settings = replace(settings, **{definition.field: definition.frozen(value)})
        else:
            kept = getattr(current or settings, definition.field)
            settings = replace(settings, **{definition.field: kept})
            message = f"{short(repr(value))} isn't allowed; it must be {definition.allowed}"
            problems.append(Problem(name, message))
    return settings, problems
