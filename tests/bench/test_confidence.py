"""Thresholds, on results whose probabilities are known."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from pathlib import Path

import pytest

from specls.bench.confidence import (
    RULES,
    by_mean,
    by_weakest,
    logarithm,
    mean,
    row,
    rows,
    usable,
)
from specls.bench.infill_shown_figures import FIGURES, Shown
from specls.bench.infill_shown_ways import Piece
from specls.commands import bench_confidence
from specls.errors import SettingsError


def shown(
    pieces: list[Piece], truth: str, *, number: int = 0, way: str = "shown", text: str | None = None
) -> Shown:
    """A result whose text the pieces spell."""
    spelt = "".join(each for each, _ in pieces).rstrip()
    return Shown(
        task=f"Own/{number}/L1",
        kind="cut",
        way=way,
        text=spelt if text is None else text,
        verdict="passed",
        new_tokens=len(pieces),
        seconds=0.1,
        truth=truth,
        pieces=pieces,
    )


SURE = shown([("return", -0.1), (" a", -0.3)], "return a", number=0)
WEAK = shown([("x = ", -0.2), ("wrong", -3.0), ("()", -0.1)], "x = right()", number=1)
NOTHING = shown([], "pass", number=2)
ALL = [SURE, WEAK, NOTHING]


@pytest.mark.parametrize(
    ("text", "truth", "useful", "deleted", "first", "exact"),
    [
        ("return a", "return a", 8, 0, True, True),
        ("return b", "return a", 7, 1, False, False),
        ("return", "return a", 6, 0, False, False),
        ("return a\nb", "return a", 8, 2, True, False),
        ("a = 1\nb", "a = 1\nb = 2", 7, 0, True, False),
        ("", "return a", 0, 0, False, False),
        ("other", "return a", 0, 5, False, False),
    ],
)
def test_what_is_kept_and_deleted(
    text: str, truth: str, useful: int, deleted: int, *, first: bool, exact: bool
) -> None:
    """Up to the first difference it's kept; the first line may be right where not all are."""
    result = shown([(text, -0.1)], truth)
    assert (result.useful, result.deleted) == (useful, deleted)
    assert (result.first_line_exact, result.exact) == (first, exact)


def test_the_figures_of_three_results() -> None:
    """Each figure has one definition."""
    values = {figure.name: round(figure.value(ALL), 3) for figure in FIGURES}
    assert values == {
        "first line exact, %": 33.333,
        "all lines exact, %": 33.333,
        "pass@1, %": 100.0,
        "nothing shown, %": 33.333,
        "characters shown": round((8 + 11) / 3, 3),
        "useful characters": 4.0,
        "deleted characters": round(7 / 3, 3),
        "deleted of 1,000 shown": round(7000 / 19, 3),
        "new tokens": round(5 / 3, 3),
    }


def test_a_share_of_characters_is_compared_over_all_tasks() -> None:
    """Deleted of 1,000 shown isn't the mean of the tasks' own shares."""
    per = next(figure for figure in FIGURES if figure.name == "deleted of 1,000 shown")
    kept = [shown([("a" * 90, -1)], "a" * 90), shown([("b" * 10, -1)], "c", number=1)]
    clean = [shown([("a" * 90, -1)], "a" * 90), shown([], "c", number=1)]
    found = per.difference(list(zip(kept, clean, strict=True)), 0)
    assert found.value == pytest.approx(100.0)
    assert found.low == 0
    assert found.high == pytest.approx(1000.0)


def test_the_mean_decides_about_all_of_it() -> None:
    """A suggestion is shown where its mean reaches the threshold, and else not at all."""
    assert mean(SURE) == pytest.approx(-0.2)
    assert mean(WEAK) == pytest.approx(-1.1)
    assert by_mean(SURE, -0.2 - 1e-9) == "return a"
    assert by_mean(SURE, -0.19) == ""
    assert by_mean(WEAK, -1.0) == ""
    assert by_mean(NOTHING, -math.inf) == ""


def test_it_is_cut_before_the_weak_token() -> None:
    """What comes before stays, without the blank at its end."""
    assert by_weakest(WEAK, -1.0) == "x ="
    assert by_weakest(WEAK, -0.15) == ""
    assert by_weakest(WEAK, -3.0) == WEAK.text
    assert by_weakest(SURE, -0.2) == "return"
    longer = shown([("re", -0.1), ("turn(", -0.1)], "return", text="return")
    assert by_weakest(longer, -1.0) == "return"


def test_a_row_of_the_table() -> None:
    """Shares of what is shown, and characters for each task."""
    without = row(ALL, RULES["mean"], 0.0)
    assert (without.shown, without.exact, without.clean) == (2 / 3, 0.5, 0.5)
    assert (without.useful, without.deleted) == (4.0, 7 / 3)
    assert without.per_thousand == pytest.approx(7000 / 19)
    strict = row(ALL, RULES["mean"], 0.5)
    assert (strict.shown, strict.exact, strict.clean) == (1 / 3, 1.0, 1.0)
    assert (strict.useful, strict.deleted, strict.per_thousand) == (8 / 3, 0.0, 0.0)
    cut = row(ALL, RULES["weakest"], 0.5)
    assert (cut.shown, cut.exact, cut.clean) == (2 / 3, 0.5, 1.0)
    assert (cut.useful, cut.deleted) == (11 / 3, 0.0)
    assert row(ALL, RULES["weakest"], 1.0).shown == 0


def test_thresholds_are_probabilities() -> None:
    """0 leaves everything as it is."""
    assert logarithm(0.0) == -math.inf
    assert logarithm(math.exp(-2)) == pytest.approx(-2)
    assert [each.probability for each in rows(ALL, by_mean, (0.0, 0.5))] == [0.0, 0.5]


def test_only_what_is_known_is_weighed() -> None:
    """Raw answers, unknown probabilities and texts without their tokens are left out."""
    unknown = shown([("a", None)], "a")
    lost = shown([], "a", text="changed by a filter")
    assert usable([*ALL, shown([("a", -1.0)], "a", way="raw"), unknown, lost]) == ALL


def arguments_of(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bench_confidence.register(parser.add_subparsers())
    return parser.parse_args(["confidence", *options])


def test_the_command_prints_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both rules' tables are printed for each kind; lists in the file are pieces."""
    path = tmp_path / "shown.jsonl"
    lines: list[dict[str, object]] = [{"conditions": {}}, *map(asdict, ALL)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    arguments = arguments_of(str(path), "--thresholds", "0,0.5")
    assert arguments.run(arguments) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "0.00 -inf 67 % 50 % 50 % 4.0 2.3 368" in printed
    assert "0.50 -0.69 33 % 100 % 100 % 2.7 0.0 0" in printed
    assert "0.50 -0.69 67 % 50 % 100 % 3.7 0.0 0" in printed


def test_wrong_input_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without probabilities, another file, and thresholds that are none."""
    path = tmp_path / "shown.jsonl"
    lines: list[dict[str, object]] = [{"conditions": {}}, asdict(shown([("a", None)], "a"))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for file, message in ((path, "no probabilities"), (tmp_path / "none", "can't be read")):
        arguments = arguments_of(str(file))
        with pytest.raises(SettingsError, match=message):
            arguments.run(arguments)
    for wrong in ("x", "1.5", "0.5,-0.1"):
        with pytest.raises(SystemExit):
            arguments_of("file", f"--thresholds={wrong}")
        assert "numbers from 0 to 1" in capsys.readouterr().err
