# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a plan: their order, what waits for a failed one, and what they do and save on a server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._resources import sleep_plan
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.runner import apply_plan
from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.memory import (
    Keep,
    Memory,
    SleepRecord,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import run


@pytest.fixture
def client() -> FakeClient:
    """Three services in a row: each starts after the next."""
    client = FakeClient()
    for id in ("a", "b", "c"):
        client.add_service(id, id)
    return client


def plan_of(client: FakeClient, folder: Path, **given: Any) -> Any:
    """Return the task of a plan that always sleeps, and what it plans."""
    after = {"a": ["b"], "b": ["c"]}
    options = {"family": "APP", "awake": [], "start_after": after, "state_dir": str(folder), **given}
    task = task_of(SLEEP_PLAN, client, name="nights", **options)
    return task, SLEEP_PLAN.plan(task)


def sent(client: FakeClient) -> list[str]:
    return [" ".join(call[:2]) for call in client.calls]


def test_what_waits_for_a_service_that_fails_is_reported(client: FakeClient, tmp_path: Path) -> None:
    """Nothing is said to be done that was not. What sleeps already waits for nobody."""
    client.add_service("d", "d", status="SUSPENDED", state=None)

    def fail() -> None:
        if client.calls[-1] == ("suspend", "b"):
            raise HostedError("no")

    client.before["suspend"] = fail
    task, plan = plan_of(client, tmp_path)
    with pytest.raises(HostedError, match=r"'b' \(b\): no") as caught:
        apply_plan(plan, task)
    assert sent(client) == ["suspend a", "suspend b"]
    told = {one["service"]: one for one in caught.value.details["services"]}
    assert [told[name]["changed"] for name in "abc"] == [True, False, False]
    assert "waits for another service" in told["c"]["msg"]
    assert told["c"]["status"] is None
    assert (told["d"]["failed"], told["d"]["msg"]) == (False, None)


def test_a_wish_is_remembered_even_if_a_service_that_is_needed_fails(
    client: FakeClient, tmp_path: Path
) -> None:
    task, plan = plan_of(client, tmp_path)
    apply_plan(plan, task)

    def fail() -> None:
        raise HostedError("no")

    client.before["resume"] = fail
    keep = {"services": ["a"], "until": "2h"}
    task, plan = plan_of(client, tmp_path, keep_awake=keep)
    with pytest.raises(HostedError, match="no"):
        apply_plan(plan, task)
    client.before.clear()
    client.calls.clear()
    task, plan = plan_of(client, tmp_path)
    apply_plan(plan, task)
    assert "resume a" in sent(client)


# --- Two runs at once -------------------------------------------------------------------------------

BUSY: dict[str, Any] = {"not_while_busy": {"cpu_percent": 50.0, "minutes": 15, "at_most": 240}}
"""Nothing is suspended then, and each whole_run remembers what it has measured."""


def whole_run(client: FakeClient, folder: Path, **given: Any) -> list[str]:
    task, plan = plan_of(client, folder, **given)
    client.calls.clear()
    apply_plan(plan, task)
    return sent(client)


def keep(folder: Path, client: FakeClient, *names: str) -> list[str]:
    """Ask by hand to keep services awake, as a whole whole_run of its own."""
    return whole_run(client, folder, keep_awake={"services": list(names), "until": "2h"})


def record_of(folder: Path, id: str) -> SleepRecord:
    return Memory.of(str(folder), None, "nights", id).read()


def test_a_wish_of_another_run_is_seen_before_a_suspension(client: FakeClient, tmp_path: Path) -> None:
    """So is one for a service that needs it; the result says so, and the wish stays."""
    task, plan = plan_of(client, tmp_path)
    keep(tmp_path, client, "b")
    client.calls.clear()
    apply_plan(plan, task)
    assert sent(client) == ["suspend a"]
    told = {one["service"]: one for one in plan.result}
    assert [told[name]["status"] for name in "abc"] == ["SUSPENDED", "ACTIVE", "ACTIVE"]
    assert [told[name]["awake"] for name in "abc"] == [False, True, True]
    assert [told[name]["actions"] for name in "bc"] == [[], []]
    assert told["b"]["why"] == told["c"]["why"] == "kept awake by hand"
    assert told["b"]["kept_until"] and told["b"]["kept_until"] == told["c"]["kept_until"]
    assert dict(plan.before) == {**plan.after, "service 'a' (a)": {"status": "ACTIVE"}}
    assert record_of(tmp_path, "b").keep is not None
    assert whole_run(client, tmp_path) == []


def test_a_wish_that_comes_during_a_suspension_is_not_lost(client: FakeClient, tmp_path: Path) -> None:
    wished: list[SleepRecord] = []

    def wish() -> None:
        memory = Memory.of(str(tmp_path), None, "nights", "b")
        now = datetime.now(UTC)
        if client.calls[-1] == ("suspend", "b"):
            memory.update(lambda found: found.with_keep(Keep(now, now + timedelta(hours=2))))
            wished.append(memory.read())

    client.before["suspend"] = wish
    assert whole_run(client, tmp_path) == ["suspend a", "suspend b"]
    assert record_of(tmp_path, "b").keep == wished[0].keep
    assert whole_run(client, tmp_path) == ["resume b"]


def test_what_another_run_wished_outlasts_what_this_one_has_measured(
    client: FakeClient, tmp_path: Path
) -> None:
    task, plan = plan_of(client, tmp_path, **BUSY)
    keep(tmp_path, client, "b")
    apply_plan(plan, task)
    assert record_of(tmp_path, "b").keep is not None and record_of(tmp_path, "b").samples
    task, plan = plan_of(client, tmp_path, **BUSY)
    assert whole_run(client, tmp_path, release=["b"]) == ["suspend b", "suspend c"]
    apply_plan(plan, task)
    assert record_of(tmp_path, "b").keep is None
    assert whole_run(client, tmp_path) == []


def test_what_another_run_did_is_not_forgotten(client: FakeClient, tmp_path: Path) -> None:
    """Else a resumption by hand after it would not be told from what the plan left awake."""
    task, plan = plan_of(client, tmp_path, **BUSY)
    whole_run(client, tmp_path)
    apply_plan(plan, task)
    client.service_records["a"]["status"] = "ACTIVE"
    assert whole_run(client, tmp_path) == []


def test_a_wish_for_what_another_run_has_just_suspended_holds(client: FakeClient, tmp_path: Path) -> None:
    """It was read before that, so it is not settled that it is awake, and the next whole_run resumes it."""
    task, plan = plan_of(client, tmp_path, keep_awake={"services": ["b"], "until": "2h"})
    whole_run(client, tmp_path, services=["b", "c"], start_after={"b": ["c"]})
    client.calls.clear()
    apply_plan(plan, task)
    assert [warning for warning in task.warnings if "'b' (b) is SUSPENDED by now" in warning]
    assert sent(client) == ["suspend a"]
    assert whole_run(client, tmp_path) == ["resume c", "resume b"]


def test_a_container_that_ran_in_between_is_started_again(client: FakeClient, tmp_path: Path) -> None:
    """Whether the plan saw it awake, or only resumed it, before somebody suspended it."""
    alone: dict[str, Any] = {"services": ["a"], "start_after": {}}
    client.states["a"] = "stopped"
    assert whole_run(client, tmp_path, **alone) == ["suspend a"]
    assert whole_run(client, tmp_path, **alone, awake=[{}]) == ["resume a"], "it did not whole_run before"
    client.service_records["a"]["status"] = "SUSPENDED"
    assert whole_run(client, tmp_path, **alone) == []
    assert whole_run(client, tmp_path, **alone, awake=[{}]) == ["resume a", "power a"]

    client.states["a"] = "stopped"
    assert whole_run(client, tmp_path, **alone) == ["suspend a"]
    client.service_records["a"]["status"] = "ACTIVE"
    assert whole_run(client, tmp_path, **alone) == [], "resumed by hand"
    client.service_records["a"]["status"] = "SUSPENDED"
    assert whole_run(client, tmp_path, **alone) == []
    assert whole_run(client, tmp_path, **alone, awake=[{}]) == ["resume a", "power a"]


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
    listed = sandbox.api("GET", "/api/resources").json()["items"]
    return {one["name"]: one["status"] for one in listed if one["name"] in ("db", "web", "alone")}


def entry(result: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in result["services"] if one["service"] == name)
    return found


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
