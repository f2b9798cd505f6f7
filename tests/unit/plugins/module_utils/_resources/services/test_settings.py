# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing that a task asks of an existing service is ignored: changed, refused, or said to have no effect."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Refused, error_for_status
from ansible_collections.hosted.services.plugins.module_utils._api.models import ProjectGraph
from ansible_collections.hosted.services.plugins.module_utils._resources.app import APP
from ansible_collections.hosted.services.plugins.module_utils._resources.quote import QUOTE
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import (
    settings as service_settings,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.view import View
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Resource,
    Task,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Invalid,
    WaitEnded,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import add, fail_pending_backups, id_of, run, writes

BIGGER = {"cpuCores": 4, "ramGb": 8, "storageGb": 40}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeClient:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    Clock(monkeypatch)
    client = FakeClient()
    client.add_service("s")
    return client


def planned(client: FakeClient, resource: Resource = SERVICE, **given: Any) -> tuple[Plan, Task]:
    task = task_of(resource, client, **given)
    return resource.plan(task), task


@pytest.mark.parametrize("pricing", [None, {"isFree": True}])
def test_a_size_of_what_is_free_or_has_no_price(client: FakeClient, pricing: dict[str, Any] | None) -> None:
    client.add_service("s", pricing=pricing)
    if pricing is None:
        assert planned(client, id="s", dimensions={"ram_gb": 8})[0].changed
        return
    with pytest.raises(Invalid, match="a free service cannot be resized"):
        planned(client, id="s", dimensions={"ram_gb": 8})


# --- Presets --------------------------------------------------------------------------------------------


def test_a_preset_of_another_size_is_a_change_of_size(client: FakeClient) -> None:
    client.quote_answer["dimensions"] = BIGGER
    plan, _task = planned(client, id="s", preset="large")
    assert client.quoted == {"productSlug": "nginx", "hostId": "nd_1", "presetId": "large"}
    assert plan.cost is not None
    assert plan.cost.as_dict()["monthly_after"] == "2.12"
    assert isinstance(plan.before, dict) and isinstance(plan.after, dict)
    assert (plan.before["dimensions"]["ram_gb"], plan.after["dimensions"]["ram_gb"]) == (4, 8)
    carry_out(plan)
    assert client.calls == [("set_scale", "s", (4, 8, 40))]
    assert not planned(client, id="s", preset="large")[0].changed


def test_a_preset_keeps_to_the_rules_of_a_size(client: FakeClient) -> None:
    client.quote_answer["dimensions"] = {**BIGGER, "storageGb": 10}
    with pytest.raises(Invalid, match="a disk cannot shrink"):
        planned(client, id="s", preset="small")
    client.quote_answer["dimensions"] = BIGGER
    with pytest.raises(Invalid, match="over max_monthly"):
        planned(client, id="s", preset="large", max_monthly="2")


@pytest.mark.parametrize(("status", "kind"), [(400, Invalid), (404, Invalid), (401, Refused), (403, Refused)])
def test_a_quote_that_is_refused_says_so_of_the_preset_unless_the_token_is_to_blame(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch, status: int, kind: type[Exception]
) -> None:
    def refuse(body: dict[str, Any]) -> Any:
        raise error_for_status("no such preset", status)

    monkeypatch.setattr(client, "quote", refuse)
    with pytest.raises(kind, match="no such preset") as error:
        planned(client, id="s", preset="huge")
    assert ("the size of preset 'huge'" in str(error.value)) is (kind is Invalid)


def test_a_preset_whose_size_nobody_tells_is_refused(client: FakeClient) -> None:
    with pytest.raises(Invalid, match=r"the size of preset 'large' .* the quote names no dimensions"):
        planned(client, id="s", preset="large")

    def refuse(order: dict[str, Any]) -> Any:
        raise error_for_status("POST /api/order/quote: unknown preset huge", 422)

    client.quote = refuse  # type: ignore[method-assign]
    with pytest.raises(Invalid, match=r"'huge' .* unknown preset huge.*Set dimensions instead"):
        planned(client, id="s", preset="huge")


def test_an_order_by_preset_is_unchanged_when_it_is_run_again(sandbox: Sandbox) -> None:
    order: dict[str, Any] = {"product": "minecraft", "host": "node-paris-1", "preset": "preset-small"}
    order["name"] = "new"
    first = run(sandbox, SERVICE, **order)
    assert not first.get("failed"), first
    sandbox.clear_journal()
    again = run(sandbox, SERVICE, **order)
    assert (again["changed"], again.get("failed")) == (False, None)
    larger = run(sandbox, SERVICE, **{**order, "preset": "preset-large"})
    assert larger["changed"], larger
    assert [route for route in writes(sandbox) if route != "order.quote"] == ["settings.scale"]


# --- What an order alone uses ---------------------------------------------------------------------------


def test_what_an_order_alone_uses_is_said_to_have_no_effect_if_it_differs(client: FakeClient) -> None:
    size = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
    secret = {"PASSWORD": "hunter2"}
    plan, task = planned(client, name="new", product="nginx", host="nd_1", dimensions=size, variables=secret)
    carry_out(plan)
    assert planned(client, id="svc_2", variables=secret)[1].warnings == task.warnings == []
    given: dict[str, Any] = {
        "variables": {"PASSWORD": "hunter3"},
        "options": [{"option": "o", "choice": "c"}],
    }
    assert planned(client, id="s", **given)[1].warnings == [], "where it was ordered is not known"
    (warning,) = planned(client, id="svc_2", **given)[1].warnings
    assert "options and variables had no effect" in warning and "hunter" not in warning


# --- The limit ------------------------------------------------------------------------------------------

AMOUNTS = ["12,50", "-5", "", "NaN", "Infinity", "1_000", "five", " "]


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("state", ["present", "suspended", "absent"])
def test_the_form_of_the_limit_is_checked_though_nothing_is_ordered(
    client: FakeClient, amount: str, state: str
) -> None:
    with pytest.raises(Invalid, match=f"max_monthly is '{amount}'"):
        planned(client, id="s", state=state, max_monthly=amount)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_the_form_of_the_limit_is_checked_before_anything_is_read(client: FakeClient, amount: str) -> None:
    with pytest.raises(Invalid, match=f"max_monthly is '{amount}'"):
        planned(client, APP, slug="shop", max_monthly=amount)
    with pytest.raises(Invalid, match=f"max_monthly is '{amount}'"):
        planned(client, QUOTE, max_monthly=amount)


@pytest.mark.parametrize(("most", "over"), [("1.05", True), ("1.06", False)])
def test_what_runs_above_the_limit_is_told(client: FakeClient, most: str, over: bool) -> None:
    plan, task = planned(client, id="s", max_monthly=most)
    assert not plan.changed
    assert [("costs 1.06 a month, over max_monthly 1.05" in w) for w in task.warnings] == [True] * over


def test_the_rate_that_runs_counts_not_the_full_one(client: FakeClient) -> None:
    pricing = {"monthlyMillicents": 10000, "billedMonthlyMillicents": 1500}
    client.add_service("s", status="SUSPENDED", state="stopped", pricing=pricing)
    assert planned(client, id="s", max_monthly="2")[1].warnings == []


# --- What a network change leaves behind ------------------------------------------------------------------


def let_starts_fail(sandbox: Sandbox, name: str) -> None:
    """Let the container of a service end at once whenever it is started from now on."""
    state = sandbox.control("GET", "/state")
    for service in state["records"]["service"]:
        if service["name"] == name:
            service["start_fails"] = True
    sandbox.control("PUT", "/state", state)


@pytest.mark.parametrize("status", ["not refused", "502", "409"])
def test_a_network_change_after_which_nothing_runs_is_no_success(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    monkeypatch.setattr(service_settings, "QUIET_SECONDS", 0.5)
    sandbox.profile("plain", **{"refusal.network_start": status})
    let_starts_fail(sandbox, "one")
    result = run(sandbox, SERVICE, name="one", public=False)
    assert result["failed"] and result["changed"]
    assert "has not run since" in result["msg"]
    assert any("returned an error" in text for text in result["warnings"]) is (status == "409")
    assert writes(sandbox) == ["settings.network"]


def test_a_network_change_that_is_stopped_after_need_not_run(sandbox: Sandbox) -> None:
    let_starts_fail(sandbox, "one")
    result = run(sandbox, SERVICE, name="one", public=False, state="stopped")
    assert not result.get("failed"), result["msg"]
    assert result["service"]["state"] == "stopped"


# --- What a platform may do that the specification does not show ---------------------------------------


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("status", ["PROVISIONING", "AWAITING_ADMIN", "FAILED", "DELETING"])
def test_the_settings_of_a_service_that_is_not_in_service(sandbox: Sandbox, status: str) -> None:
    """The task says in which status the service is, and writes nothing."""
    service = {"name": "new", "product": "minecraft"}
    id = sandbox.seed({"services": [service]})["services"]["new"]
    sandbox.operator(f"services/{id}", status=status)
    sandbox.clear_journal()
    result = run(sandbox, SERVICE, id=id, command="x", public=False, wait_timeout=1)
    assert result["failed"]
    said = {
        "AWAITING_ADMIN": "awaits an intervention",
        "FAILED": "the creation of service 'new'",
        "DELETING": "is being deleted",
    }
    assert said.get(status, status) in result["msg"]
    assert writes(sandbox) == []


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "wish", [{"command": "x"}, {"public": False}, {"state": "resumed", "dimensions": {"ram_gb": 8}}]
)
def test_the_settings_of_a_suspended_service(sandbox: Sandbox, wish: dict[str, Any]) -> None:
    assert run(sandbox, SERVICE, name="one", state="suspended")["changed"]
    result = run(sandbox, SERVICE, name="one", **wish)
    assert result["changed"] and not result.get("failed")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("status", ["409", "423"])
@pytest.mark.parametrize(
    ("wish", "route"),
    [
        ({"public": False}, "network"),
        ({"command": "x"}, "deploy"),
        ({"dimensions": {"ram_gb": 8}, "command": "x", "public": False}, "scale"),
        ({"new_project": "shop"}, "project"),
    ],
)
def test_a_setting_that_a_busy_service_does_not_take_is_told(
    sandbox: Sandbox, status: str, wish: dict[str, Any], route: str
) -> None:
    """It is sent once, those after it are not, and nothing is said to wait for a start."""
    sandbox.profile("plain", **{"refusal.service_busy": status})
    sandbox.api("POST", "/api/projects", {"name": "shop"})
    one = f"/api/resources/{id_of(sandbox, 'one')}"
    add(sandbox, "one", "n", status="PENDING")
    before = [sandbox.api("GET", path).json() for path in (one, f"{one}/settings")]
    sandbox.clear_journal()
    result = run(sandbox, SERVICE, id=id_of(sandbox, "one"), **wish)
    reason = "Another operation is in progress" if status == "409" else "This resource is locked"
    assert result["failed"] and not result["changed"] and reason in result["msg"]
    sent = [line["path"] for line in sandbox.journal() if line["method"] != "GET"]
    assert sent == [f"{one}/{route}"]
    assert [sandbox.api("GET", path).json() for path in (one, f"{one}/settings")] == before
    assert run(sandbox, SERVICE, name="one")["service"]["pending_restart"] == []
    fail_pending_backups(sandbox)
    assert run(sandbox, SERVICE, id=id_of(sandbox, "one"), **wish)["changed"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("state", ["suspended", "stopped"])
def test_a_service_that_is_created_is_neither_stopped_nor_suspended(sandbox: Sandbox, state: str) -> None:
    id = sandbox.seed({"services": [{"name": "new", "product": "minecraft"}]})["services"]["new"]
    sandbox.operator(f"services/{id}", status="PROVISIONING")
    sandbox.clear_journal()
    result = run(sandbox, SERVICE, id=id, state=state, wait_timeout=1)
    assert result["failed"] and "PROVISIONING" in result["msg"]
    assert writes(sandbox) == []
    unwaited = run(sandbox, SERVICE, id=id, state=state, wait=False)
    assert not unwaited["changed"] and "is still being created" in unwaited["warnings"][0]
    sandbox.operator(f"services/{id}", status="AWAITING_ADMIN")
    unwaited = run(sandbox, SERVICE, id=id, state=state, wait=False)
    assert unwaited["failed"] and "has status AWAITING_ADMIN" in unwaited["msg"]
    assert writes(sandbox) == []


# --- What cannot be set, and when it takes effect -----------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "given", "words"),
    [
        ("network", {"public": True}, "the network of service 'web' .* cannot be changed"),
        ("deploy", {"command": "run"}, "the launch command of service 'web' .* cannot be changed"),
        (
            "scale",
            {"dimensions": {"ram_gb": 8}},
            "the size of .* is locked: no reason was given",
        ),
    ],
)
def test_what_cannot_be_edited_is_refused_where_it_differs(
    client: FakeClient, part: str, given: dict[str, Any], words: str
) -> None:
    client.setting_records["s"][part]["editable"] = False
    same: dict[str, Any] = {"public": False, "command": "", "dimensions": {"ram_gb": 4}}
    assert not planned(client, id="s", **same)[0].changed
    with pytest.raises(Invalid, match=words):
        planned(client, id="s", **given)
    client.setting_records["s"][part] = None
    with pytest.raises(Invalid, match="does not offer"):
        planned(client, id="s", **given)


@pytest.mark.parametrize(
    ("dimensions", "words"),
    [
        ({"cpu_cores": 9}, "cpu_cores 9 is outside"),
        ({"cpu_cores": 0}, "cpu_cores 0 is outside"),
        ({"ram_gb": 33}, "ram_gb 33 is outside the bounds of the node of .*: 1 to 32"),
        ({"storage_gb": 201}, "storage_gb 201 is outside"),
        ({"storage_gb": 19}, "a disk cannot shrink"),
        ({"cpu_cores": 8, "ram_gb": 32, "storage_gb": 200}, None),
        ({"cpu_cores": 1, "ram_gb": 1, "storage_gb": 20}, None),
    ],
)
def test_the_bounds_of_a_size(client: FakeClient, dimensions: dict[str, int], words: str | None) -> None:
    if words is None:
        assert planned(client, id="s", dimensions=dimensions)[0].changed
        return
    with pytest.raises(Invalid, match=words):
        planned(client, id="s", dimensions=dimensions)


@pytest.mark.parametrize(
    ("most", "fine"), [("1.46", True), ("1.45", False), (None, True)], ids=["at the limit", "over", "none"]
)
def test_a_new_size_may_cost_the_limit_and_no_more(client: FakeClient, most: str | None, fine: bool) -> None:
    wish: dict[str, Any] = {"id": "s", "dimensions": {"ram_gb": 8}, "max_monthly": most}
    if fine:
        assert planned(client, **wish)[0].changed
        return
    with pytest.raises(Invalid, match=r"would cost 1.46 a month, over max_monthly 1.45; nothing changed"):
        planned(client, **wish)
    client.setting_records["s"]["scale"]["ramMillicentsPerGbMonth"] = None
    with pytest.raises(Invalid, match=r"is not known, so max_monthly 1.45 cannot be checked"):
        planned(client, **wish)


def test_a_network_change_that_is_not_waited_for_is_looked_at_once(client: FakeClient) -> None:
    """A container whose uptime goes on was not recreated, and the change takes effect later."""
    client.after["set_network"] = lambda: client.uptimes.update(s=101)
    plan, task = planned(client, id="s", public=True, wait=False)
    carry_out(plan)
    assert any("but nothing showed that the container was recreated" in w for w in task.warnings)
    again = SERVICE.plan(task_of(SERVICE, client, id="s", public=True))
    assert again.result["pending_restart"] == ["network"]


# --- What a stopped container needs no start for --------------------------------------------------------


def view_of(client: FakeClient, state: str | None = None) -> View:
    """Return the service as a task sees it, with its settings."""
    service, settings = client.service("s"), client.settings("s")
    assert service is not None
    return View(service, settings, state)


@pytest.mark.parametrize(
    ("status", "seen", "now"),
    [
        ("ACTIVE", "stopped", "stopped"),
        ("ACTIVE", "running", "running"),
        ("ACTIVE", None, "read now"),
        ("SUSPENDED", "stopped", None),
        ("SUSPENDED", None, None),
    ],
)
def test_the_state_is_that_of_a_service_in_service(
    client: FakeClient, status: str, seen: str | None, now: str | None
) -> None:
    """What a suspended one is in once it is resumed, nobody can tell. A second look would cost a call."""
    client.states["s"] = "read now"
    client.service_records["s"]["status"] = status
    assert (
        service_settings.read_state_for_setting(task_of(SERVICE, client, id="s"), view_of(client, seen))
        == now
    )


@pytest.mark.parametrize(
    ("status", "state", "pending"),
    [
        ("ACTIVE", "stopped", []),
        ("ACTIVE", "running", ["command"]),
        ("ACTIVE", None, ["command"]),
        ("SUSPENDED", "stopped", ["command"]),
    ],
)
def test_a_command_waits_for_a_start_unless_the_container_is_stopped(
    client: FakeClient, status: str, state: str | None, pending: list[str]
) -> None:
    client.service_records["s"]["status"] = status
    client.states["s"] = state
    plan, _task = planned(client, id="s", command="run")
    assert plan.result["pending_restart"] == pending
    result = carry_out(plan)
    assert client.calls == [("set_command", "s", "run")]
    assert result["pending_restart"] == pending
    assert planned(client, id="s", command="run")[0].result["pending_restart"] == pending


def test_a_command_that_is_refused_waits_for_nothing(client: FakeClient) -> None:
    def refuse() -> None:
        raise error_for_status("no", 422)

    client.before["set_command"] = refuse
    plan, _task = planned(client, id="s", command="run")
    with pytest.raises(Refused):
        carry_out(plan)
    assert planned(client, id="s")[0].result["pending_restart"] == []


@pytest.mark.parametrize(
    ("now", "wanted", "action"),
    [
        ("", "run", "set the command of service 'web' (s)"),
        ("run", "", "restore the original command of service 'web' (s)"),
    ],
)
def test_an_empty_command_restores_the_original(
    client: FakeClient, now: str, wanted: str, action: str
) -> None:
    client.setting_records["s"]["deploy"]["command"] = now
    plan, _task = planned(client, id="s", command=wanted)
    assert plan.actions == [action]
    assert isinstance(plan.before, dict) and isinstance(plan.after, dict)
    assert (plan.before["command"], plan.after["command"]) == (now, wanted)
    carry_out(plan)
    assert client.calls == [("set_command", "s", wanted)]


def test_a_command_that_is_not_told_is_the_original(client: FakeClient) -> None:
    client.setting_records["s"]["deploy"]["command"] = None
    assert not planned(client, id="s", command="")[0].changed
    assert planned(client, id="s", command="run")[0].changed


@pytest.mark.parametrize("part", ["network", "deploy", "scale"])
def test_what_is_locked_while_it_is_suspended_is_set_once_it_is_resumed(
    client: FakeClient, part: str
) -> None:
    client.service_records["s"]["status"] = "SUSPENDED"
    client.setting_records["s"][part]["editable"] = False
    given: dict[str, dict[str, Any]] = {
        "network": {"public": True},
        "deploy": {"command": "run"},
        "scale": {"dimensions": {"ram_gb": 8}},
    }
    plan, _task = planned(client, id="s", state="resumed", **given[part])
    carry_out(plan)
    assert client.calls[0] == ("resume", "s") and len(client.calls) == 2
    client.service_records["s"]["status"] = "SUSPENDED"
    client.setting_records["s"][part]["editable"] = False
    client.setting_records["s"]["network"]["isPublic"] = client.setting_records["s"]["deploy"]["command"] = (
        None
    )
    client.service_records["s"]["dimensions"]["ramGb"] = 4
    with pytest.raises(Invalid, match=r"cannot be (changed|resized)"):
        planned(client, id="s", **given[part])


# --- Sizes ----------------------------------------------------------------------------------------------


def test_a_step_names_both_sizes(client: FakeClient) -> None:
    plan, _task = planned(client, id="s", dimensions={"cpu_cores": 3, "ram_gb": 8, "storage_gb": 40})
    assert plan.actions == [
        "scale service 'web' (s) from 2 vCPU, 4 GB memory, 20 GB disk to 3 vCPU, 8 GB memory, 40 GB disk"
    ]
    assert plan.result["dimensions"]["ram_gb"] == 8


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"cpuCores": 8, "ramGb": 16, "storageGb": 50}, "8 vCPU, 16 GB memory, 50 GB disk"),
        (None, "one that is not shown"),
    ],
)
def test_a_size_that_somebody_else_changed_meanwhile_is_left_so(
    client: FakeClient, now: dict[str, int] | None, told: str
) -> None:
    """The parts that the task does not name were those of the size before."""
    plan, _task = planned(client, id="s", dimensions={"ram_gb": 8})
    client.service_records["s"]["dimensions"] = now
    with pytest.raises(Invalid, match=f"was changed to {told} while this task ran"):
        carry_out(plan)
    assert client.calls == []


