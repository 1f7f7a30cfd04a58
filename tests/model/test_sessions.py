"""What is kept between requests, and how soon a cancelled one stops, on the real target."""

from __future__ import annotations

import threading
from dataclasses import replace
from time import perf_counter

import pytest

from specls.context.document import Change, Snapshot
from specls.context.text import Encoding, Position, Text
from specls.core import CancelToken
from specls.engine.controllers import FixedController
from specls.engine.decode import Generation, Limits
from specls.engine.session import Session
from specls.errors import Cancelled
from specls.service.completion import Request, complete
from specls.service.interface import Runtime
from specls.settings import Settings
from tests.model.places import close_all

pytestmark = pytest.mark.model

SAME = 1e-3
"""Logits: the same pass over the same state differs by nothing but the order of sums."""

SETTINGS = Settings(max_tokens=12, prompt_layout="cursor", suffix_reuse="exact")
CODE = '''class Stack:
    """A last-in, first-out collection."""

    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        re
'''


def document(text: str, uri: str) -> Snapshot:
    return Snapshot(uri, 1, "python", Text(text))


def typed(snapshot: Snapshot, position: Position, text: str) -> tuple[Snapshot, Position]:
    place = (position.line, position.column)
    changed = snapshot.changed([Change(text, place, place)], snapshot.version + 1, Encoding.UTF32)
    return changed, Position(position.line, position.column + len(text))


@pytest.fixture
def plain(pair: Runtime) -> Runtime:
    """The default target without drafts."""
    return replace(pair, engine=pair.engine.with_controller(FixedController()))


def test_a_typed_character_costs_its_own_tokens(plain: Runtime) -> None:
    """At the end of a file, a second request decodes only what the first one didn't have."""
    snapshot, position = document(CODE.rstrip("\n"), "file:///reuse"), Position(10, 10)
    first = complete(plain, Request(snapshot, position, SETTINGS), CancelToken())
    assert first.stats.reused_tokens == 0
    before = plain.engine.target.decoded_tokens
    snapshot, position = typed(snapshot, position, "t")
    second = complete(plain, Request(snapshot, position, SETTINGS), CancelToken())
    decoded = plain.engine.target.decoded_tokens - before
    # The changed word, the suffix marker and the middle marker; then one token for each pass.
    assert second.stats.prefilled_tokens <= 4
    assert second.stats.prompt_tokens > 40
    assert decoded == second.stats.prefilled_tokens + second.stats.target_passes


