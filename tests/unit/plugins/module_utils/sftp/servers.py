# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two real SFTP servers for tests: OpenSSH's own, and the sandbox's."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.testing import Sandbox

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
SFTP_SERVERS = (
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/libexec/sftp-server",
)
START_SECONDS = 20.0


@dataclass(frozen=True)
class Server:
    """A server that runs: the options that lead to it, and the directory that its sessions begin in."""

    options: dict[str, Any]
    root: Path


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


@contextmanager
def openssh(folder: Path, rekey_limit: str = "1M", *more_keys: Path) -> Iterator[Server]:
    """Run OpenSSH's server with a configuration of its own; keys are renewed after every ``rekey_limit``.

    It shows the key in ``host_key``, of kind ed25519, unless asked for the kind of one of ``more_keys``.
    """
    root, port = folder / "root", free_port()
    root.mkdir()
    key, host_key = make_key(folder / "key"), make_key(folder / "host_key")
    (folder / "authorized_keys").write_text((folder / "key.pub").read_text())
    (program, *__) = filter(os.path.exists, SFTP_SERVERS)
    configuration = folder / "sshd_config"
    configuration.write_text(
        "".join(f"HostKey {path}\n" for path in (host_key, *more_keys))
        + f"Port {port}\nListenAddress 127.0.0.1\nPidFile {folder / 'pid'}\n"
        f"AuthorizedKeysFile {folder / 'authorized_keys'}\nStrictModes no\nUsePAM no\n"
        f"PasswordAuthentication no\nPermitRootLogin yes\nRekeyLimit {rekey_limit}\n"
        f"Subsystem sftp {program} -d {root}\n"
    )
    if os.geteuid() == 0:  # where its privileges are dropped to; a package makes it when the service starts
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(configuration)], stdout=log, stderr=log)
        try:
            wait_for(port, process, folder / "sshd.log")
            options = {"host": "127.0.0.1", "port": port, "username": getpass.getuser()}
            yield Server({**options, "private_key_file": str(key)}, root)
        finally:
            process.terminate()
            process.wait(START_SECONDS)


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server listens."""
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"sshd did not start:\n{log.read_text()}")


@contextmanager
def sandboxed(folder: Path) -> Iterator[Server]:
    """Run the sandbox with one service whose files are reached with a registered key."""
    key = make_key(folder / "key")
    with Sandbox("--data", str(folder / "data")) as sandbox:
        public = (folder / "key.pub").read_text()
        service = {"name": "survival", "product": "minecraft", "files": {".made": ""}}
        seed = {"ssh_keys": [{"name": "test", "public_key": public}], "services": [service]}
        id = sandbox.seed({"delays": {"provision": 0}, **seed})["services"]["survival"]
        access = sandbox.api("GET", f"/api/resources/{id}/sftp").json()
        (marker,) = (folder / "data").rglob(".made")
        marker.unlink()
        options = {name: access[name] for name in ("host", "port", "username")}
        yield Server({**options, "private_key_file": str(key)}, marker.parent)
