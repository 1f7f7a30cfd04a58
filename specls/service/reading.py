"""What is read of a document before a completion needs it, on the engine's thread."""

from __future__ import annotations

from specls.context.document import Snapshot
from specls.context.text import Position
from specls.core import CancelToken
from specls.service.completion import (
    LEAST_WINDOW,
    Completion,
    Request,
    budget_of,
    complete,
    missing,
    see_to_head,
)
from specls.service.heads import Choice, no_head
from specls.service.interface import Runtime
from specls.settings import Settings

_WARM_SECONDS = 10.0
"""How long a document that was opened is read before anybody asked."""

_GROW_SECONDS = 30.0
"""How long a whole window may take to read in the background."""

_LEAST_WHOLE = 512
"""Tokens that a whole window has on the slowest machine, before and behind the cursor."""


def follow(runtime: Runtime, request: Request, cancel: CancelToken) -> None:
    """Decode what was typed, as far as a completion at this place will need it in any case.

    Nothing is done where the document has no session, or the cursor has left its anchor.

    Raises:
        Cancelled: ``cancel`` was set. What was decoded is kept.
        EngineError: the engine failed.
    """
    cancel.raise_if_cancelled()
    where, layout = (request.snapshot, request.position), request.settings.prompt_layout
    if not runtime.prompts.holds(*where, layout):
        return
    budget = budget_of(request.settings, runtime.engine.target.capacity)
    built = runtime.prompts.build(*where, budget.windows, layout)
    healed = built.healing.tokens if built.healing else 0
    sure = built.tokens[: len(built.tokens) - healed]
    if missing(runtime, request, built) > healed:
        runtime.engine.prefill(
            request.snapshot.uri, sure, cancel, built.movable, exactly=request.exactly
        )


def grow(
    runtime: Runtime,
    request: Request,
    cancel: CancelToken,
    choose: Choice = no_head,
    *,
    settle: bool = False,
) -> None:
    """Read the whole window around a place beside the document's session, and then take it over.

    What stands before it is chosen by ``choose``. That is done where the window was kept small;
    with ``settle`` also where some of it was carried over, where a new anchor is due, or where
    something else should stand before it. Not where the place isn't the document's any more.

    Raises:
        Cancelled: ``cancel`` was set; another call goes on where this one was.
        EngineError: the engine failed.
    """
    cancel.raise_if_cancelled()
    where, uri = (request.snapshot, request.position), request.snapshot.uri
    layout = request.settings.prompt_layout
    if settle and not runtime.prompts.anchors(layout):
        _settle(runtime, request, cancel, choose)
    if not runtime.prompts.holds(*where, layout):
        return
    partial = runtime.prompts.is_partial(uri)
    if not partial and not settle:
        return
    head = choose(runtime, cancel)
    stale = runtime.engine.approximate(uri) or runtime.prompts.is_stale(*where)
    if not (partial or stale) and head == runtime.prompts.head(uri):
        return
    budget = budget_of(request.settings, runtime.engine.target.capacity)
    windows = _readable(budget.windows, runtime.engine.prefill_rate.value)
    anchor, frozen = runtime.prompts.freeze(*where, windows, head)
    runtime.engine.prepare(uri, frozen.tokens, cancel, frozen.movable)
    runtime.prompts.adopt(uri, anchor, head)
    follow(runtime, request, cancel)


def _settle(runtime: Runtime, request: Request, cancel: CancelToken, choose: Choice) -> None:
    """In a layout without an anchor: decode exactly what was carried over, behind its head."""
    uri, prompts = request.snapshot.uri, runtime.prompts
    head = choose(runtime, cancel)
    if not runtime.engine.approximate(uri) and head == prompts.head(uri):
        return
    budget = budget_of(request.settings, runtime.engine.target.capacity)
    where, layout = (request.snapshot, request.position), request.settings.prompt_layout
    with prompts.unchanged(uri):
        prompts.adopt(uri, None, head)
        built = prompts.build(*where, budget.windows, layout)
    runtime.engine.prepare(uri, built.tokens, cancel, built.movable)
    prompts.adopt(uri, None, head)


def complete_ahead(runtime: Runtime, request: Request, cancel: CancelToken) -> Completion | None:
    """Complete a text that may never be: where the document's anchor holds for it, else None.

    Raises:
        Cancelled: ``cancel`` was set. What was decoded is kept.
        EngineError: the engine failed.
    """
    layout = request.settings.prompt_layout
    where = (request.snapshot, request.position)
    if runtime.prompts.anchors(layout) and not runtime.prompts.holds(*where, layout):
        return None
    return complete(runtime, request, cancel)


def _readable(windows: tuple[int, int], tokens_per_second: float) -> tuple[int, int]:
    """The windows that are read in the background: smaller where that would take very long.

    What is measured (see ``completion.LEAST_WINDOW``) says that little is lost.
    """
    if not tokens_per_second:
        return windows
    most = max(_LEAST_WHOLE, int(_GROW_SECONDS * tokens_per_second))
    share = min(most / max(sum(windows), 1), 1.0)
    return int(windows[0] * share), int(windows[1] * share)


def warm(runtime: Runtime, opened: Snapshot, settings: Settings, cancel: CancelToken) -> None:
    """Restore what is kept of a document, or else read its beginning, as far as it's quick.

    Where the cursor will be isn't known; in a file that fits into the window, and at its top, the
    beginning is needed wherever that is.

    Raises:
        Cancelled: ``cancel`` was set. What was decoded is kept.
        EngineError: the engine failed.
    """
    cancel.raise_if_cancelled()
    held = runtime.engine.wake(opened.uri)
    see_to_head(runtime, Request(opened, Position(0, 0), settings))
    if not runtime.prompts.anchors(settings.prompt_layout):
        return
    budget = budget_of(settings, runtime.engine.target.capacity)
    quick = int(_WARM_SECONDS * runtime.engine.prefill_rate.value)
    tokens = runtime.prompts.beginning(opened, min(max(quick, LEAST_WINDOW), budget.prefix_tokens))
    # Anything else that it holds is worth more; a part of it is left where this was interrupted.
    if len(held) < len(tokens) and held == tokens[: len(held)]:
        runtime.engine.prefill(opened.uri, tokens, cancel)
