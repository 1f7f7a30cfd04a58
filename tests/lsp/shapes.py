"""Whether a JSON value is what a type says: the keys and the types, nothing missing or more."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict


def problems(value: object, kind: Any, at: str = "$") -> list[str]:
    """What is wrong with a value, each problem with its path."""
    return list(_problems(value, kind, at))


def _problems(value: object, kind: Any, at: str) -> Iterator[str]:
    origin, arguments = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        yield from _of_object(value, kind, at)
    elif origin in {Union, UnionType, Literal}:
        fits = origin is not Literal and not all(problems(value, each) for each in arguments)
        if not fits and value not in arguments:
            yield f"{at}: {value!r} is none of {kind}"
    elif origin in {list, dict} and isinstance(value, origin):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _problems(each, arguments[-1], f"{at}.{key}")
    elif kind is not Any and not _is_a(value, origin or kind):
        yield f"{at}: {value!r} is no {kind}"


def _of_object(value: object, kind: Any, at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at}: {value!r} is no object"
        return
    for key in sorted(kind.__required_keys__ - value.keys()):
        yield f"{at}.{key}: missing"
    hints = get_type_hints(kind)
    for key, each in value.items():
        if key in hints:
            yield from _problems(each, hints[key], f"{at}.{key}")
        else:
            yield f"{at}.{key}: unknown"


def _is_a(value: object, kind: Any) -> bool:
    """JSON's types: true is no number, and 1 is one where a fraction may be."""
    if kind in {None, NoneType}:
        return value is None
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
