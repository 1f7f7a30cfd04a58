"""What is compared: ways to draft, all over the same target and its sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from specls.core import Source
from specls.engine.controllers import FixedController
from specls.engine.drafters import ModelDrafter
from specls.engine.engine import Engine
from specls.engine.interface import Controller, Drafter, Outcome, Part, Plan, TokenModel
from specls.service.interface import Loader, Runtime
from specls.service.tokenizer import Tokenizer
from specls.settings import Settings

PLAIN, AUTO = "plain", "auto"

NONE = "none"
"""A name for :data:`PLAIN` in a list of drafts."""

SOURCES: Mapping[str, tuple[Source, ...]] = {
    "previous": (Source.PREVIOUS,),
    "lookup": (Source.COPY, Source.LOOKUP),
}
"""The drafts that need no model, by name."""


class Clock:
    """Adds up the seconds that a model spends in its passes.

    From then on, for as long as the model lives. Filling llama.cpp's batch counts as its pass;
    that takes a few microseconds a token.
    """

    def __init__(self, model: TokenModel) -> None:
        self.seconds = 0.0
        self._decode: Callable[..., None] = model.decode
        vars(model)["decode"] = self._timed

    def _timed(self, *arguments: Any, **named: Any) -> None:
        started = perf_counter()
        try:
            self._decode(*arguments, **named)
        finally:
            self.seconds += perf_counter() - started


Drafts = Counter[tuple[Source, int]]
"""How often a source drafted so many tokens for one pass; 0: it was asked and had no idea."""


class Recorder:
    """A controller that does what another one says and counts what was drafted."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._drafts = Drafts()

    def begin(self, language: str) -> None:
        """See :class:`Controller`."""
        self._controller.begin(language)

    def plans(self, draft: Sequence[Part] = ()) -> Sequence[Plan]:
        """See :class:`Controller`."""
        return self._controller.plans(draft)

    def observe(self, outcome: Outcome) -> None:
        """See :class:`Controller`."""
        self._drafts.update((part.source, part.drafted) for part in outcome.parts)
        self._controller.observe(outcome)

    def taken(self) -> Drafts:
        """What was counted since the last call."""
        drafts, self._drafts = self._drafts, Drafts()
        return drafts


@dataclass(frozen=True)
class Arm:
    """One way to draft."""

    name: str
    engine: Engine
    recorder: Recorder

    @property
    def models(self) -> list[TokenModel]:
        """The draft models that it may ask."""
        drafters = self.engine.drafters.values()
        return [each.model for each in drafters if isinstance(each, ModelDrafter)]


@runtime_checkable
class _ComparesDrafts(Protocol):
    """A vocabulary that can tell whether a draft's is the same."""

    def check_draft(self, draft: Tokenizer) -> None:
        """Raise IncompatibleDraft if not."""


def arms_of(
    runtime: Runtime, drafts: Mapping[str, Runtime], names: Sequence[str], length: int
) -> list[Arm]:
    """Plain decoding, what ``auto`` does, and each of ``names`` with drafts of a fixed length.

    ``runtime`` is loaded with the controller of ``auto``, which goes on learning. ``drafts`` holds
    the models among the names, each loaded as if it were a target.

    Raises:
        IncompatibleDraft: a draft's vocabulary isn't the target's.
    """
    engine, stop_ids = runtime.engine, runtime.prompts.dialect.stop_ids
    controller = engine.controller  # whatever the loader made is to be measured
    arms = [
        _arm(PLAIN, engine, FixedController(), engine.drafters),
        _arm(AUTO, engine, controller, engine.drafters),
    ]
    for name in names:
        if (sources := SOURCES.get(name)) is not None:
            plan = FixedController(
                *(Plan(source, length) for source in sources if source in engine.drafters)
            )
            arms.append(_arm(name, engine, plan, engine.drafters))
        elif name != NONE:
            draft = drafts[name]
            if isinstance(runtime.tokenizer, _ComparesDrafts):
                runtime.tokenizer.check_draft(draft.tokenizer)
            drafter = ModelDrafter(draft.engine.target, stop_ids)
            plan = FixedController(Plan(Source.DRAFT, length))
            arms.append(_arm(name, engine, plan, {**engine.drafters, Source.DRAFT: drafter}))
    return arms


def _arm(
    name: str, engine: Engine, controller: Controller, drafters: Mapping[Source, Drafter]
) -> Arm:
    recorder = Recorder(controller)
    other = engine.with_controller(recorder)
    other.drafters = drafters
    return Arm(name, other, recorder)


def load_draft(
    loader: Loader, name: str, settings: Settings, progress: Callable[[float], bool]
) -> Runtime:
    """A draft model with nothing around it.

    Raises:
        Cancelled, SpeclsError: as :class:`Loader`.
    """
    alone = replace(settings, model=name, draft_model="none", speculation="off", kv_budget_mib=0)
    return loader(alone, progress)
