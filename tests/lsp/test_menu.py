"""A suggestion as an entry of a completion menu."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types

from specls.context.document import Snapshot
from specls.context.text import Encoding, Position, Text
from specls.lsp.convert import Offer, Spot, inline_item, word_before
from specls.lsp.menu import Menu

AS_IS, ADJUST = types.InsertTextMode.AsIs, types.InsertTextMode.AdjustIndentation
MARKDOWN, PLAIN = types.MarkupKind.Markdown, types.MarkupKind.PlainText


def offer(before: str, text: str, after: str = "", language: str = "python") -> Offer:
    """A suggestion behind ``before``, as the fallback makes it."""
    snapshot = Snapshot("file:///a.py", 1, language, Text(before + after))
    lines = before.split("\n")
    word = word_before(lines[-1])
    end = Position(len(lines) - 1, len(lines[-1]))
    spot = Spot(snapshot, end, Position(end.line, end.column - len(word)), end, word)
    return Offer(snapshot, spot, text, inline_item(spot, snapshot, text, Encoding.UTF16))


def entry(
    before: str, text: str, menu: Menu | None = None, *, after: str = "", language: str = "python"
) -> types.CompletionItem:
    made = (menu or Menu()).entry(offer(before, text, after, language), 0)
    assert made is not None
    return made


def edit(item: types.CompletionItem) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """What is written, and where."""
    made = item.text_edit
    assert isinstance(made, types.TextEdit)
    start, end = made.range.start, made.range.end
    return made.new_text, (start.line, start.character), (end.line, end.character)


def test_the_entry_replaces_the_word() -> None:
    """The edit is on one line, from the word's beginning to the cursor, and writes the word too."""
    item = entry("x = 1\n  ret", "urn x")
    assert edit(item) == ("return x", (1, 2), (1, 5))
    assert (item.label, item.filter_text) == ("return x", "return x")


def test_nothing_in_it_is_a_placeholder() -> None:
    """Text is plain, and of a kind that no editor takes for a snippet."""
    item = entry("echo ", "${HOME}/$1")
    assert edit(item)[0] == "${HOME}/$1"
    assert item.insert_text_format is types.InsertTextFormat.PlainText
    assert item.kind is types.CompletionItemKind.Text
    assert (item.insert_text, item.commit_characters, item.additional_text_edits) == (None,) * 3


def test_it_stays_in_the_way_of_nobody() -> None:
    """It sorts behind names of all scripts, and isn't selected."""
    item = entry("x = ", "value")
    others = ["~~~~", "zzzz", "ÿ", "日本", "\ue000", "￮"]
    assert max([*others, item.sort_text or ""]) == item.sort_text
    assert item.preselect is None


def test_entries_keep_their_order() -> None:
    """Of several entries the first sorts first."""
    first, second = (Menu().entry(offer("x = ", "value"), rank) for rank in (0, 1))
    assert first is not None
    assert second is not None
    assert str(first.sort_text) < str(second.sort_text)


@pytest.mark.parametrize(
    ("before", "text", "label", "filtered"),
    [
        ("x = ", "a + b", "a + b", "a + b"),
        ("x = fo", "o(1)", "foo(1)", "foo(1)"),
        ("x =", " 1", "1", "1"),
        ("if x:", "\n    return\n    y", "return …", "return"),
        ("else", "\n    y", "y", "else"),
        ("x = [", "\n    1,\n]", "1, …", "1,"),
        ("x = ", "f(\n    1)", "f( …", "f("),
        ("\t", "a\t=  1", "a = 1", "a\t=  1"),
        ("x", "y" * 100, "x" + "y" * 58 + "…", "x" + "y" * 100),
        ("🤗é", "t = 1", "ét = 1", "ét = 1"),
        ("name_1", "2 = 3", "name_12 = 3", "name_12 = 3"),
    ],
)
def test_the_label_is_a_line(before: str, text: str, label: str, filtered: str) -> None:
    """The label is short and of one line; what's filtered by begins with the word typed."""
    item = entry(before, text)
    assert (item.label, item.filter_text) == (label, filtered)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("a", "specls"),
        ("\n    a", "specls"),
        ("a\nb", "specls, 2 lines"),
        ("a\n\nb", "specls, 3 lines"),
    ],
)
def test_it_says_who_offers_it(text: str, about: str) -> None:
    """Where it comes from, and of how many lines it is, stands where the client shows it best."""
    assert entry("x", text).detail == about
    item = entry("x", text, Menu(label_details=True))
    assert item.detail is None
    assert item.label_details == types.CompletionItemLabelDetails(description=about)


def test_lines_are_previewed() -> None:
    """What the label can't show is previewed as it would be in the file, not so far right."""
    item = entry("    def f(", "x):\n        return x", Menu(markdown=True))
    value = "```python\ndef f(x):\n    return x\n```"
    assert item.documentation == types.MarkupContent(MARKDOWN, value)
    plain = entry("    def f(", "x):\n        return x")
    assert plain.documentation == types.MarkupContent(PLAIN, "def f(x):\n    return x")


def test_a_fence_is_longer_than_those_in_it() -> None:
    """Code with fences in it is fenced with longer ones."""
    item = entry("a", "\n````\n```", Menu(markdown=True), language="markdown")
    assert item.documentation == types.MarkupContent(MARKDOWN, "`````markdown\na\n````\n```\n`````")


