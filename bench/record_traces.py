"""Record what a draft model says along the target's own texts: ``python -m bench.record_traces``.

The target writes greedily at places of real files; the draft model is then asked for each token
behind the target's own text. That is what decides about drafts, and it needs no time measured: the
traces are replayed on any curve of costs (``specls/bench/traces.py``).
"""

from __future__ import annotations

import argparse
import json
import platform
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from rich.progress import track

from specls.app import loader
from specls.bench.infill_tasks import choose, tasks_of
from specls.bench.infill_tasks import read as read_tasks
from specls.bench.infill_ways import at_cursor
from specls.bench.sources import standard_library
from specls.bench.traces import Trace
from specls.bench.verify import cursors
from specls.catalogue.store import ModelStore
from specls.context.document import Snapshot
from specls.context.text import Position
from specls.core import CancelToken, Source
from specls.engine.controllers import FixedController
from specls.engine.decode import Limits
from specls.engine.drafters import ModelDrafter, top_probability
from specls.engine.interface import TokenModel
from specls.service.interface import Runtime
from specls.service.prompts import PromptBuilder
from specls.settings import Settings

WINDOWS = (96, 32)
_DOCUMENT = "trace"


def written(runtime: Runtime, prompt: Sequence[int], count: int) -> list[int]:
    """What the target writes behind a prompt without drafts: ``count`` tokens, or to its end."""
    engine = runtime.engine.with_controller(FixedController())
    limits = Limits(count, runtime.prompts.dialect.stop_ids)
    generation = engine.generate(_DOCUMENT, prompt, limits, CancelToken())
    tokens = [token.id for step in generation for token in step]
    engine.drop(_DOCUMENT)
    return tokens


def trace(model: TokenModel, prompt: Sequence[int], text: Sequence[int]) -> Trace:
    """What a draft model says before each token of a text. Its first sequence has to be empty."""
    at, size = 0, model.micro_batch
    while at < len(prompt) - 1:
        batch = prompt[at : min(at + size, len(prompt) - 1)]
        model.decode(0, at, batch, 0)
        at += len(batch)
    model.decode(0, at, [prompt[-1], *text[:-1]], len(text))
    agrees = tuple(model.best(row) == token for row, token in enumerate(text))
    top = tuple(top_probability(model.logits(row)) for row in range(len(text)))
    model.truncate(0, 0)
    return Trace(agrees, top)


def places(n: int, seed: int, data: Path | None) -> Iterator[tuple[Snapshot, Position]]:
    """Half of them in tasks, where there's a file with some; the others in the standard library."""
    tasks = n // 2 if data else 0
    yield from cursors(standard_library(), n - tasks, seed)
    if data:
        chosen = choose(read_tasks(data), tasks, seed)
        for task in tasks_of(chosen, ("line",)):
            yield at_cursor(task)


def recorded(
    runtime: Runtime, where: Iterable[tuple[Snapshot, Position]], tokens: int
) -> Iterator[Trace]:
    """The traces at some places; not of texts that are over at once."""
    drafter = runtime.engine.drafters[Source.DRAFT]
    assert isinstance(drafter, ModelDrafter)
    builder = PromptBuilder(runtime.tokenizer, runtime.prompts.dialect, None)
    for snapshot, position in where:
        prompt = builder.build(snapshot, position, WINDOWS).tokens
        text = written(runtime, prompt, tokens)
        if len(text) > 1:
            yield trace(drafter.model, prompt, text)


def main() -> None:
    """Record, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--data", type=Path, metavar="FILE", help="HumanEval-Infilling tasks")
    parser.add_argument("--n", type=int, default=40, help="places (%(default)s)")
    parser.add_argument("--tokens", type=int, default=32, help="at each place (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    settings = replace(Settings(), speculation="draft", kv_budget_mib=0)
    runtime = loader()(settings, lambda _share: True)
    where = list(places(arguments.n, arguments.seed, arguments.data))
    random.Random(arguments.seed).shuffle(where)  # noqa: S311 - no secret
    traces = list(recorded(runtime, track(where, "recording"), arguments.tokens))
    store = ModelStore()
    draft = store.resolve(settings.model).entry
    found = {
        "target": _named(store, settings.model),
        "draft": _named(store, draft.auto_draft if draft and draft.auto_draft else ""),
        "recorded": datetime.now(timezone.utc).date().isoformat(),
        "python": platform.python_version(),
        "windows": WINDOWS,
        "places": len(where),
        "tasks": arguments.n // 2 if arguments.data else 0,
        "tokensAtMost": arguments.tokens,
        "seed": arguments.seed,
        "texts": len(traces),
        "tokens": sum(map(len, traces)),
        "traces": [each.as_dict() for each in traces],
    }
    runtime.close()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _named(store: ModelStore, name: str) -> dict[str, str]:
    entry = store.resolve(name).entry
    return {"id": name, "sha256": (entry.sha256 if entry else None) or ""}


if __name__ == "__main__":
    main()
