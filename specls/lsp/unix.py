"""A socket in the file system."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from pathlib import Path

from specls.errors import SettingsError
from specls.lsp.addresses import WAITING


class UnixSocket:
    """A socket in the file system that only its owner can connect to."""

    def __init__(self, path: Path) -> None:
        """Listen at ``path``. A file that a server left behind is removed.

        Raises:
            SettingsError: somebody listens there, something else lies there, or it can't be made.
        """
        if not hasattr(socket, "AF_UNIX"):
            raise SettingsError("This system's Python has no Unix sockets: use --tcp.")
        self.path = path.absolute()
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            _remove_stale(self.path)
            # The mode is there from the first moment; the process is still alone with itself.
            before = os.umask(0o177)
            try:
                self.socket.bind(str(self.path))
            finally:
                os.umask(before)
            self._inode = self.path.stat().st_ino
            self.socket.listen(WAITING)
        except OSError as error:
            self.socket.close()
            raise SettingsError(f"{path} can't be made a socket: {error}.") from error
        except SettingsError:
            self.socket.close()
            raise

    def close(self) -> None:
        """Stop listening, and remove the file unless it's another one by now."""
        with contextlib.suppress(OSError):
            if self.path.stat().st_ino == self._inode:
                self.path.unlink()
        self.socket.close()


def _remove_stale(path: Path) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise SettingsError(f"{path} is there already, and isn't a socket: take another path.")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
        else:
            raise SettingsError(f"A server listens at {path} already: use it, or another path.")
