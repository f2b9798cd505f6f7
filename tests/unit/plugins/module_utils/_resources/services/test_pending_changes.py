# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A command or a network setting that is written survives, and is worked off by the next run that may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pending import (
    COMMAND,
    Pending,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Invalid,
    WaitEnded,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import id_of, run

POWER = "resources.power"
NEW = "java -Xmx3G -jar server.jar"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def service(sandbox: Sandbox, **given: Any) -> dict[str, Any]:
    return run(sandbox, SERVICE, name="one", **given)


def running_command(sandbox: Sandbox) -> str:
    """Return what the container was launched with, which no route of the platform shows."""
    life = sandbox.control("GET", f"/services/{id_of(sandbox, 'one')}")["container"]
    return " ".join(life["configuration"]["command"])


def signals(sandbox: Sandbox) -> list[str]:
    """Return the power signals that were obeyed, the oldest first."""
    events = sandbox.api("GET", f"/api/resources/{id_of(sandbox, 'one')}/events").json()["items"]
    found = [event["type"].removeprefix("POWER_") for event in events if event["type"].startswith("POWER_")]
    return found[::-1]


@pytest.mark.parametrize("failing", [1, 2], ids=["the stop fails", "the start fails"])
def test_the_run_after_a_failed_power_call_brings_the_command_into_effect(
    sandbox: Sandbox, failing: int
) -> None:
    sandbox.fault(POWER, "status", status=409, nth=failing)
    failed = service(sandbox, command=NEW, state="restarted")
    assert failed["failed"]
    assert running_command(sandbox) != NEW
    foreseen = service(sandbox, command=NEW, state="restarted", check_mode=True)
    again = service(sandbox, command=NEW, state="restarted")
    assert again["changed"]
    assert running_command(sandbox) == NEW
    assert again["service"]["pending_restart"] == foreseen["service"]["pending_restart"] == []
    service(sandbox, state="restarted")
    assert signals(sandbox)[-1] == "RESTART", "what is in effect needs no further start"


def test_a_command_alone_waits_for_a_later_restart(sandbox: Sandbox) -> None:
    foreseen = service(sandbox, command=NEW, check_mode=True)
    written = service(sandbox, command=NEW)
    assert written["service"]["pending_restart"] == foreseen["service"]["pending_restart"] == [COMMAND]
    assert running_command(sandbox) != NEW
    unchanged = service(sandbox, command=NEW)
    assert not unchanged["changed"]
    assert unchanged["service"]["pending_restart"] == [COMMAND]
    assert any("is not in effect" in warning for warning in unchanged["warnings"])
    worked_off = service(sandbox, state="restarted")
    assert signals(sandbox) == ["STOP", "START"], "a restart keeps the container and its command"
    assert running_command(sandbox) == NEW
    assert worked_off["service"]["pending_restart"] == []


def test_a_command_for_a_service_that_is_ordered_is_in_effect_once_it_is_started(sandbox: Sandbox) -> None:
    """Nobody uses it yet, so a stop and a start harm nobody."""
    size = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 5}
    order: dict[str, Any] = {"product": "minecraft", "host": "node-paris-1", "dimensions": size}
    ordered = run(sandbox, SERVICE, name="new", state="started", command=NEW, **order)
    assert not ordered.get("failed"), ordered
    assert ordered["service"]["pending_restart"] == []
    life = sandbox.control("GET", f"/services/{ordered['service_id']}")["container"]
    assert " ".join(life["configuration"]["command"]) == NEW


def test_a_resumed_service_takes_up_what_was_written_before_it_was_suspended(sandbox: Sandbox) -> None:
    service(sandbox, command=NEW)
    service(sandbox, state="suspended")
    resumed = service(sandbox, state="started")
    assert running_command(sandbox) == NEW
    assert resumed["service"]["pending_restart"] == []


def test_the_record_can_be_shared(sandbox: Sandbox, tmp_path: Path, home: Path) -> None:
    shared = str(tmp_path / "shared")
    service(sandbox, command=NEW, state_dir=shared)
    assert not [path for path in home.rglob("pending")]
    assert service(sandbox)["service"]["pending_restart"] == []
    assert service(sandbox, state_dir=shared)["service"]["pending_restart"] == [COMMAND]


# --- Against an account in memory -----------------------------------------------------------------------


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    Clock(monkeypatch)
    client = FakeClient()
    client.add_service("s")
    return client


def done(client: FakeClient, **given: Any) -> tuple[Any, list[str]]:
    task = task_of(SERVICE, client, id="s", **given)
    return carry_out(SERVICE.plan(task)), task.warnings


def test_nothing_is_written_where_it_could_not_be_remembered(client: FakeClient, home: Path) -> None:
    home.write_text("a file")
    with pytest.raises(Invalid, match="cannot be kept in"):
        done(client, command="x")
    assert client.setting_records["s"]["deploy"]["command"] == ""


def test_a_start_that_was_not_seen_clears_nothing(client: FakeClient) -> None:
    done(client, command="x")
    client.after["power"] = lambda: client.states.update(s="stopped")
    with pytest.raises(WaitEnded):
        done(client, state="restarted", wait_timeout=5.0)
    assert [call[2] for call in client.calls if call[0] == "power"] == ["stop", "start"]
    assert Pending.of(task_of(SERVICE, client), "s").outstanding().keys() == {COMMAND}