def test_the_common_beginning_is_what_is_reused(plain: Runtime) -> None:
    """Of a prompt that changed, exactly the common beginning is reused, but for what's scored."""
    text = CODE + "\n    def peek(self):\n        return self.items[-1]\n"
    snapshot, position = document(text, "file:///suffix"), Position(10, 10)
    builder = plain.prompts
    one = builder.build(snapshot, position, (1536, 512)).tokens
    complete(plain, Request(snapshot, position, SETTINGS), CancelToken())
    snapshot, position = typed(snapshot, position, "t")
    other = builder.build(snapshot, position, (1536, 512)).tokens
    common = next(at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    again = complete(plain, Request(snapshot, position, SETTINGS), CancelToken())
    scored = 1 + again.stats.healed_tokens
    assert again.stats.reused_tokens == min(common, len(other) - scored) > 40


def test_reuse_changes_no_answer(plain: Runtime) -> None:
    """An answer from a reused cache is the answer of an empty one."""
    snapshot, position = document(CODE, "file:///same"), Position(10, 10)
    complete(plain, Request(snapshot, position, SETTINGS), CancelToken())
    snapshot, position = typed(snapshot, position, "turn")
    reused = complete(plain, Request(snapshot, position, SETTINGS), CancelToken())
    fresh = replace(snapshot, uri="file:///fresh")
    close_all(plain)
    assert reused.stats.reused_tokens > 0
    anew = complete(plain, Request(fresh, position, SETTINGS), CancelToken())
    assert anew.stats.reused_tokens == 0
    assert reused.text == anew.text
    assert "self.items.pop" in reused.text


def test_cancelling_a_prefill_stops_within_a_micro_batch(plain: Runtime) -> None:
    """Set while the second micro-batch runs, a cancellation ends it, and the first is kept."""
    target = plain.engine.target
    prompt = plain.tokenizer.encode("def f(x):\n    return x + 1\n" * 30)
    assert len(prompt) > 2 * target.micro_batch
    batch = target.prefill_batch
    cancel, before = CancelToken(), target.decoded_tokens
    watcher = threading.Thread(target=_cancel_after, args=(plain, before, 1, cancel))
    watcher.start()
    with pytest.raises(Cancelled):
        list(plain.engine.generate("prefill", prompt, Limits(4), cancel))
    watcher.join()
    decoded = target.decoded_tokens - before
    assert batch <= decoded <= batch + target.micro_batch
    again = plain.engine.generate("prefill", prompt, Limits(4), CancelToken())
    assert sum(len(step) for step in again) == 4
    assert again.stats.reused_tokens == decoded


def test_cancelling_while_decoding_stops_within_a_pass(plain: Runtime) -> None:
    """Set while tokens come one by one, it ends the very pass, and the next answer is right."""
    target = plain.engine.target
    prompt = plain.tokenizer.encode("numbers = [1, 2, 3, 4, 5,")
    whole: list[int] = []
    _take(plain.engine.generate("whole", prompt, Limits(24), CancelToken()), whole)
    cancel, before = CancelToken(), target.decoded_tokens
    wanted = len(prompt) + 4
    watcher = threading.Thread(target=_cancel_after, args=(plain, before, wanted, cancel))
    watcher.start()
    got: list[int] = []
    with pytest.raises(Cancelled):
        _take(plain.engine.generate("decode", prompt, Limits(500), cancel), got)
    watcher.join()
    assert wanted <= target.decoded_tokens - before <= wanted + 2
    assert got == whole[: len(got)]
    again: list[int] = []
    _take(plain.engine.generate("decode", prompt, Limits(24), CancelToken()), again)
    assert again == whole


def _take(generation: Generation, into: list[int]) -> None:
    for step in generation:
        into.extend(token.id for token in step)


def _cancel_after(runtime: Runtime, before: int, tokens: int, cancel: CancelToken) -> None:
    """Cancel as soon as ``tokens`` more were decoded than ``before``."""
    while runtime.engine.target.decoded_tokens - before < tokens:
        pass
    cancel.cancel()


def test_documents_share_the_cache(plain: Runtime) -> None:
    """Going to another document and back decodes what's healed, and one token more."""
    here = Request(document(CODE, "file:///here"), Position(10, 10), SETTINGS)
    there = Request(document("import os\nos.pa", "file:///there"), Position(1, 5), SETTINGS)
    complete(plain, here, CancelToken())
    complete(plain, there, CancelToken())
    back = complete(plain, here, CancelToken())
    assert back.stats.prefilled_tokens == 1 + back.stats.healed_tokens


def test_a_spilled_document_answers_the_same(plain: Runtime) -> None:
    """A restored state gives the same next tokens, and restoring is quicker than decoding."""
    target = plain.engine.target
    prompt = plain.tokenizer.encode("def add(a, b):\n    return a + b\n\n\n" * 8)
    session = Session(target, target.sequences - 1)
    started = perf_counter()
    session.sync(prompt)
    prefill = perf_counter() - started
    session.sync(prompt)  # again, for a pass of one token as the one after restoring
    before = target.logits(0).copy()
    started = perf_counter()
    spilled = session.spill()
    session.truncate(0)
    session.restore(spilled)
    restored = perf_counter() - started
    assert session.tokens == prompt
    assert session.sync(prompt).prefilled == 1
    assert int(target.logits(0).argmax()) == int(before.argmax())
    assert float(abs(target.logits(0) - before).max()) < SAME
    session.truncate(0)
    assert restored < prefill / 10
