"""A document to type in, for tests of benchmarks."""

from __future__ import annotations

from specls.context.document import Snapshot
from specls.context.text import Text

FUNCTION = """\
def area_{0}(width, height):
    # The surface of a rectangle.
    factor = measure_{0}(width) * measure_{0}(height)
    if factor < 0:
        raise ValueError("no such rectangle: " + str(factor))
    return round(factor, ndigits=2)

"""


def document(name: str = "one", functions: int = 12) -> Snapshot:
    text = Text("".join(FUNCTION.format(number) for number in range(functions)))
    return Snapshot(f"file:///{name}.py", 1, "python", text)
