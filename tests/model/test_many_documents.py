"""Many documents under a small budget: memory stays within it, and nothing fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from specls.app import loader
from specls.catalogue.store import ModelStore
from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.core import CancelToken
from specls.service.completion import Completion, Request, complete
from specls.service.interface import Runtime
from specls.settings import Settings
from tests.conftest import SMALLEST

pytestmark = pytest.mark.model

DOCUMENTS = 50
MIB = 2**20
OVERHEAD = 48 * MIB
"""On top of the budget: buffers of a state on its way, and what the allocator keeps."""

TIGHT = Settings(
    model=SMALLEST,
    speculation="off",
    prefix_tokens=96,
    max_tokens=2,
    context_tokens=512,
    kv_budget_mib=8,
    kv_disk_mib=16,
)


@pytest.fixture(scope="module")
def tight(store: ModelStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    states = tmp_path_factory.mktemp("tight")
    runtime = loader(store, states)(TIGHT, lambda _share: True)
    yield runtime
    runtime.close()


def ask(runtime: Runtime, number: int) -> Completion:
    lines = "".join(f"value_{number}_{line} = {line * number}\n" for line in range(12))
    snapshot = Snapshot(f"file:///{number}.py", 1, "python", Text(lines))
    return complete(runtime, Request(snapshot, Position(12, 0), TIGHT), CancelToken())


def states(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.state"))


def test_fifty_documents_stay_within_the_budget(
    tight: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of fifty documents the last are in memory, those before on disk; memory stays small."""
    process = psutil.Process()
    for number in range(5):
        ask(tight, number)
    before = process.memory_info().rss
    texts = [ask(tight, number).text for number in range(DOCUMENTS)]
    grown = process.memory_info().rss - before
    counts = tight.engine.spill_counts
    with capsys.disabled():
        print(f"\n{DOCUMENTS} documents: {grown / MIB:.0f} MiB more, {counts}")
    assert grown <= TIGHT.kv_budget_mib * MIB + OVERHEAD
    assert counts.spilled >= DOCUMENTS - 10
    assert counts.saved > 0
    again = [ask(tight, number) for number in range(DOCUMENTS - 8, DOCUMENTS)]
    assert [each.text for each in again] == texts[DOCUMENTS - 8 :]
    assert all(each.stats.prefilled_tokens <= 1 + each.stats.healed_tokens for each in again)
    assert process.memory_info().rss - before <= TIGHT.kv_budget_mib * MIB + OVERHEAD


def test_the_disk_stays_within_its_budget(tight: Runtime) -> None:
    """What's written to disk is never more than was allowed."""
    shelf = tight.engine._sessions._spill.second
    assert shelf is not None
    for number in range(DOCUMENTS, DOCUMENTS + 10):
        ask(tight, number)
        shelf.load(f"file:///{number - 9}.py")  # waits for what is being written
    folder: Path = shelf._root  # type: ignore[attr-defined]
    assert 0 < states(folder) <= TIGHT.kv_disk_mib * MIB
