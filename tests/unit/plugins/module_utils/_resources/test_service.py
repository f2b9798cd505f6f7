# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services: every status, state and wish has its plan; orders, deletions and what is refused before them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Interrupted,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    EffectUnverified,
    Invalid,
    NoSuchItem,
    WaitEnded,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.memory import Memory
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import id_of, run, writes

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


# --- Status x state x wish ------------------------------------------------------------------------------

WISHES = ["present", "started", "stopped", "restarted", "killed", "suspended", "resumed"]
# The verbs of the plan for each wish, in the order of WISHES; "!": refused.
MATRIX = """
ACTIVE          running     -        -        stop  restart  kill  suspend  -
ACTIVE          stopped     -        start    -     start    -     suspend  -
ACTIVE          starting    -        -        stop  restart  kill  suspend  -
ACTIVE          installing  -        -        stop  restart  kill  suspend  -
ACTIVE          stopping    -        start    wait  restart  kill  suspend  -
ACTIVE          unknown     -        !        !     !        !     suspend  -
ACTIVE          none        -        !        !     !        !     suspend  -
SUSPENDED       stopped     -        resume+start  -  !       -     -        resume
SUSPENDED       unknown     -        resume+start  -  !       -     -        resume
SUSPENDED       none        -        !        -     !        -     -        resume
PROVISIONING    installing  -        -        -     -        -     -  -
FAILED          none        !        !        !     !        !     !  !
AWAITING_ADMIN  none        !        !        !     !        !     !  !
DELETING        none        !        !        !     !        !     !  !
"""
CASES = [
    (status, None if state == "none" else state, wish, verbs)
    for status, state, *plans in (line.split() for line in MATRIX.split("\n") if line)
    for wish, verbs in zip(WISHES, plans, strict=True)
]


@pytest.mark.parametrize(("status", "state", "wish", "verbs"), CASES)
def test_the_plan_for_every_status_state_and_wish(
    client: FakeClient, status: str, state: str | None, wish: str, verbs: str
) -> None:
    client.add_service("s", status=status, state=state)
    if verbs == "!":
        with pytest.raises((Invalid, WaitEnded)):
            planned(client, check_mode=True, id="s", state=wish)
        return
    plan, _task = planned(client, check_mode=True, id="s", state=wish)
    assert [step.summary.split()[0] for step in plan.steps] == ([] if verbs == "-" else verbs.split("+"))
    same = wish == "restarted" and state == "running"  # a restart ends where it began
    assert plan.changed is (verbs not in ("-", "wait"))
    assert (plan.before != plan.after) is (plan.changed and not same)


@pytest.mark.parametrize(
    ("state", "wish", "calls"),
    [
        ("stopped", "started", [("power", "s", "start")]),
        ("running", "stopped", [("power", "s", "stop")]),
        ("running", "restarted", [("power", "s", "restart")]),
        ("running", "killed", [("power", "s", "kill")]),
        ("running", "suspended", [("suspend", "s")]),
    ],
)
def test_the_calls_of_a_wish_and_no_more_on_a_second_run(
    client: FakeClient, state: str, wish: str, calls: list[Any]
) -> None:
    client.add_service("s", state=state)
    result, made = done(client, id="s", state=wish)
    assert made == calls
    plan, _task = planned_again(client, id="s", state=wish)
    assert plan.changed is (wish == "restarted")
    assert set(result) == set(plan.result)


def planned_again(client: FakeClient, **given: Any) -> tuple[Plan, Task]:
    client.calls.clear()
    return planned(client, **given)


def test_a_suspended_service_is_resumed_and_started_unless_it_runs_by_then(client: FakeClient) -> None:
    client.add_service("s", status="SUSPENDED", state="stopped")
    assert done(client, id="s", state="started")[1] == [("resume", "s"), ("power", "s", "start")]
    client.calls.clear()
    client.service_records["s"]["status"] = "SUSPENDED"
    client.after["resume"] = lambda: client.states.update(s="running")
    assert done(client, id="s", state="started")[1] == [("resume", "s")]


@pytest.mark.parametrize("born", ["running", "starting"])
def test_a_resumed_service_takes_up_a_new_command_though_the_platform_started_it(
    client: FakeClient, clock: Clock, born: str
) -> None:
    """Only a start takes up a command, and that of the resume came before it was set."""
    client.add_service("s", status="SUSPENDED", state="stopped")
    client.after["resume"] = lambda: client.states.update(s=born)
    clock.then.append(lambda: client.states.update(s="running"))
    calls = done(client, id="s", state="started", command="sleep 99")[1]
    powered = [("power", "s", "stop"), ("power", "s", "start")]
    assert calls == [("resume", "s"), ("set_command", "s", "sleep 99"), *powered]


def test_settings_that_are_locked_while_suspended_are_changed_after_the_resume(client: FakeClient) -> None:
    client.add_service("s", status="SUSPENDED", state="stopped")
    for setting in ("network", "deploy", "scale"):
        client.setting_records["s"][setting]["editable"] = False
    calls = done(client, id="s", state="started", public=True, command="x", dimensions={**SIZE, "ram_gb": 8})[
        1
    ]
    assert [call[0] for call in calls] == ["resume", "set_scale", "set_command", "set_network", "power"]


