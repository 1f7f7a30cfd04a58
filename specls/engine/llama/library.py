"""llama.cpp as a library: started once, its log lines caught, its features asked for."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from collections import deque
from collections.abc import Callable
from functools import lru_cache

import llama_cpp.llama_cpp as lib

logger = logging.getLogger(__name__)

_WARNING = 3
_recent: deque[str] = deque(maxlen=8)


@lib.llama_log_callback  # type: ignore[untyped-decorator]
def _on_log(level: int, text: bytes, _user_data: object) -> None:
    line = text.decode("utf-8", "replace").strip()
    if level >= _WARNING and line:
        _recent.append(line)
    if line:
        logger.debug("%s", line)


@lru_cache(maxsize=1)
def start() -> None:
    """Start the back ends and catch what llama.cpp would print to stderr. Later calls do nothing.

    The callback is a module global: ctypes needs it alive as long as the process.
    """
    # A failed assertion in llama.cpp ends the process; without this it would call gdb first.
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    lib.llama_log_set(_on_log, ctypes.c_void_p(0))
    lib.llama_backend_init()


def forget_messages() -> None:
    """Drop the messages remembered so far, before an attempt whose reasons matter."""
    _recent.clear()


def last_messages() -> str:
    """The last warnings and errors of llama.cpp, for an error message: one line each."""
    return "\n".join(_recent)


def has_gpu() -> bool:
    """Whether a GPU back end is compiled in and finds a device."""
    return bool(lib.llama_supports_gpu_offload())


def system_info() -> str:
    """The processor features that llama.cpp uses, in its own words."""
    info: bytes = lib.llama_print_system_info()
    return info.decode("utf-8", "replace").strip(" |")


def flag_reader() -> Callable[[int], bool]:
    """A C function that tells whether the byte at an address is set, as an abort callback.

    llama.cpp asks between any two nodes of a graph, on the thread that computes. A Python callback
    would have to wait for the interpreter's lock there, behind whatever the event loop does. The C
    library's ``strlen`` needs no lock and is just right for a flag that is one byte and then a
    zero: it returns 0 or 1.
    """
    libc = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
    reader: Callable[[int], bool] = ctypes.cast(libc.strlen, lib.ggml_abort_callback)
    return reader
