"""The cells of a notebook as one text: what stands before and behind the one that's written in.

Cells of the same language are joined in their order, with a blank line between two. What people
wrote between them is told as comments, where the language has any. Nothing marks a cell: to a model
it's a file, as most notebooks that it has seen were turned into one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from specls.context.syntax import SYNTAXES
from specls.context.text import Position, Text

_BETWEEN = "\n\n"
_LONGEST_REMARK = 200
"""Characters of a line that people wrote; a picture may be one line."""


@dataclass(frozen=True)
class Cell:
    """One cell. ``remark`` is text for people, whatever its language."""

    uri: str
    language: str
    text: Text
    remark: bool = False


class Joined:
    """All of a notebook that belongs to one language, as one text. Cells are known by their URIs.

    An edit in a cell costs as much as the edit, and a look at the number of each cell's lines.
    """

    def __init__(self, language: str, cells: Iterable[Cell]) -> None:
        """Join ``cells``, all those of the notebook."""
        self._language = language
        self._cells = {cell.uri: cell for cell in cells if self._belongs(cell)}
        self.text = Text()
        """Never changes; each edit makes another one."""
        self._join()

    def __contains__(self, uri: str) -> bool:
        return uri in self._cells

    def _belongs(self, cell: Cell) -> bool:
        return cell.language == self._language or (cell.remark and bool(self._comment))

    @property
    def _comment(self) -> str:
        syntax = SYNTAXES.get(self._language)
        return syntax.comments[0] if syntax and syntax.comments else ""

    def _join(self) -> None:
        texts = list[str]()
        for cell in self._cells.values():
            text = self._part(cell)
            # A line ending mustn't be made of the end of a cell and what is put behind it.
            texts += (text, f"\r{_BETWEEN}" if text.endswith("\r") else _BETWEEN)
        self.text = Text("".join(texts[:-1]))

    def _part(self, cell: Cell) -> str:
        text = str(cell.text)
        return text if cell.language == self._language else _commented(text, self._comment)

    def lines(self, uri: str) -> range:
        """Which lines of the text a cell has.

        Raises:
            KeyError: it isn't here.
        """
        first = 0
        for each, cell in self._cells.items():
            height = len(cell.text)  # a comment has as many lines as what it's made of
            if each == uri:
                return range(first, first + height)
            first += height + 1
        raise KeyError(uri)

    def edit(self, after: Cell, start: Position, end: Position, new: str) -> None:
        """``new`` came where ``start`` to ``end`` was in a cell, which is ``after`` now."""
        before, lines = self._cells[after.uri], self.lines(after.uri)
        self._cells[after.uri] = after
        if _is_odd(before.text) or _is_odd(after.text):
            self._join()
            return
        if after.language != self._language:
            end = Position(len(before.text) - 1, len(self.text.content(lines[-1])))
            start, new = Position(0, 0), self._part(after)
        self.text = self.text.replace(_moved(start, lines), _moved(end, lines), new)


def cell_with(cell: Cell, text: Text) -> Cell:
    """The cell with another text."""
    return replace(cell, text=text)


def _moved(position: Position, lines: range) -> Position:
    return Position(position.line + lines.start, position.column)


def _is_odd(text: Text) -> bool:
    r"""Whether a text ends with ``\r``, of which what follows would make another line ending."""
    last = len(text) - 1
    return last > 0 and text.line(last) == "" and text.line(last - 1).endswith("\r")


def _commented(text: str, comment: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(f"{comment} {line[:_LONGEST_REMARK]}".rstrip() for line in lines)
