"""A secret that a client has to know."""

from __future__ import annotations

import hmac
import os
import stat
import sys
from pathlib import Path

from specls.errors import SettingsError

_LEAST = 16
"""Characters."""

_VARIABLE = "SPECLS_TOKEN"
_HOW = "`python3 -c 'import secrets; print(secrets.token_hex(16))'` makes one"


class Token:
    """Compares without telling by the time it takes how much was right."""

    def __init__(self, secret: str) -> None:
        """Take a secret in.

        Raises:
            SettingsError: it's so short that it can be guessed.
        """
        if len(secret) < _LEAST:
            raise SettingsError(f"The token needs at least {_LEAST} characters; {_HOW}.")
        self._secret = secret.encode()

    def admits(self, offered: object) -> bool:
        """Whether this is the secret."""
        return isinstance(offered, str) and hmac.compare_digest(
            offered.encode("utf-8", "surrogatepass"), self._secret
        )


def find_token(file: Path | None) -> Token | None:
    """The token in a file, else in the environment, if there's any.

    Raises:
        SettingsError: the file can't be read, others can read it, or the token is too short.
    """
    if file is None:
        secret = os.environ.get(_VARIABLE, "").strip()
        return Token(secret) if secret else None
    try:
        if sys.platform != "win32" and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SettingsError(f"Others can use the token in {file}: run `chmod 600 {file}`.")
        return Token(file.read_text("utf-8").strip())
    except (OSError, ValueError) as error:
        raise SettingsError(f"The token can't be read from {file}: {error}.") from error
