"""From a model file to a :class:`LlamaModel`, with one clear error for each way it can fail."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import llama_cpp
import llama_cpp.llama_cpp as lib
import psutil

from specls.engine.llama import library
from specls.engine.llama.memory import available_bytes
from specls.engine.llama.model import SPARE_SEQUENCES, LlamaModel, Weights
from specls.engine.pace import Pace
from specls.errors import Cancelled, LoadFailed, NoMemory

_SEQUENCES = 32
"""How many documents can have tokens in the cache at once. It is also the most tokens of one batch
whose scores are kept, since llama.cpp wants room for one row per sequence."""

_FLASH = {
    "auto": lib.LLAMA_FLASH_ATTN_TYPE_AUTO,
    "on": lib.LLAMA_FLASH_ATTN_TYPE_ENABLED,
    "off": lib.LLAMA_FLASH_ATTN_TYPE_DISABLED,
}
_KV = {"f16": (lib.GGML_TYPE_F16, 2.0), "q8_0": (lib.GGML_TYPE_Q8_0, 34 / 32)}
"""llama.cpp's number and the bytes per element of each type of cache."""


@dataclass(frozen=True)
class LoadOptions:
    """How a model is loaded. ``gpu_layers`` and ``threads`` are None for *auto*.

    ``micro_batch`` counts tokens; None picks one for the back end.
    """

    gpu_layers: int | None = None
    threads: int | None = None
    context_tokens: int = 8192
    flash_attention: str = "auto"
    kv_type: str = "f16"
    micro_batch: int | None = None


Progress = Callable[[float], bool]
"""Told the loaded share, from 0 to 1, on the loading thread; False gives the loading up."""


def physical_cores() -> int:
    """The physical cores that this process may use."""
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = min(cores, len(os.sched_getaffinity(0)))
    return max(cores, 1)


def load_model(path: Path, options: LoadOptions, progress: Progress | None = None) -> LlamaModel:
    """Load a GGUF file; with ``gpu_layers`` on *auto*, on the CPU when the GPU can't take it.

    Raises:
        LoadFailed: names the file, the reason and what to do.
        Cancelled: ``progress`` gave it up.
    """
    library.start()
    if options.kv_type != "f16" and options.flash_attention == "off":
        raise LoadFailed(
            f"kvType {options.kv_type} needs flash attention: set flashAttention to auto or on, or "
            "kvType to f16."
        )
    if options.gpu_layers is None and library.has_gpu():
        try:
            return _load(path, replace(options, gpu_layers=-1), progress)
        except LoadFailed as error:
            library.logger.warning("The GPU can't take %s, so the CPU does: %s", path.name, error)
    return _load(path, replace(options, gpu_layers=options.gpu_layers or 0), progress)


def runs_on_cpu(options: LoadOptions) -> bool:
    """Whether a model loaded this way would be on the CPU alone."""
    return options.gpu_layers == 0 or not library.has_gpu()


def _load(path: Path, options: LoadOptions, progress: Progress | None) -> LlamaModel:
    weights = _load_weights(path, options, progress)
    try:
        _check_kind(path, weights)
        _check_memory(path, weights, options)
        return _make_context(path, weights, options)
    except BaseException:
        weights.close()
        raise


def _load_weights(path: Path, options: LoadOptions, progress: Progress | None) -> Weights:
    if not path.is_file():
        raise LoadFailed(f"There is no model file at {path}.")
    params = lib.llama_model_default_params()
    params.n_gpu_layers = options.gpu_layers
    given_up = False

    def report(share: float, _user_data: object) -> bool:
        nonlocal given_up
        given_up = progress is not None and not progress(share)
        return not given_up

    callback = lib.llama_progress_callback(report)
    params.progress_callback = callback
    library.forget_messages()
    handle = lib.llama_model_load_from_file(os.fsencode(path), params)
    if not handle:
        raise Cancelled("The loading was given up.") if given_up else _refused(path)
    return Weights(handle, on_gpu=options.gpu_layers != 0 and library.has_gpu())


