# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups and snapshots, seen as copies of a service at a moment."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from ..._api.models import Backup, Snapshot
from ..._api.values import BackupStatus
from .retention import RestorePoint

BACKUPS, SNAPSHOTS = "backups", "snapshots"
NAMED_MOMENT = re.compile(r"\d{8}T\d{6}Z$", re.IGNORECASE | re.ASCII)
IN_MOTION = (BackupStatus.PENDING, BackupStatus.RESTORING)


def as_restore_points(copies: Iterable[Backup | Snapshot]) -> list[RestorePoint]:
    return [as_restore_point(copy) for copy in copies]


def as_restore_point(copy: Backup | Snapshot) -> RestorePoint:
    """Return a backup or a snapshot as a copy. A snapshot is known by its name, and has no status."""
    made = parse_moment(copy.created_at)
    if isinstance(copy, Snapshot):
        return RestorePoint(copy.name, copy.name, BackupStatus.COMPLETED, made)
    return RestorePoint(copy.id, copy.name, copy.status, made, was_complete(copy))


def any_in_motion(backups: Iterable[Backup]) -> bool:
    return any(backup.status in IN_MOTION for backup in backups)


def was_complete(backup: Backup) -> bool:
    """Tell whether a backup may have been complete before: a restore that fails may make it FAILED."""
    return bool(backup.completed_at or backup.size_bytes)


def parse_moment(text: str | None) -> datetime | None:
    """Read a timestamp of the platform; ``None`` where there is none that can be read.

    One at the very ends of the calendar is none: in another time zone it would not exist.
    """
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    if not datetime.min.year < moment.year < datetime.max.year:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment_in(name: str) -> datetime | None:
    """Return the moment of its backup, in UTC, at the end of the name of an off-site copy, if it is there."""
    found = NAMED_MOMENT.search(name)
    try:
        return datetime.strptime(found[0].upper(), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) if found else None
    except ValueError:
        return None


def newest_complete(copies: Iterable[RestorePoint]) -> RestorePoint | None:
    whole = [copy for copy in copies if copy.status == BackupStatus.COMPLETED and copy.created_at]
    return max(whole, key=lambda copy: (copy.created_at, copy.id), default=None)
