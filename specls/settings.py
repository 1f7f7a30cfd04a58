"""What can be set, by whom, and what is allowed: each setting is defined here and only here.

The fields' metadata hold the range and the text for people; the names in an editor's settings
are the same in camelCase (``max_tokens`` is ``maxTokens``), and on the command line with hyphens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

from pathspec import GitIgnoreSpec


def _setting(
    default: Any,
    text: str,
    *,
    choices: tuple[str, ...] = (),
    low: float | None = None,
    high: float | None = None,
    form: str | None = None,
) -> Any:
    """``form`` is that of what isn't a single value: ``patterns`` or ``switches``."""
    return field(
        default=default,
        metadata={"text": text, "choices": choices, "low": low, "high": high, "form": form}
        | {"switch": isinstance(default, bool), "fraction": isinstance(default, float)},
    )


@dataclass(frozen=True)
class Settings:
    """One consistent set of values."""

    model: str = _setting(
        "qwen2.5-coder-1.5b",
        "The target model: an id of `specls models list` or the path of a GGUF file.",
    )
    draft_model: str = _setting(
        "auto",
        "The draft model: an id, a path, `auto` (the one the catalogue names for the target), "
        "or `none`.",
    )
    speculation: str = _setting(
        "auto",
        "Where drafts come from: `off` (none), `lookup` (earlier suggestions and n-grams of the "
        "open documents), `draft` (the draft model), `auto` (what pays on this machine, by "
        "measurement).",
        choices=("off", "lookup", "draft", "auto"),
    )
    max_tokens: int = _setting(64, "The most tokens one completion may have.", low=1, high=1024)
    multiline: str = _setting(
        "auto",
        "How many lines a suggestion may have: `auto` (one inside of a line, a comment or a text; "
        "a block where one begins or is going on), `never` more than one, `always` several unless "
        "something stands behind the cursor.",
        choices=("auto", "never", "always"),
    )
    max_lines: int = _setting(24, "The most lines one completion may have.", low=1, high=200)
    answer_budget_ms: int = _setting(
        500,
        "How long writing a suggestion may take that nobody asked for, in milliseconds from its "
        "first token on: then it's shown up to the last whole line, and what follows is there when "
        "it's accepted. A single line may take eight times as long. 0 is no limit.",
        low=0,
        high=600_000,
    )
    confidence: float = _setting(
        0.3,
        "How likely the model has to find each token of a suggestion that nobody asked for: a "
        "suggestion ends before the first word that is less likely, and with none before it, "
        "nothing is shown. 0 shows everything.",
        low=0.0,
        high=1.0,
    )
    alternatives: int = _setting(
        3,
        "How many suggestions you get when you ask for one yourself: the most likely one first, "
        "and others where the model was in doubt. They take longer than one.",
        low=1,
        high=3,
    )
    temperature: float = _setting(
        0.0,
        "How much is left to chance: with 0 each token is the most likely one, with 1 each has the "
        "model's own probability. The first of several suggestions is the most likely one always.",
        low=0.0,
        high=2.0,
    )
    top_k: int = _setting(
        40,
        "With a `temperature`: only so many of the most likely tokens are drawn from; 0 is all.",
        low=0,
        high=1_000_000,
    )
    top_p: float = _setting(
        0.95,
        "With a `temperature`: of these only the most likely that have this probability together.",
        low=0.01,
        high=1.0,
    )
    min_p: float = _setting(
        0.05,
        "With a `temperature`: of these only those with this share of the most likely one's "
        "probability.",
        low=0.0,
        high=1.0,
    )
    sampling_seed: int = _setting(
        0,
        "With a `temperature`: the same number draws the same, for the same text.",
        low=0,
        high=2**31 - 1,
    )
    prefix_tokens: int = _setting(
        1536, "The most tokens of text before the cursor that the model sees.", low=16, high=65536
    )
    suffix_tokens: int = _setting(
        512, "The most tokens of text after the cursor that the model sees.", low=0, high=65536
    )
    workspace_tokens: int = _setting(
        0,
        "The most tokens of other files that the model sees (1024, say): pieces of open documents, "
        "and of files that the document imports, which are like what stands around the cursor. "
        "Less where reading is slow, and none where the model wasn't trained for it. Files that "
        "git ignores aren't read, nor any outside of the workspace's folders that isn't open. "
        "0 shows none.",
        low=0,
        high=65536,
    )
    prompt_layout: str = _setting(
        "auto",
        "How the text around the cursor is laid out: `cursor` (all but the last word before the "
        "suffix, nearly as models were trained), `anchored` (the last lines before the cursor and "
        "all that's typed stand behind the middle marker, so that a key costs its own tokens), "
        "`auto` (anchored where the model's family allows it).",
        choices=("auto", "anchored", "cursor"),
    )
    suffix_reuse: str = _setting(
        "carry",
        "What becomes of the text after the cursor when the text before it changed: `carry` takes "
        "over what was computed (an approximation that is made exact when typing pauses), `exact` "
        "reads it again at once.",
        choices=("carry", "exact"),
    )
    cold_budget_ms: int = _setting(
        1500,
        "How long reading a new place may delay the first answer there, in milliseconds: a window "
        "that takes longer begins small and is completed in the background. 0 reads all at once, "
        "and as much of other files as is allowed.",
        low=0,
        high=600_000,
    )
    enable: tuple[tuple[str, bool], ...] = _setting(
        (),
        "In which languages anything is completed, by their ids as editors name them, and `*` for "
        'all others: `{"markdown": false}`, or `{"*": false, "python": true}`.',
        form="switches",
    )
    exclude: tuple[str, ...] = _setting(
        (),
        "Files that are never read, as patterns of git's ignore files from the workspace's folder. "
        "Those that may hold secrets (`.env`, keys, credentials) are excluded in any case, unless "
        "a pattern with `!` allows them.",
        form="patterns",
    )
    prefetch: bool = _setting(
        True,  # noqa: FBT003 - a default
        "Whether the text behind a suggestion is completed while nobody waits, so that it is there "
        "when the suggestion is accepted.",
    )
    context_tokens: int = _setting(
        8192,
        "How many tokens the key-value cache holds, for all open documents together.",
        low=256,
        high=1_048_576,
    )
    kv_budget_mib: int = _setting(
        512,
        "How much memory, in MiB, the states of documents may take that had to make way in the "
        "cache; they come back in a fraction of the time of reading them again. 0 keeps none.",
        low=0,
        high=1_048_576,
    )
    kv_disk_mib: int = _setting(
        1024,
        "How much disk space, in MiB, such states may take when memory is full or the server ends, "
        "so that a restart needn't read the documents again. They hold what is in your files, and "
        "only you can read them. 0 writes nothing to disk, and deletes what is there.",
        low=0,
        high=1_048_576,
    )
    gpu_layers: int | str = _setting(
        "auto",
        "How many layers run on the GPU: a number, or `auto` (all of them where a GPU back end "
        "is built in and they fit, else none).",
        choices=("auto",),
        low=0,
        high=1000,
    )
    threads: int | str = _setting(
        "auto",
        "How many processor threads compute: a number (more than the machine has are not used), or "
        "`auto` (the physical cores).",
        choices=("auto",),
        low=1,
        high=512,
    )
    flash_attention: str = _setting(
        "auto",
        "Whether flash attention is used: `auto` lets llama.cpp decide.",
        choices=("auto", "on", "off"),
    )
    kv_type: str = _setting(
        "f16",
        "The type of the key-value cache: `q8_0` takes half the memory, with flash attention.",
        choices=("f16", "q8_0"),
    )


