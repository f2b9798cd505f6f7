# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The capabilities of a service by family and status (section Resources and their fields / Capabilities)."""

from __future__ import annotations

from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Service

ACTIVE: dict[str, tuple[str, ...]] = {
    "GAME": ("console", "consoleCommands", "powerSignals", "suspension", "files", "logs", "backups",
             "variables", "allocationLabels"),
    "APP": ("console", "powerSignals", "suspension", "files", "logs", "backups", "variables"),
    "COMPUTE": ("console", "consoleCommands", "powerSignals", "suspension", "files", "logs", "backups",
                "snapshots", "snapshotRollback"),
    "VIRTUAL_MACHINE": ("console", "powerSignals", "suspension", "logs", "snapshots", "snapshotRollback"),
    "DEDICATED": ("powerSignals",),
    "BUCKET": ("suspension",),
}  # fmt: skip


def capabilities(world: World, service: Service) -> list[str]:
    """Return the present capabilities of a service. Only an active one has console and power."""
    offered = ACTIVE[service.family]
    if service.status == "ACTIVE":
        return list(offered)
    if service.status == "SUSPENDED":
        kept = {"suspension", *world.gaps["suspended.capabilities"].split(", ")}
        return [name for name in offered if name in kept]
    return [name for name in offered if name == "logs" and service.status == "FAILED"]


def require(world: World, service: Service, capability: str) -> None:
    """Refuse a call if the service lacks the capability (section Errors, 400)."""
    if capability not in capabilities(world, service):
        raise RefusedError(f"This resource does not offer {capability}", "capability")
