# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One service of a fleet: when it acts, which module plans for it and with what, and what is told of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import App
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets import members
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.decision import (
    ACT,
    Verdict,
    leave,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.members import (
    Member,
    Modules,
    command_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.memory import Memory, now
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.options import FleetOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.services.many_services import (
    ServiceJob,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import Size
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import Commitment
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Cost, Move
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pending import (
    COMMAND,
    Pending,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Resource,
    Step,
    Task,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient

URL = "https://api.example.com"
NEW_COMMAND = Plan({}, before={"command": "old"}, after={"command": "new"})
Given = dict[str, Any]


class Planner:
    """A module that notes what it is asked for, and answers with one plan for all."""

    def __init__(self, answer: Plan | None = None) -> None:
        self.answer = answer or Plan({})
        self.asked: list[Given] = []
        self.tasks: list[Task[Any]] = []

    def read_options(self, arguments: Mapping[str, Any]) -> Given:
        """Hand the arguments on."""
        return dict(arguments)

    def plan(self, task: Task[Any]) -> Plan:
        """Note the task, and those of its arguments that not all modules share."""
        self.tasks.append(task)
        names = ("id", "state", "command", "dimensions", "max_monthly", "slug", "tag")
        self.asked.append({name: task.options[name] for name in names if task.options.get(name)})
        return self.answer


def member_of(folder: Path, planner: Planner | None = None, fleet_client: Any = None, **given: Any) -> Member:
    """Return service ``web`` in a fleet that is restarted, or what else is given."""
    client: Any = fleet_client or FakeClient()
    if "svc" not in client.service_records:
        client.add_service("svc")
    options = FleetOptions(
        **{"name": "shop", "state": "restarted", "state_dir": str(folder), "base_url": URL, **given}
    )
    service = client.service("svc")
    job = ServiceJob(Task(client, options), wanted="web", by_name=True, service=service)
    module = cast(Resource[Any], planner or Planner())
    return Member(job, service, Memory.of(str(folder), URL, "shop"), Modules(module, module))


def account_with(state: str | None = "running", **fields: Any) -> FakeClient:
    """Return an account with service ``web``."""
    client = FakeClient()
    client.add_service("svc", state=state, **fields)
    return client


def begin(member: Member, *, seconds_ago: float = 0) -> Member:
    """Let an earlier run have begun the service."""
    member.memory.record.begin(member.job.task.options.what, False)
    member.memory.record.begun["svc"] = now() - timedelta(seconds=seconds_ago)
    return member


# --- What is known of it ----------------------------------------------------------------------------


def test_it_is_read_anew(tmp_path: Path) -> None:
    """The service as well as its container, for the member as well as for its job."""
    client = account_with()
    member = member_of(tmp_path, fleet_client=client)
    assert (member.id, member.state) == ("svc", None)
    client.service_records["svc"]["status"] = "SUSPENDED"
    client.states["svc"] = "stopping"
    member.look_again()
    assert (member.service.status, member.state) == ("SUSPENDED", "stopping")
    assert member.job.service is member.service


def standing(member: Member) -> tuple[bool, bool]:
    """Return whether an earlier run is gone on with, and whether it left the service unfinished."""
    return member.goes_on, member.unfinished


def test_what_an_earlier_run_left_unfinished(tmp_path: Path) -> None:
    """What was begun and is not done, of the same run alone."""
    assert standing(member_of(tmp_path)) == (False, False)
    member = begin(member_of(tmp_path))
    assert standing(member) == (True, True)
    member.memory.record.done.add("svc")
    assert standing(member) == (True, False)
    assert standing(begin(member_of(tmp_path, start_over=True))) == (False, False)
    other = begin(member_of(tmp_path))
    other.memory.record.what = "something else"
    assert standing(other) == (False, False)
    assert standing(begin(member_of(tmp_path, state="stopped"))) == (True, False)


def test_a_start_is_outstanding_until_it_is_back(tmp_path: Path) -> None:
    """Of a service that ran before the fleet was stopped."""
    member = member_of(tmp_path, state="started")
    assert standing(member) == (False, False)
    member.memory.record.note_stop("svc", True)
    assert standing(member) == (False, True)
    restarted = member_of(tmp_path)
    restarted.memory.record.note_stop("svc", True)
    assert standing(restarted) == (False, False)
    member.memory.record.back.add("svc")
    assert standing(member) == (False, False)


@pytest.mark.parametrize(
    ("verdict", "plan", "begun", "expected"),
    [
        (ACT, None, True, False),
        (ACT, Plan({}), False, False),
        (ACT, Plan({}), True, True),
        (ACT, Plan({}, [Step("restart", lambda: None)]), False, True),
        (leave("it does not run"), Plan({}, [Step("restart", lambda: None)]), True, False),
    ],
)
def test_it_acts_on_steps_or_unfinished_work(
    tmp_path: Path, verdict: Verdict, plan: Plan | None, begun: bool, expected: bool
) -> None:
    """And only if that was decided."""
    member = member_of(tmp_path)
    member.verdict, member.job.plan = verdict, plan
    assert (begin(member) if begun else member).acts is expected


# --- Deciding ---------------------------------------------------------------------------------------


def test_the_decision_knows_all_that_is_remembered(tmp_path: Path) -> None:
    """What is done is not done again, and what was begun is not left alone."""
    member = member_of(tmp_path, fleet_client=account_with("stopped"))
    member.read_metrics()
    member.decide()
    assert member.verdict == leave("it does not run")
    begin(member).decide()
    assert member.verdict == ACT
    other = begin(member_of(tmp_path, fleet_client=account_with("stopped")))
    other.memory.record.what = "something else"
    other.read_metrics()
    other.decide()
    assert other.verdict == leave("it does not run")
    member.memory.record.done.add("svc")
    member.decide()
    assert not member.verdict.act and member.verdict.left_alone is None
    started = member_of(tmp_path, state="started", fleet_client=account_with("stopped"))
    started.read_metrics()
    started.memory.record.note_stop("svc", True)
    started.decide()
    assert started.verdict == ACT
    started.memory.record.back.add("svc")
    started.decide()
    assert "it was not the fleet that stopped it" in str(started.verdict.left_alone)


@pytest.mark.parametrize(
    ("state", "status", "says"),
    [
        (None, "ACTIVE", r"whether service 'web' \(svc\) runs is unknown: its node cannot be reached"),
        ("odd", "ACTIVE", "is unknown: its state is 'odd'"),
        ("running", "FAILED", r"service 'web' \(svc\) has status FAILED, so nothing is done"),
    ],
)
def test_nothing_is_decided_on_the_unknown(tmp_path: Path, state: str | None, status: str, says: str) -> None:
    """The error says what is known."""
    member = member_of(tmp_path, fleet_client=account_with(state, status=status))
    member.read_metrics()
    with pytest.raises(Invalid, match=says):
        member.decide()
    assert not member.verdict.act


def test_the_state_of_a_suspended_service_does_not_matter(tmp_path: Path) -> None:
    """It has no container."""
    member = member_of(tmp_path, fleet_client=account_with(None, status="SUSPENDED"))
    member.decide()
    assert member.verdict == leave("it is suspended")


# --- Planning ---------------------------------------------------------------------------------------


def planned(member: Member) -> list[Given]:
    """Return what the module is asked for."""
    member.read_metrics()
    member.verdict = ACT
    planner = cast(Planner, member.modules.service)
    assert member.make_plan(member.job.task) is planner.answer
    return planner.asked


def test_what_is_left_alone_is_not_planned(tmp_path: Path) -> None:
    """No module is asked."""
    planner = Planner()
    member = member_of(tmp_path, planner)
    plan = member.make_plan(member.job.task)
    assert (plan.result, list(plan.steps), planner.asked) == ({}, [], [])


@pytest.mark.parametrize("state", ["started", "stopped", "restarted"])
def test_the_state_is_that_of_the_module(tmp_path: Path, state: str) -> None:
    """With the options that all share, as part of a larger plan."""
    planner = Planner()
    member = member_of(tmp_path, planner, state=state, max_monthly="5", wait_timeout=7.0)
    assert planned(member) == [{"id": "svc", "state": state, "max_monthly": "5"}]
    (task,) = planner.tasks
    assert task.composed and task.options["wait_timeout"] == 7.0 and task.options["base_url"] == URL
    assert task.options["state_dir"] == str(tmp_path) and task.options["dimensions"] is None
    assert task.options["resume"] is False


def test_a_restart_is_not_planned_twice(tmp_path: Path) -> None:
    """The uptime tells whether the one that an earlier run began happened; so does a container on its way."""
    client = account_with()
    member = begin(member_of(tmp_path, fleet_client=client), seconds_ago=50)
    assert [one["state"] for one in planned(member)] == ["restarted"]
    client.uptimes["svc"] = 40
    assert [one["state"] for one in planned(member)] == ["restarted", "started"]
    client.uptimes["svc"], client.states["svc"] = 100, "starting"
    assert planned(member)[-1]["state"] == "started"
    member.memory.record.done.add("svc")
    assert planned(member)[-1]["state"] == "restarted"


def test_a_restart_shows_only_if_it_was_begun(tmp_path: Path) -> None:
    """Whatever the uptime."""
    client = account_with()
    client.uptimes["svc"] = 0
    member = member_of(tmp_path, fleet_client=client)
    member.read_metrics()
    assert not member.shows_restart()
    assert begin(member, seconds_ago=5).shows_restart()


@pytest.mark.parametrize(
    ("state", "begun", "looks"), [("restarted", True, 3), ("restarted", False, 0), ("started", True, 0)]
)
def test_a_restart_that_was_begun_is_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, begun: bool, looks: int
) -> None:
    """By reading the container anew at each look, and no longer than until it shows."""
    client, seen = account_with(), list[Any]()
    member = member_of(tmp_path, fleet_client=client, state=state)
    if begun:
        begin(member, seconds_ago=50)

    def poll(shows: Any) -> None:
        for uptime in (100, 101, 1):
            client.uptimes["svc"] = uptime
            seen.append(shows())

    monkeypatch.setattr(members, "poll_for", poll)
    member.await_restart()
    assert seen == [False, False, True][:looks]


def test_a_plan_for_later_has_no_effect_on_the_task(tmp_path: Path) -> None:
    """It is made as in check mode, and nobody is warned twice."""
    planner = Planner()
    member = member_of(tmp_path, planner)
    member.verdict, own = ACT, member.job.task
    assert member.foresee() is planner.answer
    assert planner.tasks[0].check_mode and planner.tasks[0].warnings is not own.warnings
    assert planner.tasks[0].effects is not own.effects
    member.job.task = dataclasses.replace(own, check_mode=True)
    member.foresee()
    assert planner.tasks[1].warnings is own.warnings


# --- Updates ----------------------------------------------------------------------------------------


def test_a_size_is_set_and_starts_nothing(tmp_path: Path) -> None:
    """What a cut off update had stopped is started."""
    member = member_of(tmp_path, state="updated", dimensions=Size(ram_gb=6))
    size = {"cpu_cores": None, "ram_gb": 6, "storage_gb": None}
    assert planned(member) == [{"id": "svc", "state": "present", "dimensions": size}] * 2
    begin(member)
    assert planned(member)[-1]["state"] == "present"
    member.memory.record.up.add("svc")
    assert planned(member)[-1] == {"id": "svc", "state": "started", "dimensions": size}


@pytest.mark.parametrize(
    ("state", "status", "plan", "expected"),
    [
        ("running", "ACTIVE", NEW_COMMAND, "restarted"),
        ("starting", "ACTIVE", NEW_COMMAND, "restarted"),
        ("running", "ACTIVE", Plan({}), "present"),
        ("stopped", "ACTIVE", NEW_COMMAND, "present"),
        ("stopping", "ACTIVE", NEW_COMMAND, "restarted"),
        ("running", "SUSPENDED", NEW_COMMAND, "present"),
    ],
)
def test_a_new_command_makes_a_container_anew(
    tmp_path: Path, state: str, status: str, plan: Plan, expected: str
) -> None:
    """If one runs, and the command is another."""
    client = account_with(state, status=status)
    member = member_of(tmp_path, Planner(plan), fleet_client=client, state="updated", command="new")
    assert planned(member)[-1] == {"id": "svc", "state": expected, "command": "new"}


def test_a_command_that_waits_for_a_start_gets_one(tmp_path: Path) -> None:
    """An earlier run wrote it, and was cut off; an update of the size alone does not care."""
    Pending.of(str(tmp_path), URL, "svc").note(COMMAND)
    assert planned(member_of(tmp_path, state="updated", command="new"))[-1]["state"] == "restarted"
    size = Size(ram_gb=6)
    assert planned(member_of(tmp_path, state="updated", dimensions=size))[-1]["state"] == "present"


def account_of_apps(**fields: Any) -> Any:
    """Return an account whose only application is service ``web``."""
    client: Any = account_with(**fields)
    client.apps = lambda: [
        App(id="other", slug="no", status="ACTIVE"),
        App(id="svc", slug="w", status="ACTIVE"),
    ]
    return client


def test_a_release_is_deployed_by_its_slug(tmp_path: Path) -> None:
    """By the module for that, and not by the one for services."""
    member = member_of(tmp_path, fleet_client=account_of_apps(), state="updated", tag="v2")
    deploy = Planner()
    member.modules = dataclasses.replace(member.modules, app_deploy=cast(Resource[Any], deploy))
    member.verdict = ACT
    assert member.make_plan(member.job.task) is deploy.answer
    assert deploy.asked == [{"slug": "w", "tag": "v2"}] and not cast(Planner, member.modules.service).asked


@pytest.mark.parametrize(("family", "listed"), [("GAME", True), ("APP", False)])
def test_only_an_application_has_releases(tmp_path: Path, family: str, listed: bool) -> None:
    """By its family, and by the list of applications."""
    client = account_of_apps(family=family)
    if not listed:
        client.apps = list
    member = member_of(tmp_path, fleet_client=client, state="updated", tag="v2")
    with pytest.raises(Invalid, match=r"service 'web' \(svc\) is no application, so release 'v2' cannot"):
        member.plan_update(member.job.task)


# --- Results ----------------------------------------------------------------------------------------


def test_facts_are_those_of_the_plan_or_else_of_the_service(tmp_path: Path) -> None:
    """An application tells its status below a key of its own."""
    member = member_of(tmp_path)
    member.read_metrics()
    known = {"status": "ACTIVE", "state": "running", "ran": None, "cost": None}
    assert member.facts(None, None, ()) == member.expected_facts() == known
    member.memory.record.note_stop("svc", True)
    assert member.facts({"status": "SUSPENDED", "state": "stopped"}, None, ()) == {
        **known,
        "status": "SUSPENDED",
        "state": "stopped",
        "ran": True,
    }
    assert member.facts({"app": {"status": "DEPLOYING"}}, None, ())["status"] == "DEPLOYING"


RESIZE = Move("resize", Decimal(3))
COST = Cost(Decimal(1), Decimal(3))


def test_the_expected_cost_is_shown_only_if_something_moves_money(tmp_path: Path) -> None:
    """With the service that it is about."""
    member = member_of(tmp_path)
    member.job.plan = Plan({"state": "stopped"}, cost=COST)
    assert member.expected_facts()["cost"] is None and member.expected_facts()["state"] == "stopped"
    resize = Step("resize", lambda: None, move=RESIZE, commitment=Commitment("resize", "web", Decimal(3)))
    member.job.plan = Plan({}, [resize], cost=COST)
    cost = member.expected_facts()["cost"]
    assert (cost["service"], cost["service_id"], cost["moves"]) == ("web", "svc", ["resize"])
    assert (cost["monthly_before"], cost["monthly_change"]) == ("1.00", "2.00")


def test_after_the_last_step_the_result_is_that_of_the_platform(tmp_path: Path) -> None:
    """Reread if anything was done, and in any case the state and what was paid."""
    client = account_with("stopped")
    member = member_of(tmp_path, fleet_client=client)
    member.reread()
    assert member.job.result == {} and member.metrics is None
    member.job.plan = Plan(
        {"status": "planned", "state": "running"}, reread=lambda: {"status": "seen"}, cost=COST
    )
    member.reread()
    assert member.job.result == {"status": "planned", "state": "stopped", "ran": None, "cost": None}
    member.job.task.effects.finish("resize", RESIZE)
    member.reread()
    assert member.job.result["status"] == "seen"
    assert (member.job.result["cost"]["monthly_after"], member.job.result["cost"]["moves"]) == (
        "3.00",
        ["resize"],
    )


@pytest.mark.parametrize(("state", "found"), [({"command": "x"}, "x"), ({}, None), ("text", None)])
def test_the_command_in_a_state(state: Any, found: str | None) -> None:
    """A state that is a text has none."""
    assert command_of(state) == found
