"""What the tests in VS Code share: one code-server, one window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.editors.code_server import EXTENSION, HOME, CodeServer
from tests.editors.workbench import Workbench, chromium

SETTINGS = {
    "specls.prefixTokens": 128,
    "specls.suffixTokens": 32,
    "specls.maxTokens": 32,
    "specls.contextTokens": 2048,
    "specls.threads": 2,
    "specls.confidence": 0,
    "specls.answerBudgetMs": 0,
}
"""Small windows, so that answers come in a second or two on slow processors as well; and whole
ones, so that they're the same on all."""


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodeServer]:
    """A code-server with our extension."""
    assert (EXTENSION / "dist" / "extension.js").exists(), "the extension isn't built: make vscode"
    assert HOME.exists(), "code-server isn't here: tests/editors/setup_code_server.sh"
    running = CodeServer(tmp_path_factory.mktemp("vscode"), SETTINGS)
    yield running
    running.close()


@pytest.fixture(scope="package")
def window(server: CodeServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """Its window, with the model loaded."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only these tests need it

    with sync_playwright() as playwright:
        context = chromium(playwright, tmp_path_factory.mktemp("profile"))
        window = Workbench(context.pages[0], server)
        window.command("View: Toggle Primary Side Bar Visibility")
        window.open("first.py", "|\n")
        window.wait_until_ready()
        yield window
        context.close()


@pytest.fixture
def code(window: Workbench, request: pytest.FixtureRequest) -> Iterator[Workbench]:
    """The window, with the settings that all tests begin with."""
    window.server.configure(SETTINGS)
    window.wait_until_ready()
    yield window
    window.picture(f"end-{request.node.name}")
    window.command("Notifications: Clear All Notifications")
