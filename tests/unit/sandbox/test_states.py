# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""States of a service, and its settings."""

from __future__ import annotations

from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import Order


def _read(sandbox: Sandbox, key: str) -> Any:
    answer = sandbox.api("GET", f"/api/resources/{key}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def _state(sandbox: Sandbox, key: str) -> str:
    return str(sandbox.api("GET", f"/api/resources/metrics?ids={key}").json()[key]["state"])


def _listed(sandbox: Sandbox) -> list[str]:
    return [item["id"] for item in sandbox.api("GET", "/api/resources").json()["items"]]


def _part(sandbox: Sandbox, key: str, part: str) -> Any:
    answer = sandbox.api("GET", f"/api/resources/{key}/settings")
    assert answer.status_code == 200, answer.text
    return answer.json()[part]


def _publish(sandbox: Sandbox, key: str, public: bool) -> int:
    return sandbox.api("PUT", f"/api/resources/{key}/network", {"isPublic": public}).status_code


@pytest.mark.rule("born")
@pytest.mark.parametrize(
    ("product", "status"),
    [("minecraft", "PROVISIONING"), ("linux", "PROVISIONING"), ("virtual-machine", "PROVISIONING"),
     ("postgresql", "ACTIVE"), ("bucket", "ACTIVE")],
)  # fmt: skip
def test_a_service_is_born_in_the_status_of_its_family(
    sandbox: Sandbox, order: Order, product: str, status: str
) -> None:
    sandbox.clock(freeze=True)
    sandbox.delays(provision=5)
    key = order(product)
    assert (_read(sandbox, key)["status"], _listed(sandbox)) == (status, [key])
    sandbox.clock(advance=6)
    assert _read(sandbox, key)["status"] == "ACTIVE"


@pytest.mark.rule("operator-statuses", "creation-fails")
def test_the_operator_ends_an_intervention(sandbox: Sandbox, order: Order) -> None:
    failed = _read(sandbox, order("broken-game"))
    assert failed["status"] == "FAILED" and failed["failureReason"]
    assert failed["pricing"]["billedMonthlyMillicents"] == 0
    key = order("attended-game")
    assert _read(sandbox, key)["status"] == "AWAITING_ADMIN"
    sandbox.operator(f"services/{key}", status="ACTIVE")
    assert (_read(sandbox, key)["status"], _state(sandbox, key)) == ("ACTIVE", "running")
    sandbox.operator(f"services/{key}", status="FAILED", reason="the disk broke")
    assert _read(sandbox, key)["failureReason"] == "the disk broke"
    assert _part(sandbox, key, "deploy")["editable"] is False


@pytest.mark.rule("suspend", "billed-rate", "resume", "capability-400")
def test_suspension_stops_and_bills_storage(sandbox: Sandbox, order: Order) -> None:
    key = order()
    pricing = _read(sandbox, key)["pricing"]
    assert pricing["billedMonthlyMillicents"] == pricing["monthlyMillicents"]
    sandbox.api("POST", f"/api/resources/{key}/suspend")
    service = _read(sandbox, key)
    assert (service["status"], _state(sandbox, key)) == ("SUSPENDED", "stopped")
    assert service["pricing"]["billedMonthlyMillicents"] == pricing["storageMonthlyMillicents"] == 20 * 85
    assert service["dates"]["suspendedAt"]
    sandbox.api("POST", f"/api/resources/{key}/resume")
    service = _read(sandbox, key)
    assert (service["status"], _state(sandbox, key)) == ("ACTIVE", "running")
    assert service["dates"]["suspendedAt"] is None
    size = {"cpuCores": 16, "ramGb": 64, "storageGb": 1000}
    answer = sandbox.api(
        "POST", f"/api/resources/{order('dedicated', host='node-metal-1', dimensions=size)}/suspend"
    )
    assert answer.status_code == 400 and "suspension" in answer.json()["message"]


@pytest.mark.rule("delete", "list-deleted")
@pytest.mark.parametrize("delay", ["at once", "a second late"])
def test_deletion_passes_deleting(sandbox: Sandbox, order: Order, delay: str) -> None:
    sandbox.clock(freeze=True)
    key = order()
    sandbox.profile("plain", delay=delay)
    sandbox.api("POST", f"/api/resources/{key}/backups", {"name": "b"})
    sandbox.clock(advance=86400)
    sandbox.delays(delete=5)
    sandbox.api("DELETE", f"/api/resources/{key}")
    spent = sandbox.ledger()["billed"][0]["cents"]
    if delay != "at once":
        assert _read(sandbox, key)["status"] == "DELETING"
    sandbox.clock(advance=86400)
    assert sandbox.api("GET", f"/api/resources/{key}").status_code == 404
    assert _listed(sandbox) == []
    assert sandbox.ledger()["billed"][0]["cents"] == spent > 0


@pytest.mark.rule("overdrawn")
def test_services_go_after_the_grace(sandbox: Sandbox, order: Order) -> None:
    order()
    sandbox.clock(freeze=True)
    sandbox.operator("accounts/main", balance_cents=-1)
    sandbox.clock(advance=71 * 3600)
    assert len(_listed(sandbox)) == 1
    sandbox.clock(advance=2 * 3600)
    assert _listed(sandbox) == []


def test_a_free_service_stays_free(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    key = order("hobby", "hobby")
    before = _read(sandbox, key)
    assert before["pricing"]["freeExpiresAt"]
    assert (before["pricing"]["isFree"], before["pricing"]["billedMonthlyMillicents"]) == (True, 0)
    sandbox.clock(advance=40 * 86400)
    assert _read(sandbox, key) == before
    assert sandbox.ledger()["billed"][0]["cents"] == 0


@pytest.mark.rule("resize-locked")
def test_what_cannot_be_resized(sandbox: Sandbox, order: Order) -> None:
    size = {"cpuCores": 4, "ramGb": 4, "storageGb": 20}
    suspended, free = order(), order("hobby", "hobby")
    sandbox.api("POST", f"/api/resources/{suspended}/suspend")
    for key in (suspended, free):
        assert sandbox.api("PUT", f"/api/resources/{key}/scale", size).status_code == 400
        scale = _part(sandbox, key, "scale")
        assert (scale["editable"], scale["cpuCores"]) == (False, 2) and scale["lockedReason"]


@pytest.mark.rule("signal-start", "signal-stop", "signal-kill", "status-not-state")
def test_signals_and_their_states(sandbox: Sandbox, order: Order) -> None:
    key = order()
    sandbox.clock(freeze=True)
    sandbox.delays(start=5, stop=5)
    seen = []
    for signal, later in (("kill", 0), ("start", 1), ("start", 6), ("stop", 1), ("stop", 6)):
        if later <= 1:
            answer = sandbox.api("POST", f"/api/resources/{key}/power", {"signal": signal})
            assert answer.json()["status"] == "ACTIVE"
        sandbox.clock(advance=later)
        seen.append(_state(sandbox, key))
    assert seen == ["stopped", "starting", "running", "stopping", "stopped"]


@pytest.mark.rule("signal-restart", "signal-start", "settings-5")
def test_only_a_start_takes_the_new_command(sandbox: Sandbox, order: Order) -> None:
    key = order()

    def command(signal: str) -> Any:
        sandbox.api("POST", f"/api/resources/{key}/power", {"signal": signal})
        _state(sandbox, key)
        return sandbox.control("GET", f"/services/{key}")["container"]["configuration"]["command"]

    sandbox.api("PUT", f"/api/resources/{key}/deploy", {"command": "run --fast"})
    assert command("restart") == ["java", "-jar", "server.jar"]
    assert command("start") == ["run", "--fast"]
    sandbox.api("PUT", f"/api/resources/{key}/deploy", {"command": ""})
    assert command("start") == ["java", "-jar", "server.jar"]


@pytest.mark.rule("power-409")
def test_a_signal_that_is_not_carried(sandbox: Sandbox, order: Order) -> None:
    bucket, game = order("bucket", "files"), order()
    sandbox.api("POST", f"/api/resources/{game}/suspend")
    for key in (bucket, game):
        answer = sandbox.api("POST", f"/api/resources/{key}/power", {"signal": "start"})
        assert answer.status_code == 409
    assert sandbox.api("POST", f"/api/resources/{game}/power", {"signal": "jump"}).status_code == 400


@pytest.mark.rule("capabilities")
def test_capabilities_follow_family_and_status(sandbox: Sandbox, order: Order) -> None:
    key = order()
    active = _read(sandbox, key)["capabilities"]
    assert {"console", "powerSignals", "suspension", "files", "logs", "backups"} <= set(active)
    sandbox.api("POST", f"/api/resources/{key}/suspend")
    suspended = _read(sandbox, key)["capabilities"]
    assert "suspension" in suspended
    assert not {"console", "powerSignals"} & set(suspended)
    sandbox.operator(f"services/{key}", status="PROVISIONING")
    assert _read(sandbox, key)["capabilities"] == []


@pytest.mark.rule("metrics-unreachable", "limit-ids")
def test_metrics(sandbox: Sandbox, order: Order) -> None:
    here, there = order(), order(name="far", host="node-frankfurt-1")
    sandbox.operator("nodes/node-frankfurt-1", reachable=False)
    found = sandbox.api("GET", f"/api/resources/metrics?ids={here},{there},nobody").json()
    assert (found[here]["state"], found[there]) == ("running", None)
    assert "nobody" not in found
    many = ",".join(str(number) for number in range(51))
    assert sandbox.api("GET", f"/api/resources/metrics?ids={many}").status_code == 400


def _logs(sandbox: Sandbox, key: str) -> int:
    return len(sandbox.api("GET", f"/api/resources/{key}/logs").json()["lines"])


@pytest.mark.rule("settings-1")
def test_a_closed_service_keeps_its_port(sandbox: Sandbox, order: Order) -> None:
    key = order()
    before = _part(sandbox, key, "network")
    assert _publish(sandbox, key, False) == 200
    assert (
        _part(sandbox, key, "network").items()
        >= {"isPublic": False, "publicPort": before["publicPort"]}.items()
    )
    assert _read(sandbox, key)["address"] is None
    assert _publish(sandbox, key, True) == 200
    assert _read(sandbox, key)["address"] == f"{before['publicIp']}:{before['publicPort']}"


@pytest.mark.rule("settings-2")
def test_opening_takes_a_port_while_there_is_one(sandbox: Sandbox, order: Order) -> None:
    first, second = order("postgresql", "one"), order("postgresql", "two")
    assert _part(sandbox, first, "network")["publicPort"] is None
    sandbox.operator("nodes/node-paris-1", ports_left=1)
    assert [_publish(sandbox, key, True) for key in (first, second)] == [200, 409]
    assert _part(sandbox, first, "network")["publicPort"]
    assert _part(sandbox, second, "network")["isPublic"] is False


@pytest.mark.rule("settings-3")
@pytest.mark.parametrize("again", ["nothing", "recreates the container"])
def test_a_network_change_restarts_only_what_runs(sandbox: Sandbox, order: Order, again: str) -> None:
    sandbox.profile(**{"network.again": again})
    key = order()
    lines = _logs(sandbox, key)
    _publish(sandbox, key, True)
    assert (_logs(sandbox, key) > lines) is (again != "nothing")
    lines = _logs(sandbox, key)
    _publish(sandbox, key, False)
    assert _logs(sandbox, key) > lines
    sandbox.api("POST", f"/api/resources/{key}/power", {"signal": "kill"})
    lines = _logs(sandbox, key)
    _publish(sandbox, key, True)
    assert (_logs(sandbox, key), _state(sandbox, key)) == (lines, "stopped")


@pytest.mark.parametrize(("in_effect", "public"), [("at once", False), ("at its next start", True)])
def test_the_container_tells_which_network_it_has(
    sandbox: Sandbox, order: Order, in_effect: str, public: bool
) -> None:
    """A restart keeps it (Power)."""
    sandbox.profile(**{"network.in_effect": in_effect})
    key = order()

    def is_public() -> bool:
        found: bool = sandbox.control("GET", f"/services/{key}")["container"]["configuration"]["public"]
        return found

    assert is_public()
    _publish(sandbox, key, False)
    assert is_public() is public
    for signal in ("restart", "stop", "start"):
        assert is_public() is public
        sandbox.api("POST", f"/api/resources/{key}/power", {"signal": signal})
    assert not is_public()


@pytest.mark.rule("settings-4")
def test_sizes_that_are_refused(sandbox: Sandbox, order: Order) -> None:
    key, kept = order(), {"cpuCores": 2, "ramGb": 4, "storageGb": 20}
    beyond = (
        {"cpuCores": 17},
        {"ramGb": 0},
        {"storageGb": 501},
        {"storageGb": 19},
        {"cpuCores": "2"},
        {"cpuCores": True},
    )
    for size in (*({**kept, **one} for one in beyond), {"cpuCores": 2, "ramGb": 4}):
        assert sandbox.api("PUT", f"/api/resources/{key}/scale", size).status_code == 400, size
        assert _read(sandbox, key)["dimensions"] == kept


@pytest.mark.rule("settings-4", "conventions")
def test_a_new_size_is_priced_from_the_call(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    key = order()
    sandbox.clock(advance=730 * 3600)
    size = {"cpuCores": 4, "ramGb": 4, "storageGb": 20}
    sandbox.api("PUT", f"/api/resources/{key}/scale", size)
    scale = _part(sandbox, key, "scale")
    assert scale["monthlyMillicents"] == 4 * 2400 + 4 * 1060 + 20 * 85
    lines = _logs(sandbox, key)
    sandbox.clock(advance=730 * 3600)
    assert _logs(sandbox, key) == lines
    billed = sandbox.ledger()["billed"][0]["cents"]
    assert billed == (2 * 2400 + 4 * 1060 + 20 * 85 + scale["monthlyMillicents"]) // 10


@pytest.mark.rule("settings-6")
def test_a_move_keeps_the_alias(sandbox: Sandbox, order: Order) -> None:
    """Former neighbors no longer reach what moved."""
    key = order("postgresql", "db")
    sandbox.api("POST", "/api/apps", {"slug": "shop"})
    environment = {"environment": {"DB": "${db.URL}"}}
    assert sandbox.api("PUT", "/api/apps/shop/environment", environment).status_code == 200
    alias = _part(sandbox, key, "network")["alias"]
    project = sandbox.api("POST", "/api/projects", {"name": "web"}).json()["id"]
    moves = [sandbox.api("PUT", f"/api/resources/{key}/project", {"projectId": id}) for id in (project, "x")]
    assert [answer.status_code for answer in moves] == [200, 400]
    assert _part(sandbox, key, "network").items() >= {"alias": alias, "project": "web"}.items()
    assert sandbox.api("PUT", "/api/apps/shop/environment", environment).status_code == 400
    assert sandbox.api("GET", f"/api/resources/{order('linux', 'box')}/settings").status_code == 400


@pytest.mark.rule("overdrawn")
@pytest.mark.parametrize("topped_up", [False, True])
def test_services_go_after_the_grace_unless_a_top_up_ends_it(
    sandbox: Sandbox, order: Order, topped_up: bool
) -> None:
    key = order()
    sandbox.clock(freeze=True)
    sandbox.operator("accounts/main", balance_cents=-1)
    sandbox.clock(advance=71 * 3600)
    assert _listed(sandbox) == [key]
    if topped_up:
        sandbox.operator("accounts/main", balance_cents=10_000)
    sandbox.clock(advance=71 * 3600)
    assert _listed(sandbox) == ([key] if topped_up else [])
