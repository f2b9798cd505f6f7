# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways of a relocation, step by step; tests/unit/data/relocate has what is planned or refused."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    BadRequest,
    HostedError,
    Interrupted,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import Service
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import Data
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations import work
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.ways import (
    plan_back,
    plan_end,
    plan_there,
    view,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    Invalid,
)
from unit.plugins.fakes import Clock
from unit.plugins.module_utils._resources.relocations.in_memory import Case, case

SINCE = "2020-01-01T00:00:00Z"
AGAIN = "2020-01-02T12:00:00.123Z"


# --- There --------------------------------------------------------------------------------------------

SERVED = [
    "switched: environment acme-web",
    "switched: app_deploy acme-web v1",
    "switched: service old suspended",
]
"""What is done once the new service is in service."""


def test_the_old_service_is_stopped_only_for_what_changed_since_the_first_copy(tmp_path: Path) -> None:
    """And each step is remembered before it is begun."""
    found = case(tmp_path, host="nd_2")
    plan = plan_there(found.work)
    assert found.carry_out(plan) == view(found.work.record)
    assert found.noted.steps == [
        "ordered: service survival-2 stopped",
        "ordered: files old new",
        "stopped: service old stopped",
        "stopped: files old new",
        "stopped: service new started",
        *SERVED,
    ]
    content = found.content
    assert (content.phase, content.new_id, content.newer) == (Phase.RELOCATED, "new", True)
    assert (content.data, content.ran, content.dependents) == ("files", True, ["acme-web"])
    assert content.switched_at and content.since and content.keep_days == 7
    assert plan.result["phase"] == "relocated" and plan.result["dependents"] == ["acme-web"]


def test_a_database_is_copied_while_nothing_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has to run for that, as does the new one. What refers to it is stopped in its place."""
    awaited: list[str] = []
    monkeypatch.setattr(work, "await_database", lambda task, id: awaited.append(id))
    found = case(tmp_path, data=Data.DATABASE, keep_days=3)
    found.noted.rounds["database"] = 2
    found.carry_out(plan_there(found.work))
    assert found.noted.steps == [
        "ordered: service survival-2 started",
        "ordered: database old new",
        "stopped: service app_1 stopped",
        "stopped: service old started",
        "stopped: database old new",
        "stopped: service old stopped",
        "stopped: service new started",
        *SERVED,
    ]
    assert awaited == ["new", "new", "new"], "for both copies, and for the comparison"
    assert found.content.keep_days == 3


def test_a_database_that_something_else_writes_to_is_not_switched_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "await_database", lambda task, id: None)
    found = case(tmp_path, data=Data.DATABASE)
    found.noted.rounds["database"] = 3  # a third time, when both are compared
    with pytest.raises(EffectUnverified, match=r"Stop that, and run this again.*old.* runs again"):
        found.carry_out(plan_there(found.work))
    assert found.noted.steps[-3:] == [
        "stopped: service old started",
        "stopped: service app_1 started",
        "ordered: service new stopped",
    ]


@pytest.mark.parametrize("data", [Data.FILES, Data.DATABASE, Data.NONE])
@pytest.mark.parametrize("state", ["running", "starting", "installing"])
def test_what_runs_again_during_the_stop_is_not_switched_away_from(
    data: Data, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database runs while it is copied, and is stopped after that."""
    monkeypatch.setattr(work, "await_database", lambda task, id: None)
    found = case(tmp_path, data=data, dependents=())
    found.noted.rounds["database"] = 2

    def start_again(module: str, options: Mapping[str, Any]) -> None:
        if options.get("id") == "new" and options.get("state") == "started":
            found.account.states["old"] = state

    found.noted.failing = start_again
    with pytest.raises(EffectUnverified, match="was started again while it was copied"):
        found.carry_out(plan_there(found.work))
    assert found.content.phase == Phase.ORDERED
    assert "switched: service old suspended" not in found.noted.steps