@pytest.mark.parametrize("part", ["cpuCores", "ramGb", "storageGb"])
def test_a_part_of_a_size_that_nobody_tells_has_to_be_given(client: FakeClient, part: str) -> None:
    names = {"cpuCores": "cpu_cores", "ramGb": "ram_gb", "storageGb": "storage_gb"}
    client.service_records["s"]["dimensions"][part] = None
    wanted = {names[other]: 25 if other == "storageGb" else 3 for other in names if other != part}
    with pytest.raises(Invalid, match=f"the platform does not show {names[part]} of"):
        planned(client, id="s", dimensions=wanted)
    assert planned(client, id="s", dimensions={**wanted, names[part]: 25 if part == "storageGb" else 3})[
        0
    ].changed


@pytest.mark.parametrize(
    "bound", ["cpuMin", "cpuMax", "ramMinGb", "ramMaxGb", "storageMinGb", "storageMaxGb"]
)
def test_a_bound_that_the_node_does_not_tell_is_for_the_platform(client: FakeClient, bound: str) -> None:
    client.setting_records["s"]["scale"].update({bound: None, "storageGb": None})
    outside = {
        "cpuMin": 0,
        "cpuMax": 9,
        "ramMinGb": 0,
        "ramMaxGb": 33,
        "storageMinGb": 4,
        "storageMaxGb": 201,
    }
    name = {"cpu": "cpu_cores", "ram": "ram_gb", "sto": "storage_gb"}[bound[:3]]
    assert planned(client, id="s", dimensions={name: outside[bound]})[0].changed