def test_a_strange_language_names_no_fence() -> None:
    """A language id that could break the fence isn't written there."""
    item = entry("a", "\nb\nc", Menu(markdown=True), language="x y\n```")
    assert item.documentation == types.MarkupContent(MARKDOWN, "```\na\nb\nc\n```")


def test_what_the_label_shows_needs_no_preview() -> None:
    """One short line is in the label."""
    assert entry("x = ", "1", Menu(markdown=True)).documentation is None


def test_a_long_line_is_previewed() -> None:
    """A line that was shortened is shown in full."""
    item = entry("x", "y" * 100)
    assert item.documentation == types.MarkupContent(PLAIN, "x" + "y" * 100)


def test_what_is_behind_the_cursor_stays() -> None:
    """The edit ends at the cursor, though the menu may know of replacing."""
    assert edit(entry("f(", "x, ", after="y)"))[1:] == ((0, 2), (0, 2))


def test_the_files_line_endings_are_written() -> None:
    """Lines leave with CRLF where the file has it; shown they're lines."""
    item = entry("if x:\r\n    y", " = 1\n    z = 2", after="\r\n")
    assert edit(item)[0] == "y = 1\r\n    z = 2"
    assert item.documentation == types.MarkupContent(PLAIN, "y = 1\nz = 2")


# -- clients that indent by themselves -------------------------------------------------------


def menu(
    modes: list[types.InsertTextMode] | None, default: types.InsertTextMode | None = None
) -> Menu:
    """Of a client that listens to these modes, and does the default without one."""
    support = types.ClientCompletionItemInsertTextModeOptions(modes) if modes is not None else None
    item = types.ClientCompletionItemOptions(insert_text_mode_support=support)
    return Menu.of(
        types.CompletionClientCapabilities(completion_item=item, insert_text_mode=default)
    )


@pytest.mark.parametrize(
    ("of", "mode", "indentation"),
    [
        (menu([AS_IS, ADJUST], ADJUST), AS_IS, 8),
        (menu([AS_IS]), AS_IS, 8),
        (menu([ADJUST]), ADJUST, 4),
        (menu(None, ADJUST), None, 4),
        (menu(None), None, 8),
        (Menu.of(types.CompletionClientCapabilities(insert_text_mode=ADJUST)), None, 4),
        (Menu.of(None), None, 8),
    ],
)
def test_lines_are_indented_once(
    of: Menu, mode: types.InsertTextMode | None, indentation: int
) -> None:
    """A client that can is told to leave the lines alone; for one that can't they come less deep.

    Accepted in a line that begins with four blanks, the second line has eight in any case.
    """
    item = entry("if x:\n    if ", "y:\n        z", of)
    assert item.insert_text_mode is mode
    assert edit(item)[0] == "y:\n" + " " * indentation + "z"


def test_what_the_client_would_indent_wrongly_is_left_out() -> None:
    """A line that is less indented than the client makes it can't be offered."""
    assert menu([ADJUST]).entry(offer("    x = [", "\n]"), 0) is None
    assert edit(entry("    x = [", "\n\n    ]", menu([ADJUST])))[0] == "\n\n]"


def test_the_client_tells_what_its_menu_shows() -> None:
    """Markdown and details are shown to clients that announce them."""
    item = types.ClientCompletionItemOptions(
        documentation_format=[PLAIN, MARKDOWN], label_details_support=True
    )
    of = Menu.of(types.CompletionClientCapabilities(completion_item=item))
    assert (of.markdown, of.label_details, of.adjusts) == (True, True, False)


def test_some_show_markdown_without_saying_so() -> None:
    """Helix announces no format, and shows plain text as if it were markdown."""
    client = types.CompletionClientCapabilities(
        completion_item=types.ClientCompletionItemOptions(snippet_support=True)
    )
    assert Menu.of(client, "helix").markdown
    assert not Menu.of(client, "kate").markdown


def neovim(**more: Any) -> Menu:
    """The menu of a Neovim, its own or that of a plugin which says more."""
    item = types.ClientCompletionItemOptions(
        snippet_support=True, documentation_format=[MARKDOWN, PLAIN], **more
    )
    return Menu.of(types.CompletionClientCapabilities(completion_item=item), "Neovim")


def test_neovims_own_menu_gets_snippets_without_placeholders() -> None:
    """It cuts texts off at a blank; what would be a placeholder in a snippet is escaped."""
    item = entry("if x:\r\n    ec", "ho ${a\\b} $1\n    d", neovim(), after="\r\n")
    assert edit(item)[0] == "echo \\${a\\\\b\\} \\$1\nd"
    assert item.insert_text_format is types.InsertTextFormat.Snippet
    assert item.filter_text == "echo ${a\\b} $1"


def test_neovims_plugins_get_texts() -> None:
    """The menus of plugins write a text as it is."""
    plugin = neovim(
        insert_text_mode_support=types.ClientCompletionItemInsertTextModeOptions([AS_IS])
    )
    item = entry("    ec", "ho $1\n    d", plugin)
    assert edit(item)[0] == "echo $1\n    d"
    assert item.insert_text_format is types.InsertTextFormat.PlainText
