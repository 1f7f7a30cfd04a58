"""What the server's text of a document is, from what the editor told it."""

from __future__ import annotations

from tests.editors.conversation import Conversation


def replay(talk: Conversation) -> str:
    """The text of the document that was opened first; columns count UTF-16 code units."""
    first = talk.params("textDocument/didOpen")[0]["textDocument"]
    text: str = first["text"]
    for told in talk.params("textDocument/didChange"):
        if told["textDocument"]["uri"] != first["uri"]:
            continue
        for change in told["contentChanges"]:
            if "range" not in change:
                text = change["text"]
                continue
            start, end = (_place(text, change["range"][end]) for end in ("start", "end"))
            text = text[:start] + change["text"] + text[end:]
    return text


def _place(text: str, position: dict[str, int]) -> int:
    """Where a position is in a text."""
    before = "".join(text.splitlines(keepends=True)[: position["line"]])
    line = text[len(before) :].encode("utf-16-le")[: 2 * position["character"]]
    return len(before) + len(line.decode("utf-16-le"))
