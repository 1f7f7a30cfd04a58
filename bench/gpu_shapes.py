"""Model files with random weights in the shapes of real models: for time, never for text.

A pass takes as long whatever the weights are. So where the real files can't be brought along,
files of the same shapes are made on the spot; what such a model says means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

_BLOCK, _BLOCK_BYTES = 32, 18
"""Weights of a Q4_0 block, and its bytes: a scale of two and half a byte for each weight."""

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Shape:
    """The sizes of a Qwen2.5 model (its ``config.json``)."""

    embedding: int
    layers: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocabulary: int = 151_936
    tied: bool = False
    """Whether the output matrix is that of the input."""


SHAPES = {
    "tiny": Shape(256, 4, 4, 2, 1024, 2048, tied=True),
    "0.5b": Shape(896, 24, 14, 2, 4864, tied=True),
    "1.5b": Shape(1536, 28, 12, 2, 8960, tied=True),
    "7b": Shape(3584, 28, 28, 4, 18_944, 152_064),
    "14b": Shape(5120, 48, 40, 8, 13_824, 152_064),
}
"""By name; ``tiny`` is no real model, and there to try the scripts with."""


def matrices(shape: Shape) -> Iterator[tuple[str, int, int]]:
    """The name, rows and columns of each matrix, as llama.cpp calls them."""
    wide, narrow = shape.embedding, shape.embedding // shape.heads * shape.kv_heads
    yield "token_embd.weight", shape.vocabulary, wide
    if not shape.tied:
        yield "output.weight", shape.vocabulary, wide
    for layer in range(shape.layers):
        yield f"blk.{layer}.attn_q.weight", wide, wide
        yield f"blk.{layer}.attn_k.weight", narrow, wide
        yield f"blk.{layer}.attn_v.weight", narrow, wide
        yield f"blk.{layer}.attn_output.weight", wide, wide
        yield f"blk.{layer}.ffn_gate.weight", shape.feed_forward, wide
        yield f"blk.{layer}.ffn_up.weight", shape.feed_forward, wide
        yield f"blk.{layer}.ffn_down.weight", wide, shape.feed_forward


def vectors(shape: Shape) -> Iterator[tuple[str, int, float]]:
    """The name, length and value of each vector: norms of one, biases of zero."""
    wide, narrow = shape.embedding, shape.embedding // shape.heads * shape.kv_heads
    yield "output_norm.weight", wide, 1.0
    for layer in range(shape.layers):
        yield f"blk.{layer}.attn_norm.weight", wide, 1.0
        yield f"blk.{layer}.ffn_norm.weight", wide, 1.0
        yield f"blk.{layer}.attn_q.bias", wide, 0.0
        yield f"blk.{layer}.attn_k.bias", narrow, 0.0
        yield f"blk.{layer}.attn_v.bias", narrow, 0.0


def random_matrix(rows: int, columns: int, random: np.random.Generator) -> Bytes:
    """Random Q4_0 weights, shape ``(rows, bytes of a row)``, that keep a vector's size."""
    blocks = columns // _BLOCK
    data = random.integers(0, 256, (rows, blocks, _BLOCK_BYTES), dtype=np.uint8)
    scale = np.array([0.2 / np.sqrt(columns)], dtype=np.float16)
    data[:, :, :2] = scale.view(np.uint8)
    return data.reshape(rows, blocks * _BLOCK_BYTES)


def write(path: Path, shape: Shape, seed: int = 0) -> None:
    """Write a GGUF file of a shape, in Q4_0. Takes a gigabyte of memory more than the file has."""
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_name("random weights")
    writer.add_block_count(shape.layers)
    writer.add_context_length(32_768)
    writer.add_embedding_length(shape.embedding)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1_000_000.0)
    _add_vocabulary(writer, shape.vocabulary)
    for name, rows, columns in matrices(shape):
        data = random_matrix(rows, columns, random)
        writer.add_tensor(name, data, raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    for name, length, value in vectors(shape):
        writer.add_tensor(name, np.full(length, value, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer: gguf.GGUFWriter, size: int) -> None:
    """A vocabulary of the right size: the bytes, an end, and words that no text has."""
    tokens = [*_byte_characters(), "<end>"]
    tokens += [f"w{number}" for number in range(size - len(tokens))]
    kinds = [gguf.TokenType.NORMAL] * size
    kinds[256] = gguf.TokenType.CONTROL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(["w 1"])
    writer.add_eos_token_id(256)
    writer.add_pad_token_id(256)
    writer.add_add_bos_token(value=False)


def _byte_characters() -> list[str]:
    """The printable character that stands for each byte in vocabularies like GPT-2's."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]
