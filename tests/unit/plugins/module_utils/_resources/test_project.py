# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects: found, created, renamed and deleted on difference only, within the rules for names."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Interrupted,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import ProjectGraph
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
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


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        ({"name": "shop"}, []),
        ({"id": "prj_1"}, []),
        ({"id": "prj_1", "name": "shop"}, []),
        ({"name": "new"}, [("create_project", "new")]),
        ({"name": "Shop"}, [("create_project", "Shop")]),
        ({"id": "prj_1", "name": "store"}, [("rename_project", "prj_1", "store")]),
        ({"id": "prj_1", "name": "a  b"}, [("rename_project", "prj_1", "a  b")]),
        ({"name": "shop", "new_name": "store"}, [("rename_project", "prj_1", "store")]),
        ({"name": "old", "new_name": "shop"}, []),
        ({"name": "x" * 60}, [("create_project", "x" * 60)]),
        ({"name": "shop", "state": "absent"}, [("delete_project", "prj_1")]),
        ({"id": "prj_1", "state": "absent"}, [("delete_project", "prj_1")]),
        ({"name": "gone", "state": "absent"}, []),
        ({"id": "prj_9", "state": "absent"}, []),
        ({"name": "gone", "new_name": "shop", "state": "absent"}, []),
    ],
)
def test_what_is_done(client: FakeClient, given: dict[str, Any], calls: list[Any]) -> None:
    planned = plan(client, **given)
    assert planned.changed is bool(calls)
    assert (planned.before != planned.after) is bool(calls)
    result = carry_out(planned)
    assert client.calls == calls
    again = plan(later(client), **given)
    assert not again.changed, "a second run is unchanged"
    if given.get("state") == "absent":
        assert result is None
    else:
        assert result["name"] == (given.get("new_name") or given.get("name") or "shop")
        assert result["id"] is not None
        assert set(result) == set(planned.result), "the result has the same keys in check mode"


def later(client: FakeClient) -> FakeClient:
    """The account when a second run begins."""
    client.calls.clear()
    return client


@pytest.mark.parametrize(
    ("given", "error", "complaint"),
    [
        ({"name": "x" * 61}, Invalid, "has 61 characters; at most 60"),
        (
            {"name": "shpo", "new_name": "new"},
            NoSuchItem,
            "to rename; nothing was created; did you mean 'shop'",
        ),
        ({"name": ""}, Invalid, "empty"),
        ({"name": "  "}, Invalid, "empty"),
        ({"name": "shop", "new_name": "x" * 61}, Invalid, "has 61 characters"),
        ({"name": "shop", "new_name": "full"}, Invalid, "taken by the project of id full_9, which is not"),
        ({"id": "prj_1", "name": "full"}, Invalid, "taken by the project of id full_9, which is not"),
        ({"id": "prj_2"}, NoSuchItem, "there is no project of id 'prj_2'; did you mean 'prj_1'"),
    ],
)
def test_what_is_refused(
    client: FakeClient, given: dict[str, Any], error: type[Exception], complaint: str
) -> None:
    client.add_project("full_9", "full")
    client.add_service("s", projectId="full_9")
    with pytest.raises(error, match=complaint):
        plan(client, **given)
    assert client.calls == []


def test_an_empty_project_of_the_new_name_makes_way(client: FakeClient) -> None:
    """A play under the new name has made it."""
    client.add_project("prj_9", "games")
    renamed = plan(client, name="shop", new_name="games")
    assert renamed.actions == [
        "delete project 'games' (prj_9), which is empty",
        "rename project 'shop' to 'games'",
    ]
    assert carry_out(renamed)["id"] == "prj_1"
    assert client.calls == [("delete_project", "prj_9"), ("rename_project", "prj_1", "games")]


def test_a_project_that_was_filled_meanwhile_does_not_make_way(client: FakeClient) -> None:
    client.add_project("prj_9", "games")
    renamed = plan(client, name="shop", new_name="games")
    client.add_service("svc_1", projectId="prj_9")
    with pytest.raises(Invalid, match="which is not empty"):
        carry_out(renamed)
    assert client.calls == []


@pytest.mark.parametrize(
    "given",
    [
        {"id": "prj_1", "name": "other", "state": "absent"},
        {"id": "prj_1", "name": "other", "new_name": "third"},
    ],
)
def test_an_id_and_a_name_that_contradict_each_other_are_refused(
    client: FakeClient, given: dict[str, Any]
) -> None:
    client.add_project("prj_1", "shop")
    with pytest.raises(Invalid, match=r"project 'shop' \(prj_1\), but the task says name 'other'"):
        PROJECT.plan(task_of(PROJECT, client, **given))
    assert client.calls == []