# --- Whether the container was recreated ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "seen"), [(100, 0, True), (100, 101, False), (100, None, False), (None, 101, False)]
)
def test_a_container_that_is_not_seen_to_be_recreated_may_be_the_old_one(
    client: FakeClient, before: int | None, after: int | None, seen: bool
) -> None:
    client.uptimes["s"] = before
    client.after["set_network"] = lambda: client.uptimes.update(s=after)
    plan, task = planned(client, id="s", public=True)
    result = carry_out(plan)
    told = [warning for warning in task.warnings if "takes effect at its next start" in warning]
    assert ["nothing showed" in warning for warning in told] == ([] if seen else [True])
    assert result["pending_restart"] == ([] if seen else ["network"])
    assert client.calls == [("set_network", "s", True)]


def test_a_recreation_is_looked_for_as_long_as_the_task_may_wait(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    client.after["set_network"] = lambda: client.uptimes.update(s=101)
    clock.then = [lambda: None, lambda: client.uptimes.update(s=0)]
    plan, task = planned(client, id="s", public=True)
    assert carry_out(plan)["pending_restart"] == [] and clock.pauses
    assert not any("nothing showed" in warning for warning in task.warnings)
    clock.pauses.clear()
    client.uptimes["s"] = 100
    client.after["set_network"] = lambda: client.uptimes.update(s=200)
    plan, task = planned(client, id="s", public=False)
    carry_out(plan)
    assert "but nothing showed" in task.warnings[-1]
    assert sum(clock.pauses) >= 10


@pytest.mark.parametrize(
    ("state", "wait", "waits"),
    [("present", True, True), ("started", True, True), ("present", False, False), ("stopped", True, False)],
)
def test_a_container_that_is_recreated_is_waited_for_where_it_is_to_run_on(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch, state: str, wait: bool, waits: bool
) -> None:
    waited: list[str] = []
    monkeypatch.setattr(
        service_settings, "wait_for_recreation", lambda task, view: waited.append(view.service.id)
    )
    plan, _task = planned(client, id="s", public=True, state=state, wait=wait)
    carry_out(plan)
    assert bool(waited) is waits


def test_what_is_stopped_takes_the_network_at_its_next_start(client: FakeClient) -> None:
    """Nothing of it is pending, and there is nothing to wait for (Settings, rule 3)."""
    client.states["s"] = "stopped"
    plan, task = planned(client, id="s", public=True)
    assert carry_out(plan)["pending_restart"] == []
    assert client.calls == [("set_network", "s", True)]
    assert not any("takes effect" in warning for warning in task.warnings)


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize("state", ["starting", "stopping", "installing", "unknown", None])
def test_what_is_neither_running_nor_stopped_may_keep_its_old_ports(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch, state: str | None, wait: bool
) -> None:
    """A restart keeps the container, and a node that cannot be reached shows none."""
    clock = Clock(monkeypatch)
    client.states["s"] = state
    plan, task = planned(client, id="s", public=True, wait=wait)
    assert carry_out(plan)["pending_restart"] == ["network"]
    assert client.calls == [("set_network", "s", True)]
    assert "nothing showed that the container was recreated" in task.warnings[-1]
    assert sum(clock.pauses) <= (70 if wait else 5)


@pytest.mark.parametrize(("wait", "end"), [(True, "running"), (True, "stopped"), (False, "running")])
def test_a_container_on_its_way_is_waited_for_before_its_network_changes(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch, wait: bool, end: str
) -> None:
    """Afterwards, its uptime shows whether it was recreated."""
    client.states["s"], client.uptimes["s"] = "stopping", 0
    clock = Clock(monkeypatch)
    clock.then = [lambda: None, lambda: client.states.update(s=end), lambda: client.uptimes.update(s=9)]
    plan, _task = planned(client, id="s", public=True, wait=wait)
    assert carry_out(plan)["pending_restart"] == ([] if wait else ["network"])


@pytest.mark.parametrize(("state", "pending"), [("stopped", []), (None, ["network"])])
def test_a_suspended_service_is_stopped_if_it_says_so(
    client: FakeClient, state: str | None, pending: list[str]
) -> None:
    """Nothing shows that a resumption starts a container from stop, so it is as for a command."""
    client.service_records["s"]["status"] = "SUSPENDED"
    client.states["s"] = state
    plan, _task = planned(client, id="s", public=True)
    assert carry_out(plan)["pending_restart"] == pending
    assert client.calls == [("set_network", "s", True)]


def test_a_network_change_that_a_restart_follows_is_in_effect_after_its_start(client: FakeClient) -> None:
    client.after["set_network"] = lambda: client.uptimes.update(s=101)
    plan, task = planned(client, id="s", public=True, state="restarted")
    assert plan.actions[-1] == "stop and start service 'web' (s)"
    assert carry_out(plan)["pending_restart"] == []
    assert client.calls == [("set_network", "s", True), ("power", "s", "stop"), ("power", "s", "start")]
    assert not any("nothing showed" in warning for warning in task.warnings)


def test_a_network_change_that_was_pending_before_stays_so(client: FakeClient) -> None:
    """What was written earlier is not shown to be in effect by a recreation for something else."""
    client.after["set_network"] = lambda: client.uptimes.update(s=101)
    carry_out(planned(client, id="s", public=True, wait=False)[0])
    del client.after["set_network"]
    plan, _task = planned(client, id="s", public=False)
    assert carry_out(plan)["pending_restart"] == ["network"]


@pytest.mark.parametrize("done", [True, False])
def test_a_network_change_that_is_refused_is_done_only_if_it_shows(client: FakeClient, done: bool) -> None:
    def refuse() -> None:
        raise error_for_status("no port is left", 409)

    (client.after if done else client.before)["set_network"] = refuse
    plan, task = planned(client, id="s", public=True)
    if done:
        carry_out(plan)
        assert any("the platform made the change, but returned an error: no port" in w for w in task.warnings)
        assert task.effects.writes
        return
    with pytest.raises(Refused, match="no port is left"):
        carry_out(plan)
    assert planned(client, id="s")[0].result["pending_restart"] == []


@pytest.mark.parametrize(
    ("public", "way"), [(True, "open {} to the Internet"), (False, "close {} to the Internet")]
)
def test_a_step_says_which_way_the_network_goes(client: FakeClient, public: bool, way: str) -> None:
    client.setting_records["s"]["network"]["isPublic"] = not public
    plan, task = planned(client, id="s", public=public)
    assert plan.actions == [way.format("service 'web' (s)")]
    assert "if it runs, it is restarted" in task.warnings[0]
    assert not planned(client, id="s", public=not public)[0].changed


# --- Projects and facts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["APP", "GAME", "BUCKET"])
def test_a_move_is_told_to_the_neighbors(client: FakeClient, family: str) -> None:
    client.add_project("prj_2", "games")
    client.service_records["s"]["family"] = family
    plan, task = planned(client, id="s", new_project="games")
    assert plan.actions == ["move service 'web' (s) to project 'games'"]
    assert plan.result["project_id"] == "prj_2"
    assert any("its neighbors there can no longer reach it" in warning for warning in task.warnings)
    assert any("is not documented" in warning for warning in task.warnings) is (family == "BUCKET")
    carry_out(plan)
    assert client.calls == [("set_project", "s", "prj_2")]
    assert not planned(client, id="s", new_project="games")[0].changed


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({"product": "nginx", "runtime": "rt_1", "host": "nd_1", "family": "APP"}, True),
        ({"runtime": "stable", "host": "Node 1"}, True),
        ({"product": "apache"}, False),
        ({"runtime": "latest"}, False),
        ({"host": "nd_2"}, False),
    ],
)
def test_what_cannot_be_changed_is_refused_where_it_differs(
    client: FakeClient, given: dict[str, Any], fits: bool
) -> None:
    """A runtime and a node may be given by id or by name."""
    if fits:
        assert not planned(client, id="s", **given)[0].changed
        return
    (name,) = given
    with pytest.raises(Invalid, match=f"has {name} '.*', not '{given[name]}'; the platform cannot change it"):
        planned(client, id="s", **given)
    client.service_records["s"][name] = None
    assert not planned(client, id="s", **given)[0].changed, "what the platform does not show is not refused"


