"""What the loader says of models before it loads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from specls import app
from specls.app import ModelLoader
from specls.catalogue.store import ModelStore
from specls.errors import ModelNotFetched
from specls.settings import Settings
from tests.catalogue.fakes import MODEL, catalogue_of, tiny


@pytest.fixture
def loader(tmp_path: Path) -> ModelLoader:
    """A loader with one model of the catalogue on this machine, and a file of one's own."""
    (tmp_path / "tiny.gguf").write_bytes(MODEL)
    (tmp_path / "mine.gguf").write_bytes(b"GGUF" + bytes(996))
    catalogue = catalogue_of(tiny(), tiny(name="absent"))
    return ModelLoader(ModelStore(tmp_path, catalogue), None)


@pytest.mark.parametrize(("available", "fits"), [(6384, True), (6383, False)])
def test_two_models_need_memory_for_both(
    loader: ModelLoader,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    available: int,
    *,
    fits: bool,
) -> None:
    """What is mapped counts as available, so the old file is taken off before they're compared."""
    monkeypatch.setattr(app, "available_bytes", lambda: available)
    monkeypatch.setattr(app, "runs_on_cpu", lambda _options: True)
    old = Settings(model=str(tmp_path / "mine.gguf"))
    assert loader.fits(Settings(model="tiny"), old) == fits


def test_on_a_gpu_one_model_makes_way_for_the_other(
    loader: ModelLoader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is free on a GPU isn't known, so two are never loaded at once."""
    monkeypatch.setattr(app, "available_bytes", lambda: 1 << 40)
    monkeypatch.setattr(app, "runs_on_cpu", lambda options: options.gpu_layers == 0)
    old = Settings(model=str(tmp_path / "mine.gguf"), gpu_layers=0)
    assert loader.fits(Settings(model="tiny", gpu_layers=0), old)
    assert not loader.fits(Settings(model="tiny"), old)
    assert not loader.fits(Settings(model="tiny", gpu_layers=0), Settings(model="tiny"))


def test_what_is_not_here_has_its_remedy(loader: ModelLoader) -> None:
    """The error says which command fetches the model."""
    with pytest.raises(ModelNotFetched) as caught:
        loader.check(Settings(model="absent"))
    assert caught.value.remedy == "specls models pull absent"


def test_a_file_of_one_s_own_is_listed_when_it_is_used(loader: ModelLoader, tmp_path: Path) -> None:
    """After the models of the catalogue, by its path; one of the catalogue isn't listed twice."""
    mine = str(tmp_path / "mine.gguf")
    listed = loader.listing(["tiny", mine])
    assert [row["id"] for row in listed] == ["tiny", "absent", mine]
    assert listed[-1] == {
        "id": mine,
        "name": "mine.gguf",
        "kind": "target",
        "bytes": 1000,
        "licence": "",
        "present": True,
        "state": "unchecked",
        "drafts": [],
    }
