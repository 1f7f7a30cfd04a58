"""One run: an arm writes on at a place, from the same state as every other arm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from specls.bench.comparison import rotated
from specls.bench.speculation_arms import SOURCES, Arm, Clock, Drafts
from specls.bench.speculation_edits import EDITS, typed
from specls.bench.speculation_places import Place
from specls.context.document import Snapshot
from specls.context.text import Position
from specls.core import CancelToken, Source
from specls.engine.decode import Limits
from specls.engine.engine import Engine
from specls.metrics import GenerationStats
from specls.service.interface import Runtime
from specls.service.prompts import Built

_TRIES = 5
"""How many places are looked at for each that is wanted."""

_LEAST_SHARE = 0.5
"""A place where the model ends before it wrote this share of the tokens says little."""


@dataclass(frozen=True)
class Suggestion:
    """What was written behind the sure tokens of a prompt: those that aren't healed."""

    sure: Sequence[int]
    new: Sequence[int]


@dataclass(frozen=True)
class Ready:
    """A place whose prompt was read, and the suggestions that drafters are to remember there.

    These are what was shown, and what was completed ahead in case that it's accepted.
    """

    number: int
    place: Place
    built: Built
    known: Sequence[Suggestion] = ()


@dataclass(frozen=True)
class Run:
    """What an arm did at a place in a round."""

    workload: str
    place: int
    round: int
    arm: str
    stats: GenerationStats
    tokens: Sequence[int]
    drafts: Drafts
    target_seconds: float
    """Of the decoding, what the target spent in its passes."""
    drafting_seconds: float
    """What draft models spent in theirs."""

    @property
    def python_seconds(self) -> float:
        """The rest: the loop, look-ups, the choice of the best token."""
        spent = self.target_seconds + self.drafting_seconds
        return max(self.stats.decode_seconds - spent, 0.0)

    def as_dict(self) -> dict[str, object]:
        """The values for JSON, times in milliseconds."""
        return {
            "workload": self.workload,
            "place": self.place,
            "round": self.round,
            "arm": self.arm,
            "stats": self.stats.as_dict(),
            "drafts": [
                {"source": source.value, "tokens": size, "count": count}
                for (source, size), count in self.drafts.items()
            ],
            "targetMs": round(1000 * self.target_seconds, 3),
            "draftingMs": round(1000 * self.drafting_seconds, 3),
            "pythonMs": round(1000 * self.python_seconds, 3),
            "tokens": list(self.tokens),
        }


class Preparation:
    """Finds places at which there is enough to write, and reads their prompts."""

    def __init__(
        self,
        runtime: Runtime,
        plain: Engine,
        windows: tuple[int, int],
        layout: str,
        limits: Limits,
        cancel: CancelToken,
        *,
        prefetch: bool = True,
    ) -> None:
        """``plain`` is the engine without drafts.

        With ``prefetch``, what follows a suggestion that was shown was completed, too, as in use.
        """
        self._runtime = runtime
        self._plain = plain
        self._windows = windows
        self._layout = layout
        self._limits = limits
        self._cancel = cancel
        self._prefetch = prefetch
        self.left_out = 0
        """How many places had too little to write."""

    def ready(self, places: Iterable[Place], count: int) -> Iterator[Ready]:
        """The first ``count`` places with enough to write, of five times as many at the most.

        Raises:
            Cancelled: the run was interrupted.
            EngineError: the engine failed.
        """
        number = 0
        for place in islice(places, _TRIES * count):
            ready = self._prepared(number, place)
            if ready is None:
                self._plain.drop(place.document)
                self.left_out += 1
                continue
            yield ready
            number += 1
            if number == count:
                return

    def _prepared(self, number: int, place: Place) -> Ready | None:
        """None if what is suggested, or written then, is too short, or the window is."""
        snapshot, position, known = place.snapshot, place.position, list[Suggestion]()
        if place.edit:
            built = self._built(snapshot, position, renew=True)
            known.append(self._written(place.document, built))
            if not self._is_enough(known[0]):
                return None
            text = self._text(built, known[0])
            if self._prefetch:
                known.append(self._ahead(place.document, *typed(snapshot, position, text)))
            snapshot, position = EDITS[place.edit](snapshot, position, text)
        built = self._built(snapshot, position, renew=not known)
        if place.needed not in built.window.before:
            return None
        written = self._written(place.document, built)
        return Ready(number, place, built, known) if self._is_enough(written) else None

    def _ahead(self, document: str, snapshot: Snapshot, position: Position) -> Suggestion:
        """What's written where a suggestion was accepted; prompts don't remember that."""
        with self._runtime.prompts.unchanged(snapshot.uri):
            return self._written(document, self._built(snapshot, position, renew=False))

    def _built(self, snapshot: Snapshot, position: Position, *, renew: bool) -> Built:
        prompts = self._runtime.prompts
        return prompts.build(snapshot, position, self._windows, self._layout, renew=renew)

    def _written(self, document: str, built: Built) -> Suggestion:
        generation = self._plain.generate(
            document, built.tokens, self._limits, self._cancel, built.healing, built.movable
        )
        new = [token.id for step in generation for token in step]
        return Suggestion(built.tokens[: generation.base], new)

    def _is_enough(self, written: Suggestion) -> bool:
        return len(written.new) >= _LEAST_SHARE * self._limits.max_tokens

    def _text(self, built: Built, written: Suggestion) -> str:
        raw = b"".join(map(self._runtime.tokenizer.piece, written.new))
        return raw[len(built.rest) :].decode("utf-8", "ignore")


