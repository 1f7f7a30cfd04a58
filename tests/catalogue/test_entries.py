"""The catalogue file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specls.catalogue.entries import HubSource, WheelSource, load_catalogue, parse_catalogue
from specls.errors import ModelError
from specls.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

GOOD = f"""
[[model]]
id = "big"
role = "target"
file = "big.gguf"
parameters = "2B"
quantisation = "Q4_K_M"
bytes = 2500
sha256 = "{"ab" * 32}"
licence = "MIT"
fim_family = "qwen2.5-coder"
context_length = 1024
drafts = ["small"]

[[model.source]]
kind = "hub"
repo = "someone/big"
file = "big.gguf"
revision = "main"

[[model.source]]
kind = "wheels"
distribution = "big-part{{part}}"
version = "1.0"
member = "big/part{{part:02}}.bin"
parts = 3
part_bytes = 1000

[[model]]
id = "small"
role = "draft"
file = "small.gguf"
parameters = "1B"
quantisation = "Q4_K_M"
licence = "MIT"
context_length = 1024
drafts = []

[[model.source]]
kind = "hub"
repo = "someone/small"
file = "small.gguf"
revision = "main"
"""


def test_entry_has_all_fields() -> None:
    """A model's table becomes an entry, absent optional fields None."""
    big, small = parse_catalogue(GOOD)

    assert big.bytes == 2500
    assert big.drafts == ("small",)
    assert big.auto_draft == "small"
    assert big.sources == (
        HubSource("someone/big", "big.gguf", "main"),
        WheelSource("big-part{part}", "1.0", "big/part{part:02}.bin", 3, 1000),
    )
    assert (small.bytes, small.sha256, small.fim_family, small.auto_draft) == (None,) * 4


def test_wheels_are_numbered_from_one() -> None:
    """The part's number stands in the distribution and in the member, padded where asked."""
    source = WheelSource("big-part{part}", "1.0", "big/part{part:02}.bin", 3, 1000)

    assert source.requirement(2) == "big-part2==1.0"
    assert source.member_of(2) == "big/part02.bin"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("licence", "license", r"model 'big': unknown key 'license'; known are id, role"),
        ('parameters = "2B"\n', "", r"model 'big': parameters is missing"),
        ("bytes = 2500", 'bytes = "2500"', r"model 'big': bytes must be a \(non-empty\) int"),
        ("context_length = 1024", "context_length = true", r"must be a \(non-empty\) int"),
        ('quantisation = "Q4_K_M"', 'quantisation = ""', r"quantisation must be a \(non-empty\)"),
        ('role = "target"', 'role = "chat"', r"model 'big': role must be one of target, draft"),
        ('"big.gguf"', '"../big.gguf"', r"model 'big': file must be a name without folders"),
        ("abab", "ABAB", r"model 'big': sha256 must be 64 lower-case hex digits"),
        ('drafts = ["small"]', "drafts = [1]", r"model 'big': drafts must be ids"),
        ('drafts = ["small"]', 'drafts = ["tiny"]', r"its draft 'tiny' is no other model's id"),
        ('drafts = ["small"]', 'drafts = ["big"]', r"its draft 'big' is no other model's id"),
        ('id = "small"', 'id = "big"', r"two models have the id 'big'"),
        ('"small.gguf"', '"big.gguf"', r"two models have the file 'big.gguf'"),
        ('kind = "hub"', 'kind = "ftp"', r"model 'big', a source: kind must be hub or wheels"),
        ('kind = "hub"\n', "", r"model 'big', a source: kind must be hub or wheels"),
        ('revision = "main"\n', "", r"model 'big', a source: revision is missing"),
        ("parts = 3", "parts = 2", r"parts and part_bytes don't add up to the model's bytes"),
        ("parts = 3", "parts = 4", r"parts and part_bytes don't add up to the model's bytes"),
        ("bytes = 2500\n", "", r"a source: wheels need the model's bytes and sha256"),
        ("[[model]]", "[[models]]", r"the catalogue: unknown key 'models'; known are model"),
        ("[[model]]", "[[model", r"not TOML"),
    ],
)
def test_wrong_catalogue_is_refused(old: str, new: str, message: str) -> None:
    """The error names the model and what is wrong with it."""
    assert old in GOOD

    with pytest.raises(ModelError, match=message):
        parse_catalogue(GOOD.replace(old, new))


def test_tables_are_required() -> None:
    """A model that isn't a table, or has no source, is refused."""
    with pytest.raises(ModelError, match="model 1 must be a table"):
        parse_catalogue("model = [1]")
    with pytest.raises(ModelError, match="model 'small': it needs at least one source"):
        parse_catalogue("source = []".join(GOOD.rsplit("[[model.source]]", 1)[:1]) + "source = []")


def test_error_names_the_file(tmp_path: Path) -> None:
    """A catalogue that can't be read or parsed is named."""
    path = tmp_path / "mine.toml"
    with pytest.raises(ModelError, match=r"can't be read: .*mine\.toml"):
        load_catalogue(path)

    path.write_text("model = 1", encoding="utf-8")
    with pytest.raises(ModelError, match=r"mine\.toml: the catalogue: model must be a"):
        load_catalogue(path)


def test_shipped_catalogue_names_its_models() -> None:
    """The models that the documentation promises are there, in order of size."""
    assert load_catalogue().ids == (
        "qwen2.5-coder-0.5b",
        "qwen2.5-coder-1.5b",
        "qwen2.5-coder-3b",
        "qwen2.5-coder-7b",
        "qwen2.5-coder-14b",
        "qwen2.5-coder-32b",
        "smollm2-135m",
    )


def test_shipped_drafts_fit_their_targets() -> None:
    """A draft is smaller than its target and of the same family."""
    catalogue = load_catalogue()

    for entry in catalogue:
        for name in entry.drafts:
            draft = catalogue.get(name)
            assert draft is not None
            assert draft.fim_family == entry.fim_family
            assert catalogue.ids.index(name) < catalogue.ids.index(entry.id)


def test_shipped_default_target_has_a_draft() -> None:
    """The default setting is an id, and its draft is the 0.5B."""
    target = load_catalogue().get(Settings().model)

    assert target is not None
    assert target.auto_draft == "qwen2.5-coder-0.5b"
