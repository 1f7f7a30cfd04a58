"""``python -m specls``: the same as the ``specls`` command."""

import sys

from specls.cli import main

sys.exit(main())
