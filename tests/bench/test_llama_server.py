"""What a llama-server is asked, and what is made of its answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from specls.bench.llama_server import LlamaServerArm, request_body, shown
from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.errors import SettingsError


class Fake(BaseHTTPRequestHandler):
    """Answers as llama-server does, and keeps what it was asked."""

    asked: ClassVar[list[dict[str, Any]]] = []
    answers: ClassVar[dict[str, dict[str, Any]]] = {}

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.asked.append(json.loads(self.rfile.read(size)))
        self._answer()

    def _answer(self) -> None:
        known = self.answers.get(self.path)
        body = json.dumps(known or {}).encode()
        self.send_response(200 if known is not None else 503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Fake.asked.clear()
    Fake.answers = {
        "/health": {"status": "ok"},
        "/props": {"model_path": "somewhere/target.gguf"},
        "/infill": {
            "content": "width)\nprint(area)\n",
            "timings": {"prompt_n": 12, "cache_n": 300, "prompt_ms": 34.5},
        },
    }
    server = HTTPServer(("127.0.0.1", 0), Fake)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def snapshot(text: str) -> tuple[Snapshot, Position]:
    """A document and the position of its bar."""
    before, after = text.split("|")
    lines = before.split("\n")
    position = Position(len(lines) - 1, len(lines[-1]))
    return Snapshot("file:///a.py", 1, "python", Text(before + after)), position


async def test_a_request_is_sent_as_llama_vim_does(url: str) -> None:
    """The body has llama.vim's fields and values, the answer the server's numbers."""
    arm = LlamaServerArm(url + "/", max_tokens=16)
    answer = await arm.answer(*snapshot("a = 1\nif a:\n    area = size(|\nb = 2\n"))
    (asked,) = Fake.asked
    assert asked == {
        "input_prefix": "a = 1\nif a:\n",
        "prompt": "    area = size(",
        "input_suffix": "\nb = 2\n\n",
        "n_predict": 16,
        "n_indent": 4,
        "top_k": 40,
        "top_p": 0.9,
        "samplers": ["top_k", "top_p", "infill"],
        "stream": False,
        "cache_prompt": True,
        "t_max_prompt_ms": 500,
        "t_max_predict_ms": 250,
        "stop": [],
        "input_extra": [],
        "id_slot": 0,
    }
    assert answer.text == "width)"
    assert (answer.prompt_tokens, answer.decoded_tokens) == (312, 12)
    assert answer.first_token_ms == 34.5
    assert answer.latency_ms > 0


def test_windows_are_counted_in_lines() -> None:
    """256 lines before the cursor's line are sent, and 64 behind it."""
    lines = [f"line {number}" for number in range(600)]
    text = Snapshot("file:///a.py", 1, "python", Text("\n".join(lines)))
    body = request_body(text, Position(300, 4), 8)
    assert body["input_prefix"] == "\n".join(lines[44:300]) + "\n"
    assert body["prompt"] == "line"
    assert body["input_suffix"] == " 300\n" + "\n".join(lines[301:365]) + "\n"


def test_a_blank_line_is_asked_for_from_its_beginning() -> None:
    """There the prompt is empty, and the indentation that comes isn't shown twice."""
    where = snapshot("if a:\n    |\nb = 2\n")
    body = request_body(*where, 8)
    assert (body["prompt"], body["n_indent"]) == ("", 0)
    assert body["input_suffix"] == "\nb = 2\n\n"
    assert shown("    return a\n", *where) == "return a"


def test_answers_end_by_our_rules() -> None:
    """What repeats the text behind the cursor isn't counted."""
    assert shown("x + 1)", *snapshot("print(|)\n")) == "x + 1"


async def test_a_failing_server_gives_no_answer(url: str) -> None:
    """A request that fails while measuring counts as not answered."""
    arm = LlamaServerArm(url, max_tokens=16)
    del Fake.answers["/infill"]
    answer = await arm.answer(*snapshot("x = |\n"))
    assert answer.text is None
    assert answer.latency_ms > 0


def test_another_model_is_told(url: str) -> None:
    """The file's name decides: paths may differ."""
    arm = LlamaServerArm(url, max_tokens=16)
    assert arm.warning(Path("elsewhere/target.gguf")) is None
    assert "target.gguf" in str(arm.warning(Path("elsewhere/other.gguf")))


def test_a_server_that_isnt_ready_is_refused(url: str) -> None:
    """While it loads its model, it says so with 503."""
    del Fake.answers["/health"]
    with pytest.raises(SettingsError, match="503"):
        LlamaServerArm(url, max_tokens=16)


@pytest.mark.parametrize(
    "wrong", ["http://127.0.0.1:9", "localhost:8012", "file:///tmp", "http://"]
)
def test_without_a_server_the_message_helps(wrong: str) -> None:
    """The URL is named, and how to start a server or to write the URL."""
    with pytest.raises(SettingsError, match="llama-server") as caught:
        LlamaServerArm(wrong, max_tokens=16)
    assert wrong in str(caught.value)
