"""The extension in VS Code itself: code-server in Chromium, with the real server and model.

One window is used by all tests. Each takes a document of its own.
"""

from __future__ import annotations

from statistics import median

import pytest

from tests.editors.workbench import Workbench

pytestmark = [pytest.mark.editors, pytest.mark.model]

CANCELLED = -32800


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


def test_typescript(code: Workbench) -> None:
    """Another language, another model's answer."""
    code.open("add.ts", "function add(a: number, b: number): number {\n  |\n}\n")
    code.type("return ")
    assert code.wait_for_ghost() == "a + b;"
    code.picture("typescript")
    code.press("Tab")
    code.wait_for_text("function add(a: number, b: number): number {\n  return a + b;\n}\n")


def test_escape_takes_it_away(code: Workbench) -> None:
    """Nothing is written, and the server hears that it was rejected."""
    text = "def subtract(a, b):\n    |\n"
    code.open("escape.py", text)
    code.type("return ")
    code.wait_for_ghost()
    code.press("Escape")
    code.poll(code.ghost, lambda ghost: ghost == "")
    assert code.saved() == text.replace("|", "return ")
    (rejected, *_) = code.poll(lambda: code.told("specls/didRejectCompletion")[-1:], bool)
    assert rejected["item"]["insertText"] == "    return a - b"
    assert rejected["ignored"] is False


def test_a_word_at_a_time(code: Workbench) -> None:
    """Ctrl+Right writes a word; the rest stays, and the server hears how much was taken."""
    code.open("word.py", "def multiply(a, b):\n    |\n")
    code.type("return ")
    assert code.wait_for_ghost() == "a * b"
    code.press("Control+ArrowRight")
    code.poll(code.ghost, lambda ghost: ghost in {" * b", "* b"})
    (told, *_) = code.poll(
        lambda: code.told("textDocument/didPartiallyAcceptCompletion")[-1:], bool
    )
    assert told["item"]["insertText"][: told["acceptedLength"]].strip() == "return a"
    code.press("Tab")
    code.wait_for_text("def multiply(a, b):\n    return a * b\n")


def test_typing_through_keeps_it(code: Workbench) -> None:
    """What is typed is what was suggested: the rest stays on the screen in every frame."""
    code.open("through.py", "def subtract(first, second):\n    |\n")
    code.type("return ")
    assert code.wait_for_ghost() == "first - second"
    before = code.bare_frames()
    code.type("first - ", delay=80)
    assert code.wait_for_ghost() == "second"
    assert code.bare_frames() - before <= 0


def test_several_lines_and_one_at_a_time(code: Workbench) -> None:
    """A block is seen below the line, and can be taken line by line."""
    code.open("lines.py", "def factorial(n):|\n")
    code.press("Enter")
    lines = code.wait_for_ghost().split("\n")
    assert len(lines) >= 2
    code.picture("several-lines")
    block = code.sent()[-1]
    for line in lines:
        code.wait_for_ghost(line.strip())
        code.press("Control+Alt+ArrowRight")
    code.poll(code.saved, lambda saved: block in saved)
    told = code.told("textDocument/didPartiallyAcceptCompletion")[-1]
    assert told["acceptedLength"] <= len(told["item"]["insertText"])


def test_what_it_looks_like(code: Workbench) -> None:
    """The picture in the README: a method, several lines of it suggested."""
    code.open(
        "shapes.py",
        "import math\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass Circle:\n"
        "    radius: float\n\n    def area(self) -> float:\n"
        "        return math.pi * self.radius ** 2\n\n    def contains(self, x, y):|\n",
    )
    code.press("Enter")
    assert "self.radius" in code.wait_for_ghost()
    code.picture("readme", height=360)


def test_in_the_middle_of_a_line(code: Workbench) -> None:
    """What stands behind the cursor stays behind what's written."""
    code.open("middle.py", "width, height = 3, 4\narea = (| * height)\nprint(area)\n")
    code.type("w")
    assert code.wait_for_ghost() == "idth"
    code.picture("middle-of-line")
    code.press("Tab")
    code.wait_for_text("width, height = 3, 4\narea = (width * height)\nprint(area)\n")


