# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people reported about SFTP: servers, users and agents as they are."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_host_key import SFTP_HOST_KEY
from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.mirrored import fill, holds, sync
from unit.plugins.module_utils._sftp.servers import Server, make_key
from unit.plugins.results import Result

Sync = Callable[..., dict[str, Any]]


@pytest.fixture(params=["openssh", pytest.param("proftpd", marks=pytest.mark.night), "rclone"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server of each kind, with one key of its own."""
    with servers.start(request.param, tmp_path) as running:
        yield running


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Server]:
    with servers.start("openssh", tmp_path) as running:
        yield running


@pytest.fixture
def push(tmp_path: Path) -> Sync:
    """Push a file, checking the server against the file `known`, which has to know it."""
    src = fill(tmp_path / "src", {"index.html": "welcome"})

    def run(server: Server, **options: Any) -> dict[str, Any]:
        known = {"known_hosts": str(tmp_path / "known"), "host_key_checking": "strict"}
        return sync(server, **{"src": str(src), **known, **options})

    return run


def pushed(result: dict[str, Any], server: Server) -> bool:
    assert not result.get("failed"), result["msg"]
    return holds(server.root / "up") == {"index.html": "welcome"}


def line_of(server: Server, key: Path) -> str:
    """Return the line of a file of known hosts that has a key for a server."""
    return f"[127.0.0.1]:{server.options['port']} {' '.join(key.read_text().split()[:2])}"


def pin(server: Server, known: Path, **options: Any) -> dict[str, Any]:
    """Ask the server for its key, and compare it."""
    given = {name: option.get("default") for name, option in argument_spec(SFTP_HOST_KEY).items()}
    address = {"host": "127.0.0.1", "port": server.options["port"], "known_hosts": str(known)}
    return Result(execute(SFTP_HOST_KEY, {**given, **address, "timeout": 60.0, **options}, RunContext()))


@pytest.mark.parametrize("home", [None, "{tmp_path}"])
def test_a_user_without_a_name_transfers_files(
    home: str | None, sshd: Server, push: Sync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container may run as any user, who need not be in its passwd."""

    def nobody(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "HOME", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    if home:
        monkeypatch.setenv("HOME", home.format(tmp_path=tmp_path))
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    pinned = pin(sshd, tmp_path / "known")
    assert pinned["changed"], pinned
    assert pushed(push(sshd), sshd)
    for given in ({}, {"username": None}, {"password": "wrong"}):
        refused = push(sshd, private_key_file=None, **given)
        assert "refused the login with" in refused["msg"]


def test_odd_lines_of_known_hosts_are_left_out(sshd: Server, push: Sync, tmp_path: Path) -> None:
    """As by ssh. A comment in another script than Latin is none of them."""
    known, line = tmp_path / "known", line_of(sshd, tmp_path / "host_key.pub")
    odd = ["rubbish", line.replace("[", "|1|bad|["), f"@nonsense {line}"]
    known.write_text("\n".join(["# mine", "", *odd, f"{line} Jörg", "node-9 ssh-ed25519 AAAA", "[127.0"]))
    result = push(sshd)
    assert pushed(result, sshd)
    left_out = [f"line {number} of known_hosts {known} was left out" for number in (3, 4, 5, 8)]
    expected = [f"{said}: it cannot be read" for said in left_out]
    assert result["warnings"] == expected
    again = pin(sshd, known)
    assert not again["changed"] and again["warnings"] == expected


def test_a_pinned_key_of_another_type_has_changed(served: Server, push: Sync, tmp_path: Path) -> None:
    other = make_key(tmp_path / "other", "-t", "ecdsa", "-N", "")
    (tmp_path / "known").write_text(line_of(served, other.with_suffix(".pub")) + "\n")
    for result in (push(served), pin(served, tmp_path / "known")):
        assert result["failed"] and "has changed: it is ssh-ed25519 SHA256:" in result["msg"], result["msg"]
        assert "ssh-keygen -R" in result["msg"]


def test_a_server_shows_the_key_that_is_known(tmp_path: Path, push: Sync) -> None:
    """By its name, its address alone, an authority, or from another port of the host, as for ssh."""
    ecdsa, authority = (make_key(tmp_path / name, "-t", "ecdsa", "-N", "") for name in ("ecdsa", "authority"))
    if reason := servers.missing():
        pytest.skip(reason)
    sign = ["ssh-keygen", "-q", "-s", str(authority), "-h", "-I", "host", "-n", "127.0.0.1", f"{ecdsa}.pub"]
    subprocess.run(sign, check=True)
    with servers.openssh(tmp_path, "1M", ecdsa, settings=f"HostCertificate {ecdsa}-cert.pub\n") as server:
        line = line_of(server, ecdsa.with_suffix(".pub"))
        by_authority = f"@cert-authority {line_of(server, authority.with_suffix('.pub'))}"
        elsewhere = line.replace(line.split()[0], "127.0.0.1")
        for written in (line, by_authority, elsewhere):
            (tmp_path / "known").write_text(f"{written}\n")
            assert pushed(push(server), server), written
        (tmp_path / "known").write_text(f"{line}\n")
        assert pushed(push(server, host="localhost"), server), "known by its address alone"
        (tmp_path / "known").write_text(f"{elsewhere}\n@revoked {line}\n")
        assert "is revoked" in push(server)["msg"]


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    socket = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.PIPE)
    try:
        assert process.stdout and process.stdout.readline(), "it says where it listens"
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        yield socket
    finally:
        process.terminate()
        process.communicate()


def test_an_encrypted_key_is_taken_from_the_agent(
    agent: Path, sshd: Server, push: Sync, tmp_path: Path
) -> None:
    key = Path(sshd.options["private_key_file"])
    servers_key = key.read_bytes()
    (tmp_path / "known").write_text(line_of(sshd, tmp_path / "host_key.pub"))
    other = make_key(tmp_path / "other")
    subprocess.run(["ssh-add", "-q", str(other)], check=True)
    subprocess.run(
        ["ssh-keygen", "-q", "-p", "-N", "open sesame", "-f", str(key)], check=True, capture_output=True
    )
    refused = push(sshd)
    assert "is encrypted" in refused["msg"] and "ssh-add" in refused["msg"], refused["msg"]
    (tmp_path / "plain").write_bytes(servers_key)
    (tmp_path / "plain").chmod(0o600)
    subprocess.run(["ssh-add", "-q", str(tmp_path / "plain")], check=True)
    assert pushed(push(sshd), sshd)
    assert "refused the login with the key" in push(sshd, private_key_file=str(other))["msg"]
    os.environ["SSH_AUTH_SOCK"] = str(tmp_path / "nobody")
    assert "is encrypted" in push(sshd)["msg"]
