"""Settings of the workspace's folders, which may differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specls.service.exclude import Exclusion, Rules, path_of
from specls.settings import Settings


class Scopes:
    """The settings for each document. The models are the same for all."""

    def __init__(
        self, base: Settings | None = None, folders: Mapping[str, Settings] | None = None
    ) -> None:
        """``folders`` are by URI; ``base`` holds outside of them, and for the models."""
        self.base = base or Settings()
        self._folders = dict(folders or {})
        paths = {path_of(uri).rstrip("/") + "/": each for uri, each in self._folders.items()}
        self._paths = sorted(paths.items(), key=lambda each: -len(each[0]))

    def __eq__(self, other: object) -> bool:
        mine = (self.base, self._folders)
        return isinstance(other, Scopes) and mine == (other.base, other._folders)

    __hash__ = None  # type: ignore[assignment] # it's compared, and no key

    def excludes_as(self, other: Scopes) -> bool:
        """Whether the same is excluded, in the folders that both know."""
        known = self._folders.keys() & other._folders.keys()
        pairs = [(self.base, other.base), *((self._folders[u], other._folders[u]) for u in known)]
        return all((a.exclude, a.enable) == (b.exclude, b.enable) for a, b in pairs)

    def of(self, uri: str) -> Settings:
        """The settings for a document: those of the innermost folder that it's in."""
        if not self._paths:
            return self.base
        path = path_of(uri)
        inside = (settings for folder, settings in self._paths if path.startswith(folder))
        return next(inside, self.base)

    def exclusion(self, roots: Sequence[str]) -> Exclusion:
        """What is excluded in a workspace with these folders."""
        rules = {uri: Rules(each.exclude, each.enable) for uri, each in self._folders.items()}
        return Exclusion(self.base.exclude, self.base.enable, roots, rules)
