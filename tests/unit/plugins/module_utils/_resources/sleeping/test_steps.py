# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a plan: their order across services, and what becomes of those that wait for a failed one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.runner import apply_plan
from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.memory import (
    Keep,
    Memory,
    SleepRecord,
)
from unit.plugins.fakes import FakeClient, task_of


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


def calls(client: FakeClient) -> list[str]:
    """Return the writes, as words."""
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
    assert calls(client) == ["suspend a", "suspend b"]
    told = {one["service"]: one for one in caught.value.details["services"]}
    assert [told[name]["changed"] for name in "abc"] == [True, False, False]
    assert "waits for another service" in told["c"]["msg"]
    assert told["c"]["status"] is None
    assert (told["d"]["failed"], told["d"]["msg"]) == (False, None)


def test_what_sleeps_already_holds_up_no_service_that_it_needs(client: FakeClient, tmp_path: Path) -> None:
    """Not even if what is remembered of it cannot be kept."""
    client.add_service("d", "d", status="SUSPENDED", state=None)
    task, plan = plan_of(client, tmp_path, start_after={"d": ["c"]})
    path = Memory.of(str(tmp_path), task.options.base_url, "nights", "d").record.path
    Path(f"{path}.lock").mkdir(parents=True)
    with pytest.raises(HostedError, match="'d'"):
        apply_plan(plan, task)
    assert "suspend c" in calls(client)


def test_a_wish_is_remembered_even_if_a_service_that_is_needed_fails(
    client: FakeClient, tmp_path: Path
) -> None:
    """The next run goes on with it."""
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
    assert "resume a" in calls(client)


# --- Two runs at once -------------------------------------------------------------------------------

BUSY: dict[str, Any] = {"not_while_busy": {"cpu_percent": 50.0, "minutes": 15, "at_most": 240}}
"""Nothing is suspended then, and each run remembers what it has measured."""


def run(client: FakeClient, folder: Path, **given: Any) -> list[str]:
    """Carry out a whole run, and return its writes."""
    task, plan = plan_of(client, folder, **given)
    client.calls.clear()
    apply_plan(plan, task)
    return calls(client)


def keep(folder: Path, client: FakeClient, *names: str) -> list[str]:
    """Ask by hand to keep services awake, as a whole run of its own."""
    return run(client, folder, keep_awake={"services": list(names), "until": "2h"})


def record_of(folder: Path, id: str) -> SleepRecord:
    """Return what is remembered of a service by now."""
    return Memory.of(str(folder), None, "nights", id).read()


def test_a_wish_of_another_run_is_seen_before_a_suspension(client: FakeClient, tmp_path: Path) -> None:
    """So is one for a service that needs it; the result says so, and the wish stays."""
    task, plan = plan_of(client, tmp_path)
    keep(tmp_path, client, "b")
    client.calls.clear()
    apply_plan(plan, task)
    assert calls(client) == ["suspend a"]
    told = {one["service"]: one for one in plan.result}
    assert [told[name]["status"] for name in "abc"] == ["SUSPENDED", "ACTIVE", "ACTIVE"]
    assert [told[name]["awake"] for name in "abc"] == [False, True, True]
    assert [told[name]["actions"] for name in "bc"] == [[], []]
    assert told["b"]["why"] == told["c"]["why"] == "kept awake by hand"
    assert told["b"]["kept_until"] and told["b"]["kept_until"] == told["c"]["kept_until"]
    assert dict(plan.before) == {**plan.after, "service 'a' (a)": {"status": "ACTIVE"}}
    assert record_of(tmp_path, "b").keep is not None
    assert run(client, tmp_path) == []


def test_a_wish_that_comes_during_a_suspension_is_not_lost(client: FakeClient, tmp_path: Path) -> None:
    """The next run resumes the service."""
    wished: list[SleepRecord] = []

    def wish() -> None:
        memory = Memory.of(str(tmp_path), None, "nights", "b")
        now = datetime.now(UTC)
        if client.calls[-1] == ("suspend", "b"):
            memory.update(lambda found: found.with_keep(Keep(now, now + timedelta(hours=2))))
            wished.append(memory.read())

    client.before["suspend"] = wish
    assert run(client, tmp_path) == ["suspend a", "suspend b"]
    assert record_of(tmp_path, "b").keep == wished[0].keep
    assert run(client, tmp_path) == ["resume b"]


def test_what_another_run_wished_outlasts_what_this_one_has_measured(
    client: FakeClient, tmp_path: Path
) -> None:
    """A wish as well as its withdrawal."""
    task, plan = plan_of(client, tmp_path, **BUSY)
    keep(tmp_path, client, "b")
    apply_plan(plan, task)
    assert record_of(tmp_path, "b").keep is not None and record_of(tmp_path, "b").samples
    task, plan = plan_of(client, tmp_path, **BUSY)
    assert run(client, tmp_path, release=["b"]) == ["suspend b", "suspend c"]
    apply_plan(plan, task)
    assert record_of(tmp_path, "b").keep is None
    assert run(client, tmp_path) == []


def test_what_another_run_did_is_not_forgotten(client: FakeClient, tmp_path: Path) -> None:
    """Else a resumption by hand after it would not be told from what the plan left awake."""
    task, plan = plan_of(client, tmp_path, **BUSY)
    run(client, tmp_path)
    apply_plan(plan, task)
    client.service_records["a"]["status"] = "ACTIVE"
    assert run(client, tmp_path) == []


def test_a_wish_for_what_another_run_has_just_suspended_holds(client: FakeClient, tmp_path: Path) -> None:
    """It was read before that, so it is not settled that it is awake, and the next run resumes it."""
    task, plan = plan_of(client, tmp_path, keep_awake={"services": ["b"], "until": "2h"})
    run(client, tmp_path, services=["b", "c"], start_after={"b": ["c"]})
    client.calls.clear()
    apply_plan(plan, task)
    assert [warning for warning in task.warnings if "'b' (b) is SUSPENDED by now" in warning]
    assert calls(client) == ["suspend a"]
    assert run(client, tmp_path) == ["resume c", "resume b"]


def test_a_container_that_ran_in_between_is_started_again(client: FakeClient, tmp_path: Path) -> None:
    """Whether the plan saw it awake, or only resumed it, before somebody suspended it."""
    alone: dict[str, Any] = {"services": ["a"], "start_after": {}}
    client.states["a"] = "stopped"
    assert run(client, tmp_path, **alone) == ["suspend a"]
    assert run(client, tmp_path, **alone, awake=[{}]) == ["resume a"], "it did not run before"
    client.service_records["a"]["status"] = "SUSPENDED"
    assert run(client, tmp_path, **alone) == []
    assert run(client, tmp_path, **alone, awake=[{}]) == ["resume a", "power a"]

    client.states["a"] = "stopped"
    assert run(client, tmp_path, **alone) == ["suspend a"]
    client.service_records["a"]["status"] = "ACTIVE"
    assert run(client, tmp_path, **alone) == [], "resumed by hand"
    client.service_records["a"]["status"] = "SUSPENDED"
    assert run(client, tmp_path, **alone) == []
    assert run(client, tmp_path, **alone, awake=[{}]) == ["resume a", "power a"]
