"""What is on this machine, and whether it's right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from specls.catalogue import store as store_module
from specls.catalogue.files import Record
from specls.catalogue.results import CheckedModel, State
from specls.catalogue.store import ModelStore
from specls.errors import ModelDamaged, ModelError, ModelNotFetched, UnknownModel
from tests.catalogue.fakes import MODEL, catalogue_of, digest, tiny

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(folder: Path) -> ModelStore:
    """A store that knows one model by its hash, and one whose hash is the hub's to tell."""
    folder.mkdir(parents=True)
    return ModelStore(folder, catalogue_of(tiny(), tiny(known=False, name="fresh")))


def put(store: ModelStore, content: bytes = MODEL, name: str = "tiny") -> Path:
    """Lay ``content`` where the model belongs."""
    path = store.files(store.entry(name)).model
    path.write_bytes(content)
    return path


def forbid_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test fail that reads a whole file."""

    def hashed(*_: object) -> str:
        raise AssertionError("the file was hashed")

    monkeypatch.setattr(store_module, "sha256_of", hashed)


def test_id_resolves_to_its_file(store: ModelStore) -> None:
    """An id stands for the file in the folder, and brings its entry along."""
    path = put(store)

    found = store.resolve("tiny")

    assert (found.path, found.entry, found.name) == (path, store.entry("tiny"), "tiny")
    assert store.path("tiny") == path


def test_second_resolve_does_not_hash(store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was hashed once and hasn't changed since is only looked at."""
    path = put(store)
    store.resolve("tiny")
    forbid_hashing(monkeypatch)

    assert store.path("tiny") == path


def test_resolve_notices_a_changed_file(store: ModelStore) -> None:
    """A file with the right size but other content than at the last check is damaged."""
    path = put(store)
    store.resolve("tiny")
    path.write_bytes(MODEL[:-1] + b"!")

    with pytest.raises(ModelDamaged, match=r"sha256 is wrong\. `specls models pull tiny` fetches"):
        store.resolve("tiny")


def test_absent_model_names_the_command(store: ModelStore) -> None:
    """An id whose file isn't here says how to fetch it."""
    with pytest.raises(ModelNotFetched, match=r"`specls models pull tiny` fetches it"):
        store.resolve("tiny")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (MODEL[:-1], "it has 5,382 bytes instead of 5,383"),
        (MODEL + b"!", "it has 5,384 bytes instead of 5,383"),
        (b"", "it has 0 bytes instead of 5,383"),
        (b"text" + MODEL[4:], "it isn't a GGUF file"),
        (MODEL[:-1] + b"!", "its sha256 is wrong"),
    ],
)
def test_wrong_file_is_damaged(store: ModelStore, content: bytes, problem: str) -> None:
    """A truncated, longer, empty, foreign or altered file is refused, with the command."""
    put(store, content)

    with pytest.raises(ModelDamaged, match=f"{problem}.*`specls models pull tiny`"):
        store.resolve("tiny")


def test_own_file_resolves(store: ModelStore, tmp_path: Path) -> None:
    """A path to any GGUF is accepted and has no entry."""
    mine = tmp_path / "my model.bin"
    mine.write_bytes(b"GGUF and whatever")

    found = store.resolve(str(mine))

    assert (found.path, found.entry, found.name) == (mine, None, str(mine))


