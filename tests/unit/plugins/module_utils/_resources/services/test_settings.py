# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing that a task asks of an existing service is ignored: changed, refused, or said to have no effect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import error_for_status
from ansible_collections.hosted.services.plugins.module_utils._resources.app import APP
from ansible_collections.hosted.services.plugins.module_utils._resources.quote import QUOTE
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import (
    settings as service_settings,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Resource,
    Task,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import run, writes

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


def test_a_preset_whose_size_nobody_tells_is_refused(client: FakeClient) -> None:
    with pytest.raises(Invalid, match=r"the size of preset 'large' .* the quote names no dimensions"):
        planned(client, id="s", preset="large")

    def refuse(order: dict[str, Any]) -> Any:
        raise error_for_status("POST /api/order/quote: unknown preset huge", 422)

    client.quote = refuse  # type: ignore[method-assign]
    with pytest.raises(Invalid, match=r"'huge' .* unknown preset huge.*Set dimensions in its place"):
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


def test_what_an_order_alone_uses_is_said_to_have_no_effect(client: FakeClient) -> None:
    given: dict[str, Any] = {
        "variables": {"PASSWORD": "hunter2"},
        "options": [{"option": "o", "choice": "c"}],
    }
    plan, task = planned(client, id="s", **given)
    assert not plan.changed
    (warning,) = task.warnings
    assert "variables and options had no effect" in warning
    assert "hunter2" not in warning


def test_what_an_order_uses_in_this_very_task_is_not(client: FakeClient) -> None:
    size = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
    order: dict[str, Any] = {"product": "nginx", "host": "nd_1", "dimensions": size, "variables": {"A": "1"}}
    plan, task = planned(client, name="new", max_monthly="2", **order)
    client.after["order"] = lambda: client.service_records["svc_2"]["pricing"].update(
        billedMonthlyMillicents=9000
    )
    carry_out(plan)
    assert task.warnings == []


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
    assert "does not run since" in result["msg"]
    assert any("answered with an error" in text for text in result["warnings"]) is (status == "409")
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
def test_a_command_whose_blanks_the_platform_squeezes_is_written_once(sandbox: Sandbox) -> None:
    sandbox.profile("plain", **{"command.written": "single spaces"})
    wanted: dict[str, Any] = {"name": "one", "command": "java  -jar   server.jar \n"}
    first = run(sandbox, SERVICE, **wanted)
    assert first["changed"]
    assert not [text for text in first.get("warnings", []) if "but shows" in text]
    sandbox.clear_journal()
    second = run(sandbox, SERVICE, **wanted)
    assert not second["changed"] and not second.get("failed")
    assert writes(sandbox) == []
    assert run(sandbox, SERVICE, name="one", command="java -jar other.jar")["changed"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a b", " a \t b\n", True),
        ("a 'b  c'", "a 'b c'", False),
        ("a  --x='b  c'", "a --x='b  c'", True),
        ("a --x='b  c'", "a --x='b c'", False),
        ("a\\  b", "a\\ b", False),
        ('a "b c"', "a 'b c'", False),
        ("a b", "a\nb", False),
        ("it's  b", "it's b", False),
        ("", " ", False),
        ("a", "", False),
    ],
)
def test_commands_that_differ_in_blanks_alone(one: str, other: str, same: bool) -> None:
    for pair in ((one, other), (other, one)):
        assert service_settings.is_same_command(*pair) is same
    assert service_settings.is_same_command(one, one)


@pytest.mark.usefixtures("home")
def test_a_database_whose_command_cannot_be_edited(sandbox: Sandbox) -> None:
    """A wish for what is there is fulfilled; any other is refused before anything is sent."""
    sandbox.profile("plain", **{"command.database": "no"})
    sandbox.seed({"services": [{"name": "db", "product": "postgresql"}]})
    sandbox.clear_journal()
    assert not run(sandbox, SERVICE, name="db", command="")["changed"]
    refused = run(sandbox, SERVICE, name="db", command="postgres -c fsync=off", public=True)
    assert refused["failed"] and "the launch command of service 'db'" in refused["msg"]
    assert "cannot be changed" in refused["msg"]
    assert writes(sandbox) == []


STATUSES = ["not refused", "400", "403", "404", "409", "422"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("answer", STATUSES)
@pytest.mark.parametrize("status", ["PROVISIONING", "AWAITING_ADMIN", "FAILED", "DELETING"])
def test_the_settings_of_a_service_that_is_not_in_service(sandbox: Sandbox, answer: str, status: str) -> None:
    """Whatever their route answers, the task says in which status the service is, and writes nothing."""
    sandbox.profile("plain", **{"refusal.settings_status": answer})
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
@pytest.mark.parametrize("offered", ["nothing", "all of its family"])
@pytest.mark.parametrize("state", ["suspended", "stopped"])
def test_what_a_service_offers_while_it_is_created_is_not_used(
    sandbox: Sandbox, offered: str, state: str
) -> None:
    """It may list all capabilities of its family then; it can be neither stopped nor suspended."""
    sandbox.profile("plain", **{"unsettled.capabilities": offered})
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
        ({"ram_gb": 33}, "ram_gb 33 is outside what the node of .* offers: 1 to 32"),
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
    with pytest.raises(Invalid, match=r"is not known, so max_monthly 1.45 cannot be kept"):
        planned(client, **wish)


@pytest.mark.parametrize(
    ("status", "state", "wanted", "told"),
    [
        ("ACTIVE", "running", "present", True),
        ("ACTIVE", "running", "started", True),
        ("ACTIVE", "running", "restarted", False),
        ("ACTIVE", "stopped", "started", False),
        ("ACTIVE", "stopping", "started", False),
        ("SUSPENDED", "running", "started", False),
    ],
)
def test_a_command_that_no_start_follows_is_told(
    client: FakeClient, status: str, state: str, wanted: str, told: bool
) -> None:
    client.service_records["s"]["status"] = status
    client.states["s"] = state
    _plan, task = planned(client, id="s", command="run", state=wanted)
    assert any("takes effect at its next start" in warning for warning in task.warnings) is told


def test_a_network_change_that_is_not_waited_for_is_looked_at_once(client: FakeClient) -> None:
    """A container whose uptime goes on was not recreated, and the change takes effect later."""
    client.after["set_network"] = lambda: client.uptimes.update(s=101)
    plan, task = planned(client, id="s", public=True, wait=False)
    carry_out(plan)
    assert any("but at once nothing showed that the container was recreated" in w for w in task.warnings)
    again = SERVICE.plan(task_of(SERVICE, client, id="s", public=True))
    assert again.result["pending_restart"] == ["network"]