def test_a_stop_that_shows_late_is_not_taken_for_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a run that was killed: it was confirmed, then the end of an earlier start shows for a moment."""
    monkeypatch.setattr(work, "QUIET_SECONDS", 10.0)
    clock, found = Clock(monkeypatch), case(tmp_path, dependents=())
    states = found.account.states

    def start_again(module: str, options: Mapping[str, Any]) -> None:
        if options.get("id") == "new" and options.get("state") == "started":
            states["old"] = "running"
            clock.then = [lambda: None, lambda: states.update(old="stopped")]

    found.noted.failing = start_again
    found.carry_out(plan_there(found.work))
    assert found.content.phase == Phase.RELOCATED


def test_a_first_copy_is_announced_as_far_as_it_is_known(tmp_path: Path) -> None:
    found = case(tmp_path, dependents=())
    said = "copy what service 'survival' (old) holds to service 'survival-2' while it is in service"
    assert said in plan_there(found.work).actions
    found.work.foreseen = "copy 3 files"
    assert plan_there(found.work).actions[1] == "copy 3 files"


def test_a_service_that_is_copied_to_holds_nothing_newer(tmp_path: Path) -> None:
    """So that the way back has nothing to copy, if the copy fails."""
    found = case(tmp_path, Phase.RETURNED, facts={"newer": True, "switched_at": SINCE})

    def refuse_files(module: str, options: Any) -> None:
        if module == "files":
            raise Invalid("the disk is full")

    found.noted.failing = refuse_files
    with pytest.raises(Invalid, match="the disk is full"):
        found.carry_out(plan_there(found.work))
    content = found.content
    assert (content.phase, content.newer, content.switched_at) == (Phase.ORDERED, False, None)
    assert content.since is None


def test_a_service_that_went_back_gets_everything_again(tmp_path: Path) -> None:
    """It is resumed for that, brought to what the task says, and nothing is ordered."""
    found = case(tmp_path, Phase.RETURNED, facts={"newer": True, "since": SINCE}, host="nd_2", runtime="rt_2")
    found.account.add("new", "survival-2", "SUSPENDED")
    found.carry_out(plan_there(found.work))
    assert found.noted.steps[:3] == [
        "ordered: service new resumed",
        "ordered: service new stopped",
        "ordered: files old new",
    ]
    brought = found.noted.of("service")[1]
    assert (brought["host"], brought["product"], brought["runtime"]) == ("nd_2", None, "rt_2")
    assert (brought["public"], brought["command"]) == (False, None)


def test_a_new_service_that_is_gone_while_the_old_one_is_stopped_lets_that_run_again(
    tmp_path: Path,
) -> None:
    """Nothing else of its name is taken for it. The next run orders another one."""
    found = case(tmp_path, Phase.STOPPED, facts={"ran": True}, dependents=())
    del found.account.service_records["new"]
    with pytest.raises(Invalid, match=r"made is not known; nothing was done.*old.* runs again"):
        found.carry_out(plan_there(found.work))
    assert found.account.states["old"] == "running" and found.content.phase == Phase.ORDERED
    assert found.content.new_id is None


@pytest.mark.parametrize(
    ("status", "state", "ran", "problem"),
    [
        ("ACTIVE", "running", True, None),
        ("ACTIVE", "stopped", False, None),
        ("ACTIVE", "stopped", True, "does not run"),
        ("SUSPENDED", "running", True, "has status SUSPENDED"),
    ],
)
def test_the_old_service_is_suspended_only_if_the_new_one_is_in_service(
    status: str, state: str, ran: bool, problem: str | None, tmp_path: Path
) -> None:
    found = case(tmp_path, Phase.SWITCHED, facts={"ran": ran}, dependents=())
    found.account.add("new", "survival-2", status, state)
    plan = plan_there(found.work)
    if problem is None:
        found.carry_out(plan)
        return
    with pytest.raises(Invalid, match=f"{problem}, so service 'survival' .* was not suspended") as refused:
        found.carry_out(plan)
    assert "with state: returned to go back" in refused.value.message
    assert found.noted.steps == [] and found.content.phase == Phase.SWITCHED


@pytest.mark.parametrize("phase", [Phase.NONE, Phase.SWITCHED])
def test_what_is_started_while_references_are_rewritten_is_not_suspended(
    phase: Phase, tmp_path: Path
) -> None:
    found = case(tmp_path, phase)

    def start_again(module: str, options: Mapping[str, Any]) -> None:
        if module == "app_deploy":
            found.account.states["old"] = "running"

    found.noted.failing = start_again
    with pytest.raises(Invalid, match="was started since"):
        found.carry_out(plan_there(found.work))
    assert found.noted.steps[-2:] == SERVED[:2], "and it is not rescued"
    assert found.content.phase == Phase.SWITCHED


@pytest.mark.parametrize("state", ["stopped", "stopping", "unknown", None])
@pytest.mark.parametrize("status", ["ACTIVE", "SUSPENDED"])
def test_what_is_not_known_to_run_since_the_switch_is_suspended(
    status: str, state: str | None, tmp_path: Path
) -> None:
    found = case(tmp_path, Phase.SWITCHED)
    found.account.add("old", "survival", status)
    found.account.states["old"] = state
    found.carry_out(plan_there(found.work))
    assert found.noted.steps == SERVED


def test_a_container_that_shows_as_running_though_it_is_suspended_holds_nothing_newer(tmp_path: Path) -> None:
    """As after a run that was killed between the suspension and the note of that."""
    found = case(tmp_path, Phase.SWITCHED)
    found.account.add("old", "survival", "SUSPENDED", "running")
    found.carry_out(plan_there(found.work))
    assert found.content.phase == Phase.RELOCATED


def test_an_end_of_an_earlier_start_is_not_taken_for_one_since_the_switch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "QUIET_SECONDS", 10.0)
    clock, found = Clock(monkeypatch), case(tmp_path, Phase.SWITCHED, dependents=())
    states = found.account.states
    states["old"] = "running"
    clock.then = [lambda: None, lambda: states.update(old="stopped")]
    found.carry_out(plan_there(found.work))
    assert found.content.phase == Phase.RELOCATED


# --- Back again -----------------------------------------------------------------------------------------


def returning(folder: Path, phase: Phase = Phase.RELOCATED, **given: Any) -> Case:
    """Return a relocation that is to go back: its old service is suspended, and the new one is in use."""
    facts = {"newer": True, "switched_at": SINCE, "since": SINCE, "ran": True, **given.pop("facts", {})}
    found = case(folder, phase, given.pop("data", Data.FILES), facts=facts, state="returned", **given)
    if phase is Phase.RELOCATED:
        found.account.add("old", "survival", "SUSPENDED", "stopped")
        old = cast(Service, found.account.service("old"))
        found.work.origin = replace(found.work.origin, service=old)
    return found


def test_the_old_service_is_in_service_before_the_new_one_is_suspended(tmp_path: Path) -> None:
    """What was written to the new one stays there, and that is said."""
    found = returning(tmp_path)
    plan = plan_back(found.work)
    assert found.carry_out(plan) == view(found.work.record)
    assert found.noted.steps == [
        "returning: service old resumed",
        "returning: service old started",
        "returning: environment acme-web",
        "returning: app_deploy acme-web v1",
        "returning: service new suspended",
    ]
    assert [made.kind for made in plan.moves] == ["suspension", "suspension"]
    assert plan.cost is not None and (plan.cost.before, plan.cost.after) == (Decimal(9), Decimal(9))
    content = found.content
    assert (content.phase, content.newer, content.keep_days) == (Phase.RETURNED, True, 7)
    assert content.since > SINCE
    assert "in service since 2020-01-01T00:00:00Z" in found.work.task.warnings[0]
    assert plan.result["phase"] == "returned" and plan.subject == "survival"
    shown: dict[str, Any] = {"product": "minecraft", "runtime": "rt_1", "host": "nd_1", "public": False}
    shown |= {"dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}, "monthly": Decimal(9)}
    assert plan.before == {**shown, "in service": "service 'survival-2'"}
    assert plan.after == {**shown, "in service": "service 'survival' (old)"}


def test_what_is_copied_back_is_copied_while_neither_is_in_use(tmp_path: Path) -> None:
    """A run that is killed meanwhile leaves a note, as the old service holds a mixture then."""
    found = returning(tmp_path, copy_back=True)
    seen: list[bool] = []
    found.noted.failing = lambda module, options: seen.append(found.content.copying_back)
    found.carry_out(plan_back(found.work))
    assert found.noted.steps == [
        "returning: service old resumed",
        "returning: service new stopped",
        "returning: files new old",
        "returning: service old started",
        "returning: environment acme-web",
        "returning: app_deploy acme-web v1",
        "returning: service new suspended",
    ]
    assert seen == [False, False, True, False, False, False, False]
    assert not found.content.newer and found.work.task.warnings == []


def test_a_database_is_copied_back_while_nothing_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "await_database", lambda task, id: None)
    found = returning(tmp_path, data=Data.DATABASE, copy_back=True)
    found.noted.rounds["database"] = 1
    found.carry_out(plan_back(found.work))
    assert found.noted.steps == [
        "returning: service old resumed",
        "returning: service app_1 stopped",
        "returning: service old started",
        "returning: database new old",
        "returning: service old started",
        "returning: environment acme-web",
        "returning: app_deploy acme-web v1",
        "returning: service new suspended",
    ]
    copies = [
        (each["source_id"], each["service"]) for name, each in found.noted.planned if name == "database"
    ]
    assert copies == [("new", "old")] * 2, "the second time to compare both"


@pytest.mark.parametrize("phase", [Phase.STOPPED, Phase.ORDERED, Phase.RETURNING])
def test_a_way_back_starts_what_a_killed_run_left_stopped(phase: Phase, tmp_path: Path) -> None:
    """Also if it is killed itself."""
    facts: dict[str, Any] = {"newer": False, "switched_at": None, "running": ["app_1"]}
    found = returning(tmp_path, phase, facts=facts, dependents=())
    seen: list[list[str]] = []
    found.noted.failing = lambda module, options: seen.append(found.content.running)
    found.carry_out(plan_back(found.work))
    assert "returning: service app_1 started" in found.noted.steps
    assert seen[0] == ["app_1"] and found.content.running == []


@pytest.mark.parametrize(
    ("error", "is_back"), [(BadRequest("no funds", 400), False), (Interrupted("lost"), True)]
)
def test_what_could_not_be_resumed_is_not_back(error: HostedError, is_back: bool, tmp_path: Path) -> None:
    """So that what the new service got can still be copied to it."""
    found = returning(tmp_path, dependents=())

    def fail(module: str, options: Mapping[str, Any]) -> None:
        raise error

    found.noted.failing = fail
    with pytest.raises(HostedError):
        found.carry_out(plan_back(found.work))
    assert (found.content.back_since is not None) is is_back


@pytest.mark.parametrize("data", [Data.FILES, Data.DATABASE])
def test_nothing_is_copied_from_a_suspended_service(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it shows of its files is open: an empty folder would be mirrored."""
    monkeypatch.setattr(work, "await_database", lambda task, id: None)
    found = case(tmp_path, Phase.STOPPED, data=data)
    found.work.origin.service.status = "SUSPENDED"
    plan = found.work.plan_copy
    with pytest.raises(Invalid, match="Resume it, and run this again"):
        plan(found.work.old, "new")
    assert found.noted.planned == []


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize("way", [plan_there, plan_back])
def test_the_platforms_own_time_of_the_suspension_is_remembered(
    way: Any, readable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing fails if it cannot be read."""
    found = case(tmp_path, Phase.SWITCHED, facts={"switched_at": SINCE}, dependents=())
    plan = way(found.work)
    left = "old" if way is plan_there else "new"
    read = found.account.service

    def once_suspended(id: str) -> Service | None:
        if id == left and found.noted.steps and found.noted.steps[-1].endswith(f"{left} suspended"):
            if not readable:
                raise Interrupted("no response")
            found.account.service_records[left]["dates"] = {"suspendedAt": AGAIN}
        return read(id)

    monkeypatch.setattr(found.account, "service", once_suspended)
    found.carry_out(plan)
    assert found.content.suspended_at == (AGAIN if readable else None)
    assert found.content.since and found.content.phase in (Phase.RELOCATED, Phase.RETURNED)


# --- The end --------------------------------------------------------------------------------------------


def ending(folder: Path, phase: Phase = Phase.RELOCATED, **given: Any) -> tuple[Case, Plan]:
    """Return a relocation whose date is over, and the plan of its end."""
    facts = {"since": SINCE, **given.pop("facts", {})}
    found = case(folder, phase, facts=facts, state="finished", **given)
    left = "new" if phase is Phase.RETURNED else "old"
    found.account.service_records[left].update(status="SUSPENDED", dates={"suspendedAt": SINCE})
    return found, plan_end(found.work.task, found.work.record, found.work.modules.service)


@pytest.mark.parametrize("days", [None, 0])
def test_without_a_date_of_the_platform_nothing_is_over(days: int | None, tmp_path: Path) -> None:
    """Its age is not known, and keep_days: 0 asks for none."""
    found, _plan = ending(tmp_path, keep_days=days)
    found.account.clock = PlatformClock()
    said = r"kept until 2020-01-08.*, and no response of the platform has a Date"
    with nullcontext() if days == 0 else pytest.raises(Invalid, match=said):
        plan_end(found.work.task, found.work.record, found.work.modules.service)
