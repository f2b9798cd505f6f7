# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Backups and snapshots."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from hosted_sandbox.api import bodies, shapes
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.domain import backups, views
from hosted_sandbox.domain.capabilities import require
from hosted_sandbox.store.records import Backup, Snapshot

router = Chapter(tags=["Backups and snapshots"])
BackupId = Annotated[str, Path(alias="backupId")]


@router.get("/api/resources/{id}/backups", name="backups.list", response_model=list[shapes.Backup])
async def list_backups(call: Current, id: str) -> Response:
    """List the backups of a service."""
    require(call.world, call.service(id), "backups")
    return call.json(call.world.shown("backups", id, _backups(call, id)))


def _backups(call: Call, id: str) -> list[views.View]:
    return [views.backup(call.world, found) for found in call.world.store.of(Backup, id)]


@router.post("/api/resources/{id}/backups", name="backups.create")
async def create_backup(call: Current, id: str, body: bodies.Name) -> Response:
    """Start a backup."""
    call.world.keep("backups", id, lambda: _backups(call, id))
    backup = backups.create(call.world, call.service(id), body.name)
    return call.written(lambda: views.backup(call.world, backup), creates=True)


@router.post("/api/resources/{id}/backups/{backupId}/restore", name="backups.restore")
async def restore_backup(call: Current, id: str, backup_id: BackupId) -> Response:
    """Start to restore a completed backup."""
    backup = backups.restore(call.world, call.service(id), backup_id)
    return call.written(lambda: views.backup(call.world, backup))


@router.delete("/api/resources/{id}/backups/{backupId}", name="backups.delete")
async def delete_backup(call: Current, id: str, backup_id: BackupId) -> Response:
    """Delete a backup."""
    call.world.keep("backups", id, lambda: _backups(call, id))
    backup = backups.delete(call.world, call.service(id), backup_id)
    return call.written(lambda: views.backup(call.world, backup))


@router.get("/api/resources/{id}/snapshots", name="snapshots.list", response_model=list[shapes.Snapshot])
async def list_snapshots(call: Current, id: str) -> Response:
    """List the snapshots of a service."""
    require(call.world, call.service(id), "snapshots")
    return call.json(call.world.shown("snapshots", id, _snapshots(call, id)))


def _snapshots(call: Call, id: str) -> list[views.View]:
    return [views.snapshot(call.world, found) for found in call.world.store.of(Snapshot, id)]


@router.post("/api/resources/{id}/snapshots", name="snapshots.create")
async def create_snapshot(call: Current, id: str, body: bodies.Name) -> Response:
    """Take a snapshot."""
    call.world.keep("snapshots", id, lambda: _snapshots(call, id))
    taken = backups.snapshot(call.world, call.service(id), body.name)
    return call.written(lambda: views.snapshot(call.world, taken), creates=True)


@router.post("/api/resources/{id}/snapshots/{name}/rollback", name="snapshots.rollback")
async def roll_back(call: Current, id: str, name: str) -> Response:
    """Roll a service's disk back to a snapshot."""
    call.world.keep("snapshots", id, lambda: _snapshots(call, id))
    found = backups.rollback(call.world, call.service(id), name)
    return call.written(lambda: views.snapshot(call.world, found))


@router.delete("/api/resources/{id}/snapshots/{name}", name="snapshots.delete")
async def delete_snapshot(call: Current, id: str, name: str) -> Response:
    """Delete a snapshot."""
    call.world.keep("snapshots", id, lambda: _snapshots(call, id))
    found = backups.delete_snapshot(call.world, call.service(id), name)
    return call.written(lambda: views.snapshot(call.world, found))
