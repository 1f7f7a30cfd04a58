"""The benchmark of speculation: every arm writes from the same state, and figures are pairwise."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from specls.bench.interrupt import interruptible
from specls.bench.sources import Sources
from specls.bench.speculation import Measured, Plan, measure_all
from specls.bench.speculation_arms import Arm, Clock, arms_of
from specls.bench.speculation_places import WORKLOADS, Place
from specls.bench.speculation_runs import Course, Preparation, Ready, Run
from specls.catalogue.store import ModelStore
from specls.cli import main
from specls.commands import bench_speculation_actions
from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.core import CancelToken, FinishReason, Source
from specls.engine.controllers import FixedController
from specls.engine.decode import Limits
from specls.engine.engine import Engine
from specls.engine.interface import Controller, Drafter
from specls.engine.interface import Plan as Draft
from specls.engine.lookup import LookupDrafter, PreviousDrafter
from specls.errors import Cancelled, DecodeFailed, IncompatibleDraft
from specls.service.dialect import dialect_of
from specls.service.interface import Runtime
from specls.service.prompts import PromptBuilder
from specls.service.tokenizer import Tokenizer
from specls.settings import Settings
from tests.bench.tasks import row, write
from tests.conftest import DRAFT
from tests.fakes import ByteTokenizer, ScriptedModel
from tests.service.scripted import says

WRITTEN = "abcdefghijklmnopqrstuvwxyz0123456789"
COUNT = 24
SNAPSHOT = Snapshot("file:///a.py", 1, "python", Text("class F:\n    \n    pass\n"))
EDITED = Place("edit", SNAPSHOT, Position(1, 4), "line above")
ASKED = Place("repeat", SNAPSHOT, Position(1, 4))


class Strict(ByteTokenizer):
    """A vocabulary that no draft has."""

    def check_draft(self, draft: Tokenizer) -> None:
        raise IncompatibleDraft(f"{draft.size} tokens")


def runtime(
    controller: Controller | None = None,
    text: str = WRITTEN,
    tokenizer: ByteTokenizer | None = None,
) -> Runtime:
    """A scripted model that writes a text, with all drafters that need no other."""
    tokenizer = tokenizer or ByteTokenizer()
    drafters: dict[Source, Drafter] = {
        Source.PREVIOUS: PreviousDrafter(),
        Source.LOOKUP: LookupDrafter(),
    }
    return Runtime(
        Engine(
            ScriptedModel(says(text), micro_batch=64, sequences=8),
            drafters,
            controller or FixedController(),
        ),
        tokenizer,
        PromptBuilder(tokenizer, dialect_of(tokenizer, None), None),
        {},
        (),
        lambda: None,
    )


class Stage:
    """A runtime with arms, and what makes them run."""

    def __init__(
        self, names: Sequence[str] = (), target: Runtime | None = None, length: int = 4
    ) -> None:
        self.runtime = target or runtime()
        self.drafts = {"small": runtime(), "wrong": runtime(text=WRITTEN.upper())}
        self.arms = arms_of(self.runtime, self.drafts, names, length)
        self.cancel = CancelToken()
        self.limits = Limits(COUNT, self.runtime.prompts.dialect.stop_ids)

    def ready(self, *places: Place, count: int = 1, prefetch: bool = False) -> list[Ready]:
        preparation = Preparation(
            self.runtime,
            self.arms[0].engine,
            (100, 100),
            "auto",
            self.limits,
            self.cancel,
            prefetch=prefetch,
        )
        return list(preparation.ready(places, count))

    def runs(self, *places: Place, rounds: int = 2) -> list[Run]:
        ready = self.ready(*places, count=len(places))
        course = Course(self.arms, Clock(self.runtime.engine.target), self.limits, self.cancel)
        return list(course.runs(ready, rounds))


def model_of(stage: Stage) -> ScriptedModel:
    model = stage.runtime.engine.target
    assert isinstance(model, ScriptedModel)
    return model


def names_of(arms: Sequence[Arm]) -> list[str]:
    return [arm.name for arm in arms]


def test_the_arms_that_were_asked_for() -> None:
    """Plain decoding and auto are always there; `none` is plain decoding once more."""
    assert names_of(Stage().arms) == ["plain", "auto"]
    asked = ("none", "lookup", "previous", "small")
    assert names_of(Stage(asked).arms) == ["plain", "auto", "lookup", "previous", "small"]


def test_auto_is_what_the_loader_made() -> None:
    """The controller that the engine came with is the one that plans for auto, and for no other."""
    controller = FixedController(Draft(Source.PREVIOUS, 7))
    runs = Stage(target=runtime(controller)).runs(EDITED)
    auto = [run for run in runs if run.arm == "auto"]
    assert all((Source.PREVIOUS, 7) in run.drafts for run in auto)
    assert all(not run.drafts for run in runs if run.arm == "plain")


def test_a_draft_of_another_vocabulary_is_refused() -> None:
    """The target's vocabulary decides, where it can."""
    with pytest.raises(IncompatibleDraft, match="260 tokens"):
        Stage(("small",), runtime(tokenizer=Strict()))


