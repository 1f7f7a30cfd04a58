"""The benchmark for a machine with a GPU, tried without one on a tiny file of random weights."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from bench.gpu_measure import LABEL, Measured, measure, show, simulated
from bench.gpu_shapes import SHAPES, matrices, vectors, write
from specls.bench.traces import Trace
from specls.engine.llama.loader import LoadOptions, load_model

TRACES = [Trace((True, True, True, False) * 8, (0.9,) * 32)] * 8


@pytest.mark.parametrize(
    ("name", "billions"), [("0.5b", 0.494), ("1.5b", 1.544), ("7b", 7.616), ("14b", 14.77)]
)
def test_shapes_are_those_of_the_real_models(name: str, billions: float) -> None:
    """Each has as many parameters as the model that it's called after."""
    shape = SHAPES[name]
    count = sum(rows * columns for _, rows, columns in matrices(shape))
    count += sum(length for _, length, _ in vectors(shape))
    assert count / 1e9 == pytest.approx(billions, rel=0.002)


def test_a_file_of_random_weights_is_measured(tmp_path: Path) -> None:
    """llama.cpp loads what was written, and every figure comes out of real passes."""
    write(tmp_path / "tiny.gguf", SHAPES["tiny"])
    options = LoadOptions(gpu_layers=0, threads=1, context_tokens=512)
    target = load_model(tmp_path / "tiny.gguf", options)
    draft = load_model(tmp_path / "tiny.gguf", options)
    assert target.weights.vocabulary.size == SHAPES["tiny"].vocabulary
    found = measure("tiny", target, draft, [64])
    assert tuple(found.passes[64]) == SIZES
    assert found.passes[64][32] > found.passes[64][1] > 0
    assert found.draft > 0
    assert set(found.prefill) == {16, 64, 128}
    assert found.decode > 0
    assert json.loads(json.dumps(found.as_dict()))["label"] == LABEL
    for model in (draft, target):
        model.close()
        model.weights.close()


SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)
MEASURED = Measured(
    target="pretended",
    passes={
        64: {size: 1.0 + 0.02 * (size - 1) for size in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)}
    },
    draft=0.08,
    prefill={64: 100.0},
    decode=1.0,
    overhead=0.001,
)


def test_what_the_controller_makes_of_it_is_told() -> None:
    """With cheap batches the draft model is used; the label says where acceptance comes from."""
    found = simulated(MEASURED, 64, TRACES)
    assert found["speedUp"] > 1.5
    assert found["draftingShare"] > 0.8
    assert found["bestFixedLength"] == 3
    assert found["label"] == LABEL
    console = Console(file=io.StringIO(), width=160)
    show(console, MEASURED, [64], TRACES)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert shown.count(LABEL) == 2  # once above each table
    assert "1.62" in shown
    assert "1000 µs are ours (0.1 %)" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_without_a_gpu_the_script_says_so(tmp_path: Path) -> None:
    """No traceback: one line that names what is missing, or what is wrong."""
    root = Path(__file__).parents[2]
    tools = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHON": sys.executable}
    missing = tmp_path / "nvidia-smi"
    missing.write_text("#!/bin/sh\nexit 9\n")
    missing.chmod(0o755)
    for words, told in (([], "no NVIDIA GPU"), (["--nonsense"], "--nonsense")):
        done = subprocess.run(
            ["bash", str(root / "bench" / "gpu.sh"), *words],
            capture_output=True,
            text=True,
            check=False,
            env=tools,
        )
        assert done.returncode == 1
        assert told in done.stderr
        assert "Traceback" not in done.stderr
