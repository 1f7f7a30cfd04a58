"""In which documents nothing is read and nothing completed: secrets, and what a person says."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from specls.service.folders import file_of
from specls.settings.patterns import spec_of

SECRETS = (
    # environments
    "*.env",
    ".env",
    ".env.*",
    ".envrc",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "!.env.dist",
    # keys and certificates
    "*.key",
    "*.pem",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.pkcs12",
    "*.der",
    "*.jks",
    "*.keystore",
    "*.truststore",
    "*.ppk",
    "*.gpg",
    "*.kdb",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    # what programs log in with
    ".netrc",
    "_netrc",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".s3cfg",
    ".boto",
    "credentials",
    "credentials.*",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "secrets.*",
    "*.tfstate",
    "*.tfstate.*",
    "*.tfvars",
    "*.ovpn",
    "*.rdp",
    "kubeconfig",
    # folders of such things
    ".ssh/",
    ".gnupg/",
    ".aws/",
    ".azure/",
    ".kube/",
    ".docker/",
    ".gcloud/",
    ".config/gcloud/",
    ".password-store/",
    "secrets/",
    # the same, compressed or as a copy
    "*.env.bak",
    "*.key.bak",
    "*.pem.bak",
)
"""Patterns of git's ignore files, compared with the path in lower case."""

_BUILT_IN = spec_of(SECRETS)


class Rules:
    """What is excluded in one folder."""

    def __init__(
        self, patterns: Sequence[str] = (), enable: Sequence[tuple[str, bool]] = ()
    ) -> None:
        """``patterns`` are a person's own, of git's ignore files: ``!`` allows what is built in.

        ``enable`` says of languages, by their ids or ``*`` for all others, whether they're
        completed.
        """
        self._patterns = tuple(patterns)
        self._own = spec_of(patterns)
        self._enable = dict(enable)

    def reason(self, path: str, language: str) -> str | None:
        """Why nothing is completed in a file, by its path in the folder; None if that's not so."""
        own = self._own.check_file(path)
        if own.include and own.index is not None:
            return f"its path matches {self._patterns[own.index]!r} of the setting exclude"
        secret = _BUILT_IN.check_file(path.casefold())
        if own.include is None and secret.include and secret.index is not None:
            pattern = SECRETS[secret.index]
            return f"it may hold secrets ({pattern}); '!{pattern}' in the setting exclude allows it"
        if not self._enable.get(language, self._enable.get("*", True)):
            return f"the setting enable switches {language} off"
        return None


class Exclusion:
    """Says of a document whether it's excluded, and why."""

    def __init__(
        self,
        patterns: Sequence[str] = (),
        enable: Sequence[tuple[str, bool]] = (),
        roots: Sequence[str] = (),
        folders: Mapping[str, Rules] | None = None,
    ) -> None:
        """See :class:`Rules`; ``folders`` are those of folders that have some of their own.

        ``roots`` are the URIs of the workspace's folders, as are the keys of ``folders``.
        """
        self._default = Rules(patterns, enable)
        own = folders or {}
        places = {
            path: own.get(root, self._default) for root in roots for path in _paths_of_folder(root)
        }
        self._folders = sorted(places.items(), key=lambda each: -len(each[0]))
        self._all = (self._default, *own.values())

    def reason(self, uri: str, language: str) -> str | None:
        """Why nothing is completed in a document; None if that's not so."""
        path = path_of(uri)
        for folder, rules in self._folders:
            if path.startswith(folder):
                return rules.reason(path[len(folder) :].lstrip("/"), language)
        return self._default.reason(path.lstrip("/"), language)

    def reason_in(self, root: Path, path: str, language: str) -> str | None:
        """The same for a path in a folder of the workspace, which is given without links."""
        rules = dict(self._folders).get(root.as_posix() + "/", self._default)
        return rules.reason(path, language)

    def shows(self, path: str) -> bool:
        """Whether a path in any folder of the workspace is excluded in none."""
        return all(rules.reason(path, "") is None for rules in self._all)


def _paths_of_folder(root: str) -> set[str]:
    """How paths in a folder begin: as the client says it, and without links."""
    paths = {path_of(root)}
    if (file := file_of(root)) is not None:
        paths.add(Path(os.path.realpath(file)).as_posix())
    return {path.rstrip("/") + "/" for path in paths}


def path_of(uri: str) -> str:
    """The path of a URI; ``/c:/folder`` on Windows. What's no URI is taken for a path."""
    try:
        return unquote(urlsplit(uri).path)
    except ValueError:
        return uri