def test_an_order_waits_until_its_state_is_known(client: FakeClient, clock: Clock) -> None:
    """Right after an order the node may not tell of the container yet (Ordering)."""
    client.after["order"] = lambda: client.states.update(svc_1=None)
    clock.then.append(lambda: client.states.update(svc_1="stopped"))
    assert [call[0] for call in done(client, **ORDER, state="started")[1]] == ["order", "power"]


def test_an_order_that_is_not_waited_for_says_that_its_state_was_not_set(client: FakeClient) -> None:
    client.after["order"] = lambda: client.states.update(svc_1=None)
    plan, task = planned(client, **ORDER, state="started", wait=False)
    carry_out(plan)
    assert [call[0] for call in client.calls] == ["order"]
    assert any("not known yet, and wait is false" in warning for warning in task.warnings)


def test_a_move_that_is_not_documented_is_said_to_be(client: FakeClient) -> None:
    client.add_project("prj_1", "shop")
    client.add_service("s", family="VIRTUAL_MACHINE")
    _plan, task = planned(client, id="s", new_project="shop")
    assert any("VIRTUAL_MACHINE service can change its project is not documented" in w for w in task.warnings)


@pytest.mark.parametrize("given", [{"public": False}, {"command": "x"}])
def test_settings_that_a_family_does_not_have_are_refused_before_the_order(
    client: FakeClient, given: dict[str, Any]
) -> None:
    (option,) = given
    with pytest.raises(
        Invalid, match=f"{option} cannot be set on a VIRTUAL_MACHINE service.*Nothing was ordered"
    ):
        planned(client, **ORDER, family="VIRTUAL_MACHINE", **given)


def test_a_container_on_its_way_is_waited_for_but_not_in_check_mode(client: FakeClient, clock: Clock) -> None:
    client.add_service("s", state="starting")
    plan, _task = planned(client, check_mode=True, id="s", state="started")
    assert (plan.changed, clock.pauses) == (False, [])
    clock.then.append(lambda: client.states.update(s="running"))
    plan, _task = planned(client, id="s", state="started")
    assert clock.pauses == [], "a plan does not wait"
    result = carry_out(plan)
    assert (plan.changed, client.calls, len(clock.pauses)) == (False, [], 1)
    assert result["state"] == "running"


def test_a_start_waits_for_the_stop_that_is_under_way(client: FakeClient, clock: Clock) -> None:
    client.add_service("s", state="stopping")
    plan, _task = planned(client, id="s", state="started")
    clock.then.append(lambda: client.states.update(s="stopped"))
    carry_out(plan)
    assert client.calls == [("power", "s", "start")]
    assert clock.pauses


def test_a_service_without_the_capability_is_refused(client: FakeClient) -> None:
    client.add_service("s", state="stopped", capabilities=["files"])
    with pytest.raises(
        Invalid, match=r"cannot be told to start: it does not offer 'powerSignals'.*offers: files"
    ):
        planned(client, id="s", state="started")
    with pytest.raises(Invalid, match="cannot be suspended"):
        planned(client, id="s", state="suspended")


def test_a_lost_answer_to_a_signal_is_judged_by_the_state(client: FakeClient) -> None:
    client.add_service("s", state="stopped")
    client.after["power"] = lose
    assert done(client, id="s", state="started")[1] == [("power", "s", "start")]


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


def test_what_is_stopping_shows_nothing_of_a_kill(client: FakeClient) -> None:
    client.add_service("s", state="stopping")
    client.before["power"] = lose
    with pytest.raises(EffectUnverified):
        done(client, id="s", state="killed")
    assert client.calls == [("power", "s", "kill")] * 2


def test_a_lost_answer_to_a_network_change_is_judged_by_the_settings(client: FakeClient) -> None:
    """Each change recreates the container."""
    client.add_service("s")
    client.after["set_network"] = lose
    assert done(client, id="s", public=True)[1] == [("set_network", "s", True)]
    client.calls.clear()
    client.before["set_network"] = lose
    with pytest.raises(EffectUnverified, match="close service 'web'"):
        done(client, id="s", public=False)
    assert client.calls == [("set_network", "s", False)] * 2


def test_a_lost_answer_to_a_restart_is_never_asked_for_twice(client: FakeClient) -> None:
    client.add_service("s")
    client.before["power"] = lose
    with pytest.raises(EffectUnverified, match="The call was not sent again"):
        done(client, id="s", state="restarted")
    assert client.calls == [("power", "s", "restart")]


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


def test_without_wait_a_service_in_creation_is_left_alone_with_a_warning(
    client: FakeClient, clock: Clock
) -> None:
    client.add_service("s", status="PROVISIONING", state="installing")
    plan, task = planned(client, id="s", state="started", public=True, wait=False)
    assert (plan.changed, clock.pauses) == (False, [])
    assert "still being created" in task.warnings[0]


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


# --- Settings -------------------------------------------------------------------------------------------


