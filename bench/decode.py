"""How fast tokens come: bare llama.cpp, our loop without drafts, with look-ups, with the draft.

All in one run and over one loaded pair, in turn, several rounds; medians and ratios are printed,
since machines are shared and noisy. Prefill isn't part of it.

    python -m bench.decode [--tokens N] [--rounds N]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

import llama_cpp.llama_cpp as lib
from rich.console import Console
from rich.table import Table

from specls.app import loader
from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.core import CancelToken, Source
from specls.engine.controllers import CostController, FixedController
from specls.engine.costs import Costs, measure
from specls.engine.decode import Limits
from specls.engine.engine import Engine
from specls.engine.interface import Controller, Plan
from specls.engine.llama.model import LlamaModel
from specls.metrics import GenerationStats
from specls.service.interface import Runtime
from specls.settings import Settings

PLACES = (("argparse.py", 120, 8), ("csv.py", 90, 8))
"""File of the standard library, line, column: the beginnings of ordinary statements."""

MODES: dict[str, Callable[[Costs], Controller]] = {
    "our loop, off": lambda _costs: FixedController(),
    "lookup": lambda _costs: FixedController(Plan(Source.COPY, 8), Plan(Source.LOOKUP, 8)),
    "draft": lambda _costs: FixedController(Plan(Source.DRAFT, 6)),
    # Without earlier suggestions: each round writes the same again.
    "auto": lambda costs: CostController(costs, (Source.COPY, Source.LOOKUP, Source.DRAFT)),
}
BARE = "bare llama.cpp"
GIGABYTE = 1e9


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=32, help="per generation (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(%(default)s)")
    arguments = parser.parse_args()
    runtime = loader()(Settings(speculation="draft"), lambda _share: True)
    prompts = [_prompt(runtime, *place) for place in PLACES]
    costs = measure(runtime.engine.target)
    speeds: dict[str, list[float]] = {name: [] for name in (BARE, *MODES)}
    stats: dict[str, list[GenerationStats]] = {name: [] for name in MODES}
    for _ in range(arguments.rounds):
        for prompt in prompts:
            speeds[BARE].append(_bare(runtime, prompt, arguments.tokens))
            for name, controller in MODES.items():
                made = _ours(runtime, controller(Costs(costs)), prompt, arguments.tokens)
                stats[name].append(made)
                speeds[name].append(made.decode_tokens_per_second)
    _print(speeds, stats, runtime)
    runtime.close()
    return 0


def _prompt(runtime: Runtime, name: str, line: int, column: int) -> list[int]:
    path = Path(sysconfig.get_path("stdlib")) / name
    snapshot = Snapshot(path.as_uri(), 1, "python", Text(path.read_text(encoding="utf-8")))
    position = Position(line, min(column, len(snapshot.text.content(line))))
    return runtime.prompts.build(snapshot, position, (192, 64)).tokens


def _bare(runtime: Runtime, prompt: Sequence[int], tokens: int) -> float:
    """Tokens per second of nothing but llama_decode and an argmax, on the same context."""
    target = runtime.engine.target
    assert isinstance(target, LlamaModel)
    runtime.engine.close("bench")
    list(runtime.engine.generate("bench", prompt, Limits(1), CancelToken()))
    context = target._context  # noqa: SLF001 - what's measured is the loop around it
    batch = lib.llama_batch_init(1, 0, 1)
    batch.n_tokens, batch.n_seq_id[0], batch.logits[0] = 1, 1, 1
    batch.seq_id[0][0] = runtime.engine.sequence("bench")
    token, started = target.best(0), perf_counter()
    for at in range(tokens - 1):
        batch.token[0], batch.pos[0] = token, len(prompt) + at
        assert lib.llama_decode(context, batch) == 0
        target._scored = 1  # noqa: SLF001
        token = target.best(0)
    seconds = perf_counter() - started
    lib.llama_batch_free(batch)
    target.truncate(runtime.engine.sequence("bench"), len(prompt))
    return (tokens - 1) / seconds


def _ours(
    runtime: Runtime, controller: Controller, prompt: Sequence[int], tokens: int
) -> GenerationStats:
    engine: Engine = runtime.engine.with_controller(controller)
    generation = engine.generate("bench", prompt, Limits(tokens), CancelToken())
    for _ in generation:
        pass
    return generation.stats


def _print(
    speeds: dict[str, list[float]], stats: dict[str, list[GenerationStats]], runtime: Runtime
) -> None:
    console = Console()
    table = Table(title=f"{runtime.models['target']}, draft {runtime.models['draft']}")
    for column in ("", "tokens/s (median)", "ratio to bare", "accepted", "tokens per pass"):
        table.add_column(column, justify="left" if not column else "right")
    bare = statistics.median(speeds[BARE])
    for name, values in speeds.items():
        median = statistics.median(values)
        ratio = statistics.median(a / b for a, b in zip(values, speeds[BARE], strict=True))
        drafted = sum(sum(each.drafted.values()) for each in stats.get(name, ()))
        accepted = sum(sum(each.accepted.values()) for each in stats.get(name, ()))
        passes = sum(each.target_passes for each in stats.get(name, ()))
        table.add_row(
            name,
            f"{median:.2f}",
            f"{ratio:.3f}",
            f"{accepted} of {drafted}" if drafted else "",
            f"{1 + accepted / passes:.2f}" if passes else "",
        )
    console.print(table)
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    size = runtime.engine.target.capacity
    console.print(
        f"bare loop {bare:.2f} tokens/s; peak memory of target and draft at {size} tokens of "
        f"context: {peak / GIGABYTE:.2f} GB"
    )


if __name__ == "__main__":
    sys.exit(main())
