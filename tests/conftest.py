"""What all tests share: the order (cheap ones first), and the real models."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import hypothesis
import pytest

from specls.app import loader
from specls.catalogue.store import ModelStore
from specls.service.interface import Runtime
from specls.settings import Settings

TARGET = "qwen2.5-coder-1.5b"
DRAFT = "qwen2.5-coder-0.5b"
SMALLEST = "smollm2-135m"


# A shell that starts a run in the background has it ignore Ctrl-C, and all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Machines are shared: how long one example takes says nothing.
hypothesis.settings.register_profile(
    "specls", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("specls")


@pytest.fixture(scope="session", autouse=True)
def _states_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Saved states of documents go to a folder of the run's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPECLS_STATES", str(tmp_path_factory.mktemp("states")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run what needs a model after what doesn't, and what drives a process last."""
    items.sort(key=lambda item: (_has(item, "e2e"), _has(item, "model")))


def _has(item: pytest.Item, marker: str) -> bool:
    return item.get_closest_marker(marker) is not None


@pytest.fixture(scope="session")
def store() -> ModelStore:
    """The models on this machine; `make models` fetches those that the tests need."""
    return ModelStore()


@pytest.fixture(scope="session")
def pair(store: ModelStore) -> Iterator[Runtime]:
    """The default target with its draft, loaded once for all tests of the engine.

    Nothing is spilled: a document that was closed is one that was never seen.
    """
    settings = Settings(speculation="draft", context_tokens=4096, kv_budget_mib=0, kv_disk_mib=0)
    runtime = loader(store)(settings, lambda _share: True)
    assert runtime.notices == ()
    yield runtime
    runtime.close()


@pytest.fixture(scope="session")
def smallest(store: ModelStore) -> Iterator[Runtime]:
    """A model without fill-in-the-middle markers."""
    settings = Settings(model=SMALLEST, context_tokens=2048)
    runtime = loader(store)(settings, lambda _share: True)
    yield runtime
    runtime.close()
