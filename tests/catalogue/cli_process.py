"""`specls models …` as a process whose catalogue holds only the tiny model.

The arguments are those of `specls`.
"""

from __future__ import annotations

import argparse
import sys
from unittest import mock

from specls.catalogue import store
from specls.commands import models
from tests.catalogue.fakes import WHEELS, catalogue_of, tiny


def main() -> int:
    """Run the subcommand."""
    parser = argparse.ArgumentParser("specls")
    models.register(parser.add_subparsers(required=True))
    arguments = parser.parse_args()
    with mock.patch.object(store, "load_catalogue", return_value=catalogue_of(tiny(WHEELS))):
        return int(arguments.run(arguments))


if __name__ == "__main__":
    sys.exit(main())
