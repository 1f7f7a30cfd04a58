"""llama-server's ``/infill``, asked as the plugin llama.vim asks it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from specls.bench.arms import Answer
from specls.context import filters
from specls.context.document import Snapshot
from specls.context.place import place_of
from specls.context.stop import end_of
from specls.context.text import Position
from specls.context.window import Window, plain
from specls.errors import SettingsError

PREFIX_LINES = 256
SUFFIX_LINES = 64

SAMPLING: Mapping[str, object] = {
    "top_k": 40,
    "top_p": 0.90,
    "samplers": ["top_k", "top_p", "infill"],
    "stream": False,
    "cache_prompt": True,
    "t_max_prompt_ms": 500,
    "t_max_predict_ms": 250,
    "stop": [],
    "input_extra": [],
    "id_slot": 0,
}
"""What llama.vim sends beside the text: its defaults, with the time of a request whose answer is
shown. Extra chunks of other files are left out."""

START = "llama-server -m MODEL --port 8012 --host 127.0.0.1 -c 8192 -b 1024 -ub 1024 -t 2"
"""How to start one. It cuts the text before the cursor at 3/4 of ``-b`` tokens and what follows it
at 1/4, so that these are to be the same as ``--prefix-tokens`` and ``--suffix-tokens``."""

_TIMEOUT_SECONDS = 120.0


class LlamaServerArm:
    """A running llama-server."""

    name = "llama-server"

    def __init__(self, url: str, max_tokens: int, timeout: float = _TIMEOUT_SECONDS) -> None:
        """Look whether it answers at ``url``.

        Raises:
            SettingsError: it doesn't; the message says how to start one.
        """
        if urlsplit(url).scheme not in {"http", "https"}:
            raise SettingsError(f"--llama-server: {url!r} isn't of the form http://HOST:PORT.")
        self._url = url.rstrip("/")
        self._max_tokens = max_tokens
        self._timeout = timeout
        try:
            self._call("/health")
            self.model = str(self._call("/props").get("model_path", ""))
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"No llama-server that is ready answers at {url} ({_reason(error)}). "
                f"Start one with: {START}"
            ) from error

    def warning(self, model: Path) -> str | None:
        """What is to be said if the server has another model file than ``model``."""
        theirs = Path(self.model).name
        if theirs == model.name:
            return None
        return f"llama-server has loaded {theirs or 'an unknown model'}, and specls {model.name}."

    async def begin(self, documents: Iterable[Snapshot]) -> None:
        """A server knows no documents that could be opened."""

    async def answer(self, snapshot: Snapshot, position: Position) -> Answer:
        """Time one request. The time to the first token is the server's own, HTTP excluded."""
        body = request_body(snapshot, position, self._max_tokens)
        started = perf_counter()
        try:
            reply = await asyncio.to_thread(self._call, "/infill", body)
        except (OSError, ValueError):
            return Answer(None, 1000 * (perf_counter() - started))
        latency = 1000 * (perf_counter() - started)
        timings = reply.get("timings", {})
        read = timings.get("prompt_n")
        total = None if read is None else read + timings.get("cache_n", 0)
        text = shown(str(reply.get("content", "")), snapshot, position)
        return Answer(text, latency, timings.get("prompt_ms"), total, read, "infill")

    async def finish(self) -> None:
        """A server knows no documents that could be closed."""

    def _call(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(self._url + path, data, headers)  # noqa: S310 - http(s), see __init__
        try:
            with urlopen(request, timeout=self._timeout) as reply:  # noqa: S310
                answer = json.loads(reply.read())
        except HTTPError as error:
            with error:
                raise OSError(f"HTTP status {error.code}") from error
        if not isinstance(answer, dict):
            raise ValueError("the answer is no JSON object")  # noqa: TRY004 - a value from outside
        return answer


def request_body(snapshot: Snapshot, position: Position, max_tokens: int) -> dict[str, object]:
    """What llama.vim sends for a place; on a blank line it asks from the line's beginning."""
    text, line = snapshot.text, snapshot.text.content(position.line)
    blank = not line.strip()
    above = text.lines(position.line - PREFIX_LINES, position.line)
    below = text.lines(position.line + 1, position.line + 1 + SUFFIX_LINES)
    tail = "" if blank else line[position.column :]
    return {
        "input_prefix": plain("".join(above)),
        "prompt": "" if blank else line[: position.column],
        "input_suffix": "\n".join([tail, *(plain(each).rstrip("\n") for each in below)]) + "\n",
        "n_predict": max_tokens,
        "n_indent": 0 if blank else len(line) - len(line.lstrip()),
        **SAMPLING,
    }


def shown(content: str, snapshot: Snapshot, position: Position) -> str:
    """What may be shown of an answer, by the rules that end and trim our own."""
    text, line = snapshot.text, snapshot.text.content(position.line)
    if not line.strip():
        lead = len(content) - len(content.lstrip(" \t"))
        content = content[min(lead, len(line)) :]
    above = plain("".join(text.lines(position.line - PREFIX_LINES, position.line)))
    below = plain("".join(text.lines(position.line + 1, position.line + 1 + SUFFIX_LINES)))
    window = Window(f"{above}{line[: position.column]}", f"{line[position.column :]}\n{below}")
    place = place_of(window, snapshot.language)
    content = filters.fitted(content, place)
    return filters.shown(content[: end_of(content, place)], place)


def _reason(error: Exception) -> object:
    return error.reason if isinstance(error, URLError) else error
