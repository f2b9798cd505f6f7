# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a platform may refuse a copy, and what one in motion keeps a service from (Backups and snapshots)."""

from __future__ import annotations

import math

from hosted_sandbox.clock import SECOND
from hosted_sandbox.domain import events
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Backup, Service, Snapshot

#: How many backups a service may have, if that is limited.
MOST_BACKUPS = 50
LOCKED = 423


def check_name(name: str) -> None:
    """Refuse the name of a new copy that is empty, or could not be part of an address."""
    if not name.strip() or "/" in name:
        raise RefusedError("name must not be empty or contain a slash")


def in_motion(world: World, service: Service) -> bool:
    """Tell whether a copy of the service is being made or restored, shown or not."""
    if backups_in_motion(world, service):
        return True
    taken = world.store.of(Snapshot, service.id)
    return any(world.pending(shot.id, "rolled back") for shot in taken)


def backups_in_motion(world: World, service: Service) -> list[Backup]:
    """Return the backups that are made or restored, shown or not."""
    return [
        backup
        for backup in world.store.of(Backup, service.id)
        if backup.status in ("PENDING", "RESTORING")
        or any(world.pending(backup.id, kind) for kind in ("restore begins", "restored"))
    ]


def check_busy(world: World, service: Service, rule: str = "copy_busy") -> None:
    """Refuse a copy, or what `rule` is for, while another one is made or restored, if this platform does."""
    answer = world.gaps[f"refusal.{rule}"]
    if answer == "not refused" or not in_motion(world, service):
        return
    text = "This resource is locked" if int(answer) == LOCKED else "Another operation is in progress"
    raise RefusedError(text, rule)


def cut_off(world: World, service: Service) -> None:
    """Let the backups fail that are made or restored as their service is suspended, if this platform does."""
    if world.gaps["copy.suspended"] != "it fails":
        return
    for backup in backups_in_motion(world, service):
        world.forget(backup.id)
        stays = backup.status != "PENDING" and world.gaps["restore.failed"] != "FAILED"
        backup.status = "COMPLETED" if stays else "FAILED"
        world.store.put(backup)
        if stays:
            events.record(world, service, "BACKUP_RESTORE_FAILED")


def check_pause(world: World, service: Service) -> None:
    """Refuse a backup too soon after the previous one, if this platform does."""
    answer = world.gaps["refusal.backup_pause"]
    begun = [backup.created_at for backup in world.store.of(Backup, service.id)]
    left = max(begun, default=0) + world.delays.backup_pause * SECOND - world.now
    if answer == "not refused" or left <= 0:
        return
    after = math.ceil(left / SECOND) if "Retry-After" in answer else None
    raise RefusedError("Too soon after the last backup", "backup_pause", after=after)


def surplus(world: World, service: Service) -> Backup | None:
    """Return the backup to delete for a new one, if the service is at its limit."""
    there = world.store.of(Backup, service.id)
    if world.gaps["backup.limit"] == "it is made" or len(there) < MOST_BACKUPS:
        return None
    still = [backup for backup in there if backup.status in ("COMPLETED", "FAILED")]
    return min(still, key=lambda backup: backup.created_at, default=None)
