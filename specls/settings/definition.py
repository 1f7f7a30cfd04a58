"""What one setting is: its range, its text, where it may be set, and what a change of it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from specls.settings.patterns import spec_of


class Scope(Enum):
    """For what a setting holds."""

    FOLDER = "folder"
    """The next request follows it, and folders of one workspace may differ in it."""
    MODELS = "models"
    """The models are loaded with it, so that there's one value; a change loads them anew."""


class Project(Enum):
    """What a project file may say, which comes with whatever repository somebody clones."""

    FREE = "free"
    LOWER = "lower"
    """Not more than would be without it: what takes memory or disk."""
    CATALOGUE = "catalogue"
    """An id of the catalogue or one of the choices, and no path."""
    NEVER = "never"


class Form(Enum):
    """What isn't a single value."""

    PATTERNS = "patterns"
    SWITCHES = "switches"


@dataclass(frozen=True)
class Definition:
    """One setting. ``name`` is what editors call it, ``field`` what :class:`Settings` does."""

    name: str
    field: str
    default: Any
    text: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    form: Form | None = None
    scope: Scope = Scope.FOLDER
    project: Project = Project.FREE

    @property
    def switch(self) -> bool:
        """Whether it's true or false."""
        return isinstance(self.default, bool)

    @property
    def fraction(self) -> bool:
        """Whether a number may have a fraction."""
        return isinstance(self.default, float)

    @property
    def flag(self) -> str:
        """The option of the command line."""
        return "--" + self.field.replace("_", "-")

    @property
    def plain_default(self) -> Any:
        """The default as JSON has it."""
        return self.thawed(self.default)

    @property
    def allowed(self) -> str:
        """What may be set, in words."""
        if self.form is not None:
            return _FORMS[self.form]
        if self.switch:
            return "true or false"
        parts = [f'"{choice}"' for choice in self.choices]
        if self.low is not None:
            kind = "a number" if self.fraction else "a whole number"
            parts.append(f"{kind} from {self.low} to {self.high}")
        return " or ".join(parts or ["a non-empty text"])

    def accepts(self, value: object) -> bool:
        """Whether a value of JSON or TOML may be set."""
        if self.form is not None:
            return _are_patterns(value) if self.form is Form.PATTERNS else _are_switches(value)
        if self.switch:
            return isinstance(value, bool)
        if isinstance(value, str):
            if self.choices:
                return value in self.choices
            return self.low is None and bool(value.strip())
        return self._in_range(value)

    def _in_range(self, value: object) -> bool:
        numbers = (int, float) if self.fraction else (int,)
        if not isinstance(value, numbers) or isinstance(value, bool):
            return False
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    def frozen(self, value: Any) -> Any:
        """An accepted value as it's kept."""
        if self.form is Form.PATTERNS:
            return tuple(value)
        return tuple(value.items()) if self.form is Form.SWITCHES else value

    def thawed(self, value: Any) -> Any:
        """A kept value as JSON has it."""
        if self.form is Form.PATTERNS:
            return list(value)
        return dict(value) if self.form is Form.SWITCHES else value


def setting(default: Any, text: str, **rest: Any) -> Any:
    """A field of :class:`Settings`; ``rest`` are fields of its :class:`Definition`."""
    definition = Definition("", "", default, text, **rest)
    return field(default=default, metadata={"definition": definition})


def camel(name: str) -> str:
    """The name of a field as editors know it: ``max_tokens`` → ``maxTokens``."""
    head, *rest = name.split("_")
    return head + "".join("MiB" if part == "mib" else part.capitalize() for part in rest)


_FORMS = {
    Form.PATTERNS: "a list of patterns of git's ignore files",
    Form.SWITCHES: "an object of names with true or false",
}


def _are_patterns(value: object) -> bool:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return False
    try:
        return len(spec_of(value)) == len(value)
    except ValueError:
        return False


def _are_switches(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(each, bool) for name, each in value.items()
    )
