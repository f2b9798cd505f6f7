# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real SFTP servers for tests: OpenSSH, ProFTPD, Go's library as rclone serves it, and the sandbox."""

from __future__ import annotations

import getpass
import grp
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep  # as they are, also where a test simulates pauses
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
SFTP_SERVERS = (
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/libexec/sftp-server",
)
PROFTPD = shutil.which("proftpd") or "/usr/sbin/proftpd"
PROFTPD_MODULES = ("/usr/lib/proftpd", "/usr/lib64/proftpd", "/usr/libexec/proftpd")
RCLONE = shutil.which("rclone") or ""
AS_A_USER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner")
"""Has a program that root starts obey the permissions of files."""
START_SECONDS = 300.0


@dataclass(frozen=True)
class Server:
    """A server that runs: the options that lead to it, and the directory that its sessions begin in."""

    options: dict[str, Any]
    root: Path
    kind: str = "openssh"


def make_key(path: Path, *options: str) -> Path:
    """Make a key pair without a passphrase, unless one is given."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-f", str(path), *(options or ("-N", ""))]
    subprocess.run(command, check=True, capture_output=True)
    return path


def missing() -> str:
    """Say what of OpenSSH is not installed; nothing when all is there."""
    if not os.access(SSHD, os.X_OK) or not any(os.path.exists(path) for path in SFTP_SERVERS):
        return "OpenSSH's server is not installed: apt-get install openssh-server"
    return "" if shutil.which("ssh-keygen") else "ssh-keygen is not installed: apt-get install openssh-client"


def free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def missing_proftpd() -> str:
    """Say what of ProFTPD is not installed; nothing when all is there."""
    if not os.access(PROFTPD, os.X_OK) or not sftp_module():
        return "ProFTPD is not installed: apt-get install proftpd-core proftpd-mod-crypto"
    return "" if shutil.which("ssh-keygen") else "ssh-keygen is not installed: apt-get install openssh-client"


def sftp_module() -> str:
    """Return the folder of the module that has ProFTPD speak SFTP; nothing when there is none."""
    return next((path for path in PROFTPD_MODULES if os.path.exists(f"{path}/mod_sftp.so")), "")


def missing_rclone() -> str:
    """Say what of rclone is not installed; nothing when all is there."""
    if not RCLONE:
        return "rclone is not installed: apt-get install rclone"
    return "" if shutil.which("ssh-keygen") else "ssh-keygen is not installed: apt-get install openssh-client"


@contextmanager
def openssh(
    folder: Path,
    rekey_limit: str = "1M",
    *more_keys: Path,
    options: str = "",
    as_user: bool = False,
    settings: str = "",
) -> Iterator[Server]:
    """Run OpenSSH's server with a configuration of its own; keys are renewed after every ``rekey_limit``.

    It shows the key in ``host_key``, of kind ed25519, unless asked for the kind of one of ``more_keys``.
    ``options`` are further ones of its sftp-server, ``settings`` further lines of the configuration.
    ``as_user`` has the sftp-server obey the permissions of files even where root runs it.
    """
    root, port = folder / "root", free_port()
    root.mkdir()
    key, host_key = make_key(folder / "key"), make_key(folder / "host_key")
    (folder / "authorized_keys").write_text((folder / "key.pub").read_text())
    (program, *__) = filter(os.path.exists, SFTP_SERVERS)
    started_by = " ".join(AS_A_USER) + " " if as_user and os.geteuid() == 0 else ""
    configuration = folder / "sshd_config"
    configuration.write_text(
        "".join(f"HostKey {path}\n" for path in (host_key, *more_keys))
        + f"Port {port}\nListenAddress 127.0.0.1\nPidFile {folder / 'pid'}\n"
        f"AuthorizedKeysFile {folder / 'authorized_keys'}\nStrictModes no\nUsePAM no\n"
        f"PasswordAuthentication no\nPermitRootLogin yes\nRekeyLimit {rekey_limit}\n"
        f"Subsystem sftp {started_by}{program} {options} -d {root}\n" + settings
    )
    if os.geteuid() == 0:  # where its privileges are dropped to; a package makes it when the service starts
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with running([SSHD, "-D", "-e", "-f", str(configuration)], port, folder / "sshd.log"):
        reached = {"host": "127.0.0.1", "port": port, "username": getpass.getuser()}
        yield Server({**reached, "private_key_file": str(key)}, root)


@contextmanager
def proftpd(folder: Path, settings: str = "") -> Iterator[Server]:
    """Run ProFTPD with SFTP alone, and with further settings of it; its sessions begin in root."""
    root, port = folder / "root", free_port()
    root.mkdir()
    key, host_key = make_key(folder / "key"), make_key(folder / "host_key")
    public = ["ssh-keygen", "-e", "-f", str(key)]
    (folder / "authorized_keys").write_bytes(subprocess.run(public, check=True, capture_output=True).stdout)
    user, group = os.getuid(), os.getgid()
    for name, line in {
        "users": f"tester:*:{user}:{group}::{root}:/bin/sh\n",
        "groups": f"testers:x:{group}:tester\n",
    }.items():
        (folder / name).touch(mode=0o600)
        (folder / name).write_text(line)
    names = f"User {pwd.getpwuid(user).pw_name}\nGroup {grp.getgrgid(group).gr_name}\n"
    root_only = "" if os.geteuid() else "DefaultRoot ~\n"
    configuration = folder / "proftpd.conf"
    configuration.write_text(
        f"ModulePath {sftp_module()}\nLoadModule mod_sftp.c\nServerType standalone\nServerName test\n"
        f"DefaultAddress 127.0.0.1\nPort {port}\nUseIPv6 off\nPidFile {folder / 'pid'}\n"
        f"ScoreboardFile {folder / 'scoreboard'}\nDelayEngine off\nWtmpLog off\nTransferLog none\n"
        f"RequireValidShell off\nRootLogin on\n{root_only}Umask 022\nAllowOverwrite on\n"
        f"AuthOrder mod_auth_file.c\nAuthUserFile {folder / 'users'}\nAuthGroupFile {folder / 'groups'}\n"
        f"{names}SystemLog {folder / 'system.log'}\nSFTPEngine on\nSFTPLog {folder / 'sftp.log'}\n"
        f"SFTPHostKey {host_key}\nSFTPAuthMethods publickey\n"
        f"SFTPAuthorizedUserKeys file:{folder / 'authorized_keys'}\n{settings}\n"
    )
    with running([PROFTPD, "-n", "-c", str(configuration)], port, folder / "proftpd.log"):
        reached = {"host": "127.0.0.1", "port": port, "username": "tester"}
        yield Server({**reached, "private_key_file": str(key)}, root, "proftpd")


@contextmanager
def rclone(folder: Path) -> Iterator[Server]:
    """Run rclone's server, which is Go's pkg/sftp; it knows neither links nor permissions."""
    root, port = folder / "root", free_port()
    root.mkdir()
    key, host_key = make_key(folder / "key"), make_key(folder / "host_key")
    keys = ["--key", str(host_key), "--authorized-keys", f"{key}.pub"]
    place = ["--addr", f"127.0.0.1:{port}", "--config", os.devnull, "--dir-cache-time", "0"]
    command = [RCLONE, "serve", "sftp", "--user", "tester", *keys, *place, str(root)]
    with running(command, port, folder / "rclone.log"):
        reached = {"host": "127.0.0.1", "port": port, "username": "tester"}
        yield Server({**reached, "private_key_file": str(key)}, root, "rclone")


@contextmanager
def running(command: Sequence[str], port: int, log: Path) -> Iterator[None]:
    """Run a server until the end of the context."""
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            wait_for(port, process, log)
            yield
        finally:
            process.terminate()
            process.wait(START_SECONDS)


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server listens."""
    end = monotonic() + START_SECONDS
    while process.poll() is None and monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            sleep(0.05)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")


