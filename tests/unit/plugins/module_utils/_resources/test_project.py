# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects: what becomes of a call whose answer is lost, of what others do meanwhile, of what shows late."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Interrupted,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    Invalid,
    NoSuchItem,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import run


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.add_project("prj_1", "shop")
    return client


def plan(client: FakeClient, **given: Any) -> Plan:
    planned, _task = plan_and_task(client, **given)
    return planned


def plan_and_task(client: FakeClient, **given: Any) -> tuple[Plan, Task]:
    task = task_of(PROJECT, client, **given)
    planned = PROJECT.plan(task)
    assert client.calls == [], "a plan changes nothing"
    return planned, task


def test_an_empty_project_of_the_new_name_makes_way(client: FakeClient) -> None:
    """A play under the new name has made it."""
    client.add_project("prj_9", "games")
    assert carry_out(plan(client, name="shop", new_name="games"))["id"] == "prj_1"
    assert client.calls == [("delete_project", "prj_9"), ("rename_project", "prj_1", "games")]


def test_a_project_that_was_filled_meanwhile_does_not_make_way(client: FakeClient) -> None:
    client.add_project("prj_9", "games")
    renamed = plan(client, name="shop", new_name="games")
    client.add_service("svc_1", projectId="prj_9")
    with pytest.raises(Invalid, match="which is not empty"):
        carry_out(renamed)
    assert client.calls == []


def lose() -> None:
    raise Interrupted("reset")


def test_a_project_whose_answer_is_lost_is_adopted(client: FakeClient) -> None:
    client.after["create_project"] = lose
    planned, task = plan_and_task(client, name="new")
    assert carry_out(planned)["name"] == "new"
    assert [call[0] for call in client.calls] == ["create_project"]
    assert "was adopted" in task.warnings[0]


def test_a_project_that_the_list_shows_late_is_waited_for(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next task looks for it on the list."""
    clock = Clock(monkeypatch)
    late: dict[str, dict[str, Any]] = {}
    client.after["create_project"] = lambda: late.update([client.project_records.popitem()])
    clock.then += [lambda: None, lambda: client.project_records.update(late)]
    assert carry_out(plan(client, name="new"))["name"] == "new"
    assert len(clock.pauses) == 2
    assert client.calls == [("create_project", "new")]


def test_a_project_that_the_list_does_not_show_afterwards_is_an_error(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    client.after["create_project"] = lambda: client.project_records.popitem() and None
    with pytest.raises(NoSuchItem, match="no project named 'new' is on its list"):
        carry_out(plan(client, name="new"))


def test_a_project_of_another_run_is_no_change_of_this_one(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform refuses the second one; what the other run made is the result."""
    create = Client.create_project

    def outrun(client: Client, name: str) -> None:
        assert sandbox.api("POST", "/api/projects", {"name": name}).ok
        sandbox.clear_journal()
        create(client, name)

    monkeypatch.setattr(Client, "create_project", outrun)
    result = run(sandbox, PROJECT, name="new")
    made = [project for project in sandbox.api("GET", "/api/projects").json() if project["name"] == "new"]
    assert [line["status"] >= 400 for line in sandbox.journal("projects.create")] == [True]
    assert (result["changed"], result["actions"]) == (False, [])
    assert [result["project"]["id"]] == [project["id"] for project in made]
    assert result["diff"]["before"] == result["diff"]["after"]
    assert "another run created it" in result["warnings"][0]


def test_a_project_that_the_platform_named_otherwise_is_in_the_result(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    client.after["create_project"] = lambda: client.project_records["prj_3"].update(name="web shop")
    with pytest.raises(Invalid, match=r"stored 'web shop' \(prj_3\); use that name") as error:
        carry_out(plan(client, name="Web Shop"))
    assert error.value.details["project"]["id"] == "prj_3"


def test_a_refused_deletion_does_not_name_the_default_project_twice(sandbox: Sandbox) -> None:
    result = run(sandbox, PROJECT, name="default", state="absent", force=True)
    assert result["failed"] and result["msg"].lower().count("default project") == 1


def test_another_new_project_is_not_adopted(client: FakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)

    def create() -> None:
        client.add_project("prj_2", "other")
        lose()

    client.before["create_project"] = create
    with pytest.raises(EffectUnverified):
        carry_out(plan(client, name="new"))


def test_a_deletion_ends_when_the_list_has_lost_the_project(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next task would delete it again."""
    clock = Clock(monkeypatch)
    record = dict(client.project_records["prj_1"])
    client.after["delete_project"] = lambda: client.project_records.update(prj_1=record)

    def lose_it() -> None:
        del client.project_records["prj_1"]

    clock.then += [lambda: None, lose_it]
    carry_out(plan(client, name="shop", state="absent"))
    assert len(clock.pauses) == 2
