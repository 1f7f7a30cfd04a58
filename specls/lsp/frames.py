"""Frames as LSP has them on a stream of bytes: a header with the length, and a JSON text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import BinaryIO

LARGEST_BODY = 256 * 2**20
"""Bytes; a longer message is passed over."""

_LARGEST_PASSED_OVER = 64 * 2**30
"""Bytes; that a message is longer than this is more likely garbage."""

_PIECE = 2**20
_LONGEST_LINE = 4096
_MOST_LINES = 64
_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_CHARSET = re.compile(rb"content-type:.*;[ \t]*charset=[\"']?([^\"';\s]+).*\n", re.IGNORECASE)
_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\n]*\n")
_UTF8 = {"utf-8", "utf8"}  # the specification names both


class FramingError(Exception):
    """The stream isn't what LSP prescribes, and where the next message begins is unknown."""


@dataclass(frozen=True)
class Refused:
    """A message whose end is known and that isn't read: what to tell the client."""

    reason: str


def read_frame(stream: BinaryIO, largest: int = LARGEST_BODY) -> bytes | Refused | None:
    """The body of the next message, of at most ``largest`` bytes; None at the end of the stream.

    Raises:
        FramingError: no valid header comes, the stream ends inside a message, or the message is
            so long that its length must be garbage.
    """
    lines = _read_header(stream)
    if not lines:
        return None
    length = _length(lines)
    if length > largest:
        _pass_over(stream, length)
        return Refused(f"The message has {length} bytes; the most is {largest}.")
    body = stream.read(length)
    if len(body) < length:
        raise FramingError("the stream ended inside a message")
    charset = next(
        (found[1].decode("ascii", "replace") for found in map(_CHARSET.fullmatch, lines) if found),
        "utf8",
    )
    if charset.lower() not in _UTF8:
        return Refused(f"The charset {charset} isn't known here; send utf-8.")
    return body


def _read_header(stream: BinaryIO) -> list[bytes]:
    """The lines of a header, without the empty one behind them; none at the end of the stream."""
    lines: list[bytes] = []
    while line := stream.readline(_LONGEST_LINE):
        if line in {b"\r\n", b"\n"}:
            return lines or [line]
        if not _HEADER.fullmatch(line):
            # What a browser was made to send here ends at its first line, which has a blank.
            raise FramingError("a line that is no header")
        lines.append(line)
        if len(lines) > _MOST_LINES:
            raise FramingError("a header that doesn't end")
    if lines:
        raise FramingError("the stream ended inside a header")
    return lines


def _length(lines: list[bytes]) -> int:
    lengths = {int(found[1]) for found in map(_LENGTH.fullmatch, lines) if found}
    if not lengths:
        raise FramingError("a header without Content-Length")
    if len(lengths) > 1:
        raise FramingError("a header with several lengths")
    return lengths.pop()


def _pass_over(stream: BinaryIO, length: int) -> None:
    """Skip a body without keeping it."""
    if length > _LARGEST_PASSED_OVER:
        raise FramingError(f"a message of {length} bytes; the most is {LARGEST_BODY}")
    while length:
        piece = stream.read(min(length, _PIECE))
        if not piece:
            raise FramingError("the stream ended inside a message")
        length -= len(piece)
