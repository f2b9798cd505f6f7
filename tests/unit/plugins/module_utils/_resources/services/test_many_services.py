# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task over many services: which it takes, and that one that fails stops no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import error_for_status
from ansible_collections.hosted.services.plugins.module_utils._api.models import Service
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.backup_info import BACKUP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.services.many_services import (
    Operation,
    PlanOne,
    SomeFailed,
    plan_many,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Step,
    Task,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.runner import apply_plan
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import backups, id_of, run


def test_one_that_fails_does_not_stop_the_others(sandbox: Sandbox) -> None:
    """What fails before and during the work is told apart by service; the others are backed up."""
    two = id_of(sandbox, "two")
    sandbox.fault("backups.create", "status", status=400)
    result = run(sandbox, BACKUP, services=["nobody", "one", two, "metal", "twin"], name="n", max_parallel=1)
    assert result["failed"] and result["changed"]
    entries = {entry["service"]: entry for entry in result["services"]}
    assert list(entries) == ["nobody", "one", "two", "metal", "twin"]
    assert "there is no service of id or name 'nobody'" in entries["nobody"]["msg"]
    assert "does not offer 'backups'" in entries["metal"]["msg"]
    assert "2 services are named 'twin'" in entries["twin"]["msg"]
    assert entries["two"]["backup"]["status"] == "COMPLETED"
    assert result["msg"].startswith("4 of 5 services failed:\n- service 'nobody': ")
    assert result["actions"] == entries["two"]["actions"]
    assert [backup["name"] for backup in backups(sandbox, "two")] == ["n"]


# --- Which services ---------------------------------------------------------------------------------


class Families(FakeClient):
    """Services of two families in two projects."""

    def __init__(self) -> None:
        super().__init__()
        self.add_project("prj_web", "web")
        self.add_service("svc_1", "shop", projectId="prj_web")
        self.add_service("svc_2", "cache", projectId="prj_web")
        self.add_service("svc_3", "game", family="GAME")


def planned(
    client: FakeClient, plan: PlanOne, check_mode: bool = False, all_or_none: bool = False, **given: Any
) -> tuple[Plan, Task[Any]]:
    """Return the plan of a task that does something with each service, one after the other."""
    task = task_of(BACKUP_INFO, client, check_mode, **{"max_parallel": 1, **given})
    return plan_many(task, Operation("backups", "backups", plan, {"found": None}, all_or_none)), task


# --- What becomes of each ---------------------------------------------------------------------------


def failing(*names: str) -> PlanOne:
    """Return how to plan a change of each service, which the platform refuses for some."""

    def change(task: Task[Any], service: Service) -> None:
        if service.name in names:
            raise error_for_status(f"not {service.name}", 409)

    def plan(task: Task[Any], service: Service) -> Plan:
        return Plan({"found": "before"}, [Step(f"change {service.name}", lambda: change(task, service))])

    return plan


def test_each_entry_tells_what_became_of_its_service() -> None:
    plan, task = planned(Families(), failing("cache"), services=["shop", "cache"])
    with pytest.raises(SomeFailed) as error:
        apply_plan(plan, task)
    done, not_done = error.value.details["services"]
    assert (done["changed"], done["failed"], done["actions"]) == (True, False, ["change shop"])
    assert (not_done["changed"], not_done["failed"], not_done["msg"]) == (False, True, "not cache")
    assert (done["found"], not_done["found"]) == ("before", None)
    assert error.value.details["actions"] == ["change shop"]
    assert error.value.details["changed"]
    assert error.value.message == "1 of 2 services failed:\n- service 'cache' (svc_2): not cache"


# --- All or none ------------------------------------------------------------------------------------


def waiting(names: Sequence[str], order: list[str], fails: bool = False) -> PlanOne:
    """Return how to plan a change of each service, while some are only waited for."""

    def wait(name: str) -> None:
        order.append(f"wait for {name}")
        if fails:
            raise WaitEnded(f"{name} takes too long")

    def plan(task: Task[Any], service: Service) -> Plan:
        name = str(service.name)
        if name in names:
            return Plan({}, [Step(f"wait for {name}", lambda: wait(name), changes=False)])
        return Plan({}, [Step(f"change {name}", lambda: order.append(f"change {name}"))])

    return plan


@pytest.mark.parametrize("all_or_none", [True, False])
def test_what_is_all_or_none_changes_nothing_before_the_last_wait(all_or_none: bool) -> None:
    order: list[str] = []
    plan, task = planned(
        Families(), waiting(["cache"], order), all_or_none=all_or_none, services=["shop", "cache"]
    )
    apply_plan(plan, task)
    assert order[0] == ("wait for cache" if all_or_none else "change shop")
    assert sorted(order) == ["change shop", "wait for cache"]


@pytest.mark.parametrize("all_or_none", [True, False])
def test_a_wait_in_vain_stops_the_others_where_it_is_all_or_none(all_or_none: bool) -> None:
    order: list[str] = []
    names = ["shop", "cache"]
    plan, task = planned(
        Families(), waiting(["cache"], order, fails=True), all_or_none=all_or_none, services=names
    )
    with pytest.raises(SomeFailed, match=r"service 'cache' .*: cache takes too long") as error:
        apply_plan(plan, task)
    assert ("change shop" in order) is not all_or_none
    assert error.value.message.startswith("nothing was done: ") is all_or_none
    assert ("Set allow_partial: true" in error.value.message) is all_or_none
