"""Parameters of inline completion with all that clients send: lsprotocol drops a token."""

from __future__ import annotations

from typing import Any, Optional, Union

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, override
from lsprotocol import types

from specls.lsp.messages import is_id

Token = Optional[Union[int, str]]  # noqa: UP007, UP045 - lsprotocol's hooks go by this very type
"""Names a progress or a partial result."""


@attrs.define
class InlineCompletionParams(types.InlineCompletionParams):
    """The specification's text has no token for partial results here, its meta model has."""

    partial_result_token: Token = None


@attrs.define
class InlineCompletionRequest(types.InlineCompletionRequest):
    """See :class:`InlineCompletionParams`."""

    params: InlineCompletionParams = attrs.field(kw_only=True)


def add_to(converter: Converter) -> None:
    """Have a converter read these, and refuse tokens that can't name anything."""
    converter.register_structure_hook(Token, _token)
    names = {
        "context": "context",
        "text_document": "textDocument",
        "position": "position",
        "work_done_token": "workDoneToken",
        "partial_result_token": "partialResultToken",
    }
    renamed = {name: override(rename=sent) for name, sent in names.items()}
    attrs.resolve_types(InlineCompletionParams)
    read = make_dict_structure_fn(InlineCompletionParams, converter, **renamed)  # type: ignore[arg-type]
    converter.register_structure_hook(InlineCompletionParams, read)


def _token(value: Any, _type: object) -> Any:
    if value is not None and not is_id(value):
        raise TypeError(value)
    return value
