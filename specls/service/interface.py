"""What the service needs from whoever loads the models, as Protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from specls.engine.engine import Engine
from specls.service.prompts import PromptBuilder
from specls.service.tokenizer import Tokenizer
from specls.settings import Settings


@dataclass(frozen=True)
class Runtime:
    """Loaded models, ready to answer. Everything but ``tokenizer`` belongs to the engine thread."""

    engine: Engine
    tokenizer: Tokenizer
    prompts: PromptBuilder
    models: Mapping[str, object]
    """What was loaded and what computes, for ``specls/stats``."""
    notices: Sequence[str]
    """What the user should be told once: a draft that can't be used, a model without markers."""
    close: Callable[[], None]
    """Frees the models; what they hold may be kept."""
    discard: Callable[[], None] | None = None
    """Frees the models after a crash, and keeps nothing. None if :attr:`close` does that."""


class Loader(Protocol):
    """Loads what the settings ask for. One thread uses it, but for :meth:`listing`."""

    def check(self, settings: Settings) -> None:
        """See that the target is there, before other models make way for it.

        Raises:
            ModelError: it isn't; the message says what to do.
        """

    def fits(self, settings: Settings, beside: Settings) -> bool:
        """Whether memory holds the models beside those that were loaded with other settings.

        Asked after :meth:`check`. An estimate: :class:`NoMemory` may come nevertheless.
        """

    def listing(self, used: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """All models that can be named, and those ``used``: see ``specls/models``.

        Any thread may call it.
        """

    def __call__(self, settings: Settings, progress: Callable[[float], bool]) -> Runtime:
        """Load, telling ``progress`` the loaded share from 0 to 1; other models may be in use.

        When ``progress`` returns False, the loading is given up.

        Raises:
            Cancelled: it was given up.
            SpeclsError: the models can't be loaded; the message says why and what to do.
        """
