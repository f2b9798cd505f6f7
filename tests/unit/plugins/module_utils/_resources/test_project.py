# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects: what becomes of a call whose answer is lost, of what others do meanwhile, of what shows late."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, carry_out, task_of


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