def test_settings_change_on_difference_only_and_in_one_run(client: FakeClient) -> None:
    client.add_project("prj_1", "shop")
    client.add_service("s")
    wish: dict[str, Any] = {
        "id": "s",
        "new_project": "shop",
        "dimensions": {"cpu_cores": 4, "ram_gb": None, "storage_gb": 40},
        "command": "serve",
        "public": True,
        "state": "restarted",
    }
    plan, task = planned(client, **wish)
    assert plan.cost is not None
    assert plan.cost.as_dict()["monthly_before"] == "1.06"
    assert plan.cost.as_dict()["monthly_after"] == "1.72"  # 4 x 300 + 4 x 100 + 40 x 3 millicents
    assert isinstance(plan.before, dict)
    assert isinstance(plan.after, dict)
    assert plan.after["dimensions"] == {"cpu_cores": 4, "ram_gb": 4, "storage_gb": 40}
    assert plan.before["dimensions"] == SIZE
    carry_out(plan)
    assert client.calls == [
        ("set_project", "s", "prj_1"),
        ("set_scale", "s", (4, 4, 40)),
        ("set_command", "s", "serve"),
        ("set_network", "s", True),
        ("power", "s", "stop"),
        ("power", "s", "start"),
    ], "a restart keeps the container, and with it the old command"
    again, _task = planned_again(client, **{**wish, "state": "present"})
    assert not again.changed
    assert again.before == again.after
    assert any("recreates the container" in warning for warning in task.warnings)
    assert any("neighbors there can no longer reach it" in warning for warning in task.warnings)


def test_a_resumption_names_the_sleep_plan_and_how_to_leave_it_alone(client: FakeClient) -> None:
    client.add_service("s", status="SUSPENDED", state="stopped")
    Memory.of(None, None, "nights", "s").update(lambda record: replace(record, ran=True))
    _plan, task = planned(client, check_mode=True, id="s", state="started")
    assert any("asleep by sleep plan 'nights'; resume: false" in warning for warning in task.warnings)


SCALES: list[tuple[dict[str, int], str]] = [
    ({"storage_gb": 19}, r"storage_gb 19 is less than the 20 GB .* cannot shrink"),
    ({"cpu_cores": 0}, "cpu_cores 0 is outside .*: 1 to 8"),
    ({"cpu_cores": 9}, "cpu_cores 9 is outside .*: 1 to 8"),
    ({"ram_gb": 33}, "ram_gb 33 is outside .*: 1 to 32"),
    ({"storage_gb": 201}, "storage_gb 201 is outside .*: 5 to 200"),
]


@pytest.mark.parametrize(("size", "complaint"), SCALES)
def test_a_size_that_the_node_does_not_offer_is_refused_with_the_bounds(
    client: FakeClient, size: dict[str, int], complaint: str
) -> None:
    client.add_service("s")
    for check_mode in (True, False):
        with pytest.raises(Invalid, match=complaint):
            planned(client, check_mode, id="s", dimensions=size)


def test_a_size_that_is_locked_free_or_suspended_is_refused(client: FakeClient) -> None:
    record = client.add_service("s")
    scale = client.setting_records["s"]["scale"]
    more = {"cpu_cores": 3}
    scale.update(editable=False, lockedReason="under repair")
    with pytest.raises(Invalid, match=r"the size of service 'web' .* is locked: under repair"):
        planned(client, id="s", dimensions=more)
    record["pricing"]["isFree"] = True
    with pytest.raises(Invalid, match="a free service cannot be resized"):
        planned(client, id="s", dimensions=more)
    record["pricing"]["isFree"] = False
    record["status"] = "SUSPENDED"
    with pytest.raises(Invalid, match="a suspended service cannot be resized; start it first"):
        planned(client, id="s", dimensions=more)
    plan, _task = planned(client, id="s", dimensions=more, state="started")
    assert [step.summary.split()[0] for step in plan.steps] == ["resume", "scale", "start"]
    assert not planned(client, id="s", dimensions={"cpu_cores": 2})[0].changed, "the size is right already"


def test_what_is_not_editable_is_refused_only_where_it_would_change(client: FakeClient) -> None:
    client.add_service("s")
    client.setting_records["s"]["network"]["editable"] = False
    client.setting_records["s"]["deploy"]["editable"] = False
    assert not planned(client, id="s", public=False, command="")[0].changed
    with pytest.raises(Invalid, match=r"the network of .* cannot be changed"):
        planned(client, id="s", public=True)
    with pytest.raises(Invalid, match=r"the launch command of .* cannot be changed"):
        planned(client, id="s", command="x")


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("mysql", "product"),
        ("x", "runtime"),
        ("nd_9", "host"),
    ],
)
def test_what_cannot_change_fails_clearly(client: FakeClient, wish: str, name: str) -> None:
    client.add_service("s")
    same: dict[str, Any] = {"product": "nginx", "runtime": "stable", "host": "Node 1", "family": "APP"}
    assert not planned(client, id="s", **same)[0].changed
    with pytest.raises(Invalid, match=f"has {name} .*the platform cannot change it"):
        planned(client, check_mode=False, id="s", **{name: wish})


