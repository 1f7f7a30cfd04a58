"""`specls models`: its arguments. The work is imported when one is run, so that help is quick."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 -- has no other name

_ID = "an id of `specls models list`"


def register(subparsers: Subparsers) -> None:
    """Add `models` and its own subcommands; each sets ``run``, which returns the exit code.

    ``run`` takes the parsed arguments and raises SpeclsError for what the user should read.
    """
    parser = subparsers.add_parser(
        "models",
        help="list, fetch, check and remove models",
        description="Models lie in SPECLS_MODELS, or else in the user's cache folder.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    show = _add(actions, "list", "show all models of the catalogue, and which are on this machine")
    show.add_argument("--json", action="store_true", help="one object, for programs")

    pull = _add(actions, "pull", "fetch models; continues where an earlier pull was interrupted")
    pull.add_argument("ids", nargs="*", metavar="ID", help=_ID)
    pull.add_argument(
        "--default", action="store_true", help="the default target model and its draft"
    )

    pull.add_argument(
        "--json",
        action="store_true",
        help="how it gets on as one object in each line of stdout: id, done, total, state",
    )

    verify = _add(actions, "verify", "read models whole and compare their sha256")
    verify.add_argument(
        "ids", nargs="*", metavar="ID", help=f"{_ID}, or a path; all fetched ones if there is none"
    )

    path = _add(actions, "path", "print where a model lies")
    path.add_argument("id", metavar="ID", help=_ID)

    remove = _add(actions, "rm", "delete models, without asking")
    remove.add_argument("ids", nargs="+", metavar="ID", help=_ID)


def _add(actions: Subparsers, name: str, text: str) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(run=_run)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    from specls.commands import models_actions  # noqa: PLC0415 -- keeps `specls --help` quick

    return models_actions.ACTIONS[arguments.action](arguments)
