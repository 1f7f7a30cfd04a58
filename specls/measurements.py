"""What was measured on this machine before, kept between runs: times, and nothing of a user's."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

logger = logging.getLogger(__name__)

_FILE = "measured.json"
_MOST = 64
"""Entries: more models and builds than that aren't used on one machine."""

Seconds = dict[int, float]
"""Seconds by number of tokens."""


def read(folder: Path, key: str) -> Seconds | None:
    """What was kept under ``key``; None if there's nothing, or nothing that can be used."""
    entry = _entries(folder).get(key)
    try:
        found = {int(tokens): float(seconds) for tokens, seconds in (entry or {}).items()}
    except (ValueError, TypeError, AttributeError):
        return None
    return found if found and all(seconds > 0 for seconds in found.values()) else None


def write(folder: Path, key: str, seconds: Mapping[int, float]) -> None:
    """Keep something under ``key``; where that's impossible, it's measured again next time."""
    entries = _entries(folder)
    entries.pop(key, None)
    entries[key] = {str(tokens): round(each, 6) for tokens, each in seconds.items()}
    kept = dict(list(entries.items())[-_MOST:])
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, part = tempfile.mkstemp(".json", "measured", folder)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        Path(part).replace(folder / _FILE)
    except OSError as error:
        logger.warning("What was measured can't be kept: %s", error.strerror or error)


def _entries(folder: Path) -> dict[str, dict[str, float]]:
    try:
        entries = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}