@pytest.mark.parametrize("state", ["present", "started", "stopped", "suspended", "absent"])
@pytest.mark.parametrize(
    ("option", "value"), [("name", "other"), ("family", "GAME"), ("project", "shop"), ("project", "prj_1")]
)
def test_an_id_that_something_else_contradicts_is_refused_in_every_state(
    client: FakeClient, state: str, option: str, value: Any
) -> None:
    client.add_project("prj_1", "shop")
    client.add_service("s")
    with pytest.raises(Invalid, match=rf"service 'web' \(s\) with {option} .*Correct the id or the {option}"):
        planned(client, id="s", state=state, **{option: value})
    assert client.calls == []


def test_an_id_that_all_else_agrees_with_is_taken(client: FakeClient) -> None:
    client.add_service("s")
    plan, _task = planned(client, id="s", name="web", family="APP", project="default", state="absent")
    assert plan.changed


def test_an_id_is_not_deleted_for_a_project_that_does_not_exist(client: FakeClient) -> None:
    client.add_service("s")
    with pytest.raises(NoSuchItem, match="unknown project 'gone'"):
        planned(client, id="s", project="gone", state="absent")
    assert not planned(client, id="x", project="gone", state="absent")[0].changed


@pytest.mark.parametrize("named", [{"id": "s"}, {"name": "web", "project": "default"}, {"name": "web"}])
def test_a_service_is_moved_once(client: FakeClient, named: dict[str, Any]) -> None:
    client.add_project("prj_1", "shop")
    client.add_service("s")
    plan, _task = planned(client, new_project="shop", **named)
    carry_out(plan)
    assert client.calls == [("set_project", "s", "prj_1")]
    assert not planned_again(client, new_project="shop", **named)[0].changed


def test_a_move_of_what_is_not_there_orders_nothing(client: FakeClient) -> None:
    client.add_project("prj_1", "shop")
    with pytest.raises(NoSuchItem, match="no service named 'web' in project 'default' to move"):
        planned(client, check_mode=False, project="default", new_project="shop", **{**ORDER, "name": "web"})
    plan, task = planned(client, check_mode=True, name="web", new_project="shop")
    assert plan.result["project_id"] == "prj_1"
    assert any("only if the play makes it before" in warning for warning in task.warnings)


def test_a_move_by_name_next_to_a_namesake_is_refused(client: FakeClient) -> None:
    client.add_project("prj_1", "shop")
    client.add_service("s")
    client.add_service("t", projectId="prj_1")
    with pytest.raises(Ambiguous, match=r"\(s\) cannot be moved by its name.*\(t\)"):
        planned(client, name="web", project="default", new_project="shop")


def test_a_move_and_a_deletion_exclude_each_other(client: FakeClient) -> None:
    client.add_service("s")
    with pytest.raises(Invalid, match="leave one of them out"):
        planned(client, id="s", new_project="default", state="absent")


@pytest.mark.parametrize(("most", "fits"), [("1.36", True), ("1.35", False)])
def test_the_budget_holds_for_another_size(client: FakeClient, most: str, fits: bool) -> None:
    client.add_service("s")
    wish: dict[str, Any] = {"id": "s", "dimensions": {"cpu_cores": 3}, "max_monthly": most}  # 1360 millicents
    if fits:
        assert planned(client, **wish)[0].changed
        return
    with pytest.raises(Invalid, match=r"would cost 1.36 a month, over max_monthly 1.35; nothing changed"):
        planned(client, **wish)


# --- Which service is meant -----------------------------------------------------------------------------


def test_a_name_of_several_services_is_refused_until_it_is_narrowed(client: FakeClient) -> None:
    client.add_project("prj_1", "shop")
    client.add_service("a")
    client.add_service("b", projectId="prj_1", family="GAME")
    with pytest.raises(Ambiguous, match="2 services are named 'web': APP service a in project 'default', "):
        planned(client, name="web")
    assert planned(client, name="web", family="GAME")[0].result["id"] == "b"
    assert planned(client, name="web", project="shop")[0].result["id"] == "b"
    assert planned(client, id="a", name="web")[0].result["id"] == "a"


@pytest.mark.parametrize("wish", WISHES)
def test_an_id_that_is_not_there_is_an_error_but_for_deletion(client: FakeClient, wish: str) -> None:
    with pytest.raises(NoSuchItem, match="there is no service of id 'gone'"):
        planned(client, id="gone", state=wish)
    assert not planned(client, id="gone", state="absent")[0].changed


@pytest.mark.parametrize("wish", ["restarted", "killed", "resumed"])
def test_what_is_not_there_cannot_be_restarted(client: FakeClient, wish: str) -> None:
    with pytest.raises(NoSuchItem, match=f"no service named 'new' that could be {wish}"):
        planned(client, **ORDER, state=wish)


# --- Orders ---------------------------------------------------------------------------------------------


