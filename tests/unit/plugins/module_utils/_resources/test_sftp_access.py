# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Host keys and passwords of SFTP."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, NamedTuple

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._resources import sftp_password
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_host_key import SFTP_HOST_KEY
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_password import SFTP_PASSWORD
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import id_of, run
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


def test_the_kind_that_is_known_is_asked_for(server: Shown, known_hosts: Path) -> None:
    """A server shows its best key, which need not be the one that was pinned."""
    known_hosts.parent.mkdir()
    known_hosts.write_text(server.ecdsa)
    result = pin(server.port, known_hosts)
    assert not result["changed"], result
    assert result["host_key"]["algorithm"] == "ecdsa-sha2-nistp256"


def test_what_cannot_be_asked_is_said(server: Shown, known_hosts: Path, tmp_path: Path) -> None:
    assert "cannot connect to 127.0.0.1:1: " in pin(1, known_hosts)["msg"]
    assert "port is 0; it must be from 1 to 65535" in pin(0, known_hosts)["msg"]
    assert "cannot be read" in pin(server.port, tmp_path)["msg"]
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        said = pin(port, known_hosts, timeout=0.2)["msg"]
    assert said == f"127.0.0.1:{port} did not answer within 0.2 seconds"
    assert not known_hosts.exists()


@pytest.fixture
def sandbox(sandbox_process: Sandbox) -> Sandbox:
    """A game whose files have no password yet."""
    services = [{"name": "survival", "product": "minecraft"}]
    sandbox_process.reset(profile="plain", seed={"delays": {"provision": 0}, "services": services})
    return sandbox_process


def make(sandbox: Sandbox, **given: Any) -> dict[str, Any]:
    return run(sandbox, SFTP_PASSWORD, service="survival", **given)


def calls(sandbox: Sandbox) -> int:
    return sum(line["method"] == "POST" for line in sandbox.journal())


def test_one_that_nobody_was_shown_is_told(sandbox: Sandbox, tmp_path: Path) -> None:
    """The platform may set one when it creates a service, so that there is nothing to log in with."""
    sandbox.api("POST", f"/api/resources/{id_of(sandbox, 'survival')}/sftp/password")
    sandbox.clear_journal()
    place = str(tmp_path / "password.json")
    result = make(sandbox, secrets_dest=place)
    assert not result["changed"] and calls(sandbox) == 0
    [told] = result["warnings"]
    assert place in told and "update_password: always" in told
    assert make(sandbox, secrets_dest=place, update_password="always")["changed"]
    assert "warnings" not in make(sandbox, secrets_dest=place)


def test_made_once_though_the_platform_shows_it_late(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.profile("plain", **{"delay": "a second late"})
    for _run in range(2):
        assert make(sandbox, secrets_dest=str(tmp_path / "password.json"))["sftp_password"]["password_set_at"]
    assert calls(sandbox) == 1


def test_a_lost_answer_is_made_up_for_by_another(sandbox: Sandbox, tmp_path: Path) -> None:
    """The last one wins, so another is asked for, and the result says so."""
    sandbox.fault("sftp.password", "reset", when="after")
    made = make(sandbox, secrets_dest=str(tmp_path / "password.json"))
    assert made["changed"] and (tmp_path / "password.json").exists()
    assert "more than once" in made["warnings"][0]
    assert calls(sandbox) == 2


@pytest.mark.parametrize("status", [409, 429])
def test_one_that_a_lost_call_may_have_made_is_told(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """The retry is refused, so nobody was shown the password that holds now."""
    sandbox.fault("sftp.password", "reset", when="after")
    sandbox.fault("sftp.password", "status", status=status, nth=2, count=None)
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))
    place = str(tmp_path / "password.json")
    lost = make(sandbox, secrets_dest=place, timeout=20.0 if status == 409 else 6.0)
    assert lost["failed"] and "A password may have been generated and lost" in lost["msg"]
    sandbox.clear_faults()
    again = make(sandbox, secrets_dest=place)
    assert not again["changed"] and any("lost" in warning for warning in again["warnings"])


@pytest.mark.parametrize(("update", "made"), [("on_create", 1), ("always", 4)])
def test_tasks_side_by_side_leave_the_password_that_holds(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update: str, made: int
) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    all_have_planned = Barrier(4, timeout=300)
    generate = sftp_password.generate_in_turn

    def planned(*given: Any) -> None:
        all_have_planned.wait()
        generate(*given)

    monkeypatch.setattr(sftp_password, "generate_in_turn", planned)
    path = tmp_path / "password.json"
    with ThreadPoolExecutor() as threads:
        results = list(
            threads.map(lambda _host: make(sandbox, secrets_dest=str(path), update_password=update), range(4))
        )
    assert calls(sandbox) == made
    assert [result["changed"] for result in results].count(True) == made
    answers = [line["answer"]["password"] for line in sandbox.journal() if line["method"] == "POST"]
    assert json.loads(path.read_text())["password"] == answers[-1]
