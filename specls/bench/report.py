"""The tables and the JSON of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from specls.bench.figures import BASE, Figures, Ratios, Sample, figures_of, ratios_of
from specls.settings import Settings

_UNKNOWN = "–"  # noqa: RUF001 - an en dash, as tables have it
_SHORT_MS = 10

_ENOUGH = 100
"""From so many values on, a 99th percentile says more than the largest of them."""


def print_report(console: Console, samples: Sequence[Sample]) -> None:
    """All tables, and what they don't say by themselves."""
    figures = figures_of(samples)
    console.print(_times(figures))
    console.print(_answers(figures))
    if ratios := ratios_of(figures):
        console.print(_ratios(ratios))
    if min((len(each.keys) for each in figures), default=0) < _ENOUGH:
        console.print(f"Of fewer than {_ENOUGH} keys, P99 is the slowest.", style="dim")


def as_json(
    samples: Iterable[Sample], settings: Settings, about: Mapping[str, object]
) -> dict[str, object]:
    """Everything that was measured, and under which conditions."""
    return {
        **about,
        "settings": asdict(settings),
        "samples": [each.as_dict() for each in samples],
    }


def _times(figures: Iterable[Figures]) -> Table:
    names = ("new places", "median", "keys", "P50", "P95", "P99", "first token P50")
    table = _table("time to the answer, ms", names)
    for each in figures:
        table.add_row(
            each.script,
            each.arm,
            str(len(each.opens)),
            _ms(each.open_median),
            str(len(each.keys)),
            *(_ms(each.key_percentile(percent)) for percent in (50, 95, 99)),
            _ms(each.first_token),
        )
    return table


def _answers(figures: Iterable[Figures]) -> Table:
    names = ("read P50", "matched", "exact lines", "matched/s", "no answer")
    table = _table("the answers", names)
    for each in figures:
        table.add_row(
            each.script,
            each.arm,
            _number(each.decoded),
            str(each.matched),
            _number(each.exact_share, 2),
            _number(each.useful_per_second, 1),
            str(each.unanswered),
        )
    table.caption = (
        "read: prompt tokens decoded for a key; matched: characters as the file has them"
    )
    return table


def _ratios(ratios: Iterable[Ratios]) -> Table:
    names = ("new place, median", "key P50", "key P95")
    table = _table(f"times as long as {BASE}", names)
    for each in ratios:
        numbers = (each.opened, each.key_median, each.key_p95)
        table.add_row(each.script, each.arm, *(_number(number, 2) for number in numbers))
    return table


def _table(title: str, columns: Iterable[str]) -> Table:
    table = Table(title=title)
    table.add_column("script")
    table.add_column("arm")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _ms(value: float | None) -> str:
    """Milliseconds; short times with a digit more."""
    return _number(value, 0 if value is None or value >= _SHORT_MS else 1)


def _number(value: float | None, digits: int = 0) -> str:
    return _UNKNOWN if value is None else f"{value:.{digits}f}"
