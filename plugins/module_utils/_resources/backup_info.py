# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading backups and how fresh they are, of one service or of many (Backups and snapshots)."""

from __future__ import annotations

from .._api.models import Backup, Snapshot
from .restore_points.resources import RestorePointInfoResource
from .shared.account import Account
from .shared.restore_points import BACKUPS, backups_as_restore_points
from .shared.retention import RestorePoint


class BackupInfoResource(RestorePointInfoResource):
    """The backups of each selected service, and whether the newest good one is young enough."""

    kind = BACKUPS

    def read(self, account: Account, service_id: str) -> list[tuple[Backup | Snapshot, RestorePoint]]:
        """Return the backups of a service."""
        found = account.backups(service_id)
        return list(zip(found, backups_as_restore_points(found), strict=True))


BACKUP_INFO = BackupInfoResource()
