"""What a keystroke costs: the same keys typed with the anchored prompt and with the usual one.

In files of the standard library, at the same places, in turn; medians and ratios. Answering from
what was shown before is left out: each key is answered by the model.

    python -m bench.typing [--places N] [--keys N]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import sysconfig
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from specls.app import loader
from specls.context.document import Change, Snapshot
from specls.context.text import Encoding, Position, Text
from specls.core import CancelToken
from specls.service.completion import Request, complete
from specls.service.interface import Runtime
from specls.settings import Settings

FILES = ("argparse.py", "calendar.py", "csv.py", "fractions.py", "queue.py", "shlex.py")
LAYOUTS = ("anchored", "cursor")


@dataclass
class Figures:
    """What was measured for one layout."""

    first: list[float] = field(default_factory=list)
    """Milliseconds until the answer at a new place."""
    keys: list[float] = field(default_factory=list)
    """Milliseconds until the answer to a key."""
    decoded: list[int] = field(default_factory=list)
    """Prompt tokens decoded for a key."""
    matched: int = 0
    """Characters of the answers that are what the file has there."""


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=6, help="(%(default)s)")
    parser.add_argument("--keys", type=int, default=6, help="typed at each place (%(default)s)")
    parser.add_argument("--prefix", type=int, default=192, help="tokens (%(default)s)")
    parser.add_argument("--suffix", type=int, default=64, help="tokens (%(default)s)")
    arguments = parser.parse_args()
    settings = Settings(
        max_tokens=16,
        prefix_tokens=arguments.prefix,
        suffix_tokens=arguments.suffix,
        cold_budget_ms=0,
    )
    runtime = loader()(settings, lambda _share: True)
    figures = {layout: Figures() for layout in LAYOUTS}
    for number in range(arguments.places):
        for layout in LAYOUTS:
            chosen = replace(settings, prompt_layout=layout)
            _type(runtime, chosen, number, arguments.keys, figures[layout])
    runtime.close()
    _print(figures)
    return 0


def _type(runtime: Runtime, settings: Settings, number: int, keys: int, figures: Figures) -> None:
    """Remove the end of a line of a file and type it again, key by key."""
    name = FILES[number % len(FILES)]
    path = Path(sysconfig.get_path("stdlib")) / name
    text = Text(path.read_text(encoding="utf-8"))
    line, column = _place(text, random.Random(number), keys)  # noqa: S311 - no secret
    truth = text.content(line)[column:]
    text = text.replace(Position(line, column), Position(line, column + len(truth)), "")
    uri = f"{path.as_uri()}#{settings.prompt_layout}{number}"
    snapshot = Snapshot(uri, 1, "python", text)
    for typed in range(keys + 1):
        position = Position(line, column + typed)
        done = complete(runtime, Request(snapshot, position, settings), CancelToken())
        figures.matched += _common(done.text, truth[typed:])
        if typed:
            figures.keys.append(1000 * done.seconds)
            figures.decoded.append(done.stats.prefilled_tokens)
        else:
            figures.first.append(1000 * done.seconds)
        place = (line, column + typed)
        change = Change(truth[typed : typed + 1], place, place)
        snapshot = snapshot.changed([change], typed + 2, Encoding.UTF32)
    runtime.engine.close(uri)


def _place(text: Text, choice: random.Random, keys: int) -> tuple[int, int]:
    while True:
        line = choice.randrange(20, len(text) - 10)
        content = text.content(line)
        start = len(content) - len(content.lstrip())
        if len(content.strip()) > keys + 8 and not content.strip().startswith(("#", '"', "'")):
            return line, choice.randrange(start, len(content) - keys - 4)


def _common(left: str, right: str) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )


def _print(figures: dict[str, Figures]) -> None:
    table = Table(title="one key, answered by the model")
    for column in ("", "new place, ms", "key P50, ms", "key P95, ms", "tokens read", "matched"):
        table.add_column(column, justify="right" if column else "left")
    for layout, each in figures.items():
        table.add_row(
            layout,
            f"{statistics.median(each.first):.0f}",
            f"{statistics.median(each.keys):.0f}",
            f"{statistics.quantiles(each.keys, n=20)[-1]:.0f}",
            f"{statistics.median(each.decoded):.0f}",
            str(each.matched),
        )
    console = Console()
    console.print(table)
    anchored, cursor = figures["anchored"], figures["cursor"]
    ratio = statistics.median(cursor.keys) / statistics.median(anchored.keys)
    console.print(f"a key costs the usual prompt {ratio:.1f} times as much time (medians)")


if __name__ == "__main__":
    sys.exit(main())
