"""The settings, each defined here and only here: default, range, text.

Pages, schemas, the command line's options and the checks are made from these definitions. The names
in an editor's settings are those of the fields in camelCase (``max_tokens`` is ``maxTokens``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial

from specls.settings.definition import Definition, Form, Project, Scope, camel, setting

_of_models = partial(setting, scope=Scope.MODELS)


@dataclass(frozen=True)
class Settings:
    """One consistent set of values."""

    enabled: bool = setting(
        True,  # noqa: FBT003 - a default
        "Whether anything is completed. The models stay loaded, so that switching it on again "
        "costs nothing.",
    )
    model: str = _of_models(
        "qwen2.5-coder-1.5b",
        "The target model: an id of `specls models list` or the path of a GGUF file.",
        project=Project.CATALOGUE,
    )
    draft_model: str = _of_models(
        "auto",
        "The draft model: an id, a path, `auto` (the one the catalogue names for the target), "
        "or `none`.",
        project=Project.CATALOGUE,
    )
    speculation: str = _of_models(
        "auto",
        "Where drafts come from: `off` (none), `lookup` (earlier suggestions and n-grams of the "
        "open documents), `draft` (the draft model), `auto` (what pays on this machine, by "
        "measurement).",
        choices=("off", "lookup", "draft", "auto"),
    )
    max_tokens: int = setting(64, "The most tokens one completion may have.", low=1, high=1024)
    multiline: str = setting(
        "auto",
        "How many lines a suggestion may have: `auto` (one inside of a line, a comment or a text; "
        "a block where one begins or is going on), `never` more than one, `always` several unless "
        "something stands behind the cursor.",
        choices=("auto", "never", "always"),
    )
    max_lines: int = setting(24, "The most lines one completion may have.", low=1, high=200)
    answer_budget_ms: int = setting(
        500,
        "How long writing a suggestion may take that nobody asked for, in milliseconds from its "
        "first token on: then it's shown up to the last whole line, and what follows is there when "
        "it's accepted. A single line may take eight times as long. 0 is no limit.",
        low=0,
        high=600_000,
    )
    confidence: float = setting(
        0.3,
        "How likely the model has to find each token of a suggestion that nobody asked for: a "
        "suggestion ends before the first word that is less likely, and with none before it, "
        "nothing is shown. 0 shows everything.",
        low=0.0,
        high=1.0,
    )
    alternatives: int = setting(
        3,
        "How many suggestions you get when you ask for one yourself: the most likely one first, "
        "and others where the model was in doubt. They take longer than one.",
        low=1,
        high=3,
    )
    temperature: float = setting(
        0.0,
        "How much is left to chance: with 0 each token is the most likely one, with 1 each has the "
        "model's own probability. The first of several suggestions is the most likely one always.",
        low=0.0,
        high=2.0,
    )
    top_k: int = setting(
        40,
        "With a `temperature`: only so many of the most likely tokens are drawn from; 0 is all.",
        low=0,
        high=1_000_000,
    )
    top_p: float = setting(
        0.95,
        "With a `temperature`: of these only the most likely that have this probability together.",
        low=0.01,
        high=1.0,
    )
    min_p: float = setting(
        0.05,
        "With a `temperature`: of these only those with this share of the most likely one's "
        "probability.",
        low=0.0,
        high=1.0,
    )
    sampling_seed: int = setting(
        0,
        "With a `temperature`: the same number draws the same, for the same text.",
        low=0,
        high=2**31 - 1,
    )
    prefix_tokens: int = setting(
        1536, "The most tokens of text before the cursor that the model sees.", low=16, high=65536
    )
    suffix_tokens: int = setting(
        512, "The most tokens of text after the cursor that the model sees.", low=0, high=65536
    )
    workspace_tokens: int = setting(
        0,
        "The most tokens of other files that the model sees (1024, say): pieces of open documents, "
        "and of files that the document imports, which are like what stands around the cursor. "
        "Less where reading is slow, and none where the model wasn't trained for it. Files that "
        "git ignores aren't read, nor any outside of the workspace's folders that isn't open. "
        "0 shows none.",
        low=0,
        high=65536,
    )
    prompt_layout: str = setting(
        "auto",
        "How the text around the cursor is laid out: `cursor` (all but the last word before the "
        "suffix, nearly as models were trained), `anchored` (the last lines before the cursor and "
        "all that's typed stand behind the middle marker, so that a key costs its own tokens), "
        "`auto` (anchored where the model's family allows it).",
        choices=("auto", "anchored", "cursor"),
    )
    suffix_reuse: str = setting(
        "carry",
        "What becomes of the text after the cursor when the text before it changed: `carry` takes "
        "over what was computed (an approximation that is made exact when typing pauses), `exact` "
        "reads it again at once.",
        choices=("carry", "exact"),
    )
    cold_budget_ms: int = setting(
        1500,
        "How long reading a new place may delay the first answer there, in milliseconds: a window "
        "that takes longer begins small and is completed in the background. 0 reads all at once, "
        "and as much of other files as is allowed.",
        low=0,
        high=600_000,
    )
    enable: tuple[tuple[str, bool], ...] = setting(
        (),
        "In which languages anything is completed, by their ids as editors name them, and `*` for "
        'all others: `{"markdown": false}`, or `{"*": false, "python": true}`.',
        form=Form.SWITCHES,
    )
    exclude: tuple[str, ...] = setting(
        (),
        "Files that are never read, as patterns of git's ignore files from the workspace's folder. "
        "Those that may hold secrets (`.env`, keys, credentials) are excluded in any case, unless "
        "a pattern with `!` allows them.",
        form=Form.PATTERNS,
    )
    completion_fallback: str = setting(
        "auto",
        "Whether suggestions come in the editor's completion menu, at its end: `auto` (in editors "
        "that show none inline), `always`, `never`.",
        choices=("auto", "always", "never"),
    )
    prefetch: bool = setting(
        True,  # noqa: FBT003 - a default
        "Whether the text behind a suggestion is completed while nobody waits, so that it is there "
        "when the suggestion is accepted.",
    )
    project_file: bool = setting(
        True,  # noqa: FBT003 - a default
        "Whether the settings are followed that a file `.specls.toml` in a folder of the workspace "
        "holds.",
        project=Project.NEVER,
    )
    context_tokens: int = _of_models(
        8192,
        "How many tokens the key-value cache holds, for all open documents together.",
        project=Project.LOWER,
        low=256,
        high=1_048_576,
    )
    kv_budget_mib: int = _of_models(
        512,
        "How much memory, in MiB, the states of documents may take that had to make way in the "
        "cache; they come back in a fraction of the time of reading them again. 0 keeps none.",
        project=Project.LOWER,
        low=0,
        high=1_048_576,
    )
    kv_disk_mib: int = _of_models(
        1024,
        "How much disk space, in MiB, such states may take when memory is full or the server ends, "
        "so that a restart needn't read the documents again. They hold what is in your files, and "
        "only you can read them. 0 writes nothing to disk, and deletes what is there.",
        project=Project.LOWER,
        low=0,
        high=1_048_576,
    )
    gpu_layers: int | str = _of_models(
        "auto",
        "How many layers run on the GPU: a number, or `auto` (all of them where a GPU back end "
        "is built in and they fit, else none).",
        choices=("auto",),
        low=0,
        high=1000,
    )
    threads: int | str = _of_models(
        "auto",
        "How many processor threads compute: a number (more than the machine has are not used), or "
        "`auto` (the physical cores).",
        choices=("auto",),
        low=1,
        high=512,
    )
    flash_attention: str = _of_models(
        "auto",
        "Whether flash attention is used: `auto` lets llama.cpp decide.",
        choices=("auto", "on", "off"),
    )
    kv_type: str = _of_models(
        "f16",
        "The type of the key-value cache: `q8_0` takes half the memory, with flash attention.",
        choices=("f16", "q8_0"),
    )


DEFINITIONS: tuple[Definition, ...] = tuple(
    replace(item.metadata["definition"], name=camel(item.name), field=item.name)
    for item in fields(Settings)
)
"""All settings, in order."""


def differ_in_models(before: Settings, after: Settings) -> bool:
    """Whether settings ask for other models, or for the same loaded otherwise."""
    return any(
        getattr(before, each.field) != getattr(after, each.field)
        for each in DEFINITIONS
        if each.scope is Scope.MODELS
    )