def test_every_arm_writes_the_same_number_of_tokens_of_the_same_text() -> None:
    """What was written is what plain decoding writes; drafts make the passes fewer."""
    runs = Stage(("previous", "lookup", "small", "wrong")).runs(EDITED)
    assert {bytes(run.tokens).decode() for run in runs} == {WRITTEN[:COUNT]}
    assert {run.stats.finish for run in runs} == {FinishReason.MAX_TOKENS}
    passes = {run.arm: run.stats.target_passes for run in runs}
    assert passes == {
        "plain": COUNT - 1,
        "auto": COUNT - 1,
        "previous": 6,
        "lookup": COUNT - 1,
        "small": 5,
        "wrong": COUNT - 1,
    }


def test_each_run_begins_from_the_same_suggestion() -> None:
    """The edited place knows its suggestion in every round, whatever was written in between."""
    runs = [run for run in Stage(("previous",)).runs(EDITED, rounds=3) if run.arm == "previous"]
    assert [run.round for run in runs] == [0, 1, 2]
    # The target writes two tokens before it's sure where they stand: the prompt has an "a", too.
    assert [run.stats.accepted for run in runs] == [{Source.PREVIOUS: 17}] * 3
    assert runs[0].drafts == runs[1].drafts == runs[2].drafts


def test_what_was_completed_ahead_is_known_as_in_use() -> None:
    """Drafters remember what follows the suggestion; the place's own prompt is none the wiser."""
    (ready,) = Stage().ready(EDITED, prefetch=True)
    written = [bytes(known.new).decode() for known in ready.known]
    assert written == [WRITTEN[:COUNT], WRITTEN[COUNT:]]
    (without,) = Stage().ready(EDITED)
    assert len(without.known) == 1
    assert ready.built == without.built


def test_what_other_arms_wrote_is_no_draft() -> None:
    """Where nothing was suggested, neither earlier rounds nor other arms are remembered."""
    runs = Stage(("previous", "lookup")).runs(ASKED, rounds=3)
    assert len(runs) == 12
    assert all(run.stats.drafted == {} for run in runs)
    asked = [run for run in runs if run.arm == "previous"]
    assert all(run.drafts == {(Source.PREVIOUS, 0): COUNT - 2} for run in asked)


def test_another_arm_comes_first_at_each_turn() -> None:
    """Rounds go over all places before the next begins, and the order of the arms turns."""
    other = replace(ASKED, snapshot=replace(SNAPSHOT, uri="file:///b.py"))
    runs = Stage(("previous",)).runs(ASKED, other)
    assert [(run.round, run.place) for run in runs[::3]] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [run.arm for run in runs[::3]] == ["plain", "auto", "auto", "previous"]


def test_prompts_are_read_once() -> None:
    """When all is ready, a run decodes the last token of the prompt and what it writes."""
    stage = Stage()
    ready = stage.ready(ASKED)
    before = len(model_of(stage).batches)
    course = Course(stage.arms, Clock(stage.runtime.engine.target), stage.limits, stage.cancel)
    list(course.runs(ready, 2))
    assert model_of(stage).batches[before:] == [1] * (4 * COUNT)
    assert model_of(stage).cells == [], "the documents are closed at the end"


def test_places_at_which_little_is_written_are_left_out() -> None:
    """Where the model ends before half of the tokens, another place is taken."""
    assert Stage(target=runtime(text="short")).ready(ASKED, EDITED) == []
    stage = Stage()
    ended = replace(ASKED, snapshot=replace(SNAPSHOT, text=Text(WRITTEN)), position=Position(0, 36))
    (only,) = stage.ready(ended, ASKED)
    assert (only.number, only.place) == (0, ASKED)


def test_places_where_too_little_can_be_seen_are_left_out() -> None:
    """Where what is to be copied stands above the window, nobody could copy it."""
    stage = Stage()
    seen = replace(ASKED, needed=str(SNAPSHOT.text)[:4])
    (only,) = stage.ready(replace(ASKED, needed="elsewhere"), seen)
    assert (only.number, only.place) == (0, seen)


def test_the_search_for_places_ends() -> None:
    """Where the model always ends early, five places are looked at for each that is wanted."""
    stage = Stage(target=runtime(text="short"))
    preparation = Preparation(
        stage.runtime, stage.arms[0].engine, (100, 100), "auto", stage.limits, stage.cancel
    )
    assert list(preparation.ready(iter([ASKED] * 99), 2)) == []
    assert preparation.left_out == 10


