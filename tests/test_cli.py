"""The command line: what a person reads when something is wrong, and what scripts get."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from specls.catalogue.store import ModelStore
from specls.cli import main
from tests.conftest import SMALLEST

ROOT = Path(__file__).parents[1]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "specls", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def test_help_names_the_commands() -> None:
    """`specls --help` lists what there is, without loading anything heavy."""
    done = run("--help")
    assert done.returncode == 0
    for command in ("serve", "complete", "models"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nowhere.py:1:1", "nowhere.py can't be read: No such file or directory."),
        (".:1:1", ". can't be read: Is a directory."),
        ("README.md", "'README.md' isn't FILE:LINE:COL, as in main.py:12:5."),
        (":1:1", "':1:1' isn't FILE:LINE:COL, as in main.py:12:5."),
        ("README.md:0:1", "README.md has lines 1 to "),
        ("README.md:1:0", "Line 1 of README.md has columns 1 to 9, and not 0."),
        ("README.md:1:99", "Line 1 of README.md has columns 1 to 9, and not 99."),
        ("README.md:" + "9" * 5000 + ":1", "isn't FILE:LINE:COL"),
    ],
)
def test_a_wrong_place_is_one_clear_line(place: str, says: str) -> None:
    """A place that doesn't exist ends with code 2 and a sentence, never a traceback."""
    done = run("complete", place)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_that_isn_t_text_is_told(tmp_path: Path) -> None:
    """Bytes that aren't UTF-8 are refused."""
    path = tmp_path / "image.png"
    path.write_bytes(b"\x89PNG\xff\xfe")
    done = run("complete", f"{path}:1:1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "image.png isn't UTF-8 text." in done.stderr


def test_a_secret_is_not_completed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that may hold secrets is refused by name, unless a pattern allows it."""
    secret = tmp_path / ".env"
    secret.write_text("TOKEN=")
    words = ["complete", f"{secret}:1:1", "--model", "none-such"]
    assert main(words) == 2
    assert "it may hold secrets (.env)" in capsys.readouterr().err
    assert main([*words, "--exclude", "!.env", "--enable", "markdown=false"]) == 1
    assert "none-such" in capsys.readouterr().err
    assert main([*words, "--enable", "markdown=perhaps"]) == 2
    assert "--enable" in capsys.readouterr().err


def test_a_wrong_option_is_named_with_what_is_allowed() -> None:
    """Each wrong option is named as it was given."""
    done = run("complete", "README.md:1:1", "--max-tokens", "many", "--prefetch", "maybe")
    assert done.returncode == 2
    assert "--max-tokens: 'many' isn't allowed; it must be a whole number" in done.stderr
    assert "--prefetch: 'maybe' isn't allowed; it must be true or false" in done.stderr


def test_a_model_that_isn_t_there_says_how_to_get_it() -> None:
    """The exact command that fetches a missing model is in the message."""
    done = run("complete", "README.md:1:1", "--model", "qwen2.5-coder-32b")
    assert done.returncode == 1
    assert "`specls models pull qwen2.5-coder-32b` fetches it." in done.stderr


def test_a_log_file_that_can_t_be_written_is_told(tmp_path: Path) -> None:
    """The server doesn't start with a log that goes nowhere."""
    done = run("serve", "--log-file", str(tmp_path / "no" / "folder.log"))
    assert done.returncode == 2
    assert "The log file can't be written" in done.stderr


@pytest.mark.model
def test_scripts_get_json(store: ModelStore, tmp_path: Path) -> None:
    """With --json one object comes, with the text, who wrote it, and what it cost."""
    path = tmp_path / "größe 1.py"
    path.write_text("numbers = [1, 2, 3, ", encoding="utf-8")
    model = str(store.path(SMALLEST))
    options = ("--model", model, "--max-tokens", "4", "--json")
    for encoding in ("utf-8", "ascii"):
        done = run("complete", f"{path}:1:21", *options, PYTHONIOENCODING=encoding)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert answer["place"].startswith(str(tmp_path))
        assert "".join(token["text"] for token in answer["tokens"]) == answer["text"] != ""
        assert 0 < answer["stats"]["generatedTokens"] <= 4
        assert answer["models"]["target"] == model


@pytest.mark.model
def test_people_get_the_line_and_the_numbers(tmp_path: Path) -> None:
    """Without it, the line stands there with the completion in place, and what it cost below."""
    path = tmp_path / "a.py"
    path.write_text("numbers = [1, 2, 3, ]\n", encoding="utf-8")
    options = ("--model", SMALLEST, "--max-tokens", "4")
    for encoding, bar in (("utf-8", "│"), ("ascii", "|")):
        done = run("complete", f"{path}:1:21", *options, PYTHONIOENCODING=encoding)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"    1 {bar} numbers = [1, 2, 3, ")
        assert "tokens per target pass" in done.stdout
        assert "no fill-in-the-middle markers" in done.stderr