class Neighbors(FakeClient):
    """Projects whose services have aliases."""

    def __init__(self, **aliases: str) -> None:
        super().__init__()
        self.add_project("prj_2", "games")
        self.add_service("s")
        self.aliases = aliases

    def project_graph(self, id: str) -> ProjectGraph:
        nodes = [
            {"id": record["id"], "alias": self.aliases.get(record["id"])}
            for record in self.service_records.values()
            if record["projectId"] == id
        ]
        return ProjectGraph.model_validate({"id": id, "nodes": nodes})


@pytest.mark.parametrize(
    ("aliases", "warns"),
    [
        ({"s": "db", "t": "db"}, True),
        ({"s": "db", "t": "web"}, False),
        ({"t": "db"}, False),
        ({"s": "db"}, False),
    ],
)
def test_a_move_tells_of_an_alias_that_is_taken_there(
    monkeypatch: pytest.MonkeyPatch, aliases: dict[str, str], warns: bool
) -> None:
    Clock(monkeypatch)
    client = Neighbors(**aliases)
    client.add_service("t", projectId="prj_2")
    _plan, task = planned(client, id="s", new_project="games")
    assert any("alias 'db'" in warning for warning in task.warnings) is warns


# --- What the platform does not show --------------------------------------------------------------------


def test_a_preset_is_quoted_with_what_is_known_of_the_service(client: FakeClient) -> None:
    client.service_records["s"].update(product=None, host=None)
    client.quote_answer["dimensions"] = BIGGER
    planned(client, id="s", preset="large")
    assert client.quoted == {"presetId": "large"}


