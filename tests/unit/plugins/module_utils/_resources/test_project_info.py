# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading projects: which ones, and what is read beside them only when it is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.project_info import PROJECT_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import NoSuchItem
from unit.plugins.fakes import FakeClient, task_of


class Account(FakeClient):
    """The account with the spend and the graph of its projects."""

    def project_spend(self, id: str) -> m.ProjectSpend:
        return m.ProjectSpend.model_validate({"id": id, "totalCents": 250, "services": [{"parts": []}]})

    def project_graph(self, id: str) -> m.ProjectGraph:
        return m.ProjectGraph.model_validate({"id": id, "edges": [{"from": "a", "to": "b"}]})


@pytest.fixture
def client() -> Account:
    client = Account()
    client.add_project("prj_1", "shop")
    client.add_service("a", "web", projectId="prj_1")
    return client


def read(client: Account, **given: Any) -> list[dict[str, Any]]:
    plan = PROJECT_INFO.plan(task_of(PROJECT_INFO, client, **given))
    assert not plan.changed
    projects: list[dict[str, Any]] = plan.result
    return projects


@pytest.mark.parametrize("wanted", ["shop", "prj_1"])
def test_one_project_by_name_or_id(client: Account, wanted: str) -> None:
    (project,) = read(client, project=wanted)
    assert (project["id"], project["name"]) == ("prj_1", "shop")


def test_all_projects_and_nothing_beside_them(client: Account) -> None:
    projects = read(client)
    assert [project["name"] for project in projects] == ["default", "shop"]
    assert not {"services", "spend", "graph"} & set(projects[0])


def test_an_unknown_project_comes_with_a_hint(client: Account) -> None:
    with pytest.raises(NoSuchItem, match="did you mean 'shop'"):
        read(client, project="shpo")


def test_what_was_asked_for_is_under_its_own_key(client: Account) -> None:
    parts = ["services", "spend", "graph"]
    (project,) = read(client, project="shop", include=parts)
    assert [service["id"] for service in project["services"]] == ["a"]
    assert project["spend"]["total_cents"] == 250
    assert project["spend"]["services"][0]["parts"] == []
    assert project["graph"]["edges"][0]["from"] == "a"
