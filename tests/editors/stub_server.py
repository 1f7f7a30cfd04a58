"""The server over a scripted model, for editors: what the model writes stands in a file.

``SPECLS_STUB`` names a JSON file: ``{"text before the cursor ends so": "what the model writes"}``;
the longest key that fits counts, and where none fits the model writes nothing. It's read at each
prompt, so a test may change it. Started with ``python -m tests.editors.stub_server``; what comes
behind that is ignored, since editors add arguments of their own.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.service.prompts import Built
from tests.e2e.scripted_server import Recorded, ScriptedLoader, main

_FILE = "SPECLS_STUB"


def answer_to(before: str, rules: dict[str, str]) -> str:
    """What the model writes behind this text."""
    fitting = [ending for ending in rules if before.endswith(ending)]
    return rules[max(fitting, key=len)] if fitting else ""


class Ruled(Recorded):
    """A builder of prompts that has the author write what the file says."""

    def build(
        self,
        snapshot: Snapshot,
        position: Position,
        budget: tuple[int, int],
        layout: str = "cursor",
        *,
        renew: bool = False,
        partial: bool = False,
    ) -> Built:
        rules = json.loads(Path(os.environ[_FILE]).read_text("utf-8"))
        lines = [snapshot.text.content(line) for line in range(position.line + 1)]
        before = "\n".join([*lines[:-1], lines[-1][: position.column]])
        self.author.answer = list(answer_to(before, rules).encode())
        return super().build(snapshot, position, budget, layout, renew=renew, partial=partial)


class StubLoader(ScriptedLoader):
    """A loader whose model writes what the file says."""

    builder = Ruled


if __name__ == "__main__":
    sys.exit(main(StubLoader))