def test_a_bracket_that_the_editor_closed(code: Workbench) -> None:
    """The editor writes the closing bracket by itself; there's one in the end."""
    code.open("bracket.py", "names = ['Ada', 'Alan']\nfor name in names:\n    |\n")
    code.type("print(")
    code.wait_for_ghost()
    code.picture("closed-bracket")
    code.press("Tab")
    text = code.poll(code.saved, lambda saved: "print()" not in saved)
    line = text.split("\n")[2]
    assert line.count("(") == line.count(")")
    assert line.startswith("    print(name")


def test_a_brace_that_the_editor_closed(code: Workbench) -> None:
    """The same with a brace, between which a block may be written."""
    code.open("brace.ts", "interface Point { x: number; y: number }\nconst origin: Point = |\n")
    code.type("{")
    code.wait_for_ghost()
    code.picture("closed-brace")
    code.press("Tab")
    text = code.poll(code.saved, lambda saved: "{}" not in saved)
    line = text.split("\n", 1)[1]
    assert (line.count("{"), line.count("}")) == (1, 1)
    assert "x: 0" in line


def test_a_file_of_windows(code: Workbench) -> None:
    """Lines that are written end as the others do."""
    code.open("windows.py", "def factorial(n):|\r\n")
    code.press("Enter")
    lines = code.wait_for_ghost().split("\n")
    assert len(lines) >= 2
    code.press("Tab")
    text = code.poll(code.saved, lambda saved: lines[-1].strip() in saved)
    assert text.count("\n") == text.count("\r\n") >= 3


def test_emoji_before_the_cursor(code: Workbench) -> None:
    """They're two units long for the editor, and one sign for the model."""
    before = 'NAMES = {"😀": "smile", "👩\u200d👧": "family", "😎": '
    code.open("emoji.py", f"{before[:-1]}|\n")
    code.type(" ")
    ghost = code.wait_for_ghost()
    code.press("Tab")
    code.poll(code.saved, lambda saved: saved.startswith(before + ghost))


def test_typing_quickly(code: Workbench) -> None:
    """No popup, no error, and what's seen in the end belongs to what's written."""
    code.console.clear()
    code.open("quick.py", "def area(width, height):\n    |\n")
    code.type("result = width * height", delay=5)
    code.press("Enter")
    code.type("return ", delay=5)
    ghost = code.wait_for_ghost()
    assert code.sent()[-1] == f"    return {ghost}"
    code.picture("quick")
    assert code.toasts() == []
    assert [line for line in code.console if "specls" in line or "cancel" in line.lower()] == []
    errors = [each.error["code"] for each in code.answers() if each.error]
    assert set(errors) <= {CANCELLED}


def test_others_are_one_key_away(code: Workbench) -> None:
    """Who asks gets several suggestions, and Alt+] shows the next one."""
    code.open("next.py", "|\n")
    code.type("import ")
    code.wait_for_ghost()
    code.command("specls: Suggest Here")
    items = code.poll(lambda: code.answers()[-1].items, lambda items: len(items) > 1)
    first = code.wait_for_ghost()
    assert items[0]["insertText"] == f"import {first}"
    code.press("Alt+]")
    second = code.poll(code.ghost, lambda ghost: ghost not in {"", first})
    assert f"import {second}" in {item["insertText"] for item in items}
    code.press("Alt+[")
    code.poll(code.ghost, lambda ghost: ghost == first)


def test_a_document_without_a_file(code: Workbench) -> None:
    """Suggestions come there, too."""
    code.command("File: New Untitled Text File")
    code.page.wait_for_selector(".tab.active:has-text('Untitled')")
    code.type("def add(a, b):")
    code.press("Enter")
    code.type("return ")
    assert "a + b" in code.wait_for_ghost()


def test_from_key_to_screen(code: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """How long it takes until a suggestion is seen, beside what the server took of it."""
    seen, took = [], []
    for name in ("double", "triple", "square", "negate", "half"):
        code.open(f"{name}.py", f"def {name}(number):\n    |\n")
        code.type("return ", delay=120)
        seen.append(code.seen_after())
        took.append(code.answers()[-1].took)
    with capsys.disabled():
        print(
            f"\nVS Code: {median(seen):.0f} ms from key to screen, of which the server took "
            f"{median(took):.0f} ms (medians of {len(seen)}, {min(seen):.0f} to {max(seen):.0f} ms)"
        )
    assert all(whole > part for whole, part in zip(seen, took, strict=True))
