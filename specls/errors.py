"""Every error that specls raises on purpose, in one tree.

::

    SpeclsError
    ├── SettingsError          a setting or command line argument has a wrong value
    ├── ModelError             a model file can't be used
    │   ├── UnknownModel       neither a catalogue id nor a path
    │   ├── ModelNotFetched    in the catalogue, not on this machine
    │   ├── ModelDamaged       wrong size, wrong sha256, truncated, not a GGUF
    │   └── DownloadFailed     no source answered, or the disk is full
    │       └── SourceFailed   one source couldn't deliver: the next one is tried
    ├── EngineError            the engine can't do what it was asked
    │   ├── LoadFailed         llama.cpp refused the model
    │   │   └── NoMemory       it doesn't fit into memory
    │   ├── IncompatibleDraft  the draft's vocabulary isn't the target's
    │   ├── ContextFull        the prompt doesn't fit into the context
    │   └── DecodeFailed       llama.cpp returned an error code
    └── Cancelled              the caller gave up (not a failure)

A message says what happened and what to do about it, in words for the person who reads it.
Errors of other libraries are translated where they enter: ``engine.llama`` for llama.cpp's
return codes, ``catalogue`` for the network and the disk.
"""

from __future__ import annotations


class SpeclsError(Exception):
    """Base of all errors below: its text may be shown to the user as it is.

    ``remedy`` is what can be done about it, where that's one command line.
    """

    def __init__(self, message: str = "", *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


class SettingsError(SpeclsError):
    """A setting or command line argument has a wrong value."""


class ModelError(SpeclsError):
    """A model file can't be used."""


class UnknownModel(ModelError):
    """Neither an id of the catalogue nor the path of a file."""


class ModelNotFetched(ModelError):
    """The catalogue knows the model, and it isn't on this machine."""


class ModelDamaged(ModelError):
    """The file isn't what it should be: size, sha256, truncated, not a GGUF."""


class DownloadFailed(ModelError):
    """No source could deliver the file."""


class SourceFailed(DownloadFailed):
    """One source couldn't deliver the file; it leaves the catalogue only as part of a list."""


class EngineError(SpeclsError):
    """The engine can't do what it was asked."""


class LoadFailed(EngineError):
    """llama.cpp refused the model file."""


class NoMemory(LoadFailed):
    """The machine hasn't got the memory that the model needs."""


class IncompatibleDraft(EngineError):
    """The draft model's vocabulary isn't the target's, so its tokens mean nothing."""


class ContextFull(EngineError):
    """The prompt and the answer don't fit into the context."""


class DecodeFailed(EngineError):
    """llama.cpp returned an error code for a batch."""


class Cancelled(SpeclsError):
    """The caller gave up. What was computed before is kept."""


_LONGEST = 100


def short(value: object) -> str:
    """What fits into a message to people, of something that may be long."""
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
