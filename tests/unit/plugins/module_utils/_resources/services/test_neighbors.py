# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The aliases in a project whose graph shows a new service late."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.session import Session
from ansible_collections.hosted.services.plugins.module_utils._resources.services.neighbors import (
    late_aliases,
    read_aliases,
)
from hosted_sandbox.testing import Sandbox


@pytest.fixture
def projects(sandbox: Sandbox) -> dict[str, str]:
    """The ids of two projects by their names; into each, a service was just ordered."""
    sandbox.delays(project_page=3600, provision=0)
    found = {each["name"]: each["id"] for each in sandbox.api("GET", "/api/projects").json()}
    size = {"cpuCores": 1, "ramGb": 1, "storageGb": 10}
    order = {"productSlug": "postgresql", "hostId": "node-paris-1", "dimensions": size}
    for name, project in (("db", "web"), ("cache", "default")):
        assert sandbox.api("POST", "/api/order", {**order, "name": name, "projectId": found[project]}).ok
    sandbox.clear_journal()
    return found


@pytest.fixture
def client(sandbox: Sandbox, projects: dict[str, str]) -> Iterator[Client]:
    """A client whose token opens everything."""
    with closing(Client(Session(Connection(sandbox.base_url, sandbox.token), print))) as client:
        yield client


def test_a_service_that_the_graph_does_not_show_yet_has_its_alias(
    client: Client, projects: dict[str, str]
) -> None:
    """What is in another project has none here."""
    graph = client.project_graph(projects["web"])
    assert list(late_aliases(client, [graph]).values()) == ["db"]
    assert "db" not in {node.alias for node in graph.nodes or ()}
    aliases = read_aliases(client, projects["web"])
    assert {"db", "one", "two"} <= set(aliases.values()) and "cache" not in aliases.values()
    graphs = [client.project_graph(id) for id in projects.values()]
    assert sorted(late_aliases(client, graphs).values()) == ["cache", "db"]


def test_the_projects_are_read_only_for_what_matters(
    client: Client, projects: dict[str, str], sandbox: Sandbox
) -> None:
    """A page of each is a call for each."""
    graph = client.project_graph(projects["web"])
    assert late_aliases(client, [graph], lambda service: service.name == "one") == {}
    assert sandbox.journal("projects.get") == []


def test_what_is_being_deleted_is_nobodys_neighbor(
    client: Client, projects: dict[str, str], sandbox: Sandbox
) -> None:
    graph = client.project_graph(projects["web"])
    (id,) = late_aliases(client, [graph])
    sandbox.delays(project_page=3600, delete=3600)
    assert sandbox.api("DELETE", f"/api/resources/{id}").ok
    assert late_aliases(client, [graph]) == {}


@pytest.mark.parametrize("route", ["resources.list", "projects.list"])
def test_a_token_that_may_not_read_the_services_sees_the_graph_alone(
    client: Client, projects: dict[str, str], sandbox: Sandbox, route: str
) -> None:
    graph = client.project_graph(projects["web"])
    sandbox.fault(route, "status", status=403, count=None)
    assert late_aliases(client, [graph]) == {}
    assert set(read_aliases(client, projects["web"])) == {node.id for node in graph.nodes or () if node.alias}
