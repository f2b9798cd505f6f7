# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One connection to an SFTP server, whose key is checked as by ssh, and errors that say what to do."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import getpass
import os
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from .._api.errors import ConfigurationError, HostedError
from .._api.private_folder import make_folder_of, refuse_strangers
from .._api.text import clean
from .errors import ConnectionBroken, HostKeyRefused, LoginRefused, TransferFailed
from .library import LOST, asyncssh

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

    def judge(self, address: str, key: Any) -> None:
        """Accept a key that the file did not vouch for, or raise. What was accepted stays so."""
        if key == self.offered:
            return
        fingerprint = key.get_fingerprint()
        shown = f"the key of {self.name}, {key.get_algorithm()} {fingerprint},"
        known, _authorities, revoked = self.matching(self.names(address))
        if key in revoked:
            raise HostKeyRefused(f"{shown} is revoked in {self.path}")
        if key in known:  # written down meanwhile by another process
            return
        if known:
            expected = ", ".join(f"{k.get_algorithm()} {k.get_fingerprint()}" for k in known)
            raise HostKeyRefused(
                f"the key of {self.name} has changed: it is {key.get_algorithm()} {fingerprint}, and "
                f"{self.path} has {expected}. Someone may be intercepting the connection, or the server was "
                "reinstalled. If it was, remove the old key with: "
                f"ssh-keygen -R '{self.name}' -f {self.path}",
                fingerprint=fingerprint,
            )
        if self.policy == STRICT:
            raise HostKeyRefused(
                f"{shown} is not in {self.path}, and host_key_checking is strict. Add it to the file once "
                "you have checked it, or use accept_new",
                fingerprint=fingerprint,
            )
        self.offered = key

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
        raise ConfigurationError(
            f"the host is {host[:LONGEST_NAME]!r}, which is neither a name nor an address"
        )
    if not 0 < port <= HIGHEST_PORT:
        raise ConfigurationError(f"the port is {str(port)[:20]}; it must be from 1 to {HIGHEST_PORT}")


# --- The connection -----------------------------------------------------------------------------------


T = TypeVar("T")

KEEPALIVE_SECONDS, KEEPALIVE_MISSES = 15, 4
WINDOW = 8 * 1024 * 1024
"""How much the server may send before it has to wait, in bytes."""
MOST_EMPTY = 100
"""How many answers without a name, one after the other, a server may give of a directory."""
# The first that both sides know is taken; with AES in hardware these are the fastest.
CIPHERS = ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes128-ctr"]
CIPHERS += ["aes192-ctr", "aes256-ctr"]


@dataclass(frozen=True)
class Login:
    """The address and the credentials. ``passphrase`` is ``None`` where the task has no such option."""

    host: str
    port: int
    username: str | None
    private_key_file: str | None = None
    passphrase: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    timeout: float = 60

    def __str__(self) -> str:
        return f"{self.username or getpass.getuser()}@{self.host}:{self.port}"

    async def credentials(self, agent: Any) -> dict[str, Any]:
        """Return what the library logs in with: what was given, else the agent and the user's own keys."""
        if self.private_key_file is None and self.password is None:
            return {"client_keys": ()}
        path = self.private_key_file
        keys = None if path is None else await self.read_key(os.path.expanduser(path), agent)
        return {"client_keys": keys, "agent_path": None, "password": self.password}

    async def read_key(self, path: str, agent: Any) -> list[Any]:
        """Return the key in a file or, as ssh does if that is encrypted, the same one from the agent."""
        try:
            return [asyncssh.read_private_key(path, self.passphrase or None)]
        except OSError as error:
            raise ConfigurationError(f"private_key_file {path!r} cannot be read: {error.strerror}") from None
        except ValueError as error:
            for public in (path, f"{path}.pub"):
                with suppress(OSError, ValueError):
                    wanted = asyncssh.read_public_key(public).public_data
                    if keys := list(await agent.get_keys([wanted])):
                        return keys
            raise ConfigurationError(f"private_key_file {path!r} {self.key_problem(error)}") from None

    def key_problem(self, error: ValueError) -> str:
        said = str(error)
        if "bcrypt" in said:
            return "is encrypted in a way that needs the Python library bcrypt; install it, or use an agent"
        if "passphrase" in said.lower() and not self.passphrase:
            option = "" if self.passphrase is None else "set passphrase, or "
            return f"is encrypted; {option}add the key to an agent with ssh-add"
        if isinstance(error, asyncssh.KeyEncryptionError) or "decrypt" in said.lower():
            return "is encrypted, and the passphrase does not open it"
        return f"is not a private key that can be used: {said}"

    def credentials_tried(self) -> str:
        ways = [f"the key {self.private_key_file}"] if self.private_key_file else []
        ways += ["the password"] if self.password is not None else []
        return " and ".join(ways) or "the keys of the agent and of ~/.ssh"


