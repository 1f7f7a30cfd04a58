"""What became of suggestions, counted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import IntEnum

from specls.settings import camel

_MOST_LANGUAGES = 64
_OTHER = "other"


class Fate(IntEnum):
    """How a suggestion ended. What says more comes later."""

    IGNORED = 1
    """Nobody said anything, and it's gone."""
    REJECTED = 2
    """Somebody said no."""
    PARTLY = 3
    """A part was accepted, and the rest never was."""
    ACCEPTED = 4


@dataclass
class Tally:
    """Suggestions, each counted once, and the characters of what was accepted of them."""

    shown: int = 0
    accepted: int = 0
    partly_accepted: int = 0
    rejected: int = 0
    ignored: int = 0
    characters: int = 0
    """Accepted. What was typed isn't counted."""
    characters_kept: int = 0
    """Of the accepted ones, those that were there when they were last looked at."""
    characters_pending: int = 0
    """Of the accepted ones, those that are to be looked at later."""

    def as_dict(self) -> dict[str, int]:
        """The numbers as ``specls/stats`` shows them."""
        return {camel(name): value for name, value in asdict(self).items()}


_FIELDS = {
    Fate.IGNORED: "ignored",
    Fate.REJECTED: "rejected",
    Fate.PARTLY: "partly_accepted",
    Fate.ACCEPTED: "accepted",
}


class Fates:
    """The numbers in all, and by the documents' languages: those that came first, and the rest."""

    def __init__(self) -> None:
        self.total = Tally()
        self.by_language: dict[str, Tally] = {}

    def showed(self, language: str, number: int = 1) -> None:
        """So many more suggestions are shown; or fewer, as it turned out."""
        self._add(language, "shown", number)

    def ended(self, language: str, before: Fate | None, now: Fate | None) -> None:
        """A suggestion ended otherwise than it was thought to before."""
        for fate, number in ((before, -1), (now, 1)):
            if fate is not None:
                self._add(language, _FIELDS[fate], number)

    def took(self, language: str, characters: int) -> None:
        """Characters were accepted."""
        self._add(language, "characters", characters)
        self._add(language, "characters_pending", characters)

    def kept(self, language: str, characters: int, left: int) -> None:
        """Of so many characters that were accepted a while ago, some are left."""
        self._add(language, "characters_pending", -characters)
        self._add(language, "characters_kept", left)

    def _add(self, language: str, name: str, number: int) -> None:
        if language not in self.by_language and len(self.by_language) >= _MOST_LANGUAGES:
            language = _OTHER
        for tally in (self.total, self.by_language.setdefault(language, Tally())):
            setattr(tally, name, getattr(tally, name) + number)

    def as_dict(self) -> dict[str, object]:
        """The numbers as ``specls/stats`` shows them."""
        languages = sorted(self.by_language.items())
        return {
            "total": self.total.as_dict(),
            "byLanguage": {language: tally.as_dict() for language, tally in languages},
        }