def test_tilde_is_the_home(
    store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path may begin with ~."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "m.gguf").write_bytes(b"GGUF")

    assert store.path("~/m.gguf") == tmp_path / "m.gguf"


def test_relative_path_becomes_absolute(
    store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is resolved stays right when the process changes its folder."""
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)

    assert store.path("m.gguf") == tmp_path / "m.gguf"


@pytest.mark.parametrize("content", [b"", b"GG", b"print('no model')\n"])
def test_own_file_must_be_a_gguf(store: ModelStore, tmp_path: Path, content: bytes) -> None:
    """A text, an empty and a cut-off file are no models."""
    path = tmp_path / "m.gguf"
    path.write_bytes(content)

    with pytest.raises(ModelDamaged, match=r"m\.gguf isn't a GGUF file"):
        store.resolve(str(path))


def test_folder_is_no_model(store: ModelStore, tmp_path: Path) -> None:
    """A path of a folder is refused as such."""
    with pytest.raises(UnknownModel, match="is a folder; a model is one GGUF file"):
        store.resolve(str(tmp_path))


@pytest.mark.parametrize("name", ["/absent/m", "m.gguf", "M.GGUF"])
def test_absent_path_is_unknown(store: ModelStore, name: str) -> None:
    """What looks like a path is answered like a path."""
    with pytest.raises(UnknownModel, match="There is no file /"):
        store.resolve(name)


@pytest.mark.parametrize(
    ("name", "hint"), [("tinny", "Did you mean tiny?"), ("TINY", "Did you mean tiny?")]
)
def test_misspelt_id_is_corrected(store: ModelStore, name: str, hint: str) -> None:
    """An id that is nearly right is answered with the right one."""
    with pytest.raises(UnknownModel) as caught:
        store.resolve(name)

    assert hint in str(caught.value)
    assert "`specls models list`" in str(caught.value)


def test_strange_id_gets_no_hint(store: ModelStore) -> None:
    """An id that is like no other says how to name a file of one's own."""
    with pytest.raises(UnknownModel, match="give its path") as caught:
        store.resolve("gpt-99")

    assert "Did you mean" not in str(caught.value)


def test_id_wins_over_a_file_of_that_name(
    store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in the current folder that is named like an id doesn't hide the id."""
    put(store)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny").write_bytes(b"GGUF")

    assert store.resolve("tiny").entry is not None


def test_verify_reads_the_file_again(store: ModelStore) -> None:
    """A file that was checked before is hashed nevertheless, and progress is heard."""
    path = put(store)
    store.resolve("tiny")
    done: list[int] = []

    found = store.verify("tiny", done.append)

    assert found == CheckedModel(path, len(MODEL), digest(MODEL), compared=True)
    assert done == [len(MODEL)]


def test_verify_finds_what_the_record_hides(store: ModelStore) -> None:
    """Content that changed while size and time stayed is found by verify."""
    path = put(store, MODEL[:-1] + b"!")
    Record.of(path, digest(MODEL)).write(store.files(store.entry("tiny")).record)
    store.resolve("tiny")

    with pytest.raises(ModelDamaged, match="sha256 is wrong"):
        store.verify("tiny")


def test_verify_of_an_own_file_states_its_hash(store: ModelStore, tmp_path: Path) -> None:
    """A file of one's own has nothing to be compared with."""
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(MODEL)

    found = store.verify(str(mine))

    assert found == CheckedModel(mine, len(MODEL), digest(MODEL), compared=False)


def test_hash_of_the_hub_is_remembered(store: ModelStore) -> None:
    """A model without a hash in the catalogue is compared with the one that its pull recorded."""
    path = put(store, name="fresh")
    Record.of(path, digest(MODEL)).write(store.files(store.entry("fresh")).record)
    assert store.verify("fresh").compared

    put(store, MODEL[:-1] + b"!", "fresh")
    with pytest.raises(ModelDamaged, match="sha256 is wrong"):
        store.resolve("fresh")
    put(store, MODEL[:-1], "fresh")
    with pytest.raises(ModelDamaged, match="it has 5,382 bytes instead of 5,383"):
        store.resolve("fresh")


def test_unknown_hash_is_not_compared(store: ModelStore) -> None:
    """A model put by hand whose hash nobody knows may be used, and verify says so."""
    path = put(store, name="fresh")

    assert store.path("fresh") == path
    assert not store.verify("fresh").compared
    assert store.state(store.entry("fresh")) is State.UNCHECKED


def test_check_works_in_a_folder_that_cannot_be_written(
    store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that can't be kept costs time at the next start and nothing else."""
    path = put(store)

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.write_text", refuse)

    assert store.path("tiny") == path
    assert store.state(store.entry("tiny")) is State.UNCHECKED


def test_states(store: ModelStore) -> None:
    """A model is absent, there in part, damaged, unchecked or fetched."""
    entry = store.entry("tiny")
    files = store.files(entry)
    assert store.state(entry) is State.ABSENT
    files.partial(digest(MODEL)).write_bytes(MODEL[:10])
    assert store.state(entry) is State.PARTIAL
    put(store, MODEL[:10])
    assert store.state(entry) is State.DAMAGED
    put(store)
    assert store.state(entry) is State.UNCHECKED
    store.resolve("tiny")
    assert store.state(entry) is State.FETCHED


def test_remove_frees_everything(store: ModelStore) -> None:
    """The model, its record and its partial files go; the amount is what they took."""
    put(store)
    store.resolve("tiny")
    files = store.files(store.entry("tiny"))
    files.partial("ab" * 32).write_bytes(b"1234")
    files.work.mkdir()

    assert store.remove("tiny") == len(MODEL) + 4
    assert [path for path in store.folder.iterdir() if path != files.lock] == []
    with pytest.raises(ModelNotFetched, match="nothing to remove"):
        store.remove("tiny")


def test_remove_accepts_a_path_in_the_folder_only(store: ModelStore, tmp_path: Path) -> None:
    """A file elsewhere stays, also behind a path that goes through the folder."""
    outside, inside = tmp_path / "mine.gguf", store.folder / "mine.gguf"
    outside.write_bytes(MODEL)
    inside.write_bytes(MODEL)

    for name in (str(outside), str(store.folder / ".." / ".." / "mine.gguf")):
        with pytest.raises(ModelError, match="isn't in the models' folder"):
            store.remove(name)
    assert outside.exists()
    assert store.remove(str(inside)) == len(MODEL)


def test_remove_leaves_a_model_that_is_being_fetched(store: ModelStore) -> None:
    """While a pull holds the lock nothing is removed."""
    path = put(store)

    with (
        FileLock(store.files(store.entry("tiny")).lock),
        pytest.raises(ModelError, match="being fetched right now"),
    ):
        store.remove("tiny")
    assert path.exists()
