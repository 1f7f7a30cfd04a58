"""Whether completions can be had, and why not."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import Enum

from specls.errors import SpeclsError

logger = logging.getLogger(__name__)


class State(Enum):
    """Whether completions can be had."""

    IDLE = "idle"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"
    OFF = "off"
    """Given up, until somebody asks for another try."""


@dataclass(frozen=True)
class Status:
    """The state, the loaded share (0 to 1) while loading, and what the user should be told."""

    state: State
    progress: float = 0.0
    message: str = ""
    """Why the models that were asked for can't be used."""
    remedy: str | None = None
    """What can be done about that: a command line, say."""
    notices: tuple[str, ...] = ()


def told(error: Exception) -> tuple[str, str | None]:
    """What a person is told of a load that failed, and what can be done."""
    if isinstance(error, SpeclsError):
        return str(error), error.remedy
    logger.error("Loading the models failed in a way that specls doesn't know", exc_info=error)
    return "Loading the models failed; the log of specls says how.", None
