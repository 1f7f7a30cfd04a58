"""What becomes of one connection's requests, and what the last one cost."""

from __future__ import annotations

import logging
from typing import Any

from specls.errors import Cancelled, SpeclsError
from specls.service.completion import Completion, Origin
from specls.service.counters import Counters, numbers_of
from specls.service.latency import Latency
from specls.service.running import Running

logger = logging.getLogger(__name__)


class Outcomes:
    """Counts how requests end. Used from the event loop, but for :attr:`last_wait_seconds`."""

    def __init__(self) -> None:
        self.counters = Counters()
        self.latency = Latency()
        self.last: Completion | None = None
        self.last_wait_seconds = 0.0
        """How long the last request waited for the worker, which sets this."""

    def of(self, running: Running) -> Completion | None:
        """The answer to a request that ended, if there is one that's wanted.

        Raises:
            Exception: what the engine raised, if it's an error that nobody expects.
        """
        error = running.answer.exception() if running.answer.done() else Cancelled()
        overtaken = running.superseded.done() and error is None
        if overtaken or isinstance(error, Cancelled):
            self.counters.superseded += 1
            return None
        try:
            completion = running.answer.result()
        except SpeclsError as error:
            logger.warning("A completion failed: %s", error)
            self.counters.failed += 1
            return None
        except Exception:
            self.counters.failed += 1
            raise
        return self.answered(completion)

    def answered(self, completion: Completion) -> Completion:
        """A request is answered with a completion, which comes back."""
        self.counters.answered += 1
        self.counters.empty += not completion.text
        self.counters.without_model += completion.origin is not Origin.DECODED
        self.counters.anchor_moves += completion.stats.anchor_moved
        self.last = completion
        return completion

    def last_numbers(self) -> dict[str, Any] | None:
        """What the last completion cost, for ``specls/stats``. Times are in milliseconds."""
        return None if self.last is None else numbers_of(self.last, self.last_wait_seconds)
