"""Ways in which loading fails, and what is said then."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import llama_cpp.llama_cpp as lib
import pytest

from specls.app import loader
from specls.catalogue.store import ModelStore
from specls.core import CancelToken
from specls.engine.llama.loader import LoadOptions, load_model, physical_cores
from specls.errors import Cancelled, LoadFailed, ModelDamaged, ModelError
from specls.service.completion import Request, complete
from specls.service.interface import Runtime
from specls.settings import Settings
from tests.conftest import DRAFT, SMALLEST, TARGET
from tests.model.places import places

pytestmark = pytest.mark.model


def load(settings: Settings) -> Runtime:
    return loader()(settings, lambda _share: True)


@pytest.fixture(scope="module")
def truncated(store: ModelStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first half of a real model."""
    path = tmp_path_factory.mktemp("models") / "half.gguf"
    whole = store.path(SMALLEST)
    with whole.open("rb") as source, path.open("wb") as sink:
        sink.write(source.read(whole.stat().st_size // 2))
    return path


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A path where there's nothing is told, with what to do."""
    path = tmp_path / "nothing.gguf"
    with pytest.raises(ModelError, match=r"nothing\.gguf"):
        load(Settings(model=str(path)))
    with pytest.raises(LoadFailed, match=r"There is no model file at .*nothing\.gguf"):
        load_model(path, LoadOptions())


def test_a_text_file_is_no_model(tmp_path: Path) -> None:
    """A file that isn't a GGUF is told as that, by the store and by the engine itself."""
    path = tmp_path / "notes.gguf"
    path.write_text("these are notes\n" * 100)
    with pytest.raises(ModelDamaged, match="GGUF"):
        load(Settings(model=str(path)))
    with pytest.raises(LoadFailed, match="isn't a GGUF file"):
        load_model(path, LoadOptions())


def test_a_truncated_model_is_told(truncated: Path) -> None:
    """A file that ends too early is named as truncated."""
    with pytest.raises(LoadFailed, match=r"half\.gguf is truncated"):
        load(Settings(model=str(truncated)))


def test_more_context_than_memory_is_refused(store: ModelStore) -> None:
    """A context that the machine can't hold is refused before it's allocated."""
    options = LoadOptions(context_tokens=500_000_000, gpu_layers=0)
    with pytest.raises(LoadFailed, match="lower contextTokens"):
        load_model(store.path(SMALLEST), options)


def test_a_damaged_model_of_the_catalogue_is_refused(store: ModelStore, tmp_path: Path) -> None:
    """A file of the catalogue's name and size, but with other bytes, isn't loaded."""
    name = store.path(SMALLEST).name
    shutil.copy(store.path(SMALLEST), tmp_path / name)
    with (tmp_path / name).open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"garbage")
    with pytest.raises(ModelDamaged, match="sha256"):
        loader(ModelStore(tmp_path))(Settings(model=SMALLEST), lambda _share: True)


def test_a_draft_of_another_vocabulary_is_left_out() -> None:
    """The mismatch is named once, and the target completes without a draft."""
    runtime = load(Settings(draft_model=SMALLEST, speculation="draft", context_tokens=4096))
    try:
        (notice,) = runtime.notices
        assert "vocabulary isn't the target's" in notice
        assert "BOS token" in notice
        assert runtime.models["draft"] is None
        snapshot, position = next(places(1))
        request = Request(
            snapshot, position, Settings(max_tokens=4, prefix_tokens=32, suffix_tokens=8)
        )
        assert complete(runtime, request, CancelToken()).stats.drafted == {}
    finally:
        runtime.close()


def test_a_missing_draft_is_told(tmp_path: Path) -> None:
    """A draft that isn't there costs the drafts alone."""
    runtime = load(
        Settings(model=SMALLEST, draft_model=str(tmp_path / "no.gguf"), speculation="draft")
    )
    runtime.close()
    assert any("no.gguf" in notice for notice in runtime.notices)


def test_lookup_loads_no_draft(smallest: Runtime) -> None:
    """Where a draft model isn't used it takes no memory."""
    assert smallest.models["draft"] is None


def test_a_model_without_markers_says_so(smallest: Runtime) -> None:
    """Without fill-in-the-middle markers a model completes from the prefix alone, and tells."""
    assert any("no fill-in-the-middle markers" in notice for notice in smallest.notices)
    snapshot, position = next(places(1))
    built = smallest.prompts.build(snapshot, position, (64, 64))
    assert built.window.after == ""
    request = Request(snapshot, position, Settings(max_tokens=4, prefix_tokens=64))
    stats = complete(smallest, request, CancelToken()).stats
    assert stats.prompt_tokens <= 70
    assert 0 < stats.generated_tokens <= 4 + stats.healed_tokens


@pytest.mark.parametrize("kv_type", ["f16", "q8_0"])
@pytest.mark.parametrize("flash", ["auto", "on"])
def test_caches_of_both_types_work(store: ModelStore, kv_type: str, flash: str) -> None:
    """A model decodes with either type of cache."""
    options = LoadOptions(kv_type=kv_type, flash_attention=flash, context_tokens=512)
    model = load_model(store.path(DRAFT), options)
    model.decode(0, 0, [1, 2, 3], scored=1)
    assert model.best(0) >= 0
    model.close()
    model.weights.close()


def test_the_progress_reaches_the_end() -> None:
    """Loading tells how far it is, never backwards, up to the end."""
    shares: list[float] = []

    def note(share: float) -> bool:
        shares.append(share)
        return True

    loader()(Settings(model=SMALLEST, context_tokens=512), note).close()
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_loading_can_be_given_up() -> None:
    """A progress that says no ends the loading, which isn't called a failure."""
    with pytest.raises(Cancelled):
        loader()(Settings(model=SMALLEST), lambda share: share < 0.3)


def test_what_llama_cpp_prints_goes_to_the_log(
    store: ModelStore, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is printed by the library: its lines are debug messages of the log."""
    with caplog.at_level(logging.DEBUG):
        model = load_model(store.path(SMALLEST), LoadOptions(context_tokens=512))
    model.close()
    model.weights.close()
    assert capfd.readouterr() == ("", "")
    assert "llama_model_loader" in caplog.text


def test_threads_are_the_physical_cores() -> None:
    """``auto`` takes at least one thread and no more than there are processors."""
    assert 1 <= physical_cores() <= 1024


def test_the_default_pair_is_compatible(store: ModelStore, pair: Runtime) -> None:
    """The catalogue's draft for the default target passes the vocabulary check."""
    entry = store.resolve(TARGET).entry
    assert entry is not None
    assert entry.auto_draft == DRAFT
    assert pair.models["draft"] is not None


def test_a_recurrent_model_is_refused(store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose state can't be cut back isn't loaded, and the message says what to choose."""
    monkeypatch.setattr(lib, "llama_model_is_hybrid", lambda _handle: True)
    with pytest.raises(LoadFailed, match="choose a transformer"):
        loader(store)(Settings(model=SMALLEST), lambda _share: True)


def test_a_model_whose_file_is_gone_is_closed_all_the_same(
    store: ModelStore, tmp_path: Path
) -> None:
    """Deleting the file of a loaded model keeps nothing from being freed."""
    path = tmp_path / "mine.gguf"
    shutil.copy(store.path(SMALLEST), path)
    runtime = load(Settings(model=str(path), context_tokens=512))
    path.unlink()
    runtime.close()
    with pytest.raises(ModelError, match=r"mine\.gguf"):
        load(Settings(model=str(path)))
