# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups and snapshots: real copies of a service's files (section Endpoints / Backups and snapshots)."""

from __future__ import annotations

import shutil
from pathlib import Path

from sandbox.domain import events, files, lifecycle
from sandbox.domain.capabilities import require
from sandbox.domain.errors import AbsentError, RefusedError
from sandbox.domain.world import World, action
from sandbox.store.records import Backup, Service, Snapshot, Task


def _copies(world: World, key: str) -> Path:
    return world.folder / "copies" / key


def copy_files(world: World, service: Service, key: str) -> int:
    """Copy the files of a service aside under the id of a backup or snapshot; answers their bytes."""
    target = _copies(world, key)
    shutil.copytree(lifecycle.root(world, service), target, symlinks=True)
    return files.size_of(target)


def _bring_back(world: World, service: Service, key: str) -> None:
    """Replace the files of a service by a copy, inside its root so that open sessions see it."""
    home = lifecycle.root(world, service)
    for path in home.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if _copies(world, key).is_dir():
        shutil.copytree(_copies(world, key), home, symlinks=True, dirs_exist_ok=True)


def _named(name: str) -> str:
    if not name.strip() or "/" in name:
        raise RefusedError("name", "name must not be empty or contain a slash")
    return name


def create(world: World, service: Service, name: str) -> Backup:
    """Begin a backup: PENDING until the copy stands, then COMPLETED."""
    require(world, service, "backups")
    backup = Backup(world.new_id("bkp"), service.id, _named(name), created_at=world.now)
    world.store.put(backup)
    events.record(world, service, "BACKUP_CREATED")
    world.after(world.delays.backup, "backed up", backup.id)
    return backup


@action("backed up")
def _backed_up(world: World, task: Task) -> None:
    backup = world.store.get(Backup, task.target)
    if backup is None or backup.status != "PENDING":
        return
    service = world.store.need(Service, backup.service_id)
    try:
        if service.backup_fails:
            raise OSError("the operator lets the backups of this service fail")
        backup.size = copy_files(world, service, backup.id)
        backup.status = "COMPLETED"
        backup.completed_at = world.now
    except OSError:
        # A file went away while it was copied, or cannot be copied at all, or the operator wants it so.
        shutil.rmtree(_copies(world, backup.id), ignore_errors=True)
        backup.status = "FAILED"
    world.store.put(backup)


def find(world: World, service: Service, backup_id: str) -> Backup:
    """A backup of the service."""
    require(world, service, "backups")
    backup = world.store.get(Backup, backup_id)
    if backup is None or backup.service_id != service.id:
        raise AbsentError("Backup")
    return backup


def restore(world: World, service: Service, backup_id: str) -> Backup:
    """Begin to bring a completed backup back: RESTORING, then COMPLETED again.

    Where RESTORING shows late the restore begins late; where it never shows the backup stays COMPLETED.
    """
    backup = find(world, service, backup_id)
    if backup.status != "COMPLETED":
        raise RefusedError("backup_state", f"a backup in status {backup.status} is not restorable")
    if world.gaps["restore.shown"] == "late":
        world.after(world.delays.restore_begins, "restore begins", backup.id)
        return backup
    return _begin_restore(world, service, backup)


@action("restore begins")
def _restore_begins(world: World, task: Task) -> None:
    backup = world.store.get(Backup, task.target)
    if backup is not None and backup.status == "COMPLETED":
        _begin_restore(world, world.store.need(Service, backup.service_id), backup)


def _begin_restore(world: World, service: Service, backup: Backup) -> Backup:
    if world.gaps["restore.shown"] != "never":
        backup.status = "RESTORING"
        world.store.put(backup)
    if world.gaps["restore.event"] == "when it begins":
        events.record(world, service, "BACKUP_RESTORED")
    if world.gaps["restore.restart"] == "yes" and lifecycle.state(world, service) in lifecycle.RUNNING:
        lifecycle.halt(world, service, "stopped for a restore")
        world.after(world.delays.restore, "restored", backup.id, start=True)
    else:
        world.after(world.delays.restore, "restored", backup.id)
    return backup


@action("restored")
def _restored(world: World, task: Task) -> None:
    backup = world.store.get(Backup, task.target)
    shown = "COMPLETED" if world.gaps["restore.shown"] == "never" else "RESTORING"
    if backup is None or backup.status != shown:
        return
    service = world.store.need(Service, backup.service_id)
    if service.restore_fails:
        backup.status = "FAILED"
    else:
        _bring_back(world, service, backup.id)
        backup.status = "COMPLETED"
    world.store.put(backup)
    if world.gaps["restore.event"] == "when it ends":
        events.record(world, service, "BACKUP_RESTORED")
    if task.args.get("start") and service.status == "ACTIVE":
        lifecycle.start(world, service)


def delete(world: World, service: Service, backup_id: str) -> Backup:
    """Remove a backup for good, unless it is being made or restored."""
    backup = find(world, service, backup_id)
    if backup.status in ("PENDING", "RESTORING"):
        raise RefusedError("backup_busy", f"a backup in status {backup.status} cannot be deleted")
    shutil.rmtree(_copies(world, backup.id), ignore_errors=True)
    world.store.drop(backup)
    events.record(world, service, "BACKUP_DELETED")
    return backup


def snapshot(world: World, service: Service, name: str) -> Snapshot:
    """Take a snapshot; the one taken or rolled back to last becomes its parent."""
    require(world, service, "snapshots")
    taken = world.store.of(Snapshot, service.id)
    if any(other.name == _named(name) for other in taken):
        raise RefusedError("snapshot_duplicate", f"a snapshot named {name} exists already")
    parent = taken[-1].name if taken else None
    fresh = Snapshot(world.new_id("snp"), service.id, name, parent, created_at=world.now)
    fresh.size = copy_files(world, service, fresh.id)
    world.store.put(fresh)
    events.record(world, service, "SNAPSHOT_CREATED")
    return fresh


def find_snapshot(world: World, service: Service, name: str, capability: str = "snapshots") -> Snapshot:
    """A snapshot of the service, by its name."""
    require(world, service, capability)
    for found in world.store.of(Snapshot, service.id):
        if found.name == name:
            return found
    raise AbsentError("Snapshot")


def rollback(world: World, service: Service, name: str) -> Snapshot:
    """Bring the files of a snapshot back, before the answer or after it."""
    found = find_snapshot(world, service, name, "snapshotRollback")
    if world.gaps["restore.event"] == "when it begins":
        events.record(world, service, "SNAPSHOT_ROLLED_BACK")
    later = world.gaps["rollback.pace"] == "no"
    world.after(world.delays.restore if later else 0, "rolled back", found.id)
    return found


@action("rolled back")
def _rolled_back(world: World, task: Task) -> None:
    found = world.store.get(Snapshot, task.target)
    if found is None:
        return
    service = world.store.need(Service, found.service_id)
    _bring_back(world, service, found.id)
    if world.gaps["restore.event"] == "when it ends":
        events.record(world, service, "SNAPSHOT_ROLLED_BACK")


def delete_snapshot(world: World, service: Service, name: str) -> Snapshot:
    """Remove a snapshot; those taken after it pass to its parent."""
    found = find_snapshot(world, service, name)
    for other in world.store.of(Snapshot, service.id):
        if other.parent == found.name:
            other.parent = found.parent
            world.store.put(other)
    shutil.rmtree(_copies(world, found.id), ignore_errors=True)
    world.store.drop(found)
    events.record(world, service, "SNAPSHOT_DELETED")
    return found
