# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Projects."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from hosted_sandbox.api import bodies, shapes
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.domain import files, lifecycle, money, projects, references, views
from hosted_sandbox.domain.capabilities import capabilities
from hosted_sandbox.store.records import Product, Project, Service

router = Chapter(tags=["Projects"])


@router.get("/api/projects", name="projects.list", response_model=list[shapes.Project])
async def list_projects(call: Current) -> Response:
    """List the projects of the account."""
    return call.json(call.world.shown("projects", call.account.id, _listed(call)))


def _listed(call: Call) -> list[views.View]:
    return [views.project(call.world, each) for each in call.world.store.of(Project, call.account.id)]


@router.post("/api/projects", name="projects.create")
async def create_project(call: Current, body: bodies.Name) -> Response:
    """Create a project."""
    call.world.keep("projects", call.account.id, lambda: _listed(call))
    project = projects.create(call.world, call.account, body.name)
    return call.written(lambda: views.project(call.world, project), creates=True)


@router.patch("/api/projects/{id}", name="projects.rename")
async def rename_project(call: Current, id: str, body: bodies.Name) -> Response:
    """Rename a project."""
    project = projects.find(call.world, call.account.id, id)
    projects.rename(call.world, project, body.name)
    return call.written(lambda: views.project(call.world, project))


@router.delete("/api/projects/{id}", name="projects.delete")
async def delete_project(call: Current, id: str) -> Response:
    """Delete a project; its services join the default one."""
    project = projects.find(call.world, call.account.id, id)
    call.world.keep("projects", call.account.id, lambda: _listed(call))
    projects.delete(call.world, project)
    return call.written(lambda: views.project(call.world, project))


@router.get("/api/projects/{id}", name="projects.get", response_model=shapes.ProjectDetail)
async def read_project(call: Current, id: str) -> Response:
    """Return a project with its services."""
    project = projects.find(call.world, call.account.id, id)
    members = [views.listed(call.world, service) for service in projects.members(call.world, project)]
    return call.json({**views.project(call.world, project), "resources": members})


@router.get("/api/projects/{id}/consommation", name="projects.spend", response_model=shapes.ProjectSpend)
async def read_spend(call: Current, id: str, length: Annotated[int, Query(alias="range")] = 30) -> Response:
    """Return the cost of a project's services within a window of days."""
    project = projects.find(call.world, call.account.id, id)
    length = call.bounded_range(length)
    start = money.window(call.world, length)
    services = [s for s in call.world.store.of(Service, call.account.id) if s.project_id == project.id]
    return call.json({
        "id": project.id,
        "name": project.name,
        "range": length,
        "totalCents": money.spent_between(services, start, call.world.now),
        "days": [
            {"date": day, "totalCents": cents}
            for day, cents in money.days(services, start, call.world.now)
        ],
        "services": [_spend(call, service, start) for service in services],
    })  # fmt: skip


def _spend(call: Call, service: Service, start: int) -> dict[str, object]:
    now = call.world.now
    size = service.size
    return {
        "id": service.id,
        "name": service.name,
        "family": service.family,
        "productName": call.world.store.need(Product, service.product).name,
        "detail": f"{size['cpuCores']} vCPU, {size['ramGb']} GB, {size['storageGb']} GB",
        "totalCents": money.spent_between([service], start, now),
        "parts": [
            {"label": label, "cents": cents} for label, cents in money.spent_parts(service, start, now)
        ],
    }


@router.get("/api/projects/{id}/graphe", name="projects.graph", response_model=shapes.Graph)
async def read_graph(call: Current, id: str) -> Response:
    """Return a project's services and the references between them."""
    project = projects.find(call.world, call.account.id, id)
    members = projects.members(call.world, project)
    ids = {service.id for service in members}
    return call.json({
        "id": project.id,
        "name": project.name,
        "nodes": [_node(call, service) for service in members],
        "edges": [
            {"from": service.id, "to": target, "through": names}
            for service in members
            for target, names in references.edges(call.world, service).items()
            if target in ids
        ],
    })  # fmt: skip


def _node(call: Call, service: Service) -> dict[str, object]:
    metrics = views.metrics(call.world, service)
    return {
        "id": service.id,
        "name": service.name,
        "family": service.family,
        "alias": service.alias,
        "subtitle": call.world.store.need(Product, service.product).short_name,
        "status": service.status,
        "state": metrics["state"] if metrics else "unknown",
        "capabilities": capabilities(call.world, service),
        "diskBytes": files.size_of(lifecycle.root(call.world, service)),
        "position": {"x": 0, "y": 0},
    }
