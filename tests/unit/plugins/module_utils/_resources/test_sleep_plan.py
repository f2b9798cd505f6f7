# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans for sleep on a real server: what is suspended and resumed, in which order, and what it saves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources import sleep_plan
from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import id_of, run, writes

NIGHT, DAY = datetime(2027, 3, 1, 22, 0, tzinfo=UTC), datetime(2027, 3, 2, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
OFFICE = [{"days": ["mon", "tue", "wed", "thu", "fri"], "begins": "08:00", "ends": "20:00"}]
SHOP: dict[str, list[dict[str, Any]]] = {
    "services": [
        {"name": "db", "product": "postgresql", "project": "shop"},
        {
            "name": "web",
            "product": "minecraft",
            "project": "shop",
            "environment": {"URL": "${db.URL}"},
        },
        {"name": "alone", "product": "minecraft", "project": "shop"},
    ]
}
TWINS = [
    {"name": f"{one['name']} twin", "product": one["product"], "project": "control"}
    for one in SHOP["services"]
]
CENT = Decimal("0.01")
DELAYS = {"start": 0, "stop": 0, "provision": 0}
Tick = Callable[..., dict[str, Any]]


@pytest.fixture
def tick(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tick:
    """Run the plan at a moment; the clocks of both sides show it."""
    sandbox.seed(SHOP)

    def go(now: datetime, check_mode: bool = False, **given: Any) -> dict[str, Any]:
        monkeypatch.setattr(sleep_plan, "current_time", lambda: now)
        given = given if given.keys() & {"services", "family"} else {**given, "project": "shop"}
        plan = {"name": "office", "awake": OFFICE, "state_dir": str(tmp_path), **given}
        return run(sandbox, SLEEP_PLAN, check_mode, **plan)

    return go


def status(sandbox: Sandbox) -> dict[str, str]:
    """Return the status of each service of the shop."""
    listed = sandbox.api("GET", "/api/resources").json()["items"]
    return {one["name"]: one["status"] for one in listed if one["name"] in ("db", "web", "alone")}


def entry(result: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what the result says of a service."""
    found: dict[str, Any] = next(one for one in result["services"] if one["service"] == name)
    return found


def names(result: dict[str, Any]) -> list[str]:
    """Return the names of the services in the order in which something was done with them."""
    return [action.split("'")[1] for action in result["actions"]]


def test_services_sleep_and_wake_with_the_clock(sandbox: Sandbox, tick: Tick) -> None:
    """What refers to another one goes first, and comes last; a second run does nothing."""
    planned = tick(NIGHT, check_mode=True)
    assert writes(sandbox) == []
    slept = tick(NIGHT)
    assert planned["actions"] == slept["actions"] and planned["plan"] == slept["plan"]
    assert set(status(sandbox).values()) == {"SUSPENDED"}
    assert names(slept).index("web") < names(slept).index("db")
    sandbox.clear_journal()
    assert not tick(NIGHT + HOUR)["changed"]
    assert writes(sandbox) == []
    woken = tick(DAY)
    assert set(status(sandbox).values()) == {"ACTIVE"}
    assert names(woken).index("db") < names(woken).index("web")
    assert (slept["plan"]["awake"], woken["plan"]["awake"]) == (False, True)
    assert woken["plan"]["until"] == "2027-03-02T20:00:00Z"


def test_a_container_that_did_not_run_is_not_started(sandbox: Sandbox, tick: Tick) -> None:
    """One that ran runs again, even where a platform does not start it by itself."""
    sandbox.profile("plain", **{"resume.state": "stopped"})
    sandbox.api("POST", f"/api/resources/{id_of(sandbox, 'alone')}/power", {"signal": "stop"})
    tick(NIGHT)
    tick(DAY)
    ids = {name: id_of(sandbox, name) for name in ("web", "alone")}
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={','.join(ids.values())}").json()
    assert metrics[ids["web"]]["state"] == "running"
    assert metrics[ids["alone"]]["state"] == "stopped"


def test_changes_by_hand_are_respected(sandbox: Sandbox, tick: Tick) -> None:
    """Until the next boundary; without any record the clock decides."""
    tick(NIGHT)
    sandbox.api("POST", f"/api/resources/{id_of(sandbox, 'db')}/resume")
    for hours in (1, 2):
        told = tick(NIGHT + hours * HOUR)
        assert not told["changed"] and "resumed by hand" in entry(told, "db")["why"]
    assert status(sandbox) == {"db": "ACTIVE", "web": "SUSPENDED", "alone": "SUSPENDED"}
    tick(DAY)
    sandbox.api("POST", f"/api/resources/{id_of(sandbox, 'web')}/suspend")
    assert "suspended by hand" in entry(tick(DAY + HOUR), "web")["why"]
    assert status(sandbox)["web"] == "SUSPENDED"
    tick(DAY + 24 * HOUR, services=["web"])  # the machine was off over two boundaries
    assert status(sandbox)["web"] == "ACTIVE"


def test_a_service_that_is_kept_awake_keeps_awake_what_it_needs(sandbox: Sandbox, tick: Tick) -> None:
    """Until its time is over; that the plan was suspended in this very period before does not matter."""
    tick(NIGHT)
    kept = tick(NIGHT + HOUR, keep_awake={"services": ["web"], "until": "2h"})
    assert status(sandbox) == {"db": "ACTIVE", "web": "ACTIVE", "alone": "SUSPENDED"}
    assert any(action.startswith("keep service 'web'") for action in kept["actions"])
    assert entry(kept, "db")["kept_until"] == "2027-03-02T01:00:00Z"
    assert not tick(NIGHT + 2 * HOUR)["changed"]
    tick(NIGHT + 3 * HOUR)
    assert set(status(sandbox).values()) == {"SUSPENDED"}


def begin_backup(sandbox: Sandbox, name: str, seconds: float = 30) -> None:
    """Begin a backup of a service; a platform lists it that is a second or a read late."""
    sandbox.delays(backup=seconds)
    backups = f"/api/resources/{id_of(sandbox, 'alone')}/backups"
    sandbox.api("POST", backups, {"name": name})
    sandbox.clock(advance=2)
    sandbox.api("GET", backups)


def test_a_backup_that_never_ends_holds_a_service_for_a_day(sandbox: Sandbox, tick: Tick) -> None:
    """Not for each night anew. The next backup holds it again."""
    begin_backup(sandbox, "nightly", 1e6)
    for hours, expected in ((0, "ACTIVE"), (14, "ACTIVE"), (23, "ACTIVE"), (24, "SUSPENDED"), (38, "ACTIVE")):
        told = tick(NIGHT + hours * HOUR, services=["alone"])
        assert status(sandbox)["alone"] == expected
        if hours == 24:
            assert "for longer than a day" in " ".join(told["warnings"])
    tick(NIGHT + 48 * HOUR, services=["alone"])
    assert status(sandbox)["alone"] == "SUSPENDED"
    sandbox.api("POST", f"/api/resources/{id_of(sandbox, 'alone')}/resume")
    begin_backup(sandbox, "another")
    sandbox.clock(advance=60)
    begin_backup(sandbox, "third", 1e6)
    tick(NIGHT + 72 * HOUR, services=["alone"])
    assert status(sandbox)["alone"] == "ACTIVE"


def test_a_resumption_that_a_budget_refuses_leaves_the_others_alone(
    sandbox: Sandbox, tick: Tick, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that fit are resumed."""
    night = tick(NIGHT)
    changes = [Decimal(entry(night, name)["cost"]["monthly_change"]) for name in ("db", "web", "alone")]
    running = sum(
        sandbox.api("GET", f"/api/resources/{one['id']}").json()["pricing"]["billedMonthlyMillicents"]
        for one in sandbox.api("GET", "/api/resources").json()["items"]
    )
    monkeypatch.setenv("HOSTED_SERVICES_BUDGET", str(Decimal(running) / 1000 - min(changes)))
    refused = tick(DAY)
    assert "services failed" in refused["msg"]
    assert {"ACTIVE", "SUSPENDED"} <= set(status(sandbox).values())


def test_announced_is_what_the_ledger_saves_in_twenty_days(sandbox: Sandbox, tick: Tick) -> None:
    """Within a cent a service, next to twins that never sleep; so is what is counted from the usage."""
    days = 20
    begin = datetime(2027, 3, 20, 0, 0, tzinfo=UTC)  # the clocks change within
    end = begin + timedelta(days=days)
    sandbox.reset(clock=begin.isoformat(), delays=DELAYS, seed={"services": [*SHOP["services"], *TWINS]})
    sandbox.clock(freeze=True)
    plan = {"time_zone": "Europe/Paris", "forecast_days": days}
    announced = tick(begin, check_mode=True, **plan)
    until = datetime.fromisoformat(tick(begin, **plan)["plan"]["until"])
    while until < end:
        sandbox.clock(set=until.isoformat())
        until = datetime.fromisoformat(tick(until, **plan)["plan"]["until"])
    sandbox.clock(set=end.isoformat())
    last, bills = tick(end, **plan), {one["name"]: one["cents"] for one in sandbox.ledger()["billed"]}
    for name in ("db", "web", "alone"):
        saved = Decimal(bills[f"{name} twin"] - bills[name]) / 100
        assert saved > 0
        assert abs(saved - Decimal(entry(announced, name)["forecast"]["saves"])) <= CENT, name
        counted = entry(last, name)["saved"]
        assert counted["days"] == days - 1  # the first one is not counted, as it need not be whole
        a_day = Decimal(bills[f"{name} twin"]) / 100 / days
        assert -CENT <= saved - Decimal(counted["amount"]) <= a_day + CENT
