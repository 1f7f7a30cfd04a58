"""What changed between two versions of a text, whatever the client said of it."""

from __future__ import annotations

from dataclasses import dataclass

from specls.context.text import Position, Text


@dataclass(frozen=True)
class Difference:
    """The stretch from ``start`` to ``end`` of the older text became ``start`` to ``new_end``."""

    start: Position
    end: Position
    new_end: Position

    def moved(self, position: Position) -> Position:
        """Where a place of the older text is in the newer one, if it isn't before ``end``."""
        line = position.line - self.end.line + self.new_end.line
        if position.line > self.end.line:
            return Position(line, position.column)
        return Position(line, position.column - self.end.column + self.new_end.column)


def difference(before: Text, after: Text) -> Difference | None:
    """The smallest stretch outside of which both are the same; None if they are.

    Of several (a letter more among the same letters), the last one. Costs as much as what differs.
    """
    first, last = before.shared(after)
    old = list(before.lines(first, len(before) - last))
    new = list(after.lines(first, len(after) - last))
    if not old and not new:
        return None
    start = behind = 0
    if old and new:
        start = _alike(old[0], new[0])
        room = [len(each[-1]) - (start if len(each) == 1 else 0) for each in (old, new)]
        behind = min(_alike(old[-1][::-1], new[-1][::-1]), *room)
    return Difference(Position(first, start), _end(first, old, behind), _end(first, new, behind))


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with: found by halving, as lines may be very long."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _end(first: int, lines: list[str], behind: int) -> Position:
    """The end of lines from number ``first`` on, ``behind`` characters before their last's end."""
    if not lines or not behind:
        # The last of them ends where the next line begins, or has no ending and is the last.
        last = len(lines) - 1
        if lines and not lines[last].endswith(("\r", "\n")):
            return Position(first + last, len(lines[last]))
        return Position(first + len(lines), 0)
    return Position(first + len(lines) - 1, len(lines[-1]) - behind)