class SftpSession:
    """An open connection with a loop of its own, or that of one ``beside`` it, which is closed later."""

    def __init__(
        self, login: Login, host_keys: HostKeys, *, remember: bool, beside: SftpSession | None = None
    ) -> None:
        self.login, self._host_keys, self._remember = login, host_keys, remember
        self._owns_loop = beside is None
        self._runner: asyncio.Runner = asyncio.Runner() if beside is None else beside._runner
        # When a connection breaks, the library leaves requests behind whose errors nobody asks for. The error
        # itself is raised; that of each request would only fill the screen.
        self._runner.get_loop().set_exception_handler(lambda loop, context: None)
        self._connection: Any = None
        self.sftp: Any = None

    def __enter__(self) -> SftpSession:
        with ExitStack() as opened:
            if self._owns_loop:
                opened.callback(self._runner.close)
            self.run(self._open())
            opened.callback(lambda: self._runner.run(self._close()))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._opened.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` to its end, and make errors of the library ours."""
        try:
            return self._runner.run(work)
        except (asyncssh.Error, OSError, TimeoutError) as error:
            raise self._explain(error) from None

    async def _open(self) -> None:
        keys, refusals, algorithms = self._host_keys, [], list(ALGORITHMS)

        class Visitor(asyncssh.SSHClient):  # type: ignore[misc, name-defined, unused-ignore]
            """Asked by the library about a server's key that the file does not vouch for."""

            def validate_host_public_key(self, host: str, addr: str, port: int, key: Any) -> bool:
                try:
                    keys.judge(addr, key)
                except HostedError as error:
                    refusals.append(error)
                return not refusals

        try:
            async with asyncssh.SSHAgentClient(os.environ.get("SSH_AUTH_SOCK", "")) as agent:
                self._connection = await asyncssh.connect(
                    self.login.host,
                    self.login.port,
                    username=self.login.username or getpass.getuser(),
                    client_factory=Visitor,
                    known_hosts=keys.known(algorithms),
                    server_host_key_algs=algorithms,
                    connect_timeout=self.login.timeout,
                    login_timeout=self.login.timeout,
                    config=[],
                    gss_host=None,
                    keepalive_interval=KEEPALIVE_SECONDS,
                    keepalive_count_max=KEEPALIVE_MISSES,
                    encryption_algs=CIPHERS,
                    compression_algs=None,
                    **await self.login.credentials(agent),
                )
        except asyncssh.HostKeyNotVerifiable as error:
            raise (refusals[0] if refusals else error) from None
        if self._remember:
            keys.pin()
        self.sftp = await open_sftp(self._connection)

    async def _close(self) -> None:
        self._connection.close()
        await self._connection.wait_closed()

    def _explain(self, error: Exception) -> HostedError:
        login, reason = self.login, clean(str(error)) or type(error).__name__
        if isinstance(error, asyncssh.PermissionDenied):
            return LoginRefused(
                f"{login} refused the login with {login.credentials_tried()}. Register a key on the account "
                "with hosted.services.ssh_key, or generate a password with hosted.services.sftp_password"
            )
        if isinstance(error, asyncssh.HostKeyNotVerifiable):
            return HostKeyRefused(f"the key of {login.host} was not accepted: {reason}")
        if isinstance(error, asyncssh.SFTPError) and not isinstance(error, LOST):
            return TransferFailed(f"{login}: the server refused: {reason}")
        if isinstance(error, TimeoutError):
            return ConnectionBroken(f"{login} did not answer within {login.timeout:g} seconds")
        if self.sftp is None:
            return ConnectionBroken(f"cannot connect to {login}: {reason}")
        return ConnectionBroken(f"the connection to {login} was lost: {reason}")


# --- How asyncssh works, which is changed here alone ------------------------------------------------


async def open_sftp(connection: Any) -> Any:
    """Open SFTP on an SSH connection and return asyncssh's client.

    asyncssh opens its channel itself, without a parameter for a larger window or for a writer that collects
    requests: it sends each in an SSH packet of its own. docs/performance.md tells what either is worth.
    """
    open_session = connection.open_session

    async def open_wide(**options: Any) -> tuple[Any, Any, Any]:
        writer, reader, errors = await open_session(**options, window=WINDOW)
        return RequestCollector(writer), reader, errors

    connection.open_session = open_wide
    sftp = await connection.start_sftp_client()
    ask = sftp._handler.readdir  # the library itself asks until the server says that this is all

    async def read_names(handle: bytes) -> tuple[Any, bool]:
        for _answer in range(MOST_EMPTY):
            names, at_end = await ask(handle)
            if names or at_end:
                return names, at_end
        raise asyncssh.SFTPFailure(f"the server listed it with {MOST_EMPTY} answers that hold no name")

    sftp._handler.readdir = read_names
    return sftp


class RequestCollector:
    """A writer that sends all data of one iteration of the event loop together: SFTP is a stream."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._pieces: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def write(self, data: bytes) -> None:
        if not self._pieces:
            asyncio.get_running_loop().call_soon(self._send)
        self._pieces.append(data)

    def _send(self) -> None:
        pieces, self._pieces = self._pieces, []
        if not self._writer.channel.is_closing():  # asyncssh tells whoever waits for a response
            self._writer.write(b"".join(pieces))
