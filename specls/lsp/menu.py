"""A suggestion as an entry of an editor's completion menu, beside those of other servers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent

from lsprotocol import types

from specls.context.text import line_ending
from specls.lsp.convert import Offer, first_line

_LAST = "\uffff"
"""Sorts behind what others offer."""

_LONGEST_LABEL = 60
_LONGEST_HEAD = 500
_INDENTATION = re.compile(r"[ \t]*")
_FENCE = re.compile(r"`{3,}")
_NAME = re.compile(r"[\w+#.-]*")
_ALL_MARKDOWN = ("helix",)
"""Clients that show markdown without saying so, and take plain text for it."""

_ESCAPED = re.compile(r"[\\$}]")
_PLAIN, _SNIPPET = types.InsertTextFormat.PlainText, types.InsertTextFormat.Snippet
_AS_IS, _ADJUST = types.InsertTextMode.AsIs, types.InsertTextMode.AdjustIndentation


@dataclass(frozen=True)
class Menu:
    """What a client's menu shows, and what it does to an entry that's chosen."""

    markdown: bool = False
    label_details: bool = False
    mode: types.InsertTextMode | None = None
    """What is said of indentation, to a client that listens."""
    adjusts: bool = False
    """Whether the client puts the indentation of the cursor's line before the lines below it."""
    snippets: bool = False
    """Whether only a snippet is written as a whole, and not a text with blanks in it."""

    @classmethod
    def of(cls, client: types.CompletionClientCapabilities | None, name: str = "") -> Menu:
        """The menu that a client describes, which calls itself ``name``."""
        markdown = name.casefold() in _ALL_MARKDOWN
        item = client.completion_item if client else None
        if item is not None and name == "Neovim" and _is_built_in(item):
            return cls(markdown=True, adjusts=True, snippets=True)
        if client is None or item is None:
            return cls(markdown, adjusts=client is not None and client.insert_text_mode is _ADJUST)
        modes = item.insert_text_mode_support.value_set if item.insert_text_mode_support else ()
        mode = next((mode for mode in (_AS_IS, _ADJUST) if mode in modes), None)
        return cls(
            markdown or types.MarkupKind.Markdown in (item.documentation_format or ()),
            label_details=bool(item.label_details_support),
            mode=mode,
            adjusts=(mode or client.insert_text_mode) is _ADJUST,
        )

    def entry(self, offer: Offer, rank: int) -> types.CompletionItem | None:
        """The entry for an offer, of which this is number ``rank``.

        None if the client would indent the text in a way that can't be made up for.
        """
        text = _outdented(offer) if self.adjusts else offer.text
        if text is None:
            return None
        covered = offer.spot.covered
        ending = line_ending(offer.snapshot.text, offer.spot.end.line)
        written = covered + text.replace("\n", ending)
        if self.snippets:
            written = _ESCAPED.sub(r"\\\g<0>", covered + text)
        span = offer.item.range
        assert span is not None
        line = _line(covered, offer.text)
        label, whole = _label(line, more=first_line(offer.text) != offer.text)
        about = _about(offer.text)
        details = types.CompletionItemLabelDetails(description=about)
        return types.CompletionItem(
            label=label,
            label_details=details if self.label_details else None,
            detail=None if self.label_details else about,
            # Helix takes every entry of the kind Snippet for one, and $ in it for a placeholder.
            kind=types.CompletionItemKind.Text,
            documentation=None if whole else self._preview(offer),
            sort_text=f"{_LAST}{rank}",
            filter_text=(covered + offer.text.partition("\n")[0]).strip() or line,
            insert_text_format=_SNIPPET if self.snippets else _PLAIN,
            insert_text_mode=self.mode,
            # Inserting and replacing are the same: what's behind the cursor was considered.
            text_edit=types.TextEdit(span, written),
            command=offer.item.command,
        )

    def _preview(self, offer: Offer) -> types.MarkupContent:
        """The lines as they'd be."""
        line = offer.snapshot.text.content(offer.spot.end.line)
        head = line[: offer.spot.end.column][-_LONGEST_HEAD:]
        code = dedent(head + offer.text)
        if not self.markdown:
            return types.MarkupContent(types.MarkupKind.PlainText, code)
        fence = max(["```", *(f"`{each}" for each in _FENCE.findall(code))], key=len)
        name = offer.snapshot.language if _NAME.fullmatch(offer.snapshot.language) else ""
        return types.MarkupContent(types.MarkupKind.Markdown, f"{fence}{name}\n{code}\n{fence}")


def _is_built_in(item: types.ClientCompletionItemOptions) -> bool:
    """Whether a Neovim's menu is its own: plugins' menus say how they indent.

    Of a text it writes what is before the first blank (0.11), or the first line (0.12); of a
    snippet all.
    """
    return bool(item.snippet_support) and item.insert_text_mode_support is None


def _line(covered: str, text: str) -> str:
    """The first line that has something new in it, without the blanks that set it out."""
    first = first_line(text)
    return " ".join((first if first.startswith("\n") else covered + first).split())


def _label(line: str, *, more: bool) -> tuple[str, bool]:
    """A short line for a suggestion, and whether that is all of it."""
    if len(line) > _LONGEST_LABEL:
        return f"{line[: _LONGEST_LABEL - 1]}…", False
    return (f"{line} …", False) if more else (line, True)


def _about(text: str) -> str:
    """Who offers it, and how much."""
    count = text.strip("\n").count("\n") + 1
    return "specls" if count == 1 else f"specls, {count} lines"


def _outdented(offer: Offer) -> str | None:
    """The text for a client that indents its lines; None if some are less indented than that."""
    line = offer.snapshot.text.content(offer.spot.end.line)[: offer.spot.end.column]
    match = _INDENTATION.match(line)
    indentation = match[0] if match else ""
    first, *others = offer.text.split("\n")
    if not all(each.startswith(indentation) or not each.strip() for each in others):
        return None
    return "\n".join([first, *(each.removeprefix(indentation) for each in others)])
