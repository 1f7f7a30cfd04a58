"""`specls bench typing` as its user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specls.bench.scripts import SCRIPTS
from specls.cli import main
from tests.conftest import DRAFT

SMALL = "--max-tokens 4 --prefix-tokens 64 --suffix-tokens 32"


@pytest.mark.model
def test_a_small_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two keys at one place: the table names the arms, and the JSON holds each request."""
    file = tmp_path / "values.json"
    words = f"bench typing --places 1 --keys 2 --scripts middle --model {DRAFT} {SMALL}"
    assert main([*words.split(), "--json", str(file)]) == 0
    shown = capsys.readouterr().out
    assert all(arm in shown for arm in ("anchored", "anchored + type-through", "cursor"))
    values = json.loads(file.read_text(encoding="utf-8"))
    samples = values["samples"]
    assert values["settings"]["max_tokens"] == 4
    assert len(samples) == 9
    for arm in ("anchored", "anchored + type-through", "cursor"):
        mine = [each for each in samples if each["arm"] == arm]
        assert [each["kind"] for each in mine] == ["open", "key", "key"]
        assert all(each["text"] is not None and each["latency_ms"] > 0 for each in mine)
        assert 32 < mine[0]["decoded_tokens"] <= 64 + 32 + 16
    anchored = [each for each in samples if each["arm"] == "anchored"]
    assert all(each["decoded_tokens"] < 16 for each in anchored[1:])
    assert {each["origin"] for each in anchored} == {"decode"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--scripts dance", "--scripts"),
        ("--places 0", "--places"),
        ("--repo nowhere", "--repo"),
        ("--max-tokens none", "--max-tokens"),
        ("--json nowhere/a.json", "--json"),
        ("--json .", "--json"),
    ],
)
def test_wrong_arguments_are_told(
    words: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong option ends with code 2, before any model is loaded, and is named."""
    here = Path(__file__).parents[1] / "fakes.py"
    assert main(["bench", "typing", *words.split(), "--model", str(here)]) == 2
    assert expected in capsys.readouterr().err


def test_the_help_names_all_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    """The help's default is the list of the scripts that exist, in their order."""
    with pytest.raises(SystemExit):
        main(["bench", "typing", "--help"])
    assert ",".join(SCRIPTS) in capsys.readouterr().out
