"""What users are shown, with a scripted model: written, stopped, recorded, and compared."""

from __future__ import annotations

import argparse
import io
import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from specls.bench.infill_results import Store, read
from specls.bench.infill_shown import Plan, conditions_of, measure, results_of, run
from specls.bench.infill_shown_figures import WAYS, Shown
from specls.bench.infill_shown_tables import show, ways_of
from specls.bench.infill_shown_ways import Answer, Answers, Piece, Writer, shown_of
from specls.bench.infill_tasks import SHOWN_KINDS, Task, task_of, tasks_of
from specls.bench.pass_at_1 import Verdict
from specls.commands import bench_infill
from specls.core import CancelToken, Source
from specls.engine.controllers import FixedController
from specls.engine.engine import Engine
from specls.engine.interface import Plan as Drafting
from specls.errors import Cancelled, SettingsError
from specls.service.dialect import dialect_of
from specls.service.healing import Spelling
from specls.service.interface import Runtime
from specls.service.prompts import PromptBuilder
from specls.settings import Settings
from tests.bench.tasks import row, rows, several, write
from tests.fakes import ByteTokenizer, ListDrafter, ScriptedModel
from tests.service.scripted import says

SETTINGS = Settings(max_tokens=60, cold_budget_ms=0)
TASKS = tasks_of(rows(), SHOWN_KINDS)


def runtime_of(model: ScriptedModel, *, healing: bool = False, draft: bytes = b"") -> Runtime:
    """A runtime of the scripted model; ``draft`` is proposed behind the first token."""
    tokenizer = ByteTokenizer()
    drafter = ListDrafter(Source.LOOKUP, list(draft))
    engine = Engine(
        model, {Source.LOOKUP: drafter}, FixedController(Drafting(Source.LOOKUP, len(draft)))
    )
    prompts = PromptBuilder(
        tokenizer, dialect_of(tokenizer, None), Spelling(tokenizer) if healing else None
    )
    return Runtime(engine, tokenizer, prompts, {}, (), lambda: None)


def answers_of(text: str, task: Task, settings: Settings = SETTINGS, draft: bytes = b"") -> Answers:
    runtime = runtime_of(ScriptedModel(says(text), micro_batch=64), draft=draft)
    return Writer(runtime, settings, CancelToken()).write(task)


RETURN = task_of(row("Own/0", 6), "indented")
"""The cursor stands behind the indentation of ``return best``, the last line."""


def test_a_stop_rule_ends_what_is_shown_and_not_what_is_raw() -> None:
    """What follows the end of the function isn't shown; raw has it, from the same tokens."""
    answers = answers_of("return best\n\ndef other():\n    pass\n", RETURN)
    assert answers.shown.text == RETURN.truth == "return best"
    assert answers.raw.text == "return best\n\ndef other():\n    pass"
    assert answers.shown.new_tokens < answers.raw.new_tokens
    assert answers.raw.new_tokens == len("return best\n\ndef other():\n    pass\n")


def test_where_no_rule_stops_both_are_the_same() -> None:
    """The model's own end ends both, and nothing is generated behind it."""
    answers = answers_of("return best", RETURN)
    assert (answers.shown.text, answers.raw.text) == ("return best", "return best")
    assert answers.shown.new_tokens == answers.raw.new_tokens == 11


def test_the_end_of_a_draft_ends_what_is_raw() -> None:
    """A step that a stop rule and the model's end share isn't gone behind."""
    text = "return best\n\ndef f"
    answers = answers_of(text, RETURN, draft=text[1:].encode())
    assert answers.shown.text == "return best"
    assert answers.raw.text == text
    assert answers.raw.new_tokens == len(text)


def test_raw_ends_at_the_limit() -> None:
    """No more tokens are generated than the settings allow, whatever a rule ended before."""
    settings = replace(SETTINGS, max_tokens=14)
    answers = answers_of("return best\n\ndef other(): pass", RETURN, settings)
    assert answers.shown.text == "return best"
    assert (answers.raw.text, answers.raw.new_tokens) == ("return best\n\nd", 14)


def test_the_pieces_spell_what_is_shown() -> None:
    """Each token that begins inside of the text is kept, with what the model says of it."""
    answers = answers_of("return best\n\ndef other(): pass", RETURN)
    assert "".join(text for text, _ in answers.shown.pieces) == "return best"
    assert "".join(text for text, _ in answers.raw.pieces).startswith("return best\n\ndef")
    values = [value for _, value in answers.shown.pieces]
    assert all(value is not None and value <= 0 for value in values)


def test_pieces_that_spell_something_else_are_left_out() -> None:
    """A filter that changes a text leaves no tokens of it; one that cuts it leaves those inside."""
    pieces: tuple[Piece, ...] = (("re", -0.5), ("turn ", -0.1), ("x", -2.0))
    assert shown_of(pieces, "retu") == pieces[:2]
    assert shown_of(pieces, "return") == pieces[:2]
    assert shown_of(pieces, "yield") == ()
    assert shown_of(pieces, "") == ()


def test_what_healing_spells_again_isnt_a_piece() -> None:
    """Only what is new counts: the typed part of the line is in the document already."""
    task = task_of(row("Own/0", 6), "cut")
    head = task.before.rpartition("\n")[2]
    runtime = runtime_of(ScriptedModel(says(head + task.truth), micro_batch=64), healing=True)
    answers = Writer(runtime, SETTINGS, CancelToken()).write(task)
    assert answers.shown.text == task.truth
    assert "".join(text for text, _ in answers.shown.pieces) == task.truth


