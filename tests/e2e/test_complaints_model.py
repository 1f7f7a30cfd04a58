"""What users of other servers complained about, where a real model's answer counts."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Start
from tests.e2e.editor import CODER, complete, initialize, open_document, wait_for_state
from tests.e2e.rawclient import RawClient

pytestmark = [pytest.mark.e2e, pytest.mark.model]


@pytest.fixture(scope="module")
def coder_small(start_for_module: Start) -> RawClient:
    """A server with the smallest model that fills in."""
    client = start_for_module()
    options = CODER | {"model": "qwen2.5-coder-0.5b", "draftModel": "none", "maxTokens": 24}
    initialize(client, options)
    wait_for_state(client, "ready")
    return client


# 9: continuedev/continue#1448, TabbyML/tabby#3261
@pytest.mark.parametrize(
    "line",
    ["return ", "total = ", "for item in ", "print(a, ", "from os import ", "x = a + ", "if not "],
)
def test_no_blank_behind_a_blank(coder_small: RawClient, line: str) -> None:
    """Behind a blank that was typed, a suggestion begins with no other and isn't empty."""
    uri = f"file:///{line.split(maxsplit=1)[0]}.py"
    text = f"import os\n\n\ndef add(a, b, items):\n    {line}\n"
    open_document(coder_small, text, uri)
    (item,) = complete(coder_small, 4, 4 + len(line), uri)
    written = item["insertText"].removeprefix(f"    {line}")
    assert written
    assert written == written.lstrip()
    assert "<|" not in written
