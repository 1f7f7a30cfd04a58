"""A page in a real browser, which talks to the server over a WebSocket."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue

import psutil
import pytest

from tests.e2e.guests import Host
from tests.e2e.rawclient import DEADLINE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium isn't installed"),
]

PAGE = """
<script>
  const tell = (told) => fetch("/told?" + told);
  const connection = new WebSocket("PLACE");
  connection.onopen = () => connection.send(JSON.stringify(
    {jsonrpc: "2.0", id: 1, method: "initialize", params: {capabilities: {}}}));
  connection.onmessage = (event) =>
    tell(typeof event.data + "-" + JSON.parse(event.data).result.serverInfo.name);
  connection.onerror = () => tell("refused");
</script>
"""


class Site(ThreadingHTTPServer):
    """Serves one page, and hears what it tells."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page = ""
        self.told: Queue[str] = Queue()


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        _, told, what = self.path.partition("/told?")
        if told:
            self.server.told.put(what)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.server.page.encode())

    def log_message(self, *_args: object) -> None:
        return


@pytest.fixture
def site() -> Iterator[Site]:
    """A site for browsers."""
    with Site() as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield site
        site.shutdown()


def told(site: Site, host: str, profile: Path) -> str:
    """What the page tells that a browser opens under this host's name."""
    options = ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}")
    url = f"http://{host}:{site.server_port}/"
    browser = psutil.Popen(
        (str(CHROMIUM), *options, url), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        return site.told.get(timeout=DEADLINE)
    finally:
        for process in (*browser.children(recursive=True), browser):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        browser.wait()


def test_a_page_is_served_if_it_was_named(site: Site, tmp_path: Path) -> None:
    """The same page from the origin that was named gets text, and from another one nothing."""
    allowed = f"http://localhost:{site.server_port}"
    host = Host(tmp_path / "host.log", "--ws", "127.0.0.1:0", "--allow-origin", allowed)
    try:
        site.page = PAGE.replace("PLACE", host.place())
        assert told(site, "localhost", tmp_path / "one") == "string-specls"
        assert told(site, "127.0.0.1", tmp_path / "two") == "refused"
    finally:
        host.kill()
