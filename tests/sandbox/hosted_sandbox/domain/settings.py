# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network, size and command of game servers and applications (section Endpoints / Settings)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hosted_sandbox.domain import lifecycle, money, ordering
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Node, Service

FAMILIES = ("GAME", "APP")
SETTLED = ("ACTIVE", "SUSPENDED")


def require(service: Service) -> None:
    """Refuse settings of anything but game servers and applications."""
    if service.family not in FAMILIES:
        raise RefusedError("This resource does not offer settings")


def locked_reason(service: Service) -> str | None:
    """Return why the size cannot change now, or None."""
    if service.free:
        return "A free service cannot be resized"
    if service.status == "SUSPENDED":
        return "A suspended service cannot be resized"
    return None if service.status == "ACTIVE" else "The service is not in service"


def _note_stale(world: World, service: Service) -> None:
    """Remember the settings before a write, if the platform keeps showing them for a while."""
    kept = {"public": service.public, "command": service.command, "size": dict(service.size)}
    world.keep("settings", service.id, lambda: kept)


def as_shown(world: World, service: Service) -> Service:
    """Return a service with the settings that the platform shows now."""
    before: dict[str, Any] = world.shown("settings", service.id, {})
    return replace(service, **before) if before else service


def _require_settled(service: Service) -> None:
    require(service)
    if service.status not in SETTLED:
        raise RefusedError(f"A service in status {service.status} takes no setting")


def set_network(world: World, service: Service, public: bool) -> bool:
    """Open or close a service. Return whether the container is recreated, because it was running."""
    _require_settled(service)
    if public == service.public and world.gaps["network.again"] == "nothing":
        return False
    if public and service.port is None:
        ordering.take_port(world, service, "no_port")
    _note_stale(world, service)
    service.public = public
    world.store.put(service)
    at_once = world.gaps["network.in_effect"] == "at once"
    if not at_once or lifecycle.state(world, service) not in lifecycle.RUNNING:
        return False
    lifecycle.start(world, service)
    return True


def scale(world: World, service: Service, size: dict[str, int]) -> None:
    """Resize a running service; the new price applies from this call on."""
    require(service)
    if (reason := locked_reason(service)) is not None:
        raise RefusedError(reason)
    ordering.check_bounds(world.store.need(Node, service.node_id), size, "scale_bounds")
    if size["storageGb"] < service.size["storageGb"]:
        raise RefusedError("storageGb cannot be less than it is: a disk does not shrink", "scale_shrink")
    _note_stale(world, service)
    service.size = size
    money.bill(world, service)
    world.store.put(service)


def set_command(world: World, service: Service, command: str) -> None:
    """Change the command for the next start; an empty one restores the original."""
    _require_settled(service)
    _note_stale(world, service)
    service.command = command
    world.store.put(service)
