# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups and snapshots: real copies of a service's files (section Endpoints / Backups and snapshots)."""

from __future__ import annotations

import shutil

from hosted_sandbox.domain import copy_rules, events, files, lifecycle
from hosted_sandbox.domain.capabilities import require
from hosted_sandbox.domain.errors import AbsentError, RefusedError
from hosted_sandbox.domain.world import World, action
from hosted_sandbox.store.records import Backup, Service, Snapshot, Task


def copy_files(world: World, service: Service, key: str) -> int:
    """Copy the files of a service under the id of a backup or snapshot; return their size in bytes."""
    target = world.place("copies", key)
    shutil.copytree(lifecycle.root(world, service), target, symlinks=True)
    return files.size_of(target)


def _restore_files(world: World, service: Service, key: str) -> None:
    """Replace the files of a service by a copy, within its root so that open sessions see them."""
    home = lifecycle.root(world, service)
    for path in home.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if world.place("copies", key).is_dir():
        shutil.copytree(world.place("copies", key), home, symlinks=True, dirs_exist_ok=True)


def create(world: World, service: Service, name: str) -> Backup:
    """Start a backup: PENDING until the copy is complete, then COMPLETED."""
    require(world, service, "backups")
    copy_rules.check_name(name)
    copy_rules.check_busy(world, service)
    copy_rules.check_pause(world, service)
    if (surplus := copy_rules.surplus(world, service)) is not None:
        _drop(world, surplus)
    backup = Backup(world.new_id("bkp"), service.id, name, created_at=world.now)
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
        # A file disappeared while it was copied, or cannot be copied, or the operator made backups fail.
        shutil.rmtree(world.place("copies", backup.id), ignore_errors=True)
        backup.status = "FAILED"
    world.store.put(backup)


def find(world: World, service: Service, backup_id: str) -> Backup:
    """Return a backup of the service."""
    require(world, service, "backups")
    backup = world.store.get(Backup, backup_id)
    if backup is None or backup.service_id != service.id:
        raise AbsentError("Backup")
    return backup


def restore(world: World, service: Service, backup_id: str) -> Backup:
    """Start to restore a completed backup: RESTORING, at once or late, then COMPLETED again."""
    backup = find(world, service, backup_id)
    if backup.status != "COMPLETED":
        raise RefusedError(f"a backup in status {backup.status} is not restorable")
    copy_rules.check_busy(world, service)
    world.after(world.late(world.delays.restore_begins), "restore begins", backup.id)
    return backup


@action("restore begins")
def _restore_begins(world: World, task: Task) -> None:
    backup = world.store.get(Backup, task.target)
    if backup is None or backup.status != "COMPLETED":
        return
    service = world.store.need(Service, backup.service_id)
    backup.status = "RESTORING"
    world.store.put(backup)
    events.record(world, service, "BACKUP_RESTORED")
    if world.gaps["restore.restart"] == "yes" and lifecycle.state(world, service) in lifecycle.RUNNING:
        lifecycle.halt(world, service, "stopped for a restore")
        world.after(world.delays.restore, "restored", backup.id, start=True)
    else:
        world.after(world.delays.restore, "restored", backup.id)


@action("restored")
def _restored(world: World, task: Task) -> None:
    backup = world.store.get(Backup, task.target)
    if backup is None or backup.status != "RESTORING":
        return
    service = world.store.need(Service, backup.service_id)
    answer = world.gaps["restore.failed"]
    backup.status = "FAILED" if service.restore_fails and answer == "FAILED" else "COMPLETED"
    world.store.put(backup)
    if not service.restore_fails:
        _restore_files(world, service, backup.id)
    else:
        events.record(world, service, "BACKUP_RESTORE_FAILED")
    if task.args.get("start") and service.status == "ACTIVE":
        lifecycle.start(world, service)


def delete(world: World, service: Service, backup_id: str) -> Backup:
    """Delete a backup permanently, unless it is being made or restored."""
    backup = find(world, service, backup_id)
    if backup.status in ("PENDING", "RESTORING"):
        raise RefusedError(f"a backup in status {backup.status} cannot be deleted")
    copy_rules.check_busy(world, service, "service_busy")
    _drop(world, backup)
    events.record(world, service, "BACKUP_DELETED")
    return backup


def _drop(world: World, copy: Backup | Snapshot) -> None:
    """Delete a copy, also one that goes along with another, or makes room for it."""
    shutil.rmtree(world.place("copies", copy.id), ignore_errors=True)
    world.store.drop(copy)


def snapshot(world: World, service: Service, name: str) -> Snapshot:
    """Take a snapshot; its parent is the last one taken or rolled back to."""
    require(world, service, "snapshots")
    copy_rules.check_name(name)
    taken = world.store.of(Snapshot, service.id)
    if any(other.name == name for other in taken):
        raise RefusedError(f"a snapshot named {name} exists already")
    copy_rules.check_busy(world, service)
    parent = taken[-1].name if taken else None
    fresh = Snapshot(world.new_id("snp"), service.id, name, parent, created_at=world.now)
    fresh.size = copy_files(world, service, fresh.id)
    world.store.put(fresh)
    events.record(world, service, "SNAPSHOT_CREATED")
    return fresh


def find_snapshot(world: World, service: Service, name: str, capability: str = "snapshots") -> Snapshot:
    """Return a snapshot of the service, by its name."""
    require(world, service, capability)
    for found in world.store.of(Snapshot, service.id):
        if found.name == name:
            return found
    raise AbsentError("Snapshot")


def rollback(world: World, service: Service, name: str) -> Snapshot:
    """Restore the files of a snapshot, before the response or after it."""
    found = find_snapshot(world, service, name, "snapshotRollback")
    copy_rules.check_busy(world, service)
    taken = world.store.of(Snapshot, service.id)
    newer = taken[taken.index(found) + 1 :]
    if world.gaps["rollback.newer"] == "deletes them":
        for other in newer:
            _drop(world, other)
    events.record(world, service, "SNAPSHOT_ROLLED_BACK")
    world.after(world.late(world.delays.restore), "rolled back", found.id)
    return found


@action("rolled back")
def _rolled_back(world: World, task: Task) -> None:
    found = world.store.get(Snapshot, task.target)
    if found is None:
        return
    service = world.store.need(Service, found.service_id)
    if service.restore_fails:
        events.record(world, service, "SNAPSHOT_ROLLBACK_FAILED")
        return
    _restore_files(world, service, found.id)


def delete_snapshot(world: World, service: Service, name: str) -> Snapshot:
    """Delete a snapshot; its children get its parent."""
    found = find_snapshot(world, service, name)
    copy_rules.check_busy(world, service, "service_busy")
    for other in world.store.of(Snapshot, service.id):
        if other.parent == found.name:
            other.parent = found.parent
            world.store.put(other)
    _drop(world, found)
    events.record(world, service, "SNAPSHOT_DELETED")
    return found
