"""What the tests of the service share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.service.scripted import DEADLINE, Bench


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    yield bench
    bench.go.set()
    assert bench.service.shutdown(DEADLINE)