def test_the_order_carries_the_fields_of_the_specification(client: FakeClient) -> None:
    client.add_project("prj_1", "shop")
    plan, _task = planned(
        client,
        **ORDER,
        project="shop",
        runtime="rt_1",
        variables={"EULA": "true"},
        options=[{"option": "o", "choice": "c"}],
    )
    quoted = {
        "productSlug": "nginx",
        "runtimeId": "rt_1",
        "hostId": "nd_1",
        "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20},
        "variables": {"EULA": "true"},
        "options": [{"optionId": "o", "choiceId": "c"}],
    }
    assert client.quoted == quoted
    assert isinstance(plan.after, dict)
    assert plan.after["variables"] == ["EULA"], "values of variables are not shown"
    result = carry_out(plan)
    assert client.calls == [("order", {**quoted, "name": "new", "projectId": "prj_1"})]
    assert set(result) == set(plan.result)
    assert not planned_again(client, **ORDER, project="shop")[0].changed


def test_a_preset_takes_the_place_of_the_size(client: FakeClient) -> None:
    planned(client, name="new", product="nginx", host="nd_1", preset="small")
    assert client.quoted == {"productSlug": "nginx", "hostId": "nd_1", "presetId": "small"}


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"product": None}, "also set product"),
        ({"host": None}, "also set host"),
        (
            {"product": None, "host": None, "dimensions": None},
            "also set product, host, and dimensions or preset",
        ),
        ({"dimensions": {**SIZE, "ram_gb": None}}, "cpu_cores, ram_gb and storage_gb"),
        ({"name": "x" * 81}, "has 81 characters; at most 80"),
        ({"max_monthly": "1.05"}, "would cost 1.06 a month, over max_monthly 1.05"),
        ({"max_monthly": "cheap"}, "max_monthly is 'cheap'"),
    ],
)
def test_an_order_that_cannot_be_is_refused_before_it_is_sent(
    client: FakeClient, given: dict[str, Any], complaint: str
) -> None:
    for check_mode in (True, False):
        with pytest.raises((Invalid, NoSuchItem), match=complaint):
            planned(client, check_mode, **{**ORDER, **given})


def test_an_unknown_project_is_refused(client: FakeClient) -> None:
    with pytest.raises(NoSuchItem, match="unknown project 'gone'"):
        planned(client, **ORDER, project="gone")


def test_a_check_goes_on_where_the_play_may_create_the_project_before(client: FakeClient) -> None:
    plan, task = planned(client, True, **ORDER, project="soon")
    assert client.quoted is not None
    assert "projectId" not in client.quoted
    assert isinstance(plan.after, dict)
    assert plan.after["project"] == "soon"
    assert plan.result["project_id"] is None
    assert any("unknown project 'soon'" in warning for warning in task.warnings)


def test_an_order_without_a_price_is_refused_under_a_budget(client: FakeClient) -> None:
    client.quote_answer = {}
    with pytest.raises(Invalid, match="price of service 'new' is not known"):
        planned(client, **ORDER, max_monthly="5")
    assert planned(client, **ORDER)[0].changed


def test_an_order_that_the_balance_does_not_cover_is_refused(client: FakeClient) -> None:
    client.quote_answer = {"coversFirstDay": False, "balanceCents": 1, "minBalanceCents": 4}
    with pytest.raises(Invalid, match=r"the balance 0.01 does not cover .* at least 0.04 is needed"):
        planned(client, **ORDER)


def test_an_order_is_followed_by_settings_and_state(client: FakeClient) -> None:
    result, calls = done(client, **ORDER, public=True, state="started")
    assert [call[0] for call in calls] == ["order", "set_network", "power"]
    assert result["state"] == "running"


def test_the_secrets_of_an_order_are_kept_before_anything_else_can_fail(
    client: FakeClient, tmp_path: Path
) -> None:
    path = tmp_path / "new.json"
    client.order_answer = {"secrets": [{"label": "Password", "value": "hunter2"}]}
    client.before["set_network"] = lose
    plan, task = planned(client, **ORDER, public=True, secrets_dest=str(path))
    with pytest.raises(EffectUnverified):
        carry_out(plan)
    assert json.loads(path.read_text())["secrets"] == [{"label": "Password", "value": "hunter2"}]
    assert task.effects.facts == {"secrets_file": str(path), "service_id": "svc_1"}
    assert not any("hunter2" in warning for warning in task.warnings)


def test_an_order_whose_answer_is_lost_is_adopted_and_its_secrets_are_mourned(client: FakeClient) -> None:
    client.after["order"] = lose
    plan, task = planned(client, **ORDER)
    assert carry_out(plan)["name"] == "new"
    assert [call[0] for call in client.calls] == ["order"]
    assert any("are lost too" in warning for warning in task.warnings)


def test_the_state_of_a_service_that_another_task_ordered_is_awaited(
    client: FakeClient, clock: Clock
) -> None:
    """It appears between the plan and the order, and its container reports nothing at first."""
    plan, _task = planned(client, **ORDER, state="started")
    client.add_service("svc_other", "new", state=None)
    clock.then = [lambda: None, lambda: client.states.update(svc_other="stopped")]
    carry_out(plan)
    assert client.calls == [("power", "svc_other", "start")]


