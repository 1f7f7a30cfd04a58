"""`specls serve --shared` with the scripted server. ``python -m tests.e2e.scripted_relay IDLE``."""

from __future__ import annotations

import os
import sys

from specls.errors import SpeclsError
from specls.joining import join
from tests.e2e.guests import SCRIPTED

if __name__ == "__main__":
    try:
        os._exit(join(SCRIPTED, float(sys.argv[1])))
    except SpeclsError as error:
        sys.exit(f"specls: {error}")