@dataclass(frozen=True)
class Problem:
    """One value that was refused."""

    name: str
    message: str

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


def camel(name: str) -> str:
    """The name of a field as editors know it: ``max_tokens`` → ``maxTokens``."""
    head, *rest = name.split("_")
    return head + "".join("MiB" if part == "mib" else part.capitalize() for part in rest)


def _allowed(meta: Mapping[str, Any], types: str) -> str:
    if meta["form"]:
        return _FORMS[meta["form"]]
    if meta["switch"]:
        return "true or false"
    parts = [f'"{choice}"' for choice in meta["choices"]]
    if meta["low"] is not None:
        kind = "a number" if meta["fraction"] else "a whole number"
        parts.append(f"{kind} from {meta['low']} to {meta['high']}")
    elif "str" in types and not parts:
        parts.append("a non-empty text")
    return " or ".join(parts)


_FORMS = {
    "patterns": "a list of patterns of git's ignore files",
    "switches": "an object of names with true or false",
}


_FORMED: Mapping[str | None, object] = {"patterns": [], "switches": {}}
"""What an editor sends for nothing."""


def _frozen(meta: Mapping[str, Any], value: Any) -> Any:
    """The value as it's kept."""
    if meta["form"] == "patterns":
        return tuple(value)
    return tuple(value.items()) if meta["form"] == "switches" else value


