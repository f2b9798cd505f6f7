# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services: what is sent of a plan, waited for and told, whatever is lost on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    WaitEnded,
)
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of

SIZE = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
ORDER: dict[str, Any] = {"name": "new", "product": "nginx", "host": "nd_1", "dimensions": SIZE}


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> Clock | None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return None if "sandbox" in request.fixturenames else Clock(monkeypatch)


def planned(client: FakeClient, check_mode: bool = False, **given: Any) -> tuple[Plan, Task]:
    task = task_of(SERVICE, client, check_mode, **given)
    plan = SERVICE.plan(task)
    assert client.calls == [], "a plan changes nothing"
    return plan, task


def done(client: FakeClient, **given: Any) -> tuple[Any, list[Any]]:
    plan, _task = planned(client, **given)
    result = carry_out(plan)
    return result, list(client.calls)


# --- What is sent, and what was lost --------------------------------------------------------------------


def test_a_suspended_service_is_resumed_and_started_unless_it_runs_by_then(client: FakeClient) -> None:
    client.add_service("s", status="SUSPENDED", state="stopped")
    assert done(client, id="s", state="started")[1] == [("resume", "s"), ("power", "s", "start")]
    client.calls.clear()
    client.service_records["s"]["status"] = "SUSPENDED"
    client.after["resume"] = lambda: client.states.update(s="running")
    assert done(client, id="s", state="started")[1] == [("resume", "s")]


def test_an_order_that_is_not_waited_for_says_that_its_state_was_not_set(client: FakeClient) -> None:
    client.after["order"] = lambda: client.states.update(svc_1=None)
    plan, task = planned(client, **ORDER, state="started", wait=False)
    carry_out(plan)
    assert [call[0] for call in client.calls] == ["order"]
    assert any("not known yet, and wait is false" in warning for warning in task.warnings)


@pytest.mark.parametrize(
    ("state", "wish", "way"),
    [
        ("stopped", "started", "starting"),
        ("stopped", "started", "installing"),
        ("running", "stopped", "stopping"),
    ],
)
def test_a_signal_whose_answer_is_lost_is_not_sent_again_while_it_takes_effect(
    client: FakeClient, clock: Clock, state: str, wish: str, way: str
) -> None:
    """A start that is sent to what is starting would recreate its container once more."""
    client.add_service("s", state=state)
    plan, _task = planned(client, id="s", state=wish)

    def lose_on_the_way() -> None:
        client.states["s"] = way
        clock.then += [lambda: None] * 40
        clock.then.append(lambda: client.states.update(s="running" if wish == "started" else "stopped"))
        lose()

    client.after["power"] = lose_on_the_way
    carry_out(plan)
    assert client.calls == [("power", "s", "start" if wish == "started" else "stop")]
    assert clock.then == []


def lose() -> None:
    raise Interrupted("POST: reset")


# --- Waiting for creation -------------------------------------------------------------------------------


def test_a_service_in_creation_is_waited_for_before_anything_is_planned(
    client: FakeClient, clock: Clock
) -> None:
    record = client.add_service("s", status="PROVISIONING", state="stopped")
    clock.then.append(lambda: record.update(status="ACTIVE"))
    plan, _task = planned(client, id="s", state="started", public=True)
    assert (clock.pauses, plan.actions) == ([], [])
    carry_out(plan)
    assert len(clock.pauses) >= 1
    assert client.calls == [("set_network", "s", True), ("power", "s", "start")]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("FAILED", "no such image"),
        ("AWAITING_ADMIN", "awaits an intervention"),
        ("DELETING", "is being deleted"),
    ],
)
def test_a_wait_without_hope_ends_at_once_with_the_reason(
    client: FakeClient, clock: Clock, status: str, reason: str
) -> None:
    record = client.add_service("s", status="PROVISIONING", failureReason="no such image")
    clock.then.append(lambda: record.update(status=status))
    plan, _task = planned(client, id="s", state="started")
    assert clock.pauses == []
    with pytest.raises(WaitEnded, match=reason) as caught:
        carry_out(plan)
    assert (len(clock.pauses), client.calls) == (1, [])
    assert caught.value.details["status"] == status


def test_a_wait_that_times_out_tells_status_state_and_log(client: FakeClient) -> None:
    client.add_service("s", status="PROVISIONING", state="installing")
    plan, _task = planned(client, id="s", wait_timeout=30.0)
    with pytest.raises(WaitEnded, match="after 30 seconds; its status is PROVISIONING") as caught:
        carry_out(plan)
    assert caught.value.details == {
        "service_id": "s",
        "last_status": "PROVISIONING",
        "last_state": "installing",
        "last_log_lines": ["last line"],
    }


# --- Orders ---------------------------------------------------------------------------------------------


def test_an_order_that_is_carried_out_late_is_not_doubled_by_the_next_run(
    client: FakeClient, clock: Clock
) -> None:
    """A gateway gave up on it, and so did the task that sent it."""
    client.before["order"] = lose
    with pytest.raises(EffectUnverified):
        done(client, **ORDER)
    client.calls.clear()

    def appear() -> None:
        client.add_service("late", "new", state="stopped")

    clock.then = [*[lambda: None] * 40, appear]
    _plan, task = planned(client, **ORDER)
    assert carry_out(_plan)["id"] == "late"
    assert client.calls == []
    assert any("got no response" in warning for warning in task.warnings)


# --- What is decided where the platform leaves it open -----------------------------------------------------


@pytest.mark.parametrize(
    ("given", "on_host"),
    [
        ({}, True),
        ({"state": "suspended"}, True),
        ({"state": "absent"}, False),
        ({"state": "absent", "name": "mc"}, False),
        ({"name": "mc"}, False),
    ],
)
def test_the_host_of_a_play_is_deleted_only_if_the_task_names_it(
    given: dict[str, Any], on_host: bool
) -> None:
    assert SERVICE.works_on_host(given) is on_host


@pytest.mark.parametrize(("command", "sent"), [(None, []), ("serve", ["stop", "start"])])
def test_what_stops_to_be_restarted_is_not_started(
    client: FakeClient, clock: Clock, command: str | None, sent: list[str]
) -> None:
    """The restart of somebody else; but a setting that waits for a start from stop is brought into effect."""
    client.add_service("s", state="stopping")
    clock.then = [lambda: None, lambda: client.states.update(s="starting")]
    clock.then.append(lambda: client.states.update(s="running"))
    plan, _task = planned(client, id="s", state="started", command=command)
    result = carry_out(plan)
    assert result["state"] == "running" and result["pending_restart"] == []
    assert [call[2] for call in client.calls if call[0] == "power"] == sent


# --- Services that are free until a date ----------------------------------------------------------------


# --- Settings that are shown late, or never --------------------------------------------------------------


def test_settings_that_are_accepted_and_not_shown_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    client = FakeClient()
    client.add_service("s")

    def forget() -> None:
        client.setting_records["s"]["network"]["isPublic"] = False

    client.after["set_network"] = forget
    task = task_of(SERVICE, client, id="s", dimensions={"ram_gb": 7}, public=True)
    result = carry_out(SERVICE.plan(task))
    assert result["dimensions"]["ram_gb"] == 7
    [told] = [text for text in task.warnings if "but shows" in text]
    assert "public (True)" in told and "dimensions" not in told
