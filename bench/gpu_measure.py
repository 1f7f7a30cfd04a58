"""What passes cost on this machine, and what speculation gains with that: ``bench/gpu.sh``.

The models have random weights in real shapes: times are real, texts are not. What a draft model
gets right is replayed from traces that the real pair left (``bench/record_traces.py``).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.gpu_shapes import SHAPES, write
from specls.bench.speculation_arms import Clock
from specls.bench.traces import Trace, best_fixed, read, replay
from specls.core import CancelToken, Source
from specls.engine.controllers import CostController, FixedController
from specls.engine.costs import Costs
from specls.engine.decode import Limits
from specls.engine.drafters import top_probability
from specls.engine.engine import Engine
from specls.engine.llama.loader import LoadOptions, describe_backend, load_model
from specls.engine.llama.model import LlamaModel

TRACES = Path("tests/engine/traces/qwen2.5-coder-0.5b-for-1.5b.json")
LABEL = "random weights, acceptance replayed from recorded traces (0.5B for 1.5B)"

_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)
_BATCHES = (16, 64, 128, 256, 512, 1024)
_RUNS = 5
_STEPS = 64


@dataclass(frozen=True)
class Measured:
    """Times of one target with one draft, in seconds."""

    target: str
    passes: Mapping[int, Mapping[int, float]]
    """By the tokens before it, and its own."""
    draft: float
    """Of one drafted token: a pass of the draft model, and choosing."""
    prefill: Mapping[int, float]
    """Tokens per second by batch."""
    decode: float
    """Tokens per second of our loop, without drafts."""
    overhead: float
    """Of our loop, for each pass of the target."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "label": LABEL,
            "target": self.target,
            "passSeconds": self.passes,
            "draftTokenSeconds": self.draft,
            "prefillTokensPerSecond": self.prefill,
            "decodeTokensPerSecond": self.decode,
            "overheadSeconds": self.overhead,
        }


def measure(name: str, target: LlamaModel, draft: LlamaModel, fills: Sequence[int]) -> Measured:
    """Measure a pair; every figure is a median."""
    passes = {fill: pass_seconds(target, fill) for fill in fills}
    decode, overhead = loop(target, fills[0])
    return Measured(
        target=name,
        passes=passes,
        draft=draft_seconds(draft, fills[0]),
        prefill=prefill_speeds(target),
        decode=decode,
        overhead=overhead,
    )


def pass_seconds(model: LlamaModel, fill: int) -> dict[int, float]:
    """Seconds of a pass over some tokens behind ``fill`` others, all scored and read.

    As in verifying a draft that is right: on a GPU reading the scores counts, too.
    """
    _fill(model, fill)
    found = {size: _timed(partial(_pass, model, fill, size)) for size in _SIZES}
    model.truncate(0, 0)
    return found


def _pass(model: LlamaModel, fill: int, size: int) -> None:
    model.decode(0, fill, [1] * size, size)
    for row in range(size):
        model.best(row)
    model.truncate(0, fill)


def draft_seconds(model: LlamaModel, fill: int) -> float:
    """Seconds of one drafted token: its pass, its best token and how sure that is."""
    _fill(model, fill)

    def step() -> None:
        model.decode(0, fill, [1], 1)
        model.best(0)
        top_probability(model.logits(0))
        model.truncate(0, fill)

    seconds = _timed(step)
    model.truncate(0, 0)
    return seconds


def prefill_speeds(model: LlamaModel) -> dict[int, float]:
    """Tokens per second of passes of which only the last token is scored, by their size."""

    def step(size: int) -> None:
        model.decode(0, 0, [1] * size, 1)
        model.best(0)
        model.truncate(0, 0)

    sizes = [size for size in _BATCHES if size <= model.micro_batch]
    return {size: size / _timed(partial(step, size)) for size in sizes}


def loop(model: LlamaModel, fill: int) -> tuple[float, float]:
    """Tokens per second of our loop without drafts, and the seconds of a pass outside of decode."""
    clock = Clock(model)
    runs = [_generate(model, fill, clock) for _ in range(_RUNS)]
    return 1 / median(whole for whole, _ in runs), median(ours for _, ours in runs)


def _generate(model: LlamaModel, fill: int, clock: Clock) -> tuple[float, float]:
    """Seconds of a pass in our loop, and those of them outside of the model's decode."""
    engine = Engine(model, {}, FixedController())
    generation = engine.generate("loop", [1] * fill, Limits(_STEPS + 1), CancelToken())
    steps = iter(generation)
    next(steps)
    prefilled = clock.seconds
    for _ in steps:
        pass
    engine.drop("loop")
    stats = generation.stats
    whole = stats.decode_seconds / stats.target_passes
    return whole, whole - (clock.seconds - prefilled) / stats.target_passes


def _fill(model: LlamaModel, tokens: int) -> None:
    for start in range(0, tokens, model.micro_batch):
        model.decode(0, start, [1] * min(model.micro_batch, tokens - start), 0)