def _accepts(meta: Mapping[str, Any], value: object) -> bool:
    if meta["form"]:
        return _are_patterns(value) if meta["form"] == "patterns" else _are_switches(value)
    if meta["switch"]:
        return isinstance(value, bool)
    if isinstance(value, str):
        if meta["choices"]:
            return value in meta["choices"]
        return meta["low"] is None and bool(value.strip())
    numbers = (int, float) if meta["fraction"] else (int,)
    if isinstance(value, numbers) and not isinstance(value, bool) and meta["low"] is not None:
        return bool(meta["low"] <= value <= meta["high"])
    return False


def _are_patterns(value: object) -> bool:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return False
    try:
        return len(GitIgnoreSpec.from_lines(value)) == len(value)
    except ValueError:
        return False


def _are_switches(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(each, bool) for name, each in value.items()
    )


def parse(
    raw: object, base: Settings | None = None, current: Settings | None = None
) -> tuple[Settings, list[Problem]]:
    """Settings from an editor's JSON object on top of ``base``.

    A wrong value is reported, and that of ``current`` (by default ``base``) stays; an unknown name
    is reported as well.
    ``None`` (what editors send for a setting that isn't set) and a null value change nothing.
    """
    settings = base or Settings()
    if raw is None:
        return settings, []
    if not isinstance(raw, Mapping):
        return settings, [Problem("specls", "the settings must be an object of names and values")]
    known = {camel(item.name): item for item in fields(Settings)}
    problems: list[Problem] = []
    for name, value in raw.items():
        item = known.get(name)
        if item is None:
            problems.append(Problem(str(name), f"no such setting; known are {', '.join(known)}"))
        elif value is None:
            continue
        elif _accepts(item.metadata, value):
            settings = replace(settings, **{item.name: _frozen(item.metadata, value)})
        else:
            kept = getattr(current or settings, item.name)
            settings = replace(settings, **{item.name: kept})
            allowed = _allowed(item.metadata, str(item.type))
            problems.append(Problem(name, f"{value!r} isn't allowed; it must be {allowed}"))
    return settings, problems


def describe() -> list[tuple[str, object, str, str]]:
    """Name, default, what is allowed, and the text of each setting, in order (for docs)."""
    rows = []
    for item in fields(Settings):
        assert item.default is not MISSING
        allowed = _allowed(item.metadata, str(item.type))
        default = _FORMED.get(item.metadata["form"], item.default)
        rows.append((camel(item.name), default, allowed, item.metadata["text"]))
    return rows


def settings_page() -> str:
    """The text of docs/settings.md."""
    lines = [
        "# Settings",
        "",
        "In the editor's settings under `specls`, or as options of `specls complete`",
        "(`maxTokens` is `--max-tokens`). Made by `python -m specls.settings`: don't edit it.",
    ]
    for name, default, allowed, text in describe():
        value = f"`{default}`"
        lines += ["", f"## `{name}`", "", text, "", f"Allowed: {allowed}. Default: {value}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(settings_page(), end="")
