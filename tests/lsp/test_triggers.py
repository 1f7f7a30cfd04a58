"""What a client means by the kind of a request."""

from __future__ import annotations

import pytest
from lsprotocol.types import InlineCompletionTriggerKind as Kind

from specls.lsp.triggers import Triggers

ASKED, ITSELF = Kind.Invoked, Kind.Automatic


@pytest.mark.parametrize(
    ("client", "sent", "meant"),
    [
        ("Neovim", [1, 2, 1], [ASKED, ITSELF, ASKED]),
        (None, [1, 2], [ASKED, ITSELF]),
        ("Visual Studio Code", [1, 1, 0, 1], [ITSELF, ITSELF, ASKED, ITSELF]),
        ("VSCodium", [1, 2, 1], [ITSELF, ITSELF, ASKED]),
        ("Visual Studio Code", [2, 1], [ITSELF, ASKED]),
        ("Own", [1, 0, 1], [ASKED, ASKED, ITSELF]),
    ],
)
def test_kinds_are_what_the_client_means(
    client: str | None, sent: list[int], meant: list[Kind]
) -> None:
    """A client that counts from 0 is known by a 0, and suspected by its name until a 2 comes."""
    triggers = Triggers()
    triggers.meet(client)
    assert [triggers.read(kind) for kind in sent] == meant


@pytest.mark.parametrize("kind", [3, -1, None, "1", [1]])
def test_other_kinds_are_none(kind: object) -> None:
    """What isn't a kind is refused."""
    with pytest.raises(ValueError, match="is not a valid"):
        Triggers().read(kind)
