"""`specls settings`: every setting, for people and for editors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001

_FORMATS = ("markdown", "json-schema", "vscode")


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "settings",
        help="print every setting with its range, as a page or as a schema",
        description="Print every setting with its default, what is allowed and what it does.",
    )
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        default=_FORMATS[0],
        help="a page; a JSON schema; or what package.json of a VS Code extension has under "
        "contributes.configuration.properties (default: %(default)s)",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from specls.settings.pages import FORMATS  # noqa: PLC0415 - keeps `specls --help` quick

    sys.stdout.write(FORMATS[arguments.format]())
    return 0
