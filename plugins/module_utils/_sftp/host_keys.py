# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the key of a server against a known_hosts file, as ssh does."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass, field
from typing import Any

from .._api.errors import ConfigurationError
from .._api.private_folder import make_private_folder, refuse_strangers
from .errors import HostKeyRefused
from .library import asyncssh

ACCEPT_NEW, STRICT, OFF = "accept_new", "strict", "off"
STANDARD_PORT, HIGHEST_PORT = 22, 65535
LONGEST_NAME = 253


@dataclass
class HostKeys:
    """The known keys of one server, and what came when it was asked.

    ``policy`` is :data:`ACCEPT_NEW`, :data:`STRICT` or :data:`OFF`.
    """

    path: str
    policy: str
    host: str
    port: int
    offered: Any = field(default=None, init=False)
    """A key that was seen for the first time and accepted."""

    def __post_init__(self) -> None:
        check_address(self.host or "", self.port)

    @property
    def name(self) -> str:
        """The server's name as known_hosts files write it."""
        return self.written(self.host)

    def written(self, host: str) -> str:
        """Return a name or an address of the server as known_hosts files write it."""
        return host if self.port == STANDARD_PORT else f"[{host}]:{self.port}"

    def known(self) -> Any:
        """Return what the library checks the server's key against: ``None`` is anything.

        :raises ConfigurationError: when the file cannot be read or understood.
        """
        return None if self.policy == OFF else self.read()

    def read(self) -> Any:
        """Return the file's entries."""
        try:
            refuse_strangers(self.path)
            return asyncssh.read_known_hosts(self.path)
        except FileNotFoundError:
            return asyncssh.import_known_hosts("")
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"known_hosts {self.path!r} cannot be read: {error}") from None

    def matching(self, address: str = "") -> tuple[list[Any], list[Any]]:
        """Return the keys that the file knows for the server's name or address, and those that it revokes.

        The library is given whole names. Left to add the port itself, it takes the keys of the host's server
        on another port where it finds none, and forgets what was revoked.
        """
        entries = self.read()
        known: list[Any] = []
        revoked: list[Any] = []
        for host in dict.fromkeys((self.host, address or self.host)):
            found = asyncssh.match_known_hosts(entries, self.written(host), "", None)
            known += found[0]
            revoked += found[2]
        return known, revoked

    def accepts(self, address: str, key: Any) -> bool:
        """Judge a key that the file did not vouch for when the connection began.

        Keys are exchanged again after some time, and for a large file soon: what was accepted stays so.

        :raises HostKeyRefused: when the file knows other keys, or new servers are not accepted.
        """
        if key == self.offered:
            return True
        fingerprint = f"{key.get_algorithm()} {key.get_fingerprint()}"
        known, revoked = self.matching(address)
        if key in revoked:
            raise HostKeyRefused(f"the key of {self.name}, {fingerprint}, is revoked in {self.path}")
        if key in known:  # written down meanwhile by another process
            return True
        if known:
            expected = ", ".join(f"{k.get_algorithm()} {k.get_fingerprint()}" for k in known)
            raise HostKeyRefused(
                f"the key of {self.name} has changed: it is {fingerprint}, and {self.path} has {expected}. "
                "Someone may be intercepting the connection, or the server was reinstalled. If it was, "
                f"remove the old key with: ssh-keygen -R '{self.name}' -f {self.path}",
                fingerprint=key.get_fingerprint(),
            )
        if self.policy == STRICT:
            raise HostKeyRefused(
                f"the key of {self.name}, {fingerprint}, is not in {self.path}, and host_key_checking is "
                "strict. Add it to the file once you have checked it, or use accept_new",
                fingerprint=key.get_fingerprint(),
            )
        self.offered = key
        return True

    def pin(self) -> None:
        """Write down a key that was accepted on first sight, unless another process has by now."""
        if self.offered is None:
            return
        line = f"{self.name} {self.offered.export_public_key().decode().strip()}\n"
        try:
            make_private_folder(os.path.dirname(self.path))
            with open(self.path, "a+", encoding="utf-8", errors="surrogateescape", opener=private) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                there = file.read()
                if line not in there:
                    file.write(line if there.endswith("\n") or not there else f"\n{line}")
        except OSError as error:
            raise ConfigurationError(
                f"the key of {self.name} cannot be written to known_hosts {self.path!r}: {error.strerror}. "
                "Name another file in known_hosts, or set host_key_checking: off if the network is trusted"
            ) from None


def private(path: str, flags: int) -> int:
    """Open a file, which is for this user alone if it is new."""
    return os.open(path, flags, 0o600)


def check_address(host: str, port: int) -> None:
    """Refuse what cannot be the address of a server, before a library trips over it.

    :raises ConfigurationError: with the value.
    """
    try:
        host.encode("idna")
        is_name = 0 < len(host) <= LONGEST_NAME and host.isprintable() and " " not in host
    except UnicodeError:
        is_name = False
    if not is_name:
        shown = host[:LONGEST_NAME]
        raise ConfigurationError(f"the host is {shown!r}, which is neither a name nor an address")
    if not 0 < port <= HIGHEST_PORT:
        raise ConfigurationError(f"the port is {str(port)[:20]}; it must be from 1 to {HIGHEST_PORT}")