def test_an_order_in_doubt_is_not_sent_again(client: FakeClient) -> None:
    client.before["order"] = lose
    with pytest.raises(EffectUnverified):
        done(client, **ORDER)
    assert [call[0] for call in client.calls] == ["order"]


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


def test_a_task_whose_run_was_killed_orders_nothing(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ansible's workers outlive a run that is killed; the next run orders what this one did not."""
    plan, _task = planned(client, **ORDER)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(Invalid, match="the run was killed before service 'new' was ordered"):
        carry_out(plan)
    assert client.calls == []


def test_a_service_that_appeared_meanwhile_is_taken_instead(client: FakeClient) -> None:
    plan, task = planned(client, **ORDER)
    client.add_service("other", "new")
    assert carry_out(plan)["id"] == "other"
    assert client.calls == []
    assert "appeared before it was ordered" in task.warnings[0]


def test_a_namesake_that_another_run_ordered_in_the_same_moment_is_reported(client: FakeClient) -> None:
    """The platform lets both through, and bills both: whoever comes second has to say so."""

    def order_elsewhere() -> None:
        client.add_service("other", "new")

    client.before["order"] = order_elsewhere
    plan, task = planned(client, **ORDER)
    assert carry_out(plan)["id"] == "svc_2"
    assert task.effects.facts["namesakes"] == ["other"]
    (warning,) = (warning for warning in task.warnings if "other" in warning)
    assert "each is billed" in warning


def test_namesakes_that_cannot_be_looked_for_spoil_no_order(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, task = planned(client, **ORDER)
    look = client.services

    def broken_once() -> Any:
        if client.calls and not task.effects.facts:
            lose()
        return look()

    monkeypatch.setattr(client, "services", broken_once)
    plan.steps[0].run()
    assert task.effects.facts["service_id"] == "svc_1"


# --- Deletion -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wait", [True, False])
def test_a_deletion_is_waited_for_where_the_user_waits(client: FakeClient, clock: Clock, wait: bool) -> None:
    record = client.add_service("s")
    client.after["delete_service"] = lambda: client.service_records.update(s={**record, "status": "DELETING"})
    clock.then += [lambda: None, client.service_records.clear]
    done(client, id="s", state="absent", wait=wait)
    assert len(clock.pauses) == (2 if wait else 0)


def test_a_service_on_its_way_out_needs_no_deletion(client: FakeClient, clock: Clock) -> None:
    client.add_service("s", status="DELETING")
    assert not planned(client, check_mode=True, id="s", state="absent")[0].changed
    assert clock.pauses == []
    clock.then.append(client.service_records.clear)
    plan, _task = planned(client, id="s", state="absent")
    assert (plan.changed, clock.pauses) == (False, [])
    assert carry_out(plan) is None
    assert (len(clock.pauses), client.calls) == (1, [])


# --- What is decided where the platform leaves it open -----------------------------------------------------

RATES = {"monthlyMillicents": 10000, "storageMonthlyMillicents": 1500, "billedMonthlyMillicents": 10000}


def test_a_service_of_a_project_that_is_gone_is_absent_already(client: FakeClient) -> None:
    client.add_service("a")
    plan, _task = planned(client, name="web", project="torn-down", state="absent")
    assert not plan.changed


def test_nothing_is_done_to_a_container_in_a_state_that_nobody_knows(client: FakeClient) -> None:
    client.add_service("a", state="hibernating")
    with pytest.raises(Invalid, match="'hibernating'"):
        planned(client, id="a", state="started")


def test_a_resumed_service_is_started_only_once_its_state_is_known(client: FakeClient, clock: Clock) -> None:
    client.add_service("a", status="SUSPENDED", state="stopped")
    client.after["resume"] = lambda: client.states.update(a=None)
    with pytest.raises(WaitEnded, match="whether it runs is not known"):
        done(client, id="a", state="started", wait_timeout=20.0)
    assert ("power", "a", "start") not in client.calls


def test_suspension_and_resumption_show_what_they_do_to_the_price(client: FakeClient) -> None:
    client.add_service("a", pricing=RATES)
    cost = planned(client, id="a", state="suspended")[0].cost
    assert cost is not None
    assert (cost.as_dict()["monthly_before"], cost.as_dict()["monthly_after"]) == ("10.00", "1.50")

    client.add_service("b", status="SUSPENDED", pricing={**RATES, "billedMonthlyMillicents": 1500})
    cost = planned(client, id="b", state="started", max_monthly="10")[0].cost
    assert cost is not None
    assert cost.as_dict()["monthly_change"] == "8.50"
    with pytest.raises(Invalid, match=r"over max_monthly 9\.99"):
        planned(client, id="b", state="started", max_monthly="9.99")


@pytest.mark.parametrize(
    ("status", "state", "before", "after"),
    [
        ("ACTIVE", "suspended", "10.00", "1.50"),
        ("SUSPENDED", "started", "1.50", "10.00"),
        ("SUSPENDED", "suspended", "1.50", "1.50"),
        ("ACTIVE", "started", "10.00", "10.00"),
    ],
)
def test_a_diff_shows_the_rate_that_is_billed(
    client: FakeClient, status: str, state: str, before: str, after: str
) -> None:
    """Before as it runs now, after as it will; not the full rate of a service that is suspended."""
    billed = 10000 if status == "ACTIVE" else 1500
    client.add_service("a", status=status, pricing={**RATES, "billedMonthlyMillicents": billed})
    plan, _task = planned(client, id="a", state=state)
    assert isinstance(plan.before, dict) and isinstance(plan.after, dict)
    assert (plan.before["monthly"], plan.after["monthly"]) == (Decimal(before), Decimal(after))


def test_a_suspended_service_that_is_deleted_ends_the_rate_for_its_storage(client: FakeClient) -> None:
    client.add_service("a", status="SUSPENDED", pricing={**RATES, "billedMonthlyMillicents": 1500})
    plan, _task = planned(client, id="a", state="absent", delete_backups=True)
    assert isinstance(plan.before, dict) and plan.before["monthly"] == Decimal("1.5")
    assert plan.cost is not None and plan.cost.as_dict(moves=plan.moves)["moves"] == ["delete"]
    assert plan.cost.as_dict()["monthly_change"] == "-1.50"


def test_a_status_that_allows_no_signal_is_named(client: FakeClient) -> None:
    client.add_service("a", status="AWAITING_ADMIN", state=None)
    with pytest.raises(Invalid, match="has status AWAITING_ADMIN"):
        planned(client, id="a", state="stopped", wait=False)


def test_a_lost_signal_that_cannot_be_looked_after_is_said_to_be_open(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.add_service("a", state="stopped")
    plan, _task = planned(client, id="a", state="started")

    def no_metrics(ids: list[str]) -> None:
        raise Interrupted("the network is down")

    def lose() -> None:
        monkeypatch.setattr(client, "metrics", no_metrics)
        raise Interrupted("the answer was lost")

    client.after["power"] = lose
    with pytest.raises(
        EffectUnverified, match=r"the answer was lost; looking failed too: the network is down"
    ):
        carry_out(plan)


def test_a_service_of_the_name_elsewhere_is_told_when_it_cannot_be_ordered(client: FakeClient) -> None:
    client.add_project("prj_1", "shop")
    client.add_service("s", "mc", family="GAME")
    with pytest.raises(Invalid) as caught:
        planned(client, name="mc", project="shop")
    assert caught.value.message.startswith(
        "there is no service named 'mc' in project 'shop', but GAME service s in project 'default' has that "
        "name. To order it, also set product, host, "
    )
    with pytest.raises(Invalid) as caught:
        planned(client, name="mcc", family="GAME")
    assert caught.value.message.startswith(
        "there is no service named 'mcc' of family GAME; did you mean 'mc'? To order it, also set product, "
    )


def test_after_a_lost_answer_no_service_of_another_name_is_taken_for_the_order(client: FakeClient) -> None:
    """Somebody else orders at the same time."""

    def lose_while_another_comes() -> None:
        client.add_service("other", "mail")
        lose()

    client.before["order"] = lose_while_another_comes
    plan, task = planned(client, **ORDER)
    with pytest.raises(EffectUnverified):
        carry_out(plan)
    assert "service_id" not in task.effects.facts
    assert [call[0] for call in client.calls] == ["order"]


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


def test_what_stops_is_started_from_stop(client: FakeClient, clock: Clock) -> None:
    client.add_service("s", state="stopping")
    clock.then = [lambda: None, lambda: client.states.update(s="stopped")]
    assert done(client, id="s", state="started")[1] == [("power", "s", "start")]


@pytest.mark.parametrize(("end", "sent"), [("stopped", []), ("running", [("power", "s", "stop")])])
def test_what_stops_to_be_restarted_is_stopped(
    client: FakeClient, clock: Clock, end: str, sent: list[Any]
) -> None:
    client.add_service("s", state="stopping")
    clock.then = [lambda: None, lambda: client.states.update(s=end)]
    assert done(client, id="s", state="stopped")[1] == sent
    assert client.states["s"] == "stopped"


# --- Services that are free until a date ----------------------------------------------------------------

GIFT: dict[str, Any] = {
    "name": "gift",
    "product": "hobby",
    "host": "node-paris-1",
    "dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20},
}


def until(sandbox: Sandbox) -> str:
    """Return until when the platform shows the service as free."""
    shown = sandbox.api("GET", f"/api/resources/{id_of(sandbox, 'gift')}").json()
    return str(shown["pricing"]["freeExpiresAt"])


@pytest.mark.parametrize("options", [{}, {"state": "stopped"}, {"state": "suspended"}, {"wait": False}])
def test_the_run_that_orders_tells_until_when_a_service_is_free(
    sandbox: Sandbox, options: dict[str, Any]
) -> None:
    result = run(sandbox, SERVICE, **GIFT, **options)
    assert writes(sandbox).count("order.create") == 1
    assert result["warnings"] == [
        f"service 'gift' ({id_of(sandbox, 'gift')}) is shown as free until {until(sandbox)}, and what "
        "happens then is not shown: it may be billed, suspended, or deleted with its backups. Before that "
        "date, copy what you need off the platform, and delete the service if it must not cost anything"
    ]
    again = run(sandbox, SERVICE, **GIFT, **options)
    assert (again["changed"], again.get("warnings", [])) == (False, [])


def test_a_service_that_is_not_free_has_no_such_warning(sandbox: Sandbox) -> None:
    assert "warnings" not in run(sandbox, SERVICE, **{**GIFT, "product": "minecraft"})


def test_nothing_is_said_before_the_order(sandbox: Sandbox) -> None:
    assert "warnings" not in run(sandbox, SERVICE, check_mode=True, **GIFT)
    assert writes(sandbox) == ["order.quote"]


def warnings_of(pricing: dict[str, Any]) -> list[str]:
    """Order a service that the platform shows with this pricing, and return what is warned of."""
    client = FakeClient()
    given = {"name": "gift", "product": "nginx", "host": "nd_1", "dimensions": GIFT["dimensions"]}

    def priced() -> None:
        id = next(iter(client.service_records))
        client.service_records[id]["pricing"] = pricing

    client.after["order"] = priced
    task = task_of(SERVICE, client, **given)
    carry_out(SERVICE.plan(task))
    assert "order" in [call[0] for call in client.calls]
    return [warning for warning in task.warnings if "free" in warning]


@pytest.mark.parametrize("date", ["2001-01-01T00:00:00.000Z", "soon", "0", "9999-12-31T23:59:59.999Z"])
def test_a_date_is_told_as_it_is_shown(date: str) -> None:
    [warning] = warnings_of({"isFree": True, "freeExpiresAt": date})
    assert f"is shown as free until {date}, and" in warning


@pytest.mark.parametrize(
    "pricing",
    [
        {"isFree": True, "freeExpiresAt": None},
        {"isFree": True, "freeExpiresAt": ""},
        {"isFree": True},
        {"isFree": False, "freeExpiresAt": "2027-01-01T00:00:00.000Z"},
        {},
    ],
)
def test_without_an_end_of_the_free_time_nothing_is_said(pricing: dict[str, Any]) -> None:
    assert warnings_of({"monthlyMillicents": 1060, **pricing}) == []


def test_a_service_that_another_run_ordered_is_not_warned_of() -> None:
    client = FakeClient()
    given = {"name": "gift", "product": "nginx", "host": "nd_1", "dimensions": GIFT["dimensions"]}
    task = task_of(SERVICE, client, **given)
    plan = SERVICE.plan(task)
    client.add_service("svc_theirs", "gift", pricing={"isFree": True, "freeExpiresAt": "soon"})
    carry_out(plan)
    assert "order" not in [call[0] for call in client.calls]
    assert not [warning for warning in task.warnings if "free" in warning]


def test_a_blueprint_that_orders_tells_it_too(sandbox: Sandbox, tmp_path: Path) -> None:
    gift = {name: value for name, value in GIFT.items() if name != "name"}
    blueprint = {"project": "gifts", "services": {"gift": gift}}
    options: dict[str, Any] = {"blueprint": blueprint, "secrets_dir": str(tmp_path)}
    result = run(sandbox, BLUEPRINT, **options)
    assert writes(sandbox).count("order.create") == 1
    [warning] = result["warnings"]
    assert f"is shown as free until {until(sandbox)}, and what happens then is not shown" in warning
    assert run(sandbox, BLUEPRINT, **options).get("warnings", []) == []


# --- Settings that are shown late, or never --------------------------------------------------------------

CHANGES: dict[str, Any] = {
    "public": False,
    "command": "run anew",
    "dimensions": {"cpu_cores": 2, "ram_gb": 8, "storage_gb": 20},
    "wait_interval": 0.2,
}


def test_settings_that_are_shown_late_are_waited_for_and_not_sent_again(sandbox: Sandbox) -> None:
    sandbox.profile("plain", **{"delay": "a second late", "network.again": "recreates the container"})
    first = run(sandbox, SERVICE, name="one", **CHANGES)
    assert not first.get("failed"), first["msg"]
    assert first["service"]["dimensions"]["ram_gb"] == 8
    sandbox.clear_journal()
    second = run(sandbox, SERVICE, name="one", **CHANGES)
    assert not second["changed"]
    assert writes(sandbox) == []


def test_settings_of_a_new_service_that_are_shown_late_are_waited_for(sandbox: Sandbox) -> None:
    """The order itself shows nothing of them, and the next run would send them again."""
    sandbox.profile("plain", **{"delay": "a second late", "network.in_effect": "at its next start"})
    size = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
    place = {"product": "minecraft", "host": "node-paris-1", "dimensions": size}
    new: dict[str, Any] = {"name": "new", **place, "public": False}
    first = run(sandbox, SERVICE, **new, state="stopped")
    assert not first.get("failed"), first["msg"]
    sandbox.clear_journal()
    assert not run(sandbox, SERVICE, **new, state="stopped")["changed"]
    assert writes(sandbox) == []


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
