"""``specls bench infill``: its arguments. The work is imported when it's run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from specls.commands.options import add_settings, settings_of
from specls.errors import SettingsError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001

_MOST_LINES = 26
"""Further up than this no anchor holds."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "infill",
        help="compare the ways of prompting by what they write",
        description="Measure on HumanEval-Infilling how often each way of prompting writes the "
        "missing line, and how often the program then passes its test. Programs that the model "
        "wrote are run on this machine, under limits, but not in a sandbox.",
    )
    _add_tasks(parser)
    _add_ways(parser)
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write each result there, and go on where an earlier run with this file ended",
    )
    add_settings(parser)
    parser.set_defaults(run=_run)


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    """What is to be written, and how long a program may run."""
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help="HumanEval-SingleLineInfilling.jsonl.gz; with --shown, that with MultiLine as well",
    )
    parser.add_argument("--n", type=int, default=200, help="how many tasks (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of their choice (%(default)s)")
    parser.add_argument(
        "--kind",
        choices=("line", "indented", "cut", "both"),
        default="both",
        help="whole lines, what follows the indentation, lines that were begun, or both: line and "
        "cut, and with --shown indented and cut (%(default)s)",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="how long a program may run (%(default)s)",
    )


def _add_ways(parser: argparse.ArgumentParser) -> None:
    """What is compared."""
    parser.add_argument(
        "--shown",
        action="store_true",
        help="measure what users are shown, side by side with what the model would write if no "
        "stop rule ended it, instead of the ways of prompting",
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help="with --shown: compare with the results in this file, of another version or settings",
    )
    parser.add_argument(
        "--ways",
        metavar="NAMES",
        help="which ways, separated by semicolons (all): a wrong name tells which there are",
    )
    parser.add_argument(
        "--typed-lines",
        type=int,
        default=0,
        metavar="N",
        help="how many whole lines were typed since the anchor was made (%(default)s)",
    )
    parser.add_argument(
        "--carried-lines",
        type=int,
        default=4,
        metavar="N",
        help="over how many new lines a suffix was carried (%(default)s)",
    )


def _run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    from specls.bench import infill, infill_shown, infill_tasks, infill_ways  # noqa: PLC0415 - heavy; `--help` is quick

    if arguments.data is None:
        raise SettingsError(f"Which tasks? Give --data FILE. {infill_tasks.WHERE}")
    if arguments.n < 1 or arguments.time_limit <= 0:
        raise SettingsError("--n and --time-limit have to be more than 0.")
    for option, lines in (
        ("--typed-lines", arguments.typed_lines),
        ("--carried-lines", arguments.carried_lines),
    ):
        if not 0 <= lines <= _MOST_LINES:
            raise SettingsError(f"{option} may be 0 to {_MOST_LINES}.")
    both = infill_tasks.SHOWN_KINDS if arguments.shown else infill_tasks.KINDS
    kinds = both if arguments.kind == "both" else (arguments.kind,)
    if arguments.shown:
        if arguments.ways:
            raise SettingsError("--ways isn't for --shown.")
        shown = infill_shown.Plan(
            data=arguments.data,
            n=arguments.n,
            seed=arguments.seed,
            kinds=kinds,
            seconds=arguments.time_limit,
            file=arguments.json,
            against=arguments.against,
        )
        return infill_shown.run(shown, settings)
    if arguments.against:
        raise SettingsError("--against is for --shown.")
    plan = infill.Plan(
        data=arguments.data,
        n=arguments.n,
        seed=arguments.seed,
        ways=_ways(arguments.ways, infill_ways.NAMES),
        kinds=kinds,
        typed_lines=arguments.typed_lines,
        carried_lines=arguments.carried_lines,
        seconds=arguments.time_limit,
        file=arguments.json,
    )
    return infill.run(plan, settings)


def _ways(given: str | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """The ways that were named, in the order in which they are measured."""
    wanted = {name.strip() for name in given.split(";")} if given else set(known)
    if unknown := sorted(wanted - set(known)):
        names = "; ".join(known)
        raise SettingsError(f"--ways: there is no {', '.join(unknown)}. There are: {names}.")
    return tuple(name for name in known if name in wanted)