@contextmanager
def sandboxed(folder: Path, **gaps: str) -> Iterator[Server]:
    """Run the sandbox with one service whose files are reached with a registered key.

    ``gaps`` are answers to its gap points, by their names below ``sftp.``.
    """
    key = make_key(folder / "key")
    with Sandbox("--data", str(folder / "data")) as sandbox:
        public = (folder / "key.pub").read_text()
        service = {"name": "survival", "product": "minecraft", "files": {".made": ""}}
        seed = {"ssh_keys": [{"name": "test", "public_key": public}], "services": [service]}
        id = sandbox.seed({"delays": {"provision": 0}, **seed})["services"]["survival"]
        sandbox.profile("plain", **{f"sftp.{name}": value for name, value in gaps.items()})
        access = sandbox.api("GET", f"/api/resources/{id}/sftp").json()
        (marker,) = (folder / "data").rglob(".made")
        marker.unlink()
        options = {name: access[name] for name in ("host", "port", "username")}
        yield Server({**options, "private_key_file": str(key)}, marker.parent, "sandbox")


KINDS: dict[str, tuple[Callable[[], str], Callable[..., AbstractContextManager[Server]]]] = {
    "openssh": (missing, openssh),
    "proftpd": (missing_proftpd, proftpd),
    "rclone": (missing_rclone, rclone),
    "sandbox": (lambda: "", sandboxed),
}
"""What each kind of server lacks, and how it is started in a folder."""


def start(kind: str, folder: Path, **options: Any) -> AbstractContextManager[Server]:
    """Start a server of this kind, or skip the test where its program is not installed."""
    lacks, run = KINDS[kind]
    if reason := lacks():
        pytest.skip(reason)
    return run(folder, **options)