def test_a_size_that_is_not_told_has_to_be_given_whole(client: FakeClient) -> None:
    client.service_records["s"]["dimensions"] = None
    whole = {"cpu_cores": 2, "ram_gb": 8, "storage_gb": 20}
    assert planned(client, id="s", dimensions=whole)[0].changed
    with pytest.raises(Invalid, match="the platform does not show cpu_cores, storage_gb of"):
        planned(client, id="s", dimensions={"ram_gb": 8})


def test_settings_are_read_once(client: FakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    read = client.settings

    def settings(id: str) -> Any:
        reads.append(id)
        return read(id)

    monkeypatch.setattr(client, "settings", settings)
    planned(client, id="s", dimensions={"ram_gb": 8}, command="run", public=True)
    assert reads == ["s"]


def test_a_new_size_of_a_service_that_is_gone_is_for_the_platform_to_refuse(client: FakeClient) -> None:
    plan, _task = planned(client, id="s", dimensions={"ram_gb": 8})

    def refuse() -> None:
        raise error_for_status("there is none", 404)

    del client.service_records["s"]
    client.service_records = defaultdict(dict)
    client.before["set_scale"] = refuse
    with pytest.raises(Refused, match="there is none"):
        carry_out(plan)


def test_a_rate_that_is_not_told_is_over_no_limit(client: FakeClient) -> None:
    client.add_service("s", pricing=None)
    assert planned(client, id="s", max_monthly="0")[1].warnings == []


def test_a_refused_change_of_a_network_that_is_not_shown_is_refused(client: FakeClient) -> None:
    def refuse() -> None:
        client.setting_records["s"]["network"] = None
        raise error_for_status("no port is left", 409)

    client.before["set_network"] = refuse
    plan, _task = planned(client, id="s", public=True)
    with pytest.raises(Refused, match="no port is left"):
        carry_out(plan)


@pytest.mark.parametrize(
    ("pauses", "status", "ends"),
    [
        (6, "ACTIVE", None),
        (99, "ACTIVE", "has not run since. Its log may show why"),
        (99, "SUSPENDED", "was suspended in the meantime"),
        (99, "DELETING", "is being deleted"),
        (99, "AWAITING_ADMIN", "awaits an intervention"),
    ],
)
def test_a_recreated_container_may_be_stopped_for_a_moment(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch, pauses: int, status: str, ends: str | None
) -> None:
    clock = Clock(monkeypatch)
    client.states["s"] = "stopped"
    client.service_records["s"]["status"] = status
    clock.then = [*[lambda: None] * pauses, lambda: client.states.update(s="running")]
    task = task_of(SERVICE, client, id="s")
    if ends is None:
        service_settings.wait_for_recreation(task, view_of(client))
        assert len(clock.pauses) == pauses + 1
        return
    with pytest.raises(WaitEnded, match=ends):
        service_settings.wait_for_recreation(task, view_of(client))
    assert 10 <= sum(clock.pauses) < 20


def test_what_was_just_ordered_by_a_preset_has_its_size(client: FakeClient) -> None:
    client.quote_answer["dimensions"] = BIGGER
    task = task_of(SERVICE, client, id="s", preset="large")
    wanted = service_settings.wanted_size
    assert wanted(task, view_of(client), service_settings.ServiceChanges(just_ordered=True)) is None
    assert wanted(task, view_of(client), service_settings.ServiceChanges()) is not None


# --- What a change commits ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "shrinks"),
    [
        ({"cpu_cores": 4, "ram_gb": 8}, False),
        ({"cpu_cores": 1, "ram_gb": 8}, False),
        ({"cpu_cores": 1, "ram_gb": 2}, True),
        ({"ram_gb": 2}, True),
    ],
)
def test_only_a_size_that_grows_nowhere_shrinks(
    client: FakeClient, size: dict[str, int], shrinks: bool
) -> None:
    (step,) = planned(client, id="s", dimensions=size)[0].steps
    assert step.commitment is not None
    assert (step.commitment.kind, step.commitment.shrinks) == ("resize", shrinks)


def test_a_size_that_is_not_known_before_does_not_shrink(client: FakeClient) -> None:
    client.service_records["s"]["dimensions"]["cpuCores"] = None
    (step,) = planned(client, id="s", dimensions={"cpu_cores": 1, "ram_gb": 2})[0].steps
    assert step.commitment is not None and not step.commitment.shrinks


def test_a_change_commits_to_the_project_in_which_the_service_is_by_then(client: FakeClient) -> None:
    client.add_project("prj_2", "second")
    client.service_records["s"]["projectId"] = "prj_default"
    (alone,) = planned(client, id="s", dimensions={"ram_gb": 8})[0].steps
    moved = planned(client, id="s", new_project="second", dimensions={"ram_gb": 8})[0].steps
    seen = [(step.commitment.kind, step.commitment.project) for step in moved if step.commitment]
    assert alone.commitment is not None and alone.commitment.project == "prj_default"
    assert seen == [("move", "prj_2"), ("resize", "prj_2")]
    assert not any(step.commitment.shrinks for step in moved if step.commitment)
