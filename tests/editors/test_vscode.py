"""The extension in VS Code itself: code-server in Chromium, with the real server and model.

One window is used by all tests. Each takes a document of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.editors.code_server import EXTENSION, HOME, CodeServer
from tests.editors.workbench import Workbench, chromium

pytestmark = [pytest.mark.editors, pytest.mark.model]

SETTINGS = {
    "specls.prefixTokens": 128,
    "specls.suffixTokens": 32,
    "specls.maxTokens": 32,
    "specls.contextTokens": 2048,
    "specls.threads": 2,
}
"""Small windows: what's seen is to come in a second or two on slow processors as well."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodeServer]:
    """A code-server with our extension."""
    assert (EXTENSION / "dist" / "extension.js").exists(), "the extension isn't built: make vscode"
    assert HOME.exists(), "code-server isn't here: tests/editors/setup_code_server.sh"
    running = CodeServer(tmp_path_factory.mktemp("vscode"), SETTINGS)
    yield running
    running.close()


@pytest.fixture(scope="module")
def code(server: CodeServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """Its window, with the model loaded."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only these tests need it

    with sync_playwright() as playwright:
        context = chromium(playwright, tmp_path_factory.mktemp("profile"))
        window = Workbench(context.pages[0], server)
        window.open("first.py", "|\n")
        window.wait_until_ready()
        yield window
        context.close()


def test_ghost_text_is_what_the_server_sent(code: Workbench) -> None:
    """A line is begun; the rest is seen behind the cursor, and Tab writes it."""
    code.open("add.py", "def add(a, b):\n    |\n")
    code.type("return ")
    assert code.wait_for_ghost() == "a + b"
    assert code.sent()[-1] == "    return a + b"
    code.picture("python")
    code.press("Tab")
    code.wait_for_text("def add(a, b):\n    return a + b\n")
    assert code.ghost() == ""
