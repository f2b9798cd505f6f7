# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pinning the keys of real servers: on first sight, unchanged, changed, and of several kinds."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_host_key import SFTP_HOST_KEY
from unit.plugins.module_utils._sftp import servers
from unit.plugins.results import Result


class Shown(NamedTuple):
    """A server of this machine, and the two keys that it has, as a known_hosts file writes them."""

    port: int
    ed25519: str
    ecdsa: str


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """OpenSSH's server with keys of two kinds."""
    if reason := servers.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("sshd")
    ecdsa = servers.make_key(folder / "ecdsa", "-t", "ecdsa", "-N", "")
    with servers.openssh(folder, "1M", ecdsa) as running:
        port = running.options["port"]
        keys = [" ".join((folder / name).read_text().split()[:2]) for name in ("host_key.pub", "ecdsa.pub")]
        yield Shown(port, *(f"[127.0.0.1]:{port} {key}\n" for key in keys))


@pytest.fixture
def known_hosts(tmp_path: Path) -> Path:
    """Where keys are pinned; neither it nor its folder is there."""
    return tmp_path / "ssh" / "known_hosts"


def pin(port: int, known_hosts: Path, check_mode: bool = False, **given: Any) -> dict[str, Any]:
    """Run the module on a server of this machine."""
    options = {name: option.get("default") for name, option in argument_spec(SFTP_HOST_KEY).items()}
    options.update({"host": "127.0.0.1", "port": port, "known_hosts": str(known_hosts), "timeout": 20.0})
    around = RunContext(check_mode=check_mode, diff=True)
    return Result(execute(SFTP_HOST_KEY, {**options, **given}, around))


def test_a_key_is_pinned_on_first_sight_and_stays(server: Shown, known_hosts: Path) -> None:
    planned = pin(server.port, known_hosts, check_mode=True)
    assert planned["changed"] and not known_hosts.parent.exists()
    pinned = pin(server.port, known_hosts)
    assert pinned["changed"]
    assert (pinned["host_key"], pinned["diff"]) == (planned["host_key"], planned["diff"])
    assert known_hosts.read_text() == server.ed25519
    again = pin(server.port, known_hosts)
    assert not again["changed"]
    assert again["host_key"] == pinned["host_key"]
    assert known_hosts.read_text() == server.ed25519


def test_the_kind_that_is_known_is_asked_for(server: Shown, known_hosts: Path) -> None:
    """A server shows its best key, which need not be the one that was pinned."""
    known_hosts.parent.mkdir()
    known_hosts.write_text(server.ecdsa)
    result = pin(server.port, known_hosts)
    assert not result["changed"], result
    assert result["host_key"]["algorithm"] == "ecdsa-sha2-nistp256"


@pytest.mark.parametrize("marker", ["", "@revoked "])
def test_another_key_is_refused_and_not_written_over(
    marker: str, server: Shown, known_hosts: Path, tmp_path: Path
) -> None:
    """One that changed, and one that is revoked; in check mode as well."""
    foreign = servers.make_key(tmp_path / "foreign").with_suffix(".pub").read_text().split()
    line = server.ed25519 if marker else f"[127.0.0.1]:{server.port} {foreign[0]} {foreign[1]}\n"
    known_hosts.parent.mkdir()
    known_hosts.write_text(marker + line)
    for check_mode in (True, False):
        result = pin(server.port, known_hosts, check_mode)
        assert result["failed"] and not result["changed"]
        assert ("is revoked" if marker else f"ssh-keygen -R '[127.0.0.1]:{server.port}'") in result["msg"]
        assert known_hosts.read_text() == marker + line


def test_what_cannot_be_asked_is_said(server: Shown, known_hosts: Path, tmp_path: Path) -> None:
    assert "cannot connect to 127.0.0.1:1: " in pin(1, known_hosts)["msg"]
    assert "port is 0; it must be from 1 to 65535" in pin(0, known_hosts)["msg"]
    assert "cannot be read" in pin(server.port, tmp_path)["msg"]
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        said = pin(port, known_hosts, timeout=0.2)["msg"]
    assert said == f"127.0.0.1:{port} did not answer within 0.2 seconds"
    assert not known_hosts.exists()


def test_an_error_without_words_is_told_by_its_kind(
    known_hosts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reset(*_given: Any, **_options: Any) -> None:
        raise ConnectionResetError

    monkeypatch.setattr(asyncssh, "get_server_host_key", reset)
    assert "cannot connect to 127.0.0.1:22: ConnectionResetError" in pin(22, known_hosts)["msg"]


def test_another_server_of_the_host_is_another_server(
    server: Shown, known_hosts: Path, tmp_path: Path
) -> None:
    """What is known of the host's port 22 does not count."""
    foreign = servers.make_key(tmp_path / "foreign").with_suffix(".pub").read_text()
    known_hosts.parent.mkdir()
    known_hosts.write_text(f"127.0.0.1 {foreign}")
    assert pin(server.port, known_hosts)["changed"]
    assert known_hosts.read_text() == f"127.0.0.1 {foreign}{server.ed25519}"
