# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups that are in progress: the platform does not show what becomes of one whose service is suspended."""

from __future__ import annotations

from typing import NamedTuple

from ..._api.errors import AccessDenied, HostedError
from ..._api.models import Service
from ..._api.values import BackupStatus
from ..shared.account import Account
from ..shared.identify import label
from ..shared.plan import Task
from .options import SleepPlanOptions

CAPABILITY = "backups"


class InProgress(NamedTuple):
    """A backup that is being made or restored."""

    id: str
    what: str
    """That it is, in words."""


def backup_in_progress(task: Task[SleepPlanOptions], account: Account, service: Service) -> InProgress | None:
    """Return the backup of a service that is being made or restored; ``None`` if that of none is shown.

    A token that may not read backups does not keep services awake. Warns if they cannot be read otherwise.
    """
    if CAPABILITY not in (service.capabilities or []):
        return None
    try:
        found = account.backups(service.id)
    except AccessDenied:
        return None
    except HostedError as error:
        task.warn(
            f"the backups of {label(service)} cannot be read, so it is suspended without knowing whether one "
            f"is in progress: {error.message}"
        )
        return None
    doing = {BackupStatus.RESTORING: "restored", BackupStatus.PENDING: "made"}
    busy = [backup for backup in found if backup.status in doing]
    if not busy:
        return None
    newest = max(busy, key=lambda backup: backup.created_at or "")
    return InProgress(newest.id, f"backup {newest.name!r} is being {doing[newest.status]}")
