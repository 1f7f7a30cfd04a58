"""What was measured, one line of JSON for each task, kind and way, so that a run can go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, TypeVar

from specls.bench.infill_tasks import problem_of
from specls.errors import SettingsError


@dataclass(frozen=True)
class Written:
    """What one way wrote for one task."""

    task: str
    kind: str
    way: str
    text: str
    verdict: str
    new_tokens: int
    seconds: float

    @property
    def key(self) -> tuple[str, str, str]:
        """What there is only one result for."""
        return self.task, self.kind, self.way

    @property
    def problem(self) -> str:
        """The program that the task was made from."""
        return problem_of(self.task)

    @property
    def passed(self) -> bool:
        """Whether the program with the text passed its test."""
        return self.verdict == "passed"


W = TypeVar("W", bound=Written)


@dataclass(frozen=True)
class Result(Written):
    """The rest of a line that one way wrote, and how good it is."""

    exact: bool
    similarity: float
    decoded: int
    """Prompt tokens; see :class:`specls.bench.infill_ways.Answer`."""


class Store(Generic[W]):
    """All results of a run, in a file if there is one; what an earlier run left there counts."""

    def __init__(
        self, path: Path | None, conditions: Mapping[str, object], make: Callable[..., W]
    ) -> None:
        """``conditions`` is what decides about the answers: it must be the same for a whole file.

        ``make`` makes a result of its fields.

        Raises:
            SettingsError: the file holds something else, or can't be read or written.
        """
        self._path = path
        self._make = make
        self._results: dict[tuple[str, str, str], W] = {}
        if path is None:
            return
        try:
            self._open(path, dict(conditions))
        except OSError as error:
            raise SettingsError(f"{path} can't be used: {error.strerror or error}.") from error

    def __contains__(self, key: tuple[str, str, str]) -> bool:
        return key in self._results

    def __iter__(self) -> Iterator[W]:
        return iter(self._results.values())

    def __len__(self) -> int:
        return len(self._results)

    def add(self, result: W) -> None:
        """Keep a result, in the file at once."""
        self._results[result.key] = result
        if self._path is not None:
            _append(self._path, asdict(result))

    def _open(self, path: Path, conditions: dict[str, object]) -> None:
        lines = _whole_lines(path) if path.exists() else []
        if not lines:
            _append(path, {"conditions": conditions})
            return
        earlier, results = _parse(path, lines, self._make)
        changed = sorted(
            name
            for name in earlier.keys() | conditions.keys()
            if earlier.get(name) != conditions.get(name)
        )
        if changed:
            raise SettingsError(
                f"{path} holds results of another run ({', '.join(changed)} differ): "
                "give another file, or the same options."
            )
        self._results = {result.key: result for result in results}


class Results(Store[Result]):
    """The results of comparing the ways of prompting."""

    def __init__(self, path: Path | None, conditions: Mapping[str, object]) -> None:
        """See :class:`Store`."""
        super().__init__(path, conditions, Result)


def read(path: Path, make: Callable[..., W]) -> list[W]:
    """The results in a file, under whatever conditions; of two for the same, the later one.

    Raises:
        SettingsError: the file holds something else, or can't be read.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise SettingsError(f"{path} can't be read: {error.strerror or error}.") from error
    return list({result.key: result for result in _parse(path, lines, make)[1]}.values())


def _append(path: Path, value: Mapping[str, object]) -> None:
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(value) + "\n")


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of the file; the last one, if it was cut off while it was written, is removed."""
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        if not raw.startswith(b"{"):
            raise SettingsError(f"{path} isn't a file of results.")
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return whole.splitlines()


def _parse(
    path: Path, lines: Iterable[bytes], make: Callable[..., W]
) -> tuple[dict[str, object], list[W]]:
    try:
        first, *others = (json.loads(line) for line in lines)
        return dict(first["conditions"]), [make(**each) for each in others]
    except (ValueError, TypeError, KeyError):
        raise SettingsError(f"{path} isn't a file of results.") from None
