# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Settings."""

from __future__ import annotations

from starlette.responses import Response

from hosted_sandbox.api import bodies, shapes
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.domain import copy_rules, lifecycle, projects, settings, views
from hosted_sandbox.store.records import Service

router = Chapter(tags=["Settings"])


@router.get("/api/resources/{id}/settings", name="settings.get", response_model=shapes.Settings)
async def read_settings(call: Current, id: str) -> Response:
    """Return source, network, size and command of a game server or application."""
    return call.json(views.settings_of(call.world, call.service(id)))


def _idle(call: Call, id: str) -> Service:
    """Return a service to change a setting of, unless this platform refuses that while it is busy."""
    service = call.service(id)
    copy_rules.check_busy(call.world, service, "service_busy")
    return service


@router.put("/api/resources/{id}/network", name="settings.network")
async def set_network(call: Current, id: str, body: bodies.Network) -> Response:
    """Open or close a service; a running container is recreated before the response."""
    service = _idle(call, id)
    if settings.set_network(call.world, service, body.isPublic):
        await lifecycle.check_start(call.world, service, "network_start")
    return call.written(lambda: views.settings_of(call.world, service))


@router.put("/api/resources/{id}/scale", name="settings.scale")
async def set_scale(call: Current, id: str, body: bodies.Dimensions) -> Response:
    """Resize a service."""
    service = _idle(call, id)
    settings.scale(call.world, service, body.model_dump())
    return call.written(lambda: views.settings_of(call.world, service))


@router.put("/api/resources/{id}/deploy", name="settings.deploy")
async def set_command(call: Current, id: str, body: bodies.Command) -> Response:
    """Change the command for the next start."""
    service = _idle(call, id)
    settings.set_command(call.world, service, body.command)
    return call.written(lambda: views.settings_of(call.world, service))


@router.put("/api/resources/{id}/project", name="settings.project")
async def move(call: Current, id: str, body: bodies.Move) -> Response:
    """Move a service to another project."""
    service = _idle(call, id)
    settings.require(service)
    projects.move(call.world, service, call.account, body.projectId)
    return call.written(lambda: views.full(call.world, service))
