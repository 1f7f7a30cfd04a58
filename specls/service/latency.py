"""How long people wait for an answer."""

from __future__ import annotations

from collections import deque
from math import ceil

WINDOW = 1000
"""So many of the last answers are remembered."""


class Latency:
    """The times of the last answers."""

    def __init__(self, window: int = WINDOW) -> None:
        self._seconds: deque[float] = deque(maxlen=window)

    def add(self, seconds: float) -> None:
        """Somebody waited so long, from the request to its answer."""
        self._seconds.append(seconds)

    def as_dict(self) -> dict[str, object]:
        """The numbers as ``specls/stats`` shows them: of a percentage, the longest time.

        That is always one that was measured; null without any.
        """
        times = sorted(self._seconds)

        def percentile(percent: int) -> float | None:
            rank = ceil(len(times) * percent / 100)
            return round(1000 * times[rank - 1], 2) if times else None

        return {
            "count": len(times),
            **{f"p{percent}Ms": percentile(percent) for percent in (50, 95, 99)},
        }