def _timed(step: Callable[[], None]) -> float:
    """The median of some runs, after one that isn't counted."""
    step()
    seconds = []
    for _ in range(_RUNS):
        started = perf_counter()
        step()
        seconds.append(perf_counter() - started)
    return median(seconds)


def simulated(measured: Measured, fill: int, traces: Sequence[Trace]) -> dict[str, Any]:
    """What the controller makes of recorded traces at these costs, and the best fixed length."""
    costs, each = Costs(measured.passes[fill]), measured.draft
    controller = CostController(
        Costs(measured.passes[fill]), (Source.DRAFT,), drafting={Source.DRAFT: each}
    )
    done = replay(traces, costs, each, controller)
    length, best = best_fixed(traces, costs, each)
    chosen = controller.choice(Source.DRAFT)
    return {
        "label": LABEL,
        "speedUp": round(done.speed_up, 3),
        "draftingShare": round(done.drafting, 3),
        "chosenLength": chosen.tokens if done.drafting > 0.5 else 0,  # noqa: PLR2004 - most
        "bestFixedLength": length,
        "bestFixedSpeedUp": round(best.speed_up, 3),
    }


def show(
    console: Console, measured: Measured, fills: Sequence[int], traces: Sequence[Trace]
) -> dict[int, dict[str, Any]]:
    """Print what was measured and what follows; that by the tokens before a pass."""
    console.print(LABEL)
    console.print(f"{measured.target}: seconds of a pass, in those of one token")
    table = Table(box=None)
    table.add_column("tokens before it", justify="right")
    for size in _SIZES:
        table.add_column(str(size), justify="right")
    table.add_column("one token, ms", justify="right")
    for fill in fills:
        passes = measured.passes[fill]
        row = [f"{passes[size] / passes[1]:.2f}" for size in _SIZES]
        table.add_row(str(fill), *row, f"{1000 * passes[1]:.2f}")
    console.print(table)
    single = measured.passes[fills[0]][1]
    console.print(f"a drafted token: {1000 * measured.draft:.2f} ms, {measured.draft / single:.2f}")
    speeds = ", ".join(f"{size}: {speed:,.0f}" for size, speed in measured.prefill.items())
    console.print(f"prefill, tokens/s by batch: {speeds}")
    console.print(
        f"our loop without drafts: {measured.decode:.1f} tokens/s; of each pass "
        f"{1e6 * measured.overhead:.0f} µs are ours ({100 * measured.overhead / single:.1f} %)"
    )
    console.print(LABEL)
    table = Table(box=None)
    for name in ("tokens before it", "auto", "passes with a draft", "length", "best fixed"):
        table.add_column(name, justify="right")
    replayed = {fill: simulated(measured, fill, traces) for fill in fills}
    for fill, found in replayed.items():
        table.add_row(
            str(fill),
            f"{found['speedUp']:.2f}",
            f"{100 * found['draftingShare']:.0f} %",
            str(found["chosenLength"]),
            f"{found['bestFixedSpeedUp']:.2f} (length {found['bestFixedLength']})",
        )
    console.print(table)
    return replayed


def main() -> None:
    """Make the files, measure each target with the draft, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", default="1.5b,7b,14b", help=f"of {', '.join(SHAPES)}")
    parser.add_argument("--draft", default="0.5b", choices=SHAPES)
    parser.add_argument("--fills", default="512,4096", help="tokens before a pass")
    parser.add_argument("--folder", type=Path, default=Path("build/gpu"), help="for the files")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures there as JSON")
    parser.add_argument("--cpu", action="store_true", help="don't use a GPU")
    arguments = parser.parse_args()
    console, fills = Console(highlight=False, width=140), _numbers(arguments.fills)
    options = LoadOptions(gpu_layers=0 if arguments.cpu else None, context_tokens=max(fills) + 1024)
    traces = read(TRACES) * 4
    draft = load_model(made(arguments.folder, arguments.draft), options)
    found = []
    for name in arguments.targets.split(","):
        path = made(arguments.folder, name)
        target = load_model(path, options)
        if not arguments.cpu and not target.weights.on_gpu:
            raise SystemExit(f"{name} isn't on a GPU: no CUDA build, or no room. --cpu runs so.")
        backend = describe_backend(target)
        console.print(f"[bold]{name}[/bold] with {arguments.draft}", backend)
        measured = measure(name, target, draft, fills)
        replayed = show(console, measured, fills, traces)
        about = {"draft": arguments.draft, "quantisation": "Q4_0", "backend": backend}
        found.append(measured.as_dict() | about | {"replayed": replayed})
        target.close()
        target.weights.close()
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def made(folder: Path, name: str) -> Path:
    """The file of a shape, written unless it's there."""
    if name not in SHAPES:
        raise SystemExit(f"There's no shape {name!r}: {', '.join(SHAPES)}.")
    path = folder / f"random-{name}.gguf"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".partial")
        write(part, SHAPES[name])
        part.rename(path)
    return path


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


if __name__ == "__main__":
    main()
