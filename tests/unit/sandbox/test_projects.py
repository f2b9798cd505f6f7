# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Section Endpoints / Projects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hosted_sandbox.testing import Sandbox

Order = Callable[..., str]


def _create(sandbox: Sandbox, name: str) -> str:
    return str(sandbox.api("POST", "/api/projects", {"name": name}).json()["id"])


@pytest.mark.rule("projects-name")
@pytest.mark.parametrize(("name", "status"), [("x" * 60, 201), ("x" * 61, 400), ("", 400), ("default", 400)])
def test_names(sandbox: Sandbox, name: str, status: int) -> None:
    assert sandbox.api("POST", "/api/projects", {"name": name}).status_code == status


@pytest.mark.rule("projects-name")
def test_a_name_is_unique_when_renaming_too(sandbox: Sandbox) -> None:
    key = _create(sandbox, "one")
    _create(sandbox, "two")
    assert sandbox.api("PATCH", f"/api/projects/{key}", {"name": "two"}).status_code == 400
    assert sandbox.api("PATCH", f"/api/projects/{key}", {"name": "one"}).status_code == 200
    assert sandbox.api("PATCH", f"/api/projects/{key}", {"name": "three"}).status_code == 200
    assert sandbox.api("GET", f"/api/projects/{key}").json()["name"] == "three"


@pytest.mark.rule("projects-name")
def test_accounts_do_not_share_names(sandbox: Sandbox) -> None:
    _create(sandbox, "one")
    other = {"Authorization": "Bearer sandbox-other-token"}
    assert sandbox.api("POST", "/api/projects", {"name": "one"}, headers=other).status_code == 201


@pytest.mark.rule("projects-delete", "projects-default")
def test_services_of_a_deleted_project_join_the_default_one(sandbox: Sandbox, order: Order) -> None:
    project = _create(sandbox, "web")
    key = order(projectId=project)
    assert sandbox.api("GET", f"/api/projects/{project}").json()["resources"][0]["id"] == key
    assert sandbox.api("DELETE", f"/api/projects/{project}").status_code == 200
    (default,) = sandbox.api("GET", "/api/projects").json()
    assert default["resourceCount"] == 1
    assert sandbox.api("GET", f"/api/resources/{key}").json()["projectId"] == default["id"]
    assert sandbox.api("DELETE", f"/api/projects/{default['id']}").status_code == 400
    assert sandbox.api("GET", f"/api/projects/{project}").status_code == 404


@pytest.mark.rule("projects-delete")
def test_an_alias_of_a_deleted_project_may_be_taken(sandbox: Sandbox, order: Order) -> None:
    project = _create(sandbox, "games")
    first, second = order(name="mc"), order(name="mc", projectId=project)
    other = order(name="other", projectId=project)
    assert sandbox.api("DELETE", f"/api/projects/{project}").status_code == 200
    default = sandbox.api("GET", "/api/projects").json()[0]["id"]
    for key, named in ((first, "mc"), (second, "mc"), (other, "other")):
        assert sandbox.api("GET", f"/api/resources/{key}").json()["projectId"] == default
        network = sandbox.api("GET", f"/api/resources/{key}/settings").json()["network"]
        assert network["alias"] == named


@pytest.mark.rule("spend-parts", "billing-read-only")
def test_parts_sum_to_the_cent(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    idle = order("hobby", "free")
    for number in range(3):
        order(name=f"mc{number}", options=[{"optionId": "option-slots", "choiceId": "slots-100"}])
        sandbox.clock(advance=54_321)
    (project,) = sandbox.api("GET", "/api/projects").json()
    spend = sandbox.api("GET", f"/api/projects/{project['id']}/consommation?range=2").json()
    assert spend["range"] == 2
    assert spend["totalCents"] == sum(day["totalCents"] for day in spend["days"])
    assert spend["totalCents"] == sum(service["totalCents"] for service in spend["services"]) > 0
    for service in spend["services"]:
        assert sum(part["cents"] for part in service["parts"]) == service["totalCents"]
        assert (service["parts"] == []) == (service["id"] == idle)


@pytest.mark.rule("graph-edges")
def test_the_graph_follows_references(sandbox: Sandbox, order: Order) -> None:
    database = order("postgresql", "db")
    sandbox.api("POST", "/api/apps", {"slug": "shop"})
    variables = {"A": "${db.HOST}", "B": "x", "C": "${db.PORT} ${db.USER}"}
    sandbox.api("PUT", "/api/apps/shop/environment", {"environment": variables})
    (project,) = sandbox.api("GET", "/api/projects").json()
    graph = sandbox.api("GET", f"/api/projects/{project['id']}/graphe").json()
    (edge,) = graph["edges"]
    shop = next(node for node in graph["nodes"] if node["alias"] == "shop")
    assert edge == {"from": shop["id"], "to": database, "through": ["A", "C"]}
    assert shop["position"] == {"x": 0, "y": 0}