class FakeWriter:
    """Shows the truth or ``text``, and can be interrupted."""

    def __init__(self, text: str | None = None, most: int = 1000) -> None:
        self.text = text
        self.most = most
        self.asked: list[str] = []

    def write(self, task: Task) -> Answers:
        if len(self.asked) == self.most:
            raise Cancelled("interrupted")
        self.asked.append(task.id)
        text = task.truth if self.text is None else self.text
        pieces = ((text, -0.25),) if text else ()
        more = f"{text}\nmore"
        return Answers(Answer(text, pieces, 5, 0.5), Answer(more, ((more, -0.5),), 60, 1.5))


def passes(program: str) -> Verdict:
    return Verdict.FAILED if "more" in program else Verdict.PASSED


def store(path: Path | None = None) -> Store[Shown]:
    return Store(path, {"shown": True}, Shown)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """What is in the file isn't written again, and can be read back without the conditions."""
    path = tmp_path / "shown.jsonl"
    with pytest.raises(Cancelled):
        measure(TASKS, FakeWriter(most=3).write, store(path), passes)
    assert len(read(path, Shown)) == 3 * len(WAYS)
    writer = FakeWriter()
    measure(TASKS, writer.write, store(path), passes)
    assert len(writer.asked) == len(TASKS) - 3
    assert {each.key for each in read(path, Shown)} == {
        (task.id, task.kind, way) for task in TASKS for way in WAYS
    }


def test_a_result_holds_all_that_the_figures_need() -> None:
    """Truth, text, tokens and verdict of each way stand in its result."""
    task = TASKS[0]
    shown, raw = results_of(task, FakeWriter().write(task), passes)
    assert (shown.text, shown.truth, shown.verdict) == (task.truth, task.truth, "passed")
    assert (raw.text, raw.verdict) == (f"{task.truth}\nmore", "failed")
    assert (shown.new_tokens, raw.new_tokens) == (5, 60)
    assert shown.pieces == ((task.truth, -0.25),)


def test_the_tables_hold_every_figure() -> None:
    """For each kind: shares, characters and tokens of both ways, and the differences."""
    results = store()
    given = [row("Own/1", 3) | {"task_id": f"Own/{number}/L3"} for number in range(12)]
    measure(tasks_of(given, SHOWN_KINDS), FakeWriter().write, results, passes)
    out = io.StringIO()
    show(results, WAYS, 0, Console(file=out, width=160))
    text = out.getvalue()
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "indented, n = 12 shown raw difference" in lines
    assert lines.count("first line exact, % 100.0 100.0 +0.0 [+0.0, +0.0]") == 2
    assert lines.count("all lines exact, % 100.0 0.0 +100.0 [+100.0, +100.0]") == 2
    assert lines.count("deleted characters 0.0 5.0 -5.0 [-5.0, -5.0]") == 2
    assert lines.count("new tokens 5.0 60.0 -55.0 [-55.0, -55.0]") == 2


def test_an_earlier_run_is_a_third_way(tmp_path: Path) -> None:
    """With ``--against``, the tasks that both runs have done are compared; few say nothing."""
    assert ways_of(against=False) == WAYS
    results = store()
    measure(TASKS, FakeWriter().write, results, passes)
    path = tmp_path / "before.jsonl"
    measure(TASKS[:4], FakeWriter("").write, store(path), passes)
    before = [replace(each, way="before") for each in read(path, Shown) if each.way == "shown"]
    out = io.StringIO()
    show([*results, *before], ways_of(against=True), 0, Console(file=out, width=160))
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines()]
    assert "indented, n = 2 shown raw difference before difference" in lines
    assert any(
        line.startswith("nothing shown, % 0.0 0.0 +0.0 (too few tasks) 100.0 -100.0")
        for line in lines
    )


def test_all_settings_decide_about_an_answer() -> None:
    """Results of other settings, or of other tasks, don't get into one file."""
    plan = Plan(Path("single.jsonl"), 2, 0, SHOWN_KINDS, 5.0, None, None)
    first = conditions_of(plan, SETTINGS)
    assert conditions_of(plan, replace(SETTINGS, temperature=0.5)) != first
    assert conditions_of(replace(plan, data=Path("multi.jsonl")), SETTINGS) != first
    assert first["enable"] == []


def test_wrong_combinations_are_refused() -> None:
    """``--ways`` and ``--shown`` exclude each other, and ``--against`` needs ``--shown``."""
    parser = argparse.ArgumentParser()
    bench_infill.register(parser.add_subparsers())
    for options in (["--shown", "--ways", "cursor"], ["--against", "x"]):
        arguments = parser.parse_args(["infill", "--data", "x", *options])
        with pytest.raises(SettingsError, match=options[-2]):
            arguments.run(arguments)


@pytest.mark.model
def test_a_real_model_is_measured(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What several missing lines are shown as is recorded, and a second run only prints."""
    data = write(tmp_path / "tasks.jsonl", [several("Own/0", 3, 6), several("Own/1", 2, 4)])
    file = tmp_path / "shown.jsonl"
    plan = Plan(data, 2, 0, SHOWN_KINDS, 30.0, file, None)
    settings = Settings(model="qwen2.5-coder-0.5b", context_tokens=2048, max_tokens=24)
    assert run(plan, settings) == 0
    first = capfd.readouterr().out
    found = read(file, Shown)
    assert len(found) == 2 * len(SHOWN_KINDS) * len(WAYS)
    for result in found:
        assert "".join(text for text, _ in result.pieces).startswith(result.text)
        assert all(value is not None and -math.inf < value <= 0 for _, value in result.pieces)
    assert run(plan, settings) == 0
    assert capfd.readouterr().out == first
