"""How things stand, for a person who looks at the editor's status line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specls.service.models import State, Status


class Stand(Enum):
    """What is shown; each name is that of the protocol."""

    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    BUSY = "busy"
    DISABLED = "disabled"
    """Nothing is completed in the document at hand."""
    ERROR = "error"
    OFF = "off"
    """Nothing is completed at all."""


@dataclass(frozen=True)
class Focus:
    """The document at hand, and why nothing is completed in it, if that's so."""

    uri: str
    reason: str | None = None


@dataclass(frozen=True)
class Loaded:
    """The names of the models that answer."""

    model: str | None = None
    draft: str | None = None

    def __str__(self) -> str:
        return f"{self.model} with {self.draft}" if self.draft else str(self.model)


@dataclass(frozen=True)
class Standing:
    """All of it. ``message`` is one sentence, ``progress`` a percentage while loading."""

    stand: Stand
    message: str
    loaded: Loaded = Loaded()
    progress: int | None = None
    uri: str | None = None
    reason: str | None = None
    """Why the document is disabled, or what failed."""
    remedy: str | None = None
    """What to do about it: a command line, say."""
    again: bool = False
    """Whether loading the models again may help."""


def standing(
    status: Status, loaded: Loaded, focus: Focus | None, *, enabled: bool, busy: bool
) -> Standing:
    """What is shown: of several things that are so, what a person has to know first."""
    if status.state is State.OFF:
        return _failed(Stand.OFF, status, loaded)
    if not enabled and (focus is None or focus.reason is not None):
        message = "The setting enabled switches specls off."
        return Standing(Stand.OFF, message, loaded, reason=message)
    if status.state is State.FAILED:
        return _failed(Stand.ERROR, status, loaded)
    if status.state is State.READY:
        return _ready(status, loaded, focus, busy=busy)
    if status.state is State.LOADING:
        return _loading(status, loaded)
    return Standing(Stand.STARTING, "specls is starting.")


def _failed(stand: Stand, status: Status, loaded: Loaded) -> Standing:
    why = status.message
    return Standing(stand, why, loaded, reason=why, remedy=status.remedy, again=True)


def _ready(status: Status, loaded: Loaded, focus: Focus | None, *, busy: bool) -> Standing:
    if focus is not None and focus.reason is not None:
        message = f"Nothing is completed in this document: {focus.reason}."
        return Standing(Stand.DISABLED, message, loaded, uri=focus.uri, reason=focus.reason)
    stand, does = (Stand.BUSY, "completing") if busy else (Stand.READY, "ready")
    failed = status.message or None  # that of models which others would have made way for
    return Standing(
        stand,
        f"{loaded} is {does}.",
        loaded,
        reason=failed,
        remedy=status.remedy,
        again=failed is not None,
    )


def _loading(status: Status, loaded: Loaded) -> Standing:
    percent = round(100 * status.progress)
    meanwhile = f"; {loaded} answers until then" if loaded.model else ""
    message = f"The models are being loaded: {percent} %{meanwhile}."
    return Standing(Stand.LOADING, message, loaded, progress=percent)