def test_a_project_with_services_is_deleted_by_force_only(client: FakeClient) -> None:
    for id in ("a", "b"):
        client.add_service(id, projectId="prj_1")
    with pytest.raises(Invalid, match="has 2 services, which would join the default project") as caught:
        plan(client, name="shop", state="absent")
    assert caught.value.details == {"resource_count": 2}
    planned, task = plan_and_task(client, name="shop", state="absent", force=True)
    carry_out(planned)
    assert client.calls == [("delete_project", "prj_1")]
    assert "join the default project" in task.warnings[0]


def lose() -> None:
    raise Interrupted("reset")


def test_a_project_whose_answer_is_lost_is_adopted(client: FakeClient) -> None:
    client.after["create_project"] = lose
    planned, task = plan_and_task(client, name="new")
    assert carry_out(planned)["name"] == "new"
    assert [call[0] for call in client.calls] == ["create_project"]
    assert "was adopted" in task.warnings[0]


def test_a_project_that_never_shows_up_ends_in_doubt(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    client.before["create_project"] = lose
    with pytest.raises(EffectUnverified):
        carry_out(plan(client, name="new"))
    assert [call[0] for call in client.calls] == ["create_project"]


def test_two_new_projects_of_the_name_are_an_error(client: FakeClient) -> None:
    def twice() -> None:
        client.add_project("prj_other", "new")
        lose()

    client.after["create_project"] = twice
    with pytest.raises(Ambiguous):
        carry_out(plan(client, name="new"))


def test_a_project_that_another_run_made_in_the_same_moment_is_taken(client: FakeClient) -> None:
    def outrun() -> None:
        client.add_project("prj_other", "new")
        raise error_for_status("taken", 400)

    client.before["create_project"] = outrun
    planned, task = plan_and_task(client, name="new")
    assert carry_out(planned)["id"] == "prj_other"
    assert "another run" in task.warnings[0]


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


def test_the_diff_holds_only_the_name(client: FakeClient) -> None:
    renaming = plan(client, id="prj_1", name="store")
    assert (renaming.before, renaming.after) == ({"name": "shop"}, {"name": "store"})
    creation = plan(client, name="new")
    assert (creation.before, creation.after) == ({}, {"name": "new"})
    removal = plan(client, name="shop", state="absent")
    assert (removal.before, removal.after) == ({"name": "shop"}, {})


def test_check_mode_says_that_the_default_project_stays() -> None:
    """It is the oldest one."""
    client = FakeClient()
    client.add_project("prj_1", "shop")
    client.project_records["prj_default"]["createdAt"] = "2020-01-01T00:00:00.000Z"
    client.project_records["prj_1"]["createdAt"] = "2021-01-01T00:00:00.000Z"
    for name, told in (("default", ["refuses to delete that one"]), ("shop", [])):
        task = task_of(PROJECT, client, check_mode=True, name=name, state="absent")
        assert PROJECT.plan(task).changed
        assert [warning[-26:] for warning in task.warnings] == told


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


def test_check_mode_expects_the_project_to_rename_from_the_play(client: FakeClient) -> None:
    task = task_of(PROJECT, client, check_mode=True, name="new", new_name="store")
    planned = PROJECT.plan(task)
    assert planned.result["name"] == "store" and planned.result["id"] is None
    assert any("only if the play makes it" in warning for warning in task.warnings)


def test_what_is_being_deleted_does_not_keep_a_project(client: FakeClient) -> None:
    client.add_service("s", projectId="prj_1", status="DELETING")
    assert plan(client, name="shop", state="absent").changed


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


@pytest.mark.parametrize(
    ("created", "clashes"), [("2026-01-01T00:00:00Z", True), ("2026-03-01T00:00:00Z", False), (None, True)]
)
def test_an_alias_that_is_taken_in_the_default_project_is_told(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch, created: str | None, clashes: bool
) -> None:
    """That is the oldest one, as far as can be told."""
    client.project_records["prj_default"]["createdAt"] = created
    client.project_records["prj_1"]["createdAt"] = "2026-02-01T00:00:00Z"
    client.add_service("s", projectId="prj_1")
    graphs = {"prj_1": [("s", "db")], "prj_default": [("t", "db"), ("u", "cache")]}

    def graph(id: str) -> ProjectGraph:
        return ProjectGraph.model_validate({"nodes": [{"id": i, "alias": alias} for i, alias in graphs[id]]})

    monkeypatch.setattr(client, "project_graph", graph)
    _planned, task = plan_and_task(client, name="shop", state="absent", force=True)
    told = [warning for warning in task.warnings if "the alias 'db' is taken" in warning]
    assert len(told) == clashes
    assert all("in the default project ('default')" in warning for warning in told)
