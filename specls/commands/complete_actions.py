"""What ``specls complete`` does and prints."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text as RichText

from specls.app import loader
from specls.commands.options import settings_of
from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.core import CancelToken, Source
from specls.errors import Cancelled, SettingsError
from specls.service.completion import Completion, Request, complete
from specls.service.exclude import Exclusion
from specls.service.interface import Runtime
from specls.settings import Settings

_MOST_DIGITS = 10
_COLOURS = {
    Source.TARGET: "bold cyan",
    Source.PREVIOUS: "bold magenta",
    Source.COPY: "bold yellow",
    Source.LOOKUP: "bold yellow",
    Source.DRAFT: "bold green",
}
_WORDS = {
    Source.TARGET: "the target's own",
    Source.PREVIOUS: "suggested before, accepted",
    Source.COPY: "copied, accepted",
    Source.LOOKUP: "looked up, accepted",
    Source.DRAFT: "drafted, accepted",
}


def run(arguments: argparse.Namespace) -> int:
    """Load the models, complete once, print."""
    settings = settings_of(arguments)
    snapshot, position = read_place(arguments.place)
    if (reason := exclusion_of(settings).reason(snapshot.uri, snapshot.language)) is not None:
        raise SettingsError(f"Nothing is completed in {arguments.place}: {reason}.")
    runtime = _load(settings)
    try:
        alternatives = 1 if settings.temperature else settings.alternatives
        request = Request(snapshot, position, settings, alternatives, explicit=True)
        completion = complete(runtime, request, CancelToken())
    finally:
        runtime.close()
    if arguments.json:
        answer = _as_json(arguments.place, runtime, completion)
        print(json.dumps(answer, ensure_ascii=not _speaks_unicode()))
    else:
        _show(snapshot, position, runtime, completion)
    return 0


def exclusion_of(settings: Settings) -> Exclusion:
    """What the settings exclude, patterns seen from the current folder."""
    return Exclusion(settings.exclude, settings.enable, [Path.cwd().as_uri()])


def read_place(place: str) -> tuple[Snapshot, Position]:
    """The document and the position that ``FILE:LINE:COL`` names.

    Raises:
        SettingsError: it isn't of that form, the file can't be read as text, or the position lies
            outside of it.
    """
    name, line, column = ([*place.rsplit(":", 2), "", ""])[:3]
    if not (name and _is_number(line) and _is_number(column)):
        raise SettingsError(f"{place!r} isn't FILE:LINE:COL, as in main.py:12:5.")
    try:
        text = Text(Path(name).read_bytes().decode("utf-8"))
    except OSError as error:
        raise SettingsError(f"{name} can't be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{name} isn't UTF-8 text.") from error
    snapshot = Snapshot(Path(name).resolve().as_uri(), 0, Path(name).suffix.lstrip("."), text)
    return snapshot, _position(text, name, int(line), int(column))


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < _MOST_DIGITS


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().startswith("utf")


def _position(text: Text, name: str, line: int, column: int) -> Position:
    if not 1 <= line <= len(text):
        raise SettingsError(f"{name} has lines 1 to {len(text)}, and not {line}.")
    longest = len(text.content(line - 1)) + 1
    if not 1 <= column <= longest:
        raise SettingsError(f"Line {line} of {name} has columns 1 to {longest}, and not {column}.")
    return Position(line - 1, column - 1)


def _load(settings: Settings) -> Runtime:
    console = Console(stderr=True)
    with console.status(f"loading {settings.model}"), _interruptible() as wanted:
        try:
            runtime = loader()(settings, lambda _share: wanted())
        except Cancelled:
            raise KeyboardInterrupt from None
    for notice in runtime.notices:
        console.print(f"specls: {notice}", style="yellow", highlight=False, soft_wrap=True)
    return runtime


@contextlib.contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Whether to go on, asked while llama.cpp loads: Ctrl-C can't raise through its callbacks."""
    pressed = threading.Event()
    before = signal.signal(signal.SIGINT, lambda _number, _frame: pressed.set())
    try:
        yield lambda: not pressed.is_set()
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed.is_set():
        raise KeyboardInterrupt


def _as_json(place: str, runtime: Runtime, completion: Completion) -> dict[str, object]:
    return {
        "place": place,
        "text": completion.text,
        "alternatives": list(completion.alternatives),
        "tokens": [{"text": span.text, "source": span.source.value} for span in completion.spans],
        "models": dict(runtime.models),
        "stats": {**completion.stats.as_dict(), "totalMs": round(1000 * completion.seconds, 2)},
    }


def _show(snapshot: Snapshot, position: Position, runtime: Runtime, completion: Completion) -> None:
    console = Console(highlight=False)
    line = snapshot.text.content(position.line)
    bar = "│" if _speaks_unicode() else "|"
    text = RichText(f"{position.line + 1:>5} {bar} ", style="dim")
    text.append(line[: position.column], style="not dim")
    for span in completion.spans:
        text.append(_lines(span.text, bar), style=f"not dim {_COLOURS[span.source]}")
    text.append(line[position.column :], style="not dim")
    console.print(text, soft_wrap=True)
    for other in completion.alternatives:
        text = RichText(f"   or {bar} ", style="dim")
        text.append(" " * position.column + _lines(other, bar), style="not dim")
        console.print(text, soft_wrap=True)
    if not completion.text:
        console.print("      the model has nothing to add here", style="dim")
    console.print()
    for row in _rows(runtime, completion):
        console.print(row, soft_wrap=True)


def _lines(text: str, bar: str) -> str:
    """The text with all but its first line behind a bar."""
    return text.replace("\n", f"\n      {bar} ")


def _rows(runtime: Runtime, completion: Completion) -> Sequence[RichText]:
    stats = completion.stats
    models = runtime.models
    names = f"{models['target']}, speculation {models['speculation']}"
    draft = f", draft {models['draft']}" if models["draft"] else ""
    return [
        _legend(completion),
        RichText(f"model   {names}{draft}"),
        RichText(
            f"prompt  {stats.prompt_tokens} tokens, {stats.reused_tokens} of them reused; "
            f"prefill {1000 * stats.prefill_seconds:.0f} ms, "
            f"first token after {1000 * stats.first_token_seconds:.0f} ms"
        ),
        RichText(
            f"answer  {stats.generated_tokens} tokens in {1000 * stats.decode_seconds:.0f} ms "
            f"({stats.decode_tokens_per_second:.1f} tokens/s), "
            f"{stats.tokens_per_pass:.2f} tokens per target pass"
        ),
        *_draft_rows(completion),
    ]


def _draft_rows(completion: Completion) -> Sequence[RichText]:
    stats = completion.stats
    return [
        RichText(
            f"{source.value:<8}{stats.accepted.get(source, 0)} of {drafted} tokens accepted "
            f"({100 * stats.acceptance(source):.0f} %)"
        )
        for source, drafted in stats.drafted.items()
    ]


def _legend(completion: Completion) -> RichText:
    text = RichText("tokens  ")
    for source in Source:
        if any(span.source is source for span in completion.spans):
            text.append("■ " if _speaks_unicode() else "# ", style=_COLOURS[source])
            text.append(f"{_WORDS[source]}   ")
    return text
