"""Puts the models together: the only module that sees both the service and llama.cpp."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from platformdirs import user_cache_path

from specls import measurements
from specls.catalogue.listing import rows
from specls.catalogue.results import ResolvedModel
from specls.catalogue.store import ModelStore
from specls.core import Source
from specls.engine.controllers import CostController, FixedController
from specls.engine.costs import SIZES, Costs, measure
from specls.engine.drafters import ModelDrafter
from specls.engine.engine import Engine
from specls.engine.interface import Controller, Drafter, Plan
from specls.engine.llama.loader import (
    LoadOptions,
    describe_backend,
    describe_build,
    load_model,
    runs_on_cpu,
)
from specls.engine.llama.memory import available_bytes
from specls.engine.llama.model import LlamaModel
from specls.engine.lookup import LONG_MATCH, LookupDrafter, PreviousDrafter
from specls.engine.shelf import Shelf
from specls.engine.spill import Spill
from specls.errors import EngineError, ModelError
from specls.service.completion import budget_of
from specls.service.dialect import dialect_of
from specls.service.healing import Spelling
from specls.service.interface import Runtime
from specls.service.prompts import PromptBuilder
from specls.settings import Settings

logger = logging.getLogger(__name__)

_MODEL_DRAFT = 6
"""Tokens that the draft model writes ahead at the most. On the CPUs measured, more cost more than
they gained (docs/speculation.md)."""

_LOOKUP_DRAFT = 8

_FREE = (Source.PREVIOUS, Source.COPY, Source.LOOKUP)
"""Where drafts come from that need no model."""

_TIDY_SECONDS = 2.0
"""How long the deletion of saved states may delay a load."""


def states_folder() -> Path:
    """Where the states of documents lie: ``SPECLS_STATES``, or in the user's cache folder."""
    chosen = os.environ.get("SPECLS_STATES", "").strip()
    if chosen:
        return Path(chosen).expanduser().absolute()
    return user_cache_path("specls", appauthor=False) / "states"


def loader(store: ModelStore | None = None, states: Path | None = None) -> ModelLoader:
    """What loads the models that settings name, from the models on this machine.

    The states of documents are kept in the folder ``states``; without one, none is kept on disk.
    """
    return ModelLoader(store or ModelStore(), states)


class ModelLoader:
    """See :class:`specls.service.interface.Loader`."""

    def __init__(self, store: ModelStore, states: Path | None) -> None:
        self._store = store
        self._states = states

    def check(self, settings: Settings) -> None:
        """See that the target is there."""
        self._store.resolve(settings.model)

    def fits(self, settings: Settings, beside: Settings) -> bool:
        """Whether memory holds the models beside those of other settings."""
        if not all(runs_on_cpu(_options(each)) for each in (settings, beside)):
            return False  # what is free on a GPU isn't known
        new, old = (self._bytes(each) for each in (settings, beside))
        return new < available_bytes() - old

    def _bytes(self, settings: Settings) -> int:
        """About what a target takes, without the cache. On a CPU the draft is rarely loaded.

        What is loaded counts as available, since the file is mapped.
        """
        return self._store.resolve(settings.model).path.stat().st_size

    def listing(self, used: Sequence[str]) -> list[dict[str, object]]:
        """The catalogue, and files of one's own among those that are used."""
        return [row.as_dict() for row in rows(self._store, used)]

    def __call__(self, settings: Settings, progress: Callable[[float], bool]) -> Runtime:
        """Load target and draft."""
        return _Assembly(self._store, self._states, settings, progress).runtime()


