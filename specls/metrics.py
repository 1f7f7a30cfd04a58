"""What one completion cost, and the one definition of every rate that is shown anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specls.core import FinishReason, Source


@dataclass
class Verified:
    """How many tokens the target looked at, and how many of them it accepted."""

    verified: int = 0
    accepted: int = 0


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
    """Target batches after the prefill: each yields what it accepts of a draft, and one token."""
    verifications: int = 0
    """Those of the target passes that had a draft to verify."""
    drafted: dict[Source, int] = field(default_factory=dict)
    accepted: dict[Source, int] = field(default_factory=dict)
    positions: dict[Source, list[Verified]] = field(default_factory=dict)
    """What became of the tokens at each position of what a source drafts at once."""
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
    def tokens_per_pass(self) -> float:
        """Mean tokens decided by one target pass: what it accepted, if anything, and its own."""
        return 1 + rate(sum(self.accepted.values()), self.target_passes)

    @property
    def accepted_length(self) -> float:
        """Mean tokens decided by one verification, the target's own included; 0 without any."""
        if not self.verifications:
            return 0.0
        return 1 + rate(sum(self.accepted.values()), self.verifications)

    @property
    def verify_rate(self) -> float:
        """The share of the target passes that had a draft to verify, 0 to 1."""
        return rate(self.verifications, self.target_passes)

    def acceptance(self, source: Source) -> float:
        """The share of the tokens drafted by ``source`` that the target accepted, 0 to 1."""
        return rate(self.accepted.get(source, 0), self.drafted.get(source, 0))

    def acceptance_at(self, source: Source, position: int) -> float:
        """The same of the tokens at a position (from 0) whose predecessors were all accepted."""
        positions = self.positions.get(source, ())
        if position >= len(positions):
            return 0.0
        return rate(positions[position].accepted, positions[position].verified)

    def count_drafted(self, source: Source, drafted: int) -> None:
        """Add the tokens of a draft, or of a part of one, that goes to the target."""
        self.drafted[source] = self.drafted.get(source, 0) + drafted

    def count_verified(self, source: Source, drafted: int, accepted: int) -> None:
        """Of tokens counted before the target accepted so many; it looked no further than one."""
        self.accepted[source] = self.accepted.get(source, 0) + accepted
        positions = self.positions.setdefault(source, [])
        for position in range(min(accepted + 1, drafted)):
            if position == len(positions):
                positions.append(Verified())
            positions[position].verified += 1
            positions[position].accepted += position < accepted

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
            "tokensPerPass": round(self.tokens_per_pass, 3),
            "verifyRate": round(self.verify_rate, 3),
            "acceptedLength": round(self.accepted_length, 3),
            "drafted": _by_name(self.drafted),
            "accepted": _by_name(self.accepted),
            "acceptanceByPosition": {
                source.value: [
                    round(self.acceptance_at(source, position), 3)
                    for position in range(len(positions))
                ]
                for source, positions in self.positions.items()
            },
            "finish": self.finish.value if self.finish else None,
        }


def speed_up(tokens_per_second: float, plain: float) -> float:
    """How many times as fast as the same target without drafts in the same run, by the clock."""
    return rate(tokens_per_second, plain)


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
