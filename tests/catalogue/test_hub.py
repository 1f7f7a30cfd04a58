"""The hub's source against a server on the loopback that speaks the hub's protocol."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import close_session

from specls.catalogue import hub as hub_module
from specls.catalogue.fetch import pull
from specls.catalogue.files import Record
from specls.catalogue.store import ModelStore
from specls.errors import DownloadFailed
from tests.catalogue.fakes import HUB, MODEL, FakeHub, Heard, catalogue_of, digest, tiny

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "/someone/tiny-GGUF/resolve/main/tiny.gguf"


def fetch(folder: Path, heard: Heard, *, known: bool = True) -> Path:
    """Pull the tiny model, which has the hub as its only source."""
    entry = tiny(HUB, known=known)
    return pull(ModelStore(folder, catalogue_of(entry)), entry, heard)


def test_file_is_fetched(hub: FakeHub, folder: Path, heard: Heard) -> None:
    """Metadata first, then the bytes; progress ends with all of them."""
    path = fetch(folder, heard)

    assert path.read_bytes() == MODEL
    assert hub.requests == [("HEAD", ADDRESS, None), ("GET", ADDRESS, None)]
    assert ("tiny", len(MODEL), len(MODEL)) in heard.reports


def test_pull_resumes(hub: FakeHub, folder: Path, heard: Heard) -> None:
    """What an earlier pull left isn't fetched again."""
    folder.mkdir(parents=True)
    (folder / f"tiny.gguf.{digest(MODEL)[:12]}.partial").write_bytes(MODEL[:2000])

    assert fetch(folder, heard).read_bytes() == MODEL
    assert hub.ranges() == ["bytes=2000-"]
    assert heard.reports[0] == ("tiny", len(MODEL), len(MODEL))


def test_broken_connection_is_made_again(hub: FakeHub, folder: Path, heard: Heard) -> None:
    """As long as each connection brings something, the transfer goes on by itself."""
    hub.cuts = [1000, 1000]

    assert fetch(folder, heard).read_bytes() == MODEL
    assert hub.ranges() == [None, "bytes=1000-", "bytes=2000-"]


def test_connection_that_brings_nothing_ends_it(hub: FakeHub, folder: Path, heard: Heard) -> None:
    """A server that sends no more bytes is given up, and what came is kept for the next pull."""
    hub.cuts = [1000, 0]
    with pytest.raises(DownloadFailed, match=r"\(after 1,000 of 5,383 bytes\)"):
        fetch(folder, heard)

    assert fetch(folder, heard).read_bytes() == MODEL
    assert hub.ranges()[-1] == "bytes=1000-"


def test_server_without_ranges_starts_anew(hub: FakeHub, folder: Path, heard: Heard) -> None:
    """A server that sends everything although a part was asked for doesn't spoil the file."""
    hub.cuts = [1000]
    hub.knows_ranges = False

    assert fetch(folder, heard).read_bytes() == MODEL
    assert hub.ranges() == [None, "bytes=1000-"]


def test_wrong_bytes_are_refused(hub: FakeHub, folder: Path, heard: Heard) -> None:
    """Bytes that don't have the hash of the metadata are thrown away."""
    hub.content = MODEL[:-1] + b"!"

    with pytest.raises(DownloadFailed, match="it delivered something else: sha256"):
        fetch(folder, heard)
    assert list(folder.glob("*.*")) == [folder / ".tiny.gguf.lock"]


@pytest.mark.parametrize("content", [MODEL[:-1], MODEL[:-1] + b"!"])
def test_other_file_is_refused_before_the_transfer(
    hub: FakeHub, folder: Path, heard: Heard, content: bytes
) -> None:
    """If the hub has another file by that name now, not one byte of it is fetched."""
    hub.content, hub.etag = content, digest(content)

    with pytest.raises(DownloadFailed, match="it has another file by this name now"):
        fetch(folder, heard)
    assert hub.ranges() == []


def test_unknown_hash_comes_from_the_metadata(hub: FakeHub, folder: Path, heard: Heard) -> None:
    """A model whose hash the catalogue doesn't have is checked by the hub's."""
    path = fetch(folder, heard, known=False)

    record = Record.read(folder / "tiny.gguf.json")
    assert record == Record.of(path, digest(MODEL))

    path.unlink()
    hub.content = MODEL[:-1] + b"!"
    with pytest.raises(DownloadFailed, match="it delivered something else: sha256"):
        fetch(folder, heard, known=False)


def test_hash_is_never_skipped(hub: FakeHub, folder: Path, heard: Heard) -> None:
    """A hub that states no sha256 is refused."""
    hub.etag = "0123"

    with pytest.raises(DownloadFailed, match="it names no size and sha256 for this file"):
        fetch(folder, heard, known=False)


def test_missing_file_is_told(hub: FakeHub, folder: Path, heard: Heard) -> None:
    """The hub's 404 is the reason that the user reads, in one line."""
    hub.status = 404

    with pytest.raises(DownloadFailed, match=r"\n     404 Client Error\..* Entry Not Found for"):
        fetch(folder, heard)


def test_unreachable_hub_is_told(
    folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hub that can't be connected to is named with its address."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("HF_ENDPOINT", address)

        with pytest.raises(DownloadFailed, match=rf"1\. {address}/someone.*\n +.*refused"):
            fetch(folder, heard)


def test_silent_hub_is_given_up(
    hub: FakeHub, folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hub that accepts and never answers costs the few seconds that it's given."""
    monkeypatch.setattr(hub_module, "ANSWER_SECONDS", 0.1)
    hub.silent = True

    with pytest.raises(DownloadFailed, match="timed out"):
        fetch(folder, heard)


def test_proxy_is_honoured(
    hub: FakeHub, folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With HTTP_PROXY set, everything goes through the proxy."""
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
    monkeypatch.setenv("HTTP_PROXY", hub.address)
    close_session()

    assert fetch(folder, heard).read_bytes() == MODEL
    assert hub.hosts == ["hub.invalid", "hub.invalid"]
    assert hub.requests[1] == ("GET", f"http://hub.invalid{ADDRESS}", None)


def test_token_stays_at_the_hub(
    hub: FakeHub, folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HF_TOKEN is sent to the hub, and not to the other server that it points to."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    elsewhere = FakeHub()
    hub.redirect_to = elsewhere.address.replace("127.0.0.1", "localhost")

    with elsewhere.running():
        assert fetch(folder, heard).read_bytes() == MODEL
        close_session()

    assert hub.tokens == ["Bearer hf_secret"] * 2
    assert elsewhere.tokens == [None]
