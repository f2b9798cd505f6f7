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
from unit.plugins.module_utils._resources.platform import run

NIGHT, DAY = datetime(2027, 3, 1, 22, 0, tzinfo=UTC), datetime(2027, 3, 2, 12, 0, tzinfo=UTC)
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
