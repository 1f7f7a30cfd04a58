"""What one completion cost, and the one definition of every rate that is shown anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specls.core import FinishReason, Source


@dataclass
class GenerationStats:
    """Counts and times of one generation, filled in while it runs. Times are in seconds.

    ``first_token_seconds`` runs from the start of the work on this request, waiting excluded, to
    its first new token, so it includes ``prefill_seconds``. ``decode_seconds`` begins there.
    """

    prompt_tokens: int = 0
    reused_tokens: int = 0
    """Prompt tokens whose KV was there already."""
    restored_tokens: int = 0
    """Of the reused tokens, those that came back from a spilled state."""
    carried_tokens: int = 0
    """Of the reused tokens, those taken over from another place of an older prompt."""
    approximate_tokens: int = 0
    """Prompt tokens that were carried over once, or decoded behind such: an approximation."""
    healed_tokens: int = 0
    """Prompt tokens that were chosen anew to spell the same (token healing)."""
    partial_window: bool = False
    """Whether the window was kept small, to answer sooner at a new place."""
    anchor_moved: bool = False
    """Whether the prompt was frozen anew for this request."""
    prefill_seconds: float = 0.0
    first_token_seconds: float = 0.0
    decode_seconds: float = 0.0
    generated_tokens: int = 0
    """New tokens, whoever drafted them. A stop token isn't counted, nor what healing spells."""
    decoded_tokens: int = 0
    """Tokens decided after the prefill, whatever they were."""
    target_passes: int = 0
    """Target batches after the prefill: each verifies a draft and yields one token more."""
    drafted: dict[Source, int] = field(default_factory=dict)
    accepted: dict[Source, int] = field(default_factory=dict)
    finish: FinishReason | None = None

    @property
    def prefilled_tokens(self) -> int:
        """Prompt tokens that had to be decoded."""
        return self.prompt_tokens - self.reused_tokens

    @property
    def decode_tokens_per_second(self) -> float:
        """Tokens decided after the prefill per second; the first one belongs to the prefill."""
        return rate(self.decoded_tokens, self.decode_seconds)

    @property
    def accepted_length(self) -> float:
        """Mean tokens decided by one target pass: what it accepted, and its own token."""
        return 1 + rate(sum(self.accepted.values()), self.target_passes)

    def acceptance(self, source: Source) -> float:
        """The share of the tokens drafted by ``source`` that the target accepted, 0 to 1."""
        return rate(self.accepted.get(source, 0), self.drafted.get(source, 0))

    def count_draft(self, source: Source, drafted: int, accepted: int) -> None:
        """Add one verified draft."""
        self.drafted[source] = self.drafted.get(source, 0) + drafted
        self.accepted[source] = self.accepted.get(source, 0) + accepted

    def as_dict(self) -> dict[str, object]:
        """The numbers as ``specls/stats`` and ``--json`` show them, times in milliseconds."""
        return {
            "promptTokens": self.prompt_tokens,
            "reusedTokens": self.reused_tokens,
            "restoredTokens": self.restored_tokens,
            "carriedTokens": self.carried_tokens,
            "approximateTokens": self.approximate_tokens,
            "prefilledTokens": self.prefilled_tokens,
            "healedTokens": self.healed_tokens,
            "anchorMoved": self.anchor_moved,
            "partialWindow": self.partial_window,
            "prefillMs": _milliseconds(self.prefill_seconds),
            "timeToFirstTokenMs": _milliseconds(self.first_token_seconds),
            "decodeMs": _milliseconds(self.decode_seconds),
            "decodeTokensPerSecond": round(self.decode_tokens_per_second, 2),
            "generatedTokens": self.generated_tokens,
            "targetPasses": self.target_passes,
            "acceptedLength": round(self.accepted_length, 3),
            "drafted": _by_name(self.drafted),
            "accepted": _by_name(self.accepted),
            "finish": self.finish.value if self.finish else None,
        }


class Rate:
    """A running mean of something per second, in which newer observations weigh more."""

    def __init__(self, least: int = 16, weight: float = 0.3) -> None:
        """Observations of less than ``least`` are too small to tell and are ignored."""
        self._least = least
        self._weight = weight
        self.value = 0.0
        """Per second; 0 before the first observation."""

    def observe(self, amount: int, seconds: float) -> None:
        """So much took so long."""
        if amount >= self._least and seconds > 0:
            new = amount / seconds
            weight = self._weight if self.value else 1.0
            self.value += weight * (new - self.value)


def rate(amount: float, per: float) -> float:
    """``amount / per``, and 0 where there is nothing to divide by."""
    return amount / per if per > 0 and amount > 0 else 0.0


def _milliseconds(seconds: float) -> float:
    return round(1000 * seconds, 2)


def _by_name(counts: Mapping[Source, int]) -> dict[str, int]:
    return {source.value: count for source, count in counts.items()}
