# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing that a task asks of an existing service is ignored: changed, refused, or said to have no effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Refused, error_for_status
from ansible_collections.hosted.services.plugins.module_utils._api.routes import Idempotency, Route
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import (
    Found,
    export_project,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.schema import (
    ApplicationSection,
    ServiceSection,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.last_copy import (
    describe_service,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.choice import (
    wanted_order,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.work import (
    RelocateOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import (
    settings as service_settings,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import (
    ServiceOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.settings import (
    NEXT_START,
    SETTINGS,
    Setting,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.view import View
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Resource,
    Task,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import CHANGES, Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import run, writes

SIZE = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeClient:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    Clock(monkeypatch)
    client = FakeClient()
    client.add_service("s")
    return client


def planned(client: FakeClient, **given: Any) -> tuple[Plan, Task]:
    task = task_of(SERVICE, client, **given)
    return SERVICE.plan(task), task


# --- The next field of the API --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class NextOptions(ServiceOptions):
    """The options of module service once the port within the project can be set, too."""

    port: int | None = None


class NextService(Resource[NextOptions]):
    result_key = "service"

    def plan(self, task: Task[NextOptions]) -> Plan:
        return SERVICE.plan(task)


NEXT = NextService()


@pytest.fixture
def port(client: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A setting that the API does not have: one entry of the table, and nothing else."""

    def write(id: str, wanted: int) -> None:
        change = client.setting_records["s"]["network"].update
        client._call("set_port", (id, wanted), lambda: change(internalPort=wanted))

    route: Any = Route("PUT", "/api/resources/{id}/port", Idempotency.IDEMPOTENT, None)
    monkeypatch.setitem(CHANGES, route, "set_port")
    client.set_port = write
    client.setting_records["s"]["network"]["internalPort"] = 80
    made_up = Setting(
        name="port",
        label="port",
        at="settings.network.internal_port",
        section="network",
        effect=NEXT_START,
        route=route,
        body=lambda port: {"port": port},
    )
    SETTINGS.append(made_up)
    yield
    SETTINGS.remove(made_up)


@pytest.mark.usefixtures("port")
def test_a_new_setting_is_planned_shown_written_and_read_back(client: FakeClient) -> None:
    plan = NEXT.plan(task_of(NEXT, client, id="s", port=8080))
    assert plan.actions == ["set the port of service 'web' (s)"]
    assert isinstance(plan.before, dict) and isinstance(plan.after, dict)
    assert (plan.before["port"], plan.after["port"]) == (80, 8080)
    assert carry_out(plan)["pending_restart"] == ["port"]
    assert client.calls == [("set_port", "s", 8080)]
    task = task_of(NEXT, client, id="s", port=8080)
    again = NEXT.plan(task)
    assert not again.changed and again.result["pending_restart"] == ["port"]
    assert "the port of service 'web' (s) was changed earlier and is not in effect" in task.warnings[0]
    restarted = NEXT.plan(task_of(NEXT, client, id="s", state="restarted"))
    assert restarted.actions == ["stop and start service 'web' (s)"]
    assert carry_out(restarted)["pending_restart"] == []
    client.after["set_port"] = lambda: client.setting_records["s"]["network"].update(internalPort=80)
    forgotten = task_of(NEXT, client, id="s", port=443)
    carry_out(NEXT.plan(forgotten))
    assert any("accepted port (443) of" in warning for warning in forgotten.warnings)
    client.setting_records["s"]["network"]["editable"] = False
    with pytest.raises(Invalid, match="the port of service 'web'"):
        NEXT.plan(task_of(NEXT, client, id="s", port=443))


@pytest.mark.usefixtures("port")
def test_a_new_setting_is_carried_to_every_copy(client: FakeClient) -> None:
    """By an export, and so by a clone; by a relocation, and by the file beside a last copy."""
    service, settings = client.service("s"), client.settings("s")
    assert service is not None
    record = {**service.as_dict(), "can_power": True, "settings": settings.as_dict()}
    [exported] = export_project(Found("shop", [record], {})).entries
    options = RelocateOptions(service="s", host="nd_2")
    relocated = wanted_order(options, service, settings)
    last = describe_service(task_of(SERVICE, client, id="s"), View(service), settings, None, "now")
    [described] = yaml.safe_load(last)
    for values in (exported.values, relocated, described["hosted.services.service"]):
        assert (values["port"], values["public"], values["dimensions"]) == (80, False, SIZE)


def test_whatever_takes_a_service_from_elsewhere_knows_each_setting() -> None:
    """The module, and both kinds of entries of a blueprint, which clones, recoveries and drift go by."""
    carried = {setting.name for setting in SETTINGS if setting.carried}
    assert carried <= ServiceOptions.__dataclass_fields__.keys()
    assert carried <= ServiceSection.model_fields.keys() & ApplicationSection.model_fields.keys()


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


# --- What a platform may do that the specification does not show ---------------------------------------


# --- What cannot be set, and when it takes effect -----------------------------------------------------------


# --- Sizes ----------------------------------------------------------------------------------------------


def test_a_size_that_somebody_else_changed_meanwhile_is_left_so(client: FakeClient) -> None:
    """The parts that the task does not name were those of the size before."""
    plan, _task = planned(client, id="s", dimensions={"ram_gb": 8})
    client.service_records["s"]["dimensions"] = {"cpuCores": 8, "ramGb": 16, "storageGb": 50}
    with pytest.raises(Invalid, match="was changed to 8 vCPU, 16 GB memory, 50 GB disk while this task ran"):
        carry_out(plan)
    assert client.calls == []


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