def test_times_of_models_are_told_apart() -> None:
    """A pass of the target, one of the draft model and the rest make up the decoding."""
    stage = Stage(("small",))
    runs = {run.arm: run for run in stage.runs(EDITED, rounds=1)}
    assert runs["plain"].drafting_seconds == 0.0
    assert runs["small"].drafting_seconds > 0.0
    for run in runs.values():
        whole = run.target_seconds + run.drafting_seconds + run.python_seconds
        assert 0 < run.target_seconds < run.stats.decode_seconds
        assert whole == pytest.approx(run.stats.decode_seconds)


def test_a_clock_counts_failed_passes_as_well() -> None:
    """A pass that raises took its time, too."""
    model = ScriptedModel(says(WRITTEN))
    clock = Clock(model)

    def fail() -> None:
        raise DecodeFailed("no")

    model.on_decode = fail
    with pytest.raises(DecodeFailed):
        model.decode(0, 0, [1], 1)
    assert clock.seconds > 0


def test_an_interruption_keeps_what_was_measured(tmp_path: Path) -> None:
    """The runs before a cancellation are there, and so are the places that were found."""
    stage = Stage()
    data = write(tmp_path / "tasks.jsonl", [row("Own/0", 2)])
    plan = Plan(["fresh"], Sources(Path(), []), data, 2, 9, 0, [], 4)
    measured = Measured()

    def tell(said: str) -> None:
        if "round 2" in said:
            stage.cancel.cancel()

    settings = Settings(max_tokens=COUNT)
    with pytest.raises(Cancelled):
        measure_all(plan, settings, stage.runtime, stage.arms, measured, stage.cancel, tell)
    assert [run.round for run in measured.runs] == [0, 0, 1]
    assert len(measured.places) == 1
    assert measured.notices == ["fresh: only 1 of 2 places were found."]


def test_the_first_ctrl_c_asks_and_the_second_stops() -> None:
    """The token is set by the first; the second raises as if nothing had been there."""
    with interruptible() as cancel:
        assert not cancel.cancelled
        signal.raise_signal(signal.SIGINT)
        assert cancel.cancelled
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_prints_what_is_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 130, and the table has the runs that were done."""

    def measure(
        _plan: Plan, _settings: Settings, measured: Measured, cancel: CancelToken, _tell: object
    ) -> None:
        measured.runs.extend(Stage().runs(ASKED, rounds=1))
        signal.raise_signal(signal.SIGINT)
        cancel.raise_if_cancelled()

    monkeypatch.setattr(bench_speculation_actions, "measure", measure)
    monkeypatch.setattr(ModelStore, "resolve", lambda *_: None)
    assert main(["bench", "speculation", "--workloads", "repeat"]) == 130
    shown = capsys.readouterr().out
    assert "repeat" in shown
    assert "auto" in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--workloads dance", "--workloads"),
        ("--workloads ,", "--workloads"),
        ("--workloads fresh", "human-eval-infilling"),
        ("--data nowhere", "--data"),
        ("--drafts nothing", "none, previous, lookup"),
        ("--draft-length 32", "--draft-length"),
        ("--speculation off", "--drafts"),
        ("--repo nowhere", "--repo"),
        ("--max-tokens none", "--max-tokens"),
    ],
)
def test_wrong_arguments_are_told(
    words: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong option ends with code 2, before any model is loaded, and is named."""
    assert main(["bench", "speculation", *words.split()]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("word", ["0", "-1", "x"])
def test_counts_begin_at_one(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No place, no round and no token make no benchmark."""
    for option in ("--n", "--rounds", "--draft-length"):
        with pytest.raises(SystemExit):
            main(["bench", "speculation", option, word])
        assert option in capsys.readouterr().err


def test_the_help_names_all_workloads(capsys: pytest.CaptureFixture[str]) -> None:
    """The help's default is the list of the workloads that exist, in their order."""
    with pytest.raises(SystemExit):
        main(["bench", "speculation", "--help"])
    assert ",".join(WORKLOADS) in capsys.readouterr().out


@pytest.mark.model
def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A real model writes at one place with and without drafts, and the JSON holds each run."""
    file = tmp_path / "values.json"
    words = (
        f"--workloads copy,fresh --n 1 --rounds 1 --model {DRAFT} --drafts lookup,{DRAFT} "
        "--max-tokens 8 --prefix-tokens 192 --suffix-tokens 32 --context-tokens 1024"
    )
    assert main(["bench", "speculation", *words.split(), "--json", str(file)]) == 0
    shown = capsys.readouterr()
    assert "fresh is left out" in shown.err
    assert "auto" in shown.out
    values = json.loads(file.read_text(encoding="utf-8"))
    assert values["workloads"] == ["copy"]
    assert [each["arm"] for each in values["runs"]] == ["plain", "auto", "lookup", DRAFT]
    for each in values["runs"]:
        assert each["stats"]["decodeTokensPerSecond"] > 0
        assert each["targetMs"] > each["pythonMs"] >= 0
    # The draft is the target itself, so nearly all of what it says is accepted.
    own = values["runs"][-1]["stats"]
    assert own["accepted"]["draft"] >= own["drafted"]["draft"] - 1
