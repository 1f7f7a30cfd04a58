"""Where strings and comments are in a piece of source code, and which brackets it leaves open.

No grammar: a table of delimiters per language, and one regular expression made from it. That's
enough to tell code from text, at any place, in any half-written file. See docs/decisions/0011.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache


class Inside(Enum):
    """What a place in a file is part of."""

    CODE = "code"
    COMMENT = "comment"
    """One that ends with its line."""
    STRING = "string"
    """One that ends with its line at the latest."""
    TEXT = "text"
    """A comment or a string that may have several lines."""


@dataclass(frozen=True)
class Syntax:
    """The delimiters of a language."""

    comments: tuple[str, ...] = ()
    """What begins a comment that ends with the line."""
    blocks: tuple[tuple[str, str], ...] = ()
    """What begins and ends a comment of several lines."""
    texts: tuple[str, ...] = ()
    """What begins and ends a string of several lines."""
    quotes: str = ""
    """What begins and ends a string of one line."""
    characters: bool = False
    """Whether an apostrophe stands only around a single character, or for something else."""


_SLASHES = (("/*", "*/"),)
_C = Syntax(("//",), _SLASHES, quotes="\"'")
_SCRIPT = Syntax(("//",), _SLASHES, ("`",), "\"'")
_PYTHON = Syntax(("#",), (), ('"""', "'''"), "\"'")
_HASH = Syntax(("#",), quotes="\"'")
_DASH = Syntax(("--",), _SLASHES, quotes="\"'")
_MARKUP = Syntax(blocks=(("<!--", "-->"),))

SYNTAXES: Mapping[str, Syntax] = {
    "python": _PYTHON,
    **dict.fromkeys(("c", "cpp", "csharp", "java", "objective-c", "objective-cpp", "dart"), _C),
    **dict.fromkeys(("cuda-cpp", "glsl", "hlsl", "wgsl", "proto3", "proto", "jsonc"), _C),
    **dict.fromkeys(("kotlin", "scala", "swift"), Syntax(("//",), _SLASHES, ('"""',), '"')),
    **dict.fromkeys(("javascript", "javascriptreact", "typescript", "typescriptreact"), _SCRIPT),
    **dict.fromkeys(("vue", "svelte", "groovy"), _SCRIPT),
    "go": _SCRIPT,
    "rust": Syntax(("//",), _SLASHES, ('"',), characters=True),
    "zig": Syntax(("//",), (), (), '"', characters=True),
    "php": Syntax(("//", "#"), _SLASHES, (), "\"'"),
    **dict.fromkeys(("shellscript", "fish", "perl", "ruby", "r", "elixir", "crystal"), _HASH),
    **dict.fromkeys(("makefile", "dockerfile", "yaml", "toml", "cmake", "coffeescript"), _HASH),
    **dict.fromkeys(("powershell", "nim", "julia"), _HASH),
    "sql": _DASH,
    "lua": Syntax(("--",), (("--[[", "]]"), ("[[", "]]")), (), "\"'"),
    "haskell": Syntax(("--",), (("{-", "-}"),), (), '"', characters=True),
    "elm": Syntax(("--",), (("{-", "-}"),), ('"""',), '"', characters=True),
    **dict.fromkeys(("ocaml", "fsharp"), Syntax((), (("(*", "*)"),), (), '"', characters=True)),
    **dict.fromkeys(("css", "less", "scss"), Syntax((), _SLASHES, (), "\"'")),
    **dict.fromkeys(("html", "xml", "markdown"), _MARKUP),
    **dict.fromkeys(("lisp", "scheme", "clojure", "racket"), Syntax((";",), (), ('"',))),
    **dict.fromkeys(("latex", "tex", "erlang", "matlab"), Syntax(("%",))),
    "json": Syntax(quotes='"'),
    "plaintext": Syntax(),
}
"""By the ids that editors use."""

_UNKNOWN = Syntax(quotes='"', characters=True)

_OPEN = {"opener": Inside.TEXT, "line": Inside.COMMENT, "quote": Inside.STRING}
"""What the end of a text is in, by the group of the pattern that reaches it."""

_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True)
class Scan:
    """What a text leaves open at its end."""

    inside: Inside
    opener: str
    """What began the comment or string that the end is in; empty in code."""
    brackets: tuple[str, ...]
    """Those without a partner, in order: opening ones, and closing ones too many."""


def scan(text: str, language: str = "") -> Scan:
    """Go through a text from its beginning, which is taken to be code."""
    brackets: list[str] = []
    for match in _pattern(SYNTAXES.get(language, _UNKNOWN)).finditer(text):
        group = match.lastgroup or ""
        if group == "bracket":
            _pair(brackets, match[0])
        elif group in _OPEN and match.end() == len(text):
            return Scan(_OPEN[group], match[group], tuple(brackets))
    return Scan(Inside.CODE, "", tuple(brackets))


def open_brackets(text: str, language: str = "") -> tuple[str, ...]:
    """The brackets of a text that have no partner in it; those in strings don't count."""
    return scan(text, language).brackets


def _pair(brackets: list[str], bracket: str) -> None:
    if brackets and brackets[-1] == _PAIRS.get(bracket):
        brackets.pop()
    else:
        brackets.append(bracket)


@lru_cache(maxsize=64)
def _pattern(syntax: Syntax) -> re.Pattern[str]:
    """Matches comments, strings and brackets; what is open at the end is a group of its own.

    Those are ``opener`` (several lines), ``line`` (a comment) and ``quote``.
    """
    texts, blocks = map(re.escape, syntax.texts), syntax.blocks
    regions = [(text, text, rf"(?:\\.|(?!{text}).)*") for text in texts]
    for start, stop in ((re.escape(start), re.escape(stop)) for start, stop in blocks):
        regions.append((start, stop, rf"(?:(?!{stop}).)*"))
    regions.sort(key=lambda region: -len(region[0]))
    strings = [(quote, quote, rf"(?:\\.|[^{quote}\\\n])*") for quote in syntax.quotes]
    closed = [start + body + stop for start, stop, body in (*regions, *strings)]
    if syntax.characters:
        closed.append(r"'(?:\\[^\n']+|[^'\\\n])'")
    # In this order, since a long delimiter may begin like a short one.
    parts = [
        *closed[: len(regions)],
        _named("opener", (rf"{start}(?={body}\Z)" for start, _, body in regions), r".*\Z"),
        _named("line", map(re.escape, syntax.comments), r"[^\n]*"),
        *closed[len(regions) :],
        _named("quote", (rf"{start}(?={body}\Z)" for start, _, body in strings), r"[^\n]*\Z"),
        r"(?P<bracket>[()\[\]{}])",
    ]
    return re.compile("|".join(parts), re.DOTALL)


def _named(name: str, starts: Iterable[str], rest: str) -> str:
    """One of these, in a group, and what follows it; what never matches, if there are none."""
    return f"(?P<{name}>{'|'.join(starts) or '(?!)'}){rest}"
