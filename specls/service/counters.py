"""What became of the requests, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from specls.engine.engine import Engine
from specls.service.completion import Completion
from specls.settings import camel


@dataclass
class Counters:
    """What became of the requests. Each request is counted once."""

    received: int = 0
    answered: int = 0
    """With or without a suggestion."""
    empty: int = 0
    """Answered, and there was nothing to suggest."""
    without_model: int = 0
    """Answered without the model: with what was left of a suggestion, or decoded ahead."""
    anchor_moves: int = 0
    """Answered from a prompt that was frozen anew for it."""
    superseded: int = 0
    cancelled: int = 0
    unavailable: int = 0
    """Came while no model was loaded."""
    excluded: int = 0
    """Came for a document in which nothing is completed."""
    unwanted: int = 0
    """Nobody asked, and it's a place where nothing is suggested: see ``service.unwanted``."""
    failed: int = 0

    def as_dict(self) -> dict[str, int]:
        """For ``specls/stats``."""
        return {camel(item.name): getattr(self, item.name) for item in fields(self)}


def numbers_of(completion: Completion, wait_seconds: float) -> dict[str, Any]:
    """What a completion cost, and how long it waited for others. Times are in milliseconds."""
    return {
        "origin": completion.origin.value,
        **completion.stats.as_dict(),
        "waitMs": round(1000 * wait_seconds, 2),
        "totalMs": round(1000 * completion.seconds, 2),
    }


def engine_numbers(engine: Engine) -> dict[str, Any]:
    """How fast the engine reads, and what it keeps of documents."""
    return {
        "prefillBatch": engine.target.prefill_batch,
        "prefillTokensPerSecond": round(engine.prefill_rate.value, 1),
        "states": engine.spill_counts.as_dict(),
    }
