# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask a server for its key, and check it against a known_hosts file, as ssh does."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .._api.errors import ConfigurationError
from .._api.private_folder import make_folder_of, refuse_strangers
from .._api.text import clean
from .errors import ConnectionBroken, HostKeyRefused
from .library import asyncssh

ACCEPT_NEW, STRICT, OFF = "accept_new", "strict", "off"
STANDARD_PORT, HIGHEST_PORT = 22, 65535
LONGEST_NAME = 253
ALGORITHMS = ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"]
ALGORITHMS += ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"]


@dataclass
class HostKeys:
    """The known keys of one server, and what came when it was asked."""

    path: str
    policy: str
    host: str
    port: int
    warn: Callable[[str], None] = lambda said: None
    offered: Any = field(default=None, init=False)
    """A key that was seen for the first time and accepted."""

    def __post_init__(self) -> None:
        check_address(self.host or "", self.port)

    @property
    def name(self) -> str:
        return self.names()[0]

    def known(self, algorithms: list[str]) -> Any:
        """Return what the library checks the server's key against: ``None`` is anything.

        As soon as it knows the address, those of the known keys go first in ``algorithms``. The others stay:
        a server that has none of these keys is to show which one it has.

        :raises ConfigurationError: if the file cannot be read.
        """
        if self.policy == OFF:
            return None
        self.lines()  # what cannot be read is told here, and not to the library

        def match(_host: str, address: str, _port: int | None) -> tuple[list[Any], ...]:
            known, authorities, revoked = self.matching(self.names(address))
            # Another port of the host may well have the same key, as for ssh.
            known = known or self.matching([self.host, address])[0]
            prefer(algorithms, known)
            if authorities:  # a certificate is shown to those who ask for it
                algorithms[:0] = [f"{algorithm}-cert-v01@openssh.com" for algorithm in ALGORITHMS]
            return known, authorities, revoked

        return match

    def lines(self) -> list[str]:
        try:
            refuse_strangers(self.path)
            with open(self.path, encoding="utf-8", errors="surrogateescape") as file:
                return file.readlines()
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"known_hosts {self.path!r} cannot be read: {error}") from None

    def names(self, address: str = "") -> list[str]:
        hosts = dict.fromkeys((self.host, address or self.host))
        return [host if self.port == STANDARD_PORT else f"[{host}]:{self.port}" for host in hosts]

    def matching(self, names: Sequence[str]) -> tuple[list[Any], ...]:
        """Return the keys that the file has for these names, those that vouch for others, and those revoked.

        A line that makes no sense is left out, as by ssh. The library gets whole names: left to add the port,
        it forgets what was revoked. It gets no comments, as it ignores a key with one that is not ASCII.
        """
        found: tuple[list[Any], ...] = ([], [], [])
        for number, line in enumerate(self.lines(), 1):
            words = line.split()
            try:
                entry = asyncssh.import_known_hosts(" ".join(words[: 4 if line.startswith("@") else 3]))
                for name in names:
                    known = asyncssh.match_known_hosts(entry, name, "", None)
                    for keys, more in zip(found, known[:3], strict=True):
                        keys.extend(more)
            except ValueError:
                self.warn(f"line {number} of known_hosts {self.path} was left out: it cannot be read")
        return found

    def accepts(self, address: str, key: Any) -> bool:
        """Judge a key that the file did not vouch for. What was accepted stays so."""
        if key == self.offered:
            return True
        fingerprint = f"{key.get_algorithm()} {key.get_fingerprint()}"
        known, __, revoked = self.matching(self.names(address))
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
        line = f"{self.name} {self.offered.export_public_key().decode().strip()}\n".encode()
        try:
            make_folder_of(self.path)
            with open(self.path, "ab+", buffering=0, opener=partial(os.open, mode=0o600)) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                there = file.read()
                line = line if there.endswith(b"\n") or not there else b"\n" + line
                if line.strip() not in there.splitlines() and file.write(line) < len(line):
                    file.truncate(len(there))  # half a line would be in the way of the next one
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise ConfigurationError(
                f"the key of {self.name} cannot be written to known_hosts {self.path!r}: {error.strerror}. "
                "Name another file in known_hosts"
            ) from None


def ask_for_key(keys: HostKeys, timeout: float) -> Any:
    """Return the key that a server shows, without logging in: of several, one of the kind that is known."""
    where = f"{keys.host}:{keys.port}"
    algorithms = list(ALGORITHMS)
    prefer(algorithms, keys.matching(keys.names())[0])
    question = asyncssh.get_server_host_key(keys.host, keys.port, config=[], server_host_key_algs=algorithms)
    try:
        key = asyncio.run(asyncio.wait_for(question, timeout))
    except TimeoutError:
        raise ConnectionBroken(f"{where} did not answer within {timeout:g} seconds") from None
    except (asyncssh.Error, OSError) as error:
        reason = clean(str(error)) or type(error).__name__
        raise ConnectionBroken(f"cannot connect to {where}: {reason}") from None
    if key is None:
        raise HostKeyRefused(f"{where} shows no key")
    return key


def prefer(algorithms: list[str], keys: Sequence[Any]) -> None:
    kinds = {algorithm.decode() for key in keys for algorithm in key.sig_algorithms}
    algorithms.sort(key=lambda algorithm: algorithm not in kinds)


def check_address(host: str, port: int) -> None:
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
