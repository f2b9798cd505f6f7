# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects: what becomes of a call whose answer is lost, of what others do meanwhile, of what shows late."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import before_each, run


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


def test_a_project_of_another_run_is_no_change_of_this_one(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform refuses the second one; what the other run made is the result."""

    def outrun(_ids: dict[str, str], body: dict[str, Any]) -> None:
        assert sandbox.api("POST", "/api/projects", body).ok
        sandbox.clear_journal()

    before_each(monkeypatch, r.PROJECT_CREATE, outrun)
    result = run(sandbox, PROJECT, name="new")
    made = [project for project in sandbox.api("GET", "/api/projects").json() if project["name"] == "new"]
    assert [line["status"] >= 400 for line in sandbox.journal("projects.create")] == [True]
    assert (result["changed"], result["actions"]) == (False, [])
    assert [result["project"]["id"]] == [project["id"] for project in made]
    assert result["diff"]["before"] == result["diff"]["after"]
    assert "another run created it" in result["warnings"][0]