@dataclass
class _Assembly:
    """The steps of putting a runtime together; what it couldn't do becomes a notice."""

    store: ModelStore
    states: Path | None
    settings: Settings
    progress: Callable[[float], bool]

    def runtime(self) -> Runtime:
        notices: list[str] = []
        resolved = self.store.resolve(self.settings.model)
        target = self._load(resolved, 0.0, 0.8)
        try:
            draft = self._draft(resolved, target, notices)
            return self._assemble(resolved, target, draft, notices)
        except BaseException:
            _free(target)
            raise

    def _load(self, model: ResolvedModel, start: float, share: float) -> LlamaModel:
        return load_model(
            model.path, _options(self.settings), lambda done: self.progress(start + share * done)
        )

    def _draft(
        self, resolved: ResolvedModel, target: LlamaModel, notices: list[str]
    ) -> LlamaModel | None:
        """The draft model, if one is wanted; why an explicitly wanted one isn't there is told."""
        name = self._draft_name(resolved, target)
        if name is None:
            if self.settings.speculation == "draft":
                notices.append(
                    f"speculation is draft, and there is no draft model for {resolved.name}: "
                    "completions come from the target alone."
                )
            return None
        try:
            draft = self._load(self.store.resolve(name), 0.8, 0.2)
        except (ModelError, EngineError) as error:
            notices.append(f"The draft model can't be used, so the target works alone. {error}")
            return None
        try:
            target.weights.vocabulary.check_draft(draft.weights.vocabulary)
        except EngineError as error:
            _free(draft)
            notices.append(f"The draft model can't be used, so the target works alone. {error}")
            return None
        return draft

    def _draft_name(self, resolved: ResolvedModel, target: LlamaModel) -> str | None:
        """Which draft model to load: none where it would only take memory."""
        wanted, speculation = self.settings.draft_model, self.settings.speculation
        if wanted == "none" or speculation in {"off", "lookup"}:
            return None
        if speculation == "auto" and not target.weights.on_gpu:
            return None
        if wanted == "auto":
            return resolved.entry.auto_draft if resolved.entry else None
        return wanted

    def _assemble(
        self,
        resolved: ResolvedModel,
        target: LlamaModel,
        draft: LlamaModel | None,
        notices: list[str],
    ) -> Runtime:
        vocabulary = target.weights.vocabulary
        dialect = dialect_of(vocabulary, resolved.entry.fim_family if resolved.entry else None)
        if not dialect.fills_in:
            notices.append(
                f"{resolved.name} knows no fill-in-the-middle markers: it continues the text "
                "before the cursor and can't see what follows."
            )
        alone = replace(self.settings, workspace_tokens=0)
        if budget_of(alone, target.capacity) != budget_of(alone, sys.maxsize):
            notices.append(
                f"prefixTokens, suffixTokens and maxTokens together don't fit into contextTokens "
                f"({target.capacity}): the windows were made smaller."
            )
        drafters = _drafters(draft, dialect.stop_ids)
        controller = self._controller(resolved, target, draft, tuple(drafters))
        costs_key = self._costs_key(resolved, target, SIZES)
        engine = Engine(target, drafters, controller, self._spill(resolved, target))

        def close() -> None:
            try:
                if isinstance(controller, CostController):
                    # What was seen in use corrects what was measured at a bad moment.
                    measurements.write(states_folder(), costs_key, controller.costs.as_dict())
                engine.finish()
            except EngineError as error:
                logger.warning("The states of documents can't be kept: %s", error)
            finally:
                _free(*(model for model in (draft, target) if model is not None))

        def discard() -> None:
            engine.abandon()
            _free(*(model for model in (draft, target) if model is not None))

        self.progress(1.0)
        return Runtime(
            engine=engine,
            tokenizer=vocabulary,
            prompts=PromptBuilder(vocabulary, dialect, Spelling(vocabulary)),
            models=self._describe(resolved, target, draft, fills_in=dialect.fills_in),
            notices=tuple(notices),
            close=close,
            discard=discard,
        )

    def _controller(
        self,
        resolved: ResolvedModel,
        target: LlamaModel,
        draft: LlamaModel | None,
        sources: Sequence[Source],
    ) -> Controller:
        """The controller for the mode: ``auto`` goes by what passes cost on this machine."""
        fixed = {
            "off": (),
            "lookup": tuple(Plan(source, _LOOKUP_DRAFT) for source in _FREE),
            "draft": (Plan(Source.DRAFT, _MODEL_DRAFT),) if Source.DRAFT in sources else (),
        }
        plans = fixed.get(self.settings.speculation)
        if plans is not None:
            return FixedController(*plans)
        drafting: dict[Source, float] = {}
        if draft is not None and (name := self._draft_name(resolved, target)) is not None:
            drafting[Source.DRAFT] = self._costs(self.store.resolve(name), draft, (1,))[1]
        costs = Costs(self._costs(resolved, target, SIZES))
        return CostController(costs, sources, drafting=drafting)

    def _costs(
        self, resolved: ResolvedModel, model: LlamaModel, sizes: Sequence[int]
    ) -> Mapping[int, float]:
        """What passes cost: measured at the first load of a model, and kept."""
        key = self._costs_key(resolved, model, sizes)
        known = measurements.read(states_folder(), key)
        if known is None:
            known = measure(model, sizes)
            measurements.write(states_folder(), key, known)
        return known

    def _costs_key(self, resolved: ResolvedModel, model: LlamaModel, sizes: Sequence[int]) -> str:
        threads = f"threads {self.settings.threads}"
        return f"{self._build(resolved, model)} {threads} sizes {' '.join(map(str, sizes))}"

    def _spill(self, resolved: ResolvedModel, target: LlamaModel) -> Spill:
        """Where the states of documents go that make way: memory, and then disk."""
        memory, disk = (
            each * 2**20 for each in (self.settings.kv_budget_mib, self.settings.kv_disk_mib)
        )
        if self.states is None:
            return Spill(memory)
        shelf = Shelf(self.states, disk, self._build(resolved, target))
        if not disk:
            shelf.close(_TIDY_SECONDS)
        return Spill(memory, shelf if disk else None)

    def _build(self, resolved: ResolvedModel, target: LlamaModel) -> str:
        """Everything that a saved state depends on besides its tokens."""
        file = resolved.path.stat()
        known = resolved.entry.sha256 if resolved.entry else ""
        model = known or f"{resolved.path} {file.st_size} {file.st_mtime_ns}"
        cache = f"{self.settings.kv_type} {self.settings.flash_attention}"
        return f"{model} {describe_build(target)} {cache}"

    def _describe(
        self,
        resolved: ResolvedModel,
        target: LlamaModel,
        draft: LlamaModel | None,
        *,
        fills_in: bool,
    ) -> Mapping[str, object]:
        return {
            "target": resolved.name,
            "targetDescription": target.weights.description,
            "draft": draft.weights.description if draft else None,
            "draftName": self._draft_name(resolved, target) if draft else None,
            "speculation": self.settings.speculation,
            "fillInTheMiddle": fills_in,
            "backend": describe_backend(target),
        }


def _options(settings: Settings) -> LoadOptions:
    return LoadOptions(
        gpu_layers=settings.gpu_layers if isinstance(settings.gpu_layers, int) else None,
        threads=settings.threads if isinstance(settings.threads, int) else None,
        context_tokens=settings.context_tokens,
        flash_attention=settings.flash_attention,
        kv_type=settings.kv_type,
    )


def _drafters(draft: LlamaModel | None, stop_ids: frozenset[int]) -> Mapping[Source, Drafter]:
    """All there are, the cheapest first."""
    drafters: dict[Source, Drafter] = {
        Source.PREVIOUS: PreviousDrafter(stop_ids),
        Source.COPY: LookupDrafter(stop_ids, LONG_MATCH, source=Source.COPY),
        Source.LOOKUP: LookupDrafter(stop_ids, longest=LONG_MATCH - 1),
    }
    if draft is not None:
        drafters[Source.DRAFT] = ModelDrafter(draft, stop_ids)
    return drafters


def _free(*models: LlamaModel) -> None:
    for model in models:
        model.close()
        model.weights.close()
