"""What can be said of a message before it's understood: its id, and what is wrong with it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from cattrs import transform_error

from specls.errors import short

_MOST_PROBLEMS = 3


def is_id(value: object) -> bool:
    """Whether this can name a request: a whole number or a text."""
    return isinstance(value, int | str) and not isinstance(value, bool)


def id_of(data: object) -> int | str | None:
    """The id under which a wrong message can be answered."""
    identifier = data.get("id") if isinstance(data, dict) and "method" in data else None
    return identifier if is_id(identifier) else None


def is_uri(value: object) -> bool:
    """Whether this can be read as a URI, whatever it names."""
    try:
        return isinstance(value, str) and bool(urlsplit(value).scheme)
    except ValueError:
        return False


def problems_of(error: BaseException | None) -> str:
    """What is wrong with parameters, as cattrs found it, each with its path in the message."""
    if not isinstance(error, Exception):
        return "the parameters aren't what the method takes"
    found = dict.fromkeys(transform_error(error, format_exception=_reason))
    return "; ".join(map(_path_first, list(found)[:_MOST_PROBLEMS]))


def _reason(error: BaseException, _type: type | None) -> str:
    if isinstance(error, KeyError):
        return "missing"
    if isinstance(error, TypeError):
        return "of the wrong type"
    return short(error)


def _path_first(problem: str) -> str:
    reason, _, path = problem.rpartition(" @ $.")
    path = re.sub(r"_(\w)", lambda found: found[1].upper(), path)  # as it's in the message
    return f"{path}: {reason.rstrip('.')}" if reason else problem
