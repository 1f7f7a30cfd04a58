"""VS Code and the life of the server: settings, crashes, what's missing, and what a person sees."""

from __future__ import annotations

import json
import zipfile
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from tests.editors.conftest import SETTINGS
from tests.editors.workbench import Workbench

pytestmark = [pytest.mark.editors, pytest.mark.model]


def kill_server(code: Workbench) -> None:
    """End the server as a crash does."""
    frames = str(code.server.frames)
    recorders = [
        process
        for process in psutil.process_iter(["cmdline"])
        if frames in (process.info["cmdline"] or []) and process.children()
    ]
    for process in recorders[0].children():
        process.kill()


def started(code: Workbench) -> int:
    """How often the server was started and has loaded its model."""
    states = code.states()
    return sum(
        state == "ready" and before in {"loading", "starting"} for before, state in pairwise(states)
    )


def asks(code: Workbench, name: str) -> str:
    """Open a document, type, and see what's suggested."""
    code.open(name, "def add(a, b):\n    |\n")
    code.type("return ")
    ghost = code.wait_for_ghost()
    code.saved()
    return ghost


def test_off_and_on(code: Workbench) -> None:
    """A setting counts at once, and loads nothing anew."""
    before = started(code)
    code.server.configure({**SETTINGS, "specls.enabled": False})
    code.poll(code.status, lambda status: "turned off" in status)
    code.poll(code.states, lambda states: states[-1] == "off")
    code.picture("off")
    code.server.configure(SETTINGS)
    code.wait_until_ready()
    assert asks(code, "on.py") == "a + b"
    assert started(code) == before


def test_the_menu(code: Workbench) -> None:
    """The item in the status bar leads to everything; a language can be turned off."""
    code.open("menu.py", "|\n")
    code.page.click("[id*='specls.status'] a")
    code.page.wait_for_selector(
        ".quick-input-list .monaco-list-row:has-text('Turn Off for python')"
    )
    code.picture("menu")
    code.type("Turn Off for python", 5)
    code.press("Enter")
    code.poll(code.states, lambda states: states[-1] == "disabled")
    code.poll(code.status, lambda status: "python" in status)
    code.command("specls: Turn Suggestions On or Off for This Language")
    code.wait_until_ready()


def test_what_the_model_is_given(code: Workbench) -> None:
    """It can be read, beside the document."""
    code.open("given.py", "def add(a, b):\n    return |\n")
    code.command("specls: Show What the Model Is Given Here")
    code.page.wait_for_selector(".view-line:has-text('given.py:2:12')")
    code.picture("context")
    code.command("View: Close Editor")


def test_the_statistics(code: Workbench) -> None:
    """A page of tables."""
    code.command("specls: Show Statistics")
    code.page.wait_for_selector(".tab:has-text('specls statistics')")
    frame = code.page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
    frame.locator("h2:has-text('Suggestions')").wait_for()
    code.picture("statistics")
    assert "python" in (frame.locator("body").text_content() or "")
    code.command("View: Close Editor")


def test_a_model_that_is_not_here(code: Workbench, tmp_path: Path) -> None:
    """One message says so and offers to fetch it; typing brings no other."""
    nowhere = {"specls.server.environment": {"SPECLS_MODELS": str(tmp_path)}}
    code.server.configure({**SETTINGS, **nowhere})
    (toast,) = code.poll(code.toasts, bool)
    assert "qwen2.5-coder-1.5b isn't on this machine yet (1.1 GB)" in toast
    code.picture("model-missing")
    assert code.buttons() == ["Download", "Choose Another"]
    code.page.click(".notification-toast a:has-text('Choose Another')")
    code.page.wait_for_selector(".quick-input-list .monaco-list-row:has-text('smollm2-135m')")
    code.picture("choose-model")
    code.press("Escape")
    code.open("missing.py", "def add(a, b):\n    |\n")
    code.type("return a + b")
    code.saved()
    assert code.toasts() == []
    before = started(code)
    code.server.configure(SETTINGS)
    code.poll(lambda: started(code), lambda count: count > before)


def test_a_program_that_is_not_there(code: Workbench) -> None:
    """One message says which setting names it, with two ways out."""
    code.server.configure({**SETTINGS, "specls.server.path": "/nowhere/specls"})
    (toast,) = code.poll(code.toasts, bool)
    assert "there's no program at /nowhere/specls" in toast
    assert code.buttons() == ["Set Up", "Choose Path"]
    code.picture("server-missing")
    before = started(code)
    code.server.configure(SETTINGS)
    code.poll(lambda: started(code), lambda count: count > before)


def write_wheel(folder: Path, program: Path) -> Path:
    """A wheel named specls whose program runs another one: what pip installs in no time."""
    wheel = folder / "specls-0.0.1-py3-none-any.whl"
    info = "specls-0.0.1.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(
            "stand_in.py",
            "import os, sys\n\n\ndef main():\n"
            f"    os.execv({str(program)!r}, [{str(program)!r}, *sys.argv[1:]])\n",
        )
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: specls\nVersion: 0.0.1\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/entry_points.txt", "[console_scripts]\nspecls = stand_in:main\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def test_setting_it_up(code: Workbench, tmp_path: Path) -> None:
    """Where there's no server, one message offers to make an environment with it, and it's used."""
    wheel = write_wheel(tmp_path, code.server.program)
    nowhere = {"specls.server.path": "", "specls.server.source": str(wheel)}
    code.server.configure({**SETTINGS, **nowhere})
    (toast,) = code.poll(code.toasts, bool)
    assert toast.startswith("specls: the server wasn't found.")
    before = started(code)
    code.page.click(".notification-toast a:has-text('Set Up')")
    code.page.wait_for_selector(".notification-toast:has-text('Setting up specls')")
    code.picture("setting-up")
    code.poll(lambda: started(code), lambda count: count > before)
    assert asks(code, "set_up.py") == "a + b"
    code.server.configure(SETTINGS)
    code.poll(lambda: started(code), lambda count: count > before + 1)


def test_a_server_that_ends(code: Workbench) -> None:
    """It's started again; when it ends three times, a message asks what to do."""
    before = started(code)
    kill_server(code)
    code.poll(lambda: started(code), lambda count: count == before + 1)
    assert asks(code, "again.py") == "a + b"
    assert code.toasts() == []
    kill_server(code)
    code.poll(lambda: started(code), lambda count: count == before + 2)
    kill_server(code)
    (toast,) = code.poll(code.toasts, bool)
    assert toast == "specls: the server ended three times in a short time."
    code.picture("server-ended")
    code.page.click(".notification-toast a:has-text('Restart')")
    code.poll(lambda: started(code), lambda count: count == before + 3)
    assert code.toasts() == []


def test_a_notebook(code: Workbench) -> None:
    """In a cell, the cells before it are known."""
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": [text],
        }
        for text in ("rate = 0.19\n", "def with_tax(price):\n    ")
    ]
    book = {"cells": cells, "metadata": {"language_info": {"name": "python"}}}
    file = code.server.workspace / "book.ipynb"
    file.write_text(json.dumps({**book, "nbformat": 4, "nbformat_minor": 5}), "utf-8")
    code.press("Escape")
    code.press("Control+P")
    code.page.wait_for_selector(".quick-input-widget input")
    code.type("book.ipynb")
    code.page.wait_for_selector(".quick-input-list .monaco-list-row:has-text('book.ipynb')")
    code.press("Enter")
    code.page.locator(".notebookOverlay .view-line:has-text('with_tax')").click()
    code.press("Control+End")
    code.type("return ")
    assert "price" in code.wait_for_ghost()
    code.picture("notebook")
