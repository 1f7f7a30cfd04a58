"""Noticing that the client's process died."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable

import psutil

logger = logging.getLogger(__name__)

_POLL_SECONDS = 5.0


async def watch_process(pid: int, on_death: Callable[[], None]) -> None:
    """Call ``on_death`` when the process is gone. Costs nothing while it lives, on Linux.

    A number that can't be watched (another machine's, in a container) is left alone: then only
    the end of the stream tells.
    """
    if not psutil.pid_exists(pid):
        logger.warning("The client's process %d can't be seen from here.", pid)
        return
    if not await _wait_for_pidfd(pid):
        while psutil.pid_exists(pid):  # noqa: ASYNC110 - there's nothing to wait for
            await asyncio.sleep(_POLL_SECONDS)
    on_death()


async def _wait_for_pidfd(pid: int) -> bool:
    """Wait until the process is gone; False where this system can't tell."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return False
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    try:
        loop.add_reader(handle, gone.set)
        await gone.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    return True
