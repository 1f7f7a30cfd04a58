"""The Neovims that `setup_nvim.sh` puts on this machine, and where the plugin lies."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "editors" / "nvim"
FOLDER = Path(os.environ.get("SPECLS_EDITORS", Path.home() / ".cache" / "specls-editors")) / "nvim"
VERSIONS = ("0.10", "0.11", "0.12")


def program(version: str) -> str:
    """The path of a Neovim.

    Raises:
        FileNotFoundError: it isn't set up.
    """
    path = FOLDER / f"nvim-{version}"
    if not path.exists():
        raise FileNotFoundError(f"{path} isn't there: `make test-editors` sets it up.")
    return str(path)
