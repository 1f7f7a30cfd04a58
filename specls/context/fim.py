"""Fill-in-the-middle prompts as a table of families and a choice of layouts.

A prompt is a row of segments: markers, named by their role, and source text. Markers become token
ids by looking them up in the model's vocabulary; text is never searched for them, so a file that
contains ``<|fim_middle|>`` is text like any other.

Markers and orders per family: research notes on Continue's ``AutocompleteTemplate.ts``,
llama.cpp's ``/infill`` and the models' own cards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from specls.context.window import Window


class Role(Enum):
    """What a marker says about the text that follows it."""

    PREFIX = "prefix"
    SUFFIX = "suffix"
    MIDDLE = "middle"
    REPOSITORY = "repository"
    FILE = "file"


class Order(Enum):
    """Which part a family was trained to see first."""

    PREFIX_FIRST = "psm"
    SUFFIX_FIRST = "spm"


@dataclass(frozen=True)
class Family:
    """How one family of models spells a prompt.

    ``markers`` and ``stops`` name tokens by their text in the vocabulary; ``stops`` lists what
    ends a middle besides the vocabulary's own end-of-generation tokens. ``file_markers`` stand
    before other files of a repository; where that's plain text, it's ``file_text``. A family with
    neither wasn't trained to see any.
    """

    name: str
    markers: Mapping[Role, str]
    order: Order = Order.PREFIX_FIRST
    stops: tuple[str, ...] = ()
    file_markers: Mapping[Role, str] = field(default_factory=dict)
    file_text: str = ""


@dataclass(frozen=True)
class Marker:
    """One control token, placed by id."""

    role: Role


@dataclass(frozen=True)
class Source:
    """Text of the user's, tokenised as plain text."""

    text: str
    path: str | None = None
    """Of which other file it is."""


Segment = Marker | Source


@dataclass(frozen=True)
class Prompt:
    """What the model is given, in order."""

    segments: tuple[Segment, ...] = field(default=())


def _family(
    name: str,
    prefix: str,
    suffix: str,
    middle: str,
    stops: tuple[str, ...] = (),
    order: Order = Order.PREFIX_FIRST,
    *,
    repository: str = "",
    file: str = "",
    file_text: str = "",
) -> Family:
    roles = {Role.PREFIX: prefix, Role.SUFFIX: suffix, Role.MIDDLE: middle}
    files = {Role.REPOSITORY: repository, Role.FILE: file}
    return Family(name, _given(roles), order, stops, _given(files), file_text)


def _given(texts: Mapping[Role, str]) -> dict[Role, str]:
    return {role: text for role, text in texts.items() if text}


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        _family(
            "qwen2.5-coder",
            "<|fim_prefix|>",
            "<|fim_suffix|>",
            "<|fim_middle|>",
            (
                "<|endoftext|>",
                "<|fim_pad|>",
                "<|repo_name|>",
                "<|file_sep|>",
                "<|im_start|>",
                "<|im_end|>",
            ),
            repository="<|repo_name|>",
            file="<|file_sep|>",
        ),
        _family(
            "starcoder2",
            "<fim_prefix>",
            "<fim_suffix>",
            "<fim_middle>",
            ("<|endoftext|>", "<repo_name>", "<file_sep>", "<fim_pad>"),
            repository="<repo_name>",
            file="<file_sep>",
        ),
        _family("codellama", "▁<PRE>", "▁<SUF>", "▁<MID>", ("▁<EOT>",)),
        _family(
            "deepseek-coder",
            "<｜fim▁begin｜>",  # noqa: RUF001 - the vocabulary's own full-width bar
            "<｜fim▁hole｜>",  # noqa: RUF001
            "<｜fim▁end｜>",  # noqa: RUF001
            ("<｜end▁of▁sentence｜>",),  # noqa: RUF001
        ),
        _family(
            "codegemma",
            "<|fim_prefix|>",
            "<|fim_suffix|>",
            "<|fim_middle|>",
            ("<|file_separator|>", "<end_of_turn>", "<eos>"),
            file="<|file_separator|>",
        ),
        _family(
            "granite",
            "<fim_prefix>",
            "<fim_suffix>",
            "<fim_middle>",
            ("<|endoftext|>", "<fim_pad>", "<reponame>", "<filename>"),
        ),
        _family(
            "granite4",
            "<|fim_prefix|>",
            "<|fim_suffix|>",
            "<|fim_middle|>",
            ("<|end_of_text|>", "<|fim_pad|>"),
        ),
        _family(
            "codestral",
            "[PREFIX]",
            "[SUFFIX]",
            "",
            order=Order.SUFFIX_FIRST,
            file_text="+++++ ",
        ),
    )
}
"""Every family known by name: the catalogue's ``fim_family`` is a key of this table."""


def at_cursor(window: Window, order: Order) -> Prompt:
    """The family's natural layout: everything before the cursor, everything after it, middle.

    Each keystroke changes the end of the prefix; what follows it must be decoded again.
    """
    prefix = (Marker(Role.PREFIX), Source(window.before))
    suffix = (Marker(Role.SUFFIX), Source(window.after))
    parts = prefix + suffix if order is Order.PREFIX_FIRST else suffix + prefix
    return Prompt((*parts, Marker(Role.MIDDLE)))


def anchored(prefix: str, suffix: str, typed: str) -> Prompt:
    """The layout in which what was typed stands behind the middle marker (prefix-first families).

    A key costs its own tokens; see ``context.anchor``.
    """
    frozen = (Marker(Role.PREFIX), Source(prefix), Marker(Role.SUFFIX), Source(suffix))
    return Prompt((*frozen, Marker(Role.MIDDLE), Source(typed)))


def prefix_only(window: Window) -> Prompt:
    """The layout for a model without markers: it continues the text and can't see what follows."""
    return Prompt((Source(window.before),))


def before(
    files: Sequence[tuple[str, str]],
    name: str,
    current: str,
    roles: Collection[Role],
    file_text: str,
) -> Prompt:
    """What stands before a prompt about the file ``current`` to show some of other ``files``.

    Those are paths and texts, ``name`` is the repository's; ``roles`` and ``file_text`` say what
    the model's family has for that.
    """
    segments: list[Segment] = []
    if Role.REPOSITORY in roles:
        segments += [Marker(Role.REPOSITORY), Source(f"{name}\n")]
    named = [Source(f"{file_text}{path}\n{text}", path) for path, text in files]
    for each in (*named, Source(f"{file_text}{current}\n")):
        segments += [Marker(Role.FILE), each] if Role.FILE in roles else [each]
    return Prompt(tuple(segments))