class Course:
    """Has every arm write at every place of a workload, round by round."""

    def __init__(
        self, arms: Sequence[Arm], target: Clock, limits: Limits, cancel: CancelToken
    ) -> None:
        """``target`` is the clock of the target; those of the draft models are made here."""
        self._arms = arms
        self._target = target
        models = {id(model): model for arm in arms for model in arm.models}
        self._drafting = [Clock(model) for model in models.values()]
        self._limits = limits
        self._cancel = cancel

    def runs(self, places: Sequence[Ready], rounds: int) -> Iterator[Run]:
        """All of them; another arm comes first at each turn. The documents are closed at the end.

        Raises:
            Cancelled: the run was interrupted.
            EngineError: the engine failed.
        """
        for number in range(rounds):
            for ready in places:
                for arm in rotated(self._arms, number + ready.number):
                    yield self._run(arm, ready, number)
        for ready in places:
            for arm in self._arms:
                arm.engine.drop(ready.place.document)

    def _run(self, arm: Arm, ready: Ready, number: int) -> Run:
        place, built = ready.place, ready.built
        self._remember(arm, ready)
        generation = arm.engine.generate(
            place.document,
            built.tokens,
            self._limits,
            self._cancel,
            built.healing,
            built.movable,
            place.snapshot.language,
        )
        arm.recorder.taken()
        steps = iter(generation)
        tokens = [token.id for token in next(steps, ())]
        target, drafting = self._target.seconds, self._drafting_seconds()
        tokens += [token.id for step in steps for token in step]
        return Run(
            place.workload,
            ready.number,
            number,
            arm.name,
            generation.stats,
            tokens,
            arm.recorder.taken(),
            self._target.seconds - target,
            self._drafting_seconds() - drafting,
        )

    def _drafting_seconds(self) -> float:
        return sum(clock.seconds for clock in self._drafting)

    def _remember(self, arm: Arm, ready: Ready) -> None:
        """Have drafters know of the document what they know when somebody asks there.

        What they remember of the runs before is forgotten; a draft model has read the prompt.
        """
        document = ready.place.document
        for source in chain.from_iterable(SOURCES.values()):
            if (drafter := arm.engine.drafters.get(source)) is None:
                continue
            drafter.forget(document)
            for known in ready.known:
                drafter.begin(document, known.sure)
                drafter.finish([*known.sure, *known.new], len(known.new))
        if (drafter := arm.engine.drafters.get(Source.DRAFT)) is not None:
            healed = ready.built.healing.tokens if ready.built.healing else 0
            sure = ready.built.tokens[: len(ready.built.tokens) - healed]
            drafter.begin(document, sure)
            drafter.propose(sure, 1, self._cancel)
