"""What is in the messages that LSP doesn't know: JSON objects with the keys as they're sent."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class DocumentId(TypedDict):
    """Which document."""

    uri: str


class Place(TypedDict):
    """A position of LSP: both from 0, characters in the negotiated encoding."""

    line: int
    character: int


class Span(TypedDict):
    """A range of LSP."""

    start: Place
    end: Place


class ItemCommand(TypedDict):
    """What a client executes when an item is accepted; the argument is the item's id."""

    title: str
    command: str
    arguments: list[str]


class Item(TypedDict):
    """An item as the server sent it. Only what the page says is read, and may be all there is."""

    insertText: str
    range: Span
    command: ItemCommand


class ShownParams(TypedDict):
    """Of ``textDocument/didShowCompletion``."""

    item: Item


class PartlyAcceptedParams(TypedDict):
    """Of ``textDocument/didPartiallyAcceptCompletion``.

    ``acceptedLength`` counts from the beginning of ``insertText``, in UTF-16 code units.
    """

    item: Item
    acceptedLength: int


class RejectedParams(TypedDict):
    """Of ``specls/didRejectCompletion``; ``ignored``: nobody said no, somebody went on typing."""

    item: Item
    ignored: bool


class FocusParams(TypedDict, total=False):
    """Of ``textDocument/didFocus``; without a document, none is looked at."""

    textDocument: DocumentId


class StatusCommand(TypedDict):
    """What a button may do."""

    title: str
    command: str
    arguments: list[Any]


class _Status(TypedDict):
    state: Literal["starting", "loading", "ready", "busy", "disabled", "error", "off"]
    message: str
    model: str | None
    draft: str | None
    uri: str | None
    reason: str | None
    remedy: str | None
    command: StatusCommand | None


class StatusParams(_Status, total=False):
    """Of ``specls/status``; ``progress`` comes while models load only."""

    progress: int


class ChangeStatusParams(TypedDict):
    """Of ``didChangeStatus``."""

    message: str
    kind: Literal["Normal", "Error", "Warning", "Inactive"]
    busy: bool


class ContextParams(TypedDict):
    """Of ``specls/context``."""

    textDocument: DocumentId
    position: Place


class _Part(TypedDict):
    kind: Literal["marker", "head", "file", "prefix", "suffix", "typed"]
    text: str
    tokens: int


class ContextPart(_Part, total=False):
    """A part of what the model would be given; lines of another file come with its path."""

    path: str


class ContextResult(TypedDict):
    """All parts in order, or why there are none."""

    excluded: str | None
    tokens: int
    parts: list[ContextPart]


class ModelRow(TypedDict):
    """A model of the catalogue."""

    id: str
    name: str
    kind: Literal["target", "draft"]
    bytes: int | None
    licence: str
    present: bool
    state: Literal["no", "in part", "damaged", "unchecked", "yes"]
    current: bool
    drafts: list[str]


class ModelsResult(TypedDict):
    """Of ``specls/models``."""

    models: list[ModelRow]


class RequestCounts(TypedDict):
    """What became of the requests: ``received`` is the sum of the ends."""

    received: int
    answered: int
    empty: int
    withoutModel: int
    anchorMoves: int
    superseded: int
    cancelled: int
    unavailable: int
    excluded: int
    unwanted: int
    failed: int


class Suggestions(TypedDict):
    """What became of the suggestions."""

    shown: int
    accepted: int
    partlyAccepted: int
    rejected: int
    ignored: int
    characters: int
    charactersKept: int
    charactersPending: int


class SuggestionCounts(TypedDict):
    """In all, and by the documents' language ids."""

    total: Suggestions
    byLanguage: dict[str, Suggestions]


class LatencyNumbers(TypedDict):
    """From a request to its answer, of the last answers; without any, the times are null."""

    count: int
    p50Ms: float | None
    p95Ms: float | None
    p99Ms: float | None


class LastCompletion(TypedDict):
    """What the last completion cost."""

    origin: Literal["decode", "cache", "prefetch", "typeThrough"]
    promptTokens: int
    reusedTokens: int
    restoredTokens: int
    carriedTokens: int
    approximateTokens: int
    prefilledTokens: int
    healedTokens: int
    anchorMoved: bool
    partialWindow: bool
    prefillMs: float
    timeToFirstTokenMs: float
    decodeMs: float
    decodeTokensPerSecond: float
    generatedTokens: int
    targetPasses: int
    tokensPerPass: float
    verifyRate: float
    acceptedLength: float
    drafted: dict[str, int]
    accepted: dict[str, int]
    acceptanceByPosition: dict[str, list[float]]
    finish: Literal["end", "stop", "length", "time", "doubt"] | None
    waitMs: float
    totalMs: float


class _Stats(TypedDict):
    state: Literal["idle", "loading", "ready", "failed"]
    message: str
    models: dict[str, Any]
    requests: RequestCounts
    suggestions: SuggestionCounts
    latency: LatencyNumbers
    excluded: dict[str, str]
    idle: bool
    decodedTokens: int
    lastCompletion: LastCompletion | None


class StatsResult(_Stats, total=False):
    """Of ``specls/stats``; the last three come while models are loaded only."""

    prefillBatch: int
    prefillTokensPerSecond: float
    states: dict[str, int]
