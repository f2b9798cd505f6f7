# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Services, and Endpoints / Power, suspension, deletion."""

from __future__ import annotations

from starlette.responses import Response

from hosted_sandbox.api import bodies, shapes
from hosted_sandbox.api.apps import applications
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.domain import lifecycle, views
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.store.records import Service

router = Chapter(tags=["Services"])
MOST_IDS = 50


@router.get("/api/resources", name="resources.list", response_model=shapes.Items[shapes.ServiceItem])
async def list_resources(call: Current) -> Response:
    """List the services of the account that are not deleted."""
    services = lifecycle.live(call.world, call.account.id)
    return call.json({"items": [views.listed(call.world, service) for service in services]})


@router.get(
    "/api/resources/metrics", name="resources.metrics", response_model=dict[str, shapes.Metrics | None]
)
async def read_metrics(call: Current, ids: str | None = None) -> Response:
    """Return live metrics of up to 50 services, by id; null if the node is unreachable."""
    return call.json(_metrics(call, _wanted(call, ids)))


def _wanted(call: Call, ids: str | None) -> list[str]:
    wanted = [part.strip() for part in (ids or "").split(",") if part.strip()]
    if len(wanted) > MOST_IDS:
        raise RefusedError(f"at most {MOST_IDS} ids in one call")
    return wanted


def _metrics(call: Call, wanted: list[str]) -> dict[str, views.View | None]:
    found: dict[str, views.View | None] = {}
    for key in wanted:
        service = call.world.store.get(Service, key)
        if service is not None and service.account_id == call.account.id and service.status != "DELETED":
            found[key] = views.metrics(call.world, service)
    return found


@router.get("/api/resources/{id}", name="resources.get", response_model=shapes.Service)
async def read_resource(call: Current, id: str) -> Response:
    """Return one service in its full form."""
    return call.json(views.full(call.world, call.service(id)))


@router.post("/api/resources/{id}/power", name="resources.power", response_model=shapes.Service)
async def send_power(call: Current, id: str, body: bodies.Signal) -> Response:
    """Send a power signal; respond with the service, read again."""
    service = call.service(id)
    lifecycle.power(call.world, service, body.signal)
    return call.json(views.full(call.world, service))


@router.post("/api/resources/{id}/suspend", name="resources.suspend")
async def suspend(call: Current, id: str) -> Response:
    """Stop a service and bill its storage only."""
    service = call.service(id)
    lifecycle.suspend(call.world, service)
    return call.written(lambda: views.full(call.world, service))


@router.post("/api/resources/{id}/resume", name="resources.resume")
async def resume(call: Current, id: str) -> Response:
    """Resume a suspended service."""
    service = call.service(id)
    lifecycle.resume(call.world, service)
    return call.written(lambda: views.full(call.world, service))


@router.delete("/api/resources/{id}", name="resources.delete")
async def delete_resource(call: Current, id: str) -> Response:
    """Delete a service with its disk and backups, permanently."""
    service = call.service(id)
    if service.slug and service.status != "DELETING":
        call.world.keep("apps", call.account.id, lambda: applications(call))
    lifecycle.delete(call.world, service)
    return call.written(lambda: views.full(call.world, service))
