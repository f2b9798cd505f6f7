# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Section States and transitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox

Order = Callable[..., str]


def _read(sandbox: Sandbox, key: str) -> Any:
    answer = sandbox.api("GET", f"/api/resources/{key}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def _state(sandbox: Sandbox, key: str) -> str:
    return str(sandbox.api("GET", f"/api/resources/metrics?ids={key}").json()[key]["state"])


def _listed(sandbox: Sandbox) -> list[str]:
    return [item["id"] for item in sandbox.api("GET", "/api/resources").json()["items"]]


@pytest.mark.rule("born")
@pytest.mark.parametrize(
    ("product", "host", "status"),
    [
        ("minecraft", "node-paris-1", "PROVISIONING"),
        ("linux", "node-paris-1", "PROVISIONING"),
        ("virtual-machine", "node-paris-1", "PROVISIONING"),
        ("postgresql", "node-paris-1", "ACTIVE"),
        ("bucket", "node-paris-1", "ACTIVE"),
    ],
)
def test_a_service_is_born_in_the_status_of_its_family(
    sandbox: Sandbox, order: Order, product: str, host: str, status: str
) -> None:
    sandbox.clock(freeze=True)
    sandbox.delays(provision=5)
    key = order(product, host=host)
    assert _read(sandbox, key)["status"] == status
    assert _listed(sandbox) == [key]
    sandbox.clock(advance=6)
    assert _read(sandbox, key)["status"] == "ACTIVE"


@pytest.mark.rule("creation-fails")
def test_a_failed_creation_says_why(sandbox: Sandbox, order: Order) -> None:
    service = _read(sandbox, order("broken-game"))
    assert service["status"] == "FAILED"
    assert service["failureReason"]
    assert service["pricing"]["billedMonthlyMillicents"] == 0


@pytest.mark.rule("operator-statuses")
def test_the_operator_ends_an_intervention(sandbox: Sandbox, order: Order) -> None:
    key = order("attended-game")
    assert _read(sandbox, key)["status"] == "AWAITING_ADMIN"
    sandbox.operator(f"services/{key}", status="ACTIVE")
    assert (_read(sandbox, key)["status"], _state(sandbox, key)) == ("ACTIVE", "running")
    sandbox.operator(f"services/{key}", status="FAILED", reason="the disk broke")
    assert _read(sandbox, key)["failureReason"] == "the disk broke"


@pytest.mark.rule("suspend", "billed-rate", "resume")
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


@pytest.mark.rule("resume")
def test_suspension_and_resume_may_take_their_time(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    key = order()
    sandbox.profile("plain", delay="a second late")
    sandbox.delays(resume=5)
    sandbox.api("POST", f"/api/resources/{key}/suspend")
    assert _read(sandbox, key)["status"] == "ACTIVE"
    sandbox.clock(advance=1)
    sandbox.api("POST", f"/api/resources/{key}/resume")
    assert _read(sandbox, key)["status"] == "SUSPENDED"
    sandbox.clock(advance=6)
    assert _read(sandbox, key)["status"] == "ACTIVE"


@pytest.mark.rule("suspend", "capability-400")
def test_suspension_needs_its_capability(sandbox: Sandbox, order: Order) -> None:
    size = {"cpuCores": 16, "ramGb": 64, "storageGb": 1000}
    key = order("dedicated", host="node-metal-1", dimensions=size)
    answer = sandbox.api("POST", f"/api/resources/{key}/suspend")
    assert answer.status_code == 400
    assert "suspension" in answer.json()["message"]


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


@pytest.mark.rule("delete")
def test_a_deleted_service_is_absent(sandbox: Sandbox, order: Order) -> None:
    key = order()
    assert sandbox.api("DELETE", f"/api/resources/{key}").status_code == 200
    assert sandbox.api("DELETE", f"/api/resources/{key}").status_code == 404
    assert sandbox.api("GET", f"/api/resources/{key}").status_code == 404


@pytest.mark.rule("overdrawn")
def test_services_go_after_the_grace(sandbox: Sandbox, order: Order) -> None:
    order()
    sandbox.clock(freeze=True)
    sandbox.operator("accounts/main", balance_cents=-1)
    sandbox.clock(advance=71 * 3600)
    assert len(_listed(sandbox)) == 1
    sandbox.clock(advance=2 * 3600)
    assert _listed(sandbox) == []


@pytest.mark.rule("overdrawn")
def test_a_top_up_ends_the_grace(sandbox: Sandbox, order: Order) -> None:
    order()
    sandbox.clock(freeze=True)
    sandbox.operator("accounts/main", balance_cents=-1)
    sandbox.clock(advance=71 * 3600)
    sandbox.operator("accounts/main", balance_cents=10_000)
    sandbox.clock(advance=71 * 3600)
    assert len(_listed(sandbox)) == 1


FREE_DAYS = 30


def test_a_free_service_stays_free(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    key = order("hobby", "hobby")
    before = _read(sandbox, key)
    assert before["pricing"]["freeExpiresAt"]
    assert (before["pricing"]["isFree"], before["pricing"]["billedMonthlyMillicents"]) == (True, 0)
    sandbox.clock(advance=(FREE_DAYS + 10) * 86400)
    assert _read(sandbox, key) == before
    assert sandbox.ledger()["billed"][0]["cents"] == 0


@pytest.mark.rule("resize-locked")
def test_what_cannot_be_resized(sandbox: Sandbox, order: Order) -> None:
    size = {"cpuCores": 4, "ramGb": 4, "storageGb": 20}
    suspended, free = order(), order("hobby", "hobby")
    sandbox.api("POST", f"/api/resources/{suspended}/suspend")
    for key in (suspended, free):
        assert sandbox.api("PUT", f"/api/resources/{key}/scale", size).status_code == 400
        scale = sandbox.api("GET", f"/api/resources/{key}/settings").json()["scale"]
        assert scale["editable"] is False
        assert scale["lockedReason"]
        assert scale["cpuCores"] == 2


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


@pytest.mark.parametrize(("delay", "seconds"), [("one read late", 0), ("a second late", 1)])
def test_a_signal_may_be_shown_late(sandbox: Sandbox, order: Order, delay: str, seconds: int) -> None:
    """State and uptime are as before, though the container has started anew."""
    sandbox.delays(provision=0, start=0, stop=0)
    sandbox.clock(freeze=True)
    key = order()
    sandbox.clock(advance=60)
    sandbox.profile("plain", delay=delay)

    def shown() -> tuple[str, int]:
        metrics = sandbox.api("GET", f"/api/resources/metrics?ids={key}").json()[key]
        return metrics["state"], metrics["uptimeSeconds"]

    sandbox.api("POST", f"/api/resources/{key}/power", {"signal": "restart"})
    assert shown() == ("running", 60)
    sandbox.clock(advance=seconds)
    assert shown() == ("running", seconds)