def _refused(path: Path) -> LoadFailed:
    reasons = library.last_messages()
    if "not within the file bounds" in reasons or "incomplete" in reasons:
        return LoadFailed(
            f"{path} is truncated: parts of the model are missing. Fetch or copy it again."
        )
    if "magic" in reasons:
        return LoadFailed(
            f"{path} isn't a GGUF file. Choose a model of `specls models list` or a .gguf file."
        )
    if "allocate" in reasons or "memory" in reasons:
        return NoMemory(f"There isn't enough memory for {path}: choose a smaller model. {reasons}")
    return LoadFailed(f"llama.cpp can't load {path}: {reasons or 'it gave no reason'}")


def _check_kind(path: Path, weights: Weights) -> None:
    """A document's tokens must be cut back at each key, and a running state can't be."""
    handle = weights.handle
    if lib.llama_model_is_recurrent(handle) or lib.llama_model_is_hybrid(handle):
        raise LoadFailed(
            f"{path.name} is a recurrent or hybrid model, whose state can't be cut back when text "
            "is deleted: choose a transformer, as are those of `specls models list`."
        )


def _check_memory(path: Path, weights: Weights, options: LoadOptions) -> None:
    """llama.cpp writes to the whole cache at once: refuse what the machine hasn't got.

    Nothing else would: Linux grants the memory and then kills the process that uses it.
    """
    if weights.on_gpu:
        return
    need = options.context_tokens * _cache_bytes_per_token(weights, options)
    free = available_bytes()
    if need > free:
        raise NoMemory(
            f"A context of {options.context_tokens} tokens needs {need / 2**20:,.0f} MiB for "
            f"{path.name}, and {free / 2**20:,.0f} MiB are free: lower contextTokens, or set "
            "kvType to q8_0."
        )


def _cache_bytes_per_token(weights: Weights, options: LoadOptions) -> float:
    model = weights.handle
    heads = max(int(lib.llama_model_n_head(model)), 1)
    width = int(lib.llama_model_n_embd(model)) // heads * int(lib.llama_model_n_head_kv(model))
    return 2 * int(lib.llama_model_n_layer(model)) * width * _KV[options.kv_type][1]


def _make_context(path: Path, weights: Weights, options: LoadOptions) -> LlamaModel:
    micro_batch = options.micro_batch or (1024 if weights.on_gpu else 128)
    params = _context_params(options, micro_batch)
    library.forget_messages()
    context = lib.llama_init_from_model(weights.handle, params)
    if not context:
        raise LoadFailed(
            f"llama.cpp can't make a context of {options.context_tokens} tokens for {path.name}: "
            f"{library.last_messages() or 'it gave no reason'}. Lower contextTokens."
        )
    return LlamaModel(weights, context, micro_batch, _pace(weights, micro_batch))


def _pace(weights: Weights, micro_batch: int) -> Pace:
    """Where the size of batches begins. On a GPU one can't be stopped; on a CPU its work is lost.

    On a CPU a batch ends within one operation of a graph, which is under a hundredth of it. Four
    seconds: on a slow machine with less the size would be one that is half as fast (decision 7).
    """
    if weights.on_gpu:
        return Pace(512, micro_batch, longest=0.05)
    return Pace(64, micro_batch, longest=4.0)


def _context_params(options: LoadOptions, micro_batch: int) -> Any:
    sequences = _SEQUENCES + SPARE_SEQUENCES
    threads = min(options.threads or physical_cores(), os.cpu_count() or 1)
    params = lib.llama_context_default_params()
    params.n_ctx = options.context_tokens
    params.n_batch = params.n_ubatch = max(micro_batch, sequences)
    params.n_seq_max = params.n_outputs_max = sequences
    params.n_threads = params.n_threads_batch = threads
    params.flash_attn_type = _FLASH[options.flash_attention]
    params.type_k = params.type_v = _KV[options.kv_type][0]
    params.kv_unified = True
    params.no_perf = True
    return params


def describe_backend(model: LlamaModel) -> dict[str, object]:
    """What computes, for ``specls/stats``."""
    return {
        "gpu": model.weights.on_gpu,
        "features": library.system_info(),
        "microBatch": model.micro_batch,
        "contextTokens": model.capacity,
    }


def describe_build(model: LlamaModel) -> str:
    """What decides, besides the model, whether a saved state can be read."""
    return f"llama-cpp-python {llama_cpp.__version__} gpu {model.weights.on_gpu}"
