"""VS Code's window in Chromium: what is typed into it, and what is seen in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from tests.editors.code_server import CodeServer

SCREENS = Path(__file__).parent / "screens"
"""Pictures of what was tested, for people to look at."""

DEADLINE = 90.0
_CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
_SAVE_MS = 200
_GHOST = "[class*=ghost-text]"

_WATCH = """
(() => {
  const watch = { key: 0, seen: 0, bare: 0 };
  window.speclsWatch = watch;
  addEventListener("keydown", () => { watch.key = performance.now(); watch.seen = 0; }, true);
  new MutationObserver(() => {
    if (watch.seen || !document.querySelector("GHOST")) return;
    // After the frame in which it's painted.
    requestAnimationFrame(() => { watch.seen ||= performance.now(); });
  }).observe(document, { childList: true, subtree: true, characterData: true });
  const count = () => {
    if (!document.querySelector("GHOST")) watch.bare += 1;
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
})();
""".replace("GHOST", _GHOST)

_READ_GHOST = """
() => {
  const text = (element) => element.textContent.replace(/\\u00a0/g, " ").replace(/\\u200b/g, "");
  const all = [...document.querySelectorAll("GHOST")];
  // Only the innermost: blocks hold lines that hold spans.
  const inner = all.filter((each) => !each.querySelector("GHOST"));
  inner.sort((a, b) => {
    const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
    return Math.abs(p.top - q.top) > 4 ? p.top - q.top : p.left - q.left;
  });
  return inner.map((each) => [Math.round(each.getBoundingClientRect().top), text(each)]);
}
""".replace("GHOST", _GHOST)


@dataclass(frozen=True)
class Spot:
    """A text with a cursor, which ``|`` stands for."""

    before: str
    after: str

    @classmethod
    def read(cls, text: str) -> Spot:
        before, after = text.split("|")
        return cls(before, after)

    @property
    def goto(self) -> str:
        """Line and column as VS Code counts them: from 1, in UTF-16 units."""
        lines = self.before.replace("\r\n", "\n").split("\n")
        return f"{len(lines)}:{len(lines[-1].encode('utf-16-le')) // 2 + 1}"


@dataclass(frozen=True)
class Answer:
    """What the server answered, and how many milliseconds that took."""

    took: float
    items: list[Any]
    error: Any


class Workbench:
    """One window, used by one test after the other."""

    def __init__(self, page: Any, server: CodeServer) -> None:
        self.page = page
        self.server = server
        self.file = Path()
        """Of the editor that was opened last."""
        page.on("console", self._hear)
        self.console: list[str] = []
        page.add_init_script(_WATCH)
        page.goto(server.url)
        page.wait_for_selector(".monaco-workbench", timeout=1000 * DEADLINE)
        page.wait_for_selector("#specls\\.status, [id*='specls.status']", timeout=1000 * DEADLINE)

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self.console.append(message.text)

    # -- doing -------------------------------------------------------------------------------

    def open(self, name: str, text: str) -> None:
        """Write a file, open it, and put the cursor where ``|`` stands."""
        spot = Spot.read(text)
        self.file = self.server.workspace / name
        self.file.write_bytes((spot.before + spot.after).encode())
        self.press("Escape")
        self.press("Control+P")
        self.page.wait_for_selector(".quick-input-widget input")
        self.type(f"{name}:{spot.goto}")
        self.page.wait_for_selector(f".quick-input-list .monaco-list-row:has-text('{name}')")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(f".tab.active:has-text('{name}')")
        self.page.wait_for_selector(".monaco-editor.focused")

    def command(self, title: str) -> None:
        """Run a command by its title."""
        self.page.keyboard.press("F1")
        self.page.wait_for_selector(".quick-input-widget input")
        self.type(title, 5)
        row = ".quick-input-list .monaco-list-row"
        self.page.click(f"{row}[aria-label='{title}'], {row}[aria-label^='{title}, ']")
        self.page.wait_for_selector(".quick-input-widget", state="hidden")

    def type(self, text: str, delay: float = 30) -> None:
        """Type as people do, so many milliseconds between keys."""
        self.page.keyboard.type(text, delay=delay)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def picture(self, name: str, height: int | None = None) -> None:
        """Keep what is seen now, perhaps only so many pixels from the top."""
        SCREENS.mkdir(exist_ok=True)
        self.page.wait_for_timeout(300)  # what moves has come to rest
        size = self.page.viewport_size
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"]}
        self.page.screenshot(path=SCREENS / f"vscode-{name}.png", clip=clip)

    # -- seeing ------------------------------------------------------------------------------

    def ghost(self) -> str:
        """The ghost text that is seen now; its lines as they stand below each other."""
        rows: dict[int, str] = {}
        for top, text in self.page.evaluate(_READ_GHOST):
            row = next((each for each in rows if abs(each - top) <= 4), top)
            rows[row] = rows.get(row, "") + text
        return "\n".join(rows.values())

    def wait_for_ghost(self, part: str = "") -> str:
        """Wait until there's ghost text, with this in it; it."""
        return str(self.poll(self.ghost, lambda ghost: ghost != "" and part in ghost))

    def wait_for_text(self, text: str) -> None:
        """Save until the file has this text; ends of lines count."""
        self.poll(self.saved, lambda saved: saved == text)

    def saved(self) -> str:
        """The text of the document, by saving it; ends of lines as they are in the file."""

        def clean() -> bool:
            # A key that comes while an earlier save is on its way does nothing.
            self.press("Control+S")
            self.page.wait_for_timeout(_SAVE_MS)
            return self.page.query_selector(".tab.active:not(.dirty)") is not None

        self.poll(clean, bool)
        return self.file.read_bytes().decode()

    def sent(self) -> list[str]:
        """The texts that the server has suggested so far, oldest first."""
        return [item["insertText"] for answer in self.answers() for item in answer.items]

    def answers(self) -> list[Answer]:
        """The server's answers to requests for ghost text, oldest first."""
        asked: dict[object, float] = {}
        answers = []
        for each in self.server.messages():
            message = each["message"]
            if message.get("method") == "initialize":
                asked = {}
            elif message.get("method") == "textDocument/inlineCompletion":
                asked[message["id"]] = each["at"]
            elif each["from"] == "server" and message.get("id") in asked:
                took = 1000 * (each["at"] - asked.pop(message["id"]))
                items = (message.get("result") or {}).get("items", [])
                answers.append(Answer(took, items, message.get("error")))
        return answers

    def told(self, method: str) -> list[Any]:
        """The parameters of what the editor told the server with this method, oldest first."""
        messages = [each["message"] for each in self.server.messages() if each["from"] == "editor"]
        return [each.get("params") for each in messages if each.get("method") == method]

    def wait_until_ready(self) -> None:
        """Wait until the server says that the model is loaded."""
        self.poll(self.states, lambda states: states[-1:] in (["ready"], ["busy"]))

    def states(self) -> list[str]:
        """The states that the server told so far."""
        messages = [each["message"] for each in self.server.messages()]
        return [m["params"]["state"] for m in messages if m.get("method") == "specls/status"]

    def status(self) -> str:
        """The item in the status bar, with its tooltip: what a person sees and hears."""
        return str(
            self.page.get_attribute("[id*='specls.status'] a", "aria-label", timeout=10_000) or ""
        )

    def toasts(self) -> list[str]:
        """The popups that are seen."""
        return list(
            self.page.eval_on_selector_all(
                ".notification-toast .notification-list-item-message",
                "all => all.map(each => each.textContent)",
            )
        )

    def bare_frames(self) -> int:
        """How many frames were painted without ghost text so far."""
        return int(self.page.evaluate("window.speclsWatch.bare"))

    def buttons(self) -> list[str]:
        """The buttons of the popups that are seen."""
        read = "all => all.map(each => each.textContent)"
        return list(
            self.page.eval_on_selector_all(
                ".notification-toast .notification-list-item-buttons-container .monaco-button", read
            )
        )

    def seen_after(self) -> float:
        """Milliseconds from the last key to the ghost text on the screen."""
        watch = self.poll(lambda: self.page.evaluate("window.speclsWatch"), lambda w: w["seen"] > 0)
        return float(watch["seen"] - watch["key"])

    def poll(self, read: Callable[[], Any], wanted: Callable[[Any], bool]) -> Any:
        """Look again and again until it's the wanted; what is seen then."""
        end = monotonic() + DEADLINE
        while not wanted(value := read()):
            assert monotonic() < end, f"The last was {value!r}; the status {self.status()!r}."
            self.page.wait_for_timeout(50)
        return value


def chromium(playwright: Any, profile: Path) -> Any:
    """A browser with a profile of its own."""
    return playwright.chromium.launch_persistent_context(
        profile,
        executable_path=_CHROMIUM,
        headless=True,
        viewport={"width": 1000, "height": 640},
        args=list(_FLAGS),
    )
