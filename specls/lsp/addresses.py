"""Network addresses as people write them, and sockets that listen there."""

from __future__ import annotations

import errno
import ipaddress
import re
import socket
import sys
from dataclasses import dataclass

from specls.errors import SettingsError

_ADDRESS = re.compile(r"(?:(?P<host>[^:\[\]]*|\[[0-9a-fA-F:.%\w]+\]):)?(?P<port>\d{1,5})")
_LOOPBACK = "127.0.0.1"
WAITING = 64
"""Clients whose connection isn't accepted yet."""


@dataclass(frozen=True)
class Address:
    """A host and a port; port 0 is any that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read ``HOST:PORT``, ``[IPV6]:PORT``, or a port alone, which is one of this machine.

        Raises:
            SettingsError: it's no address.
        """
        found = _ADDRESS.fullmatch(text)
        if found is None or int(found["port"]) > 0xFFFF:  # noqa: PLR2004 - a port has 16 bits
            raise SettingsError(
                f"{text!r} is no address: write HOST:PORT, as 127.0.0.1:7777 or [::1]:7777, "
                "with port 0 for any that is free."
            )
        return cls((found["host"] or _LOOPBACK).strip("[]"), int(found["port"]))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def is_loopback(host: str) -> bool:
    """Whether a host's address, or its name, means this machine and can't mean another."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(address: Address, *, remote: bool) -> tuple[socket.socket, Address]:
    """A socket that listens there, and where that is.

    Only this machine can connect, unless ``remote`` is allowed.

    Raises:
        SettingsError: others can reach that, the port is in use, or there's no such host.
    """
    if not remote and not is_loopback(address.host):
        raise SettingsError(
            f"{address.host} isn't an address that only this machine can reach. Use 127.0.0.1, and "
            "an SSH tunnel from elsewhere; or allow it with --allow-remote and a token."
        )
    try:
        # IPv4 first: that's what clients mean by localhost.
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        family, kind, _, _, where = min(found, key=lambda each: each[0] != socket.AF_INET)
    except OSError as error:
        raise SettingsError(f"There's no host {address.host}: {error.strerror}.") from error
    if not (remote or is_loopback(str(where[0]))):
        raise SettingsError(f"{address.host} is {where[0]}, which isn't this machine alone.")
    listening = socket.socket(family, kind)
    try:
        if sys.platform != "win32":  # there, it would let two processes have one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(WAITING)
    except OSError as error:
        listening.close()
        raise SettingsError(_why(address, error)) from error
    bound = listening.getsockname()
    return listening, Address(bound[0], bound[1])


def _why(address: Address, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"{address} is in use: end what listens there, or take another port, or port 0."
    return f"{address} can't be listened on: {error.strerror}."
