"""In which documents nothing is read and nothing completed: secrets, and what a person says."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from pathspec import GitIgnoreSpec

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

_BUILT_IN = GitIgnoreSpec.from_lines(SECRETS)


class Exclusion:
    """Says of a document whether it's excluded, and why."""

    def __init__(
        self,
        patterns: Sequence[str] = (),
        enable: Sequence[tuple[str, bool]] = (),
        roots: Sequence[str] = (),
    ) -> None:
        """``patterns`` are a person's own, of git's ignore files: ``!`` allows what is built in.

        ``enable`` says of languages, by their ids or ``*`` for all others, whether they're
        completed. ``roots`` are the URIs of the workspace's folders.
        """
        self._patterns = tuple(patterns)
        self._own = GitIgnoreSpec.from_lines(patterns)
        self._enable = dict(enable)
        self._roots = sorted((_path(root).rstrip("/") + "/" for root in roots), key=len)

    def reason(self, uri: str, language: str) -> str | None:
        """Why nothing is completed in a document; None if that's not so."""
        path = self._relative(_path(uri))
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

    def _relative(self, path: str) -> str:
        """The path from the innermost folder of the workspace, or else the whole one."""
        inside = (path[len(root) :] for root in reversed(self._roots) if path.startswith(root))
        return next(inside, path).lstrip("/")


def _path(uri: str) -> str:
    """The path of a URI; ``/c:/folder`` on Windows. What's no URI is taken for a path."""
    try:
        return unquote(urlsplit(uri).path)
    except ValueError:
        return uri
