"""A document as LSP describes it, in the simplest way: slow, and independent of the server's.

The text is one string; positions are found by walking through it from its beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

Place = tuple[int, int]

PIECES = (
    *(
        "a",
        "b",
        "x = 1",
        "(",
        "    ",
        " ",
        "\n",
        "\n",
        "\r\n",
        "\r\n",
        "\r",
        "\r",
        "def f():\n    ",
    ),
    *(
        "é",
        "e\N{COMBINING ACUTE ACCENT}",
        "\N{COMBINING ACUTE ACCENT}",
        "\u00df",
        "\u4f60",
        "🤗",
        "🤗",
    ),
    *(
        "👩\u200d👩\u200d👧",
        "🇩🇪",
        "\u2028",
        "\x0b",
        "\x0c",
        "\x85",
        "\0",
        "\ufeff",
        "\ud83e",
        "\udd17",
    ),
)
"""What texts are made of: what editors count differently, and what only looks like a line's end."""


def width(character: str, encoding: str) -> int:
    """How many code units a character has."""
    if encoding == "utf-32":
        return 1
    units = len(
        character.encode(f"{encoding}-le" if encoding == "utf-16" else encoding, "surrogatepass")
    )
    return units // 2 if encoding == "utf-16" else units


def whole(text: str) -> str:
    """The text with each two halves of a character that meet made one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def offset(text: str, place: Place, encoding: str) -> int:
    """Where a place is in the text; one outside of it is moved to the nearest before it."""
    line, character = place
    at = 0
    for _ in range(line):
        end = _line_end(text, at)
        if end == len(text):
            return end
        at = end + (2 if text.startswith("\r\n", end) else 1)
    end = _line_end(text, at)
    while at < end and character >= width(text[at], encoding):
        character -= width(text[at], encoding)
        at += 1
    return at


def _line_end(text: str, at: int) -> int:
    while at < len(text) and text[at] not in "\r\n":
        at += 1
    return at


texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
numbers = st.integers(0, 6) | st.sampled_from((7, 12, 30, 2**31 - 1))
places = st.tuples(numbers, numbers)
"""Lines and characters, in a short text and outside of it."""


@dataclass(frozen=True)
class Edit:
    """One change: of a range, or of the whole text if there's none."""

    text: str
    range: tuple[Place, Place] | None = None

    def apply(self, text: str, encoding: str) -> str:
        """What the change makes of a text."""
        if self.range is None:
            return whole(self.text)
        start, end = sorted(offset(text, place, encoding) for place in self.range)
        return whole(text[:start] + self.text + text[end:])

    def event(self) -> dict[str, object]:
        """The change as it's sent."""
        if self.range is None:
            return {"text": self.text}
        start, end = ({"line": line, "character": at} for line, at in self.range)
        return {"text": self.text, "range": {"start": start, "end": end}}


inserted = places.flatmap(lambda place: st.builds(Edit, texts, st.just((place, place))))
replaced = st.builds(Edit, texts, st.tuples(places, places))
edits = st.lists(inserted | replaced, max_size=6)
