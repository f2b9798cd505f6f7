# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading snapshots and how fresh they are, of one service or of many (Backups and snapshots)."""

from __future__ import annotations

from .._api.models import Backup, Snapshot
from .restore_points.resources import RestorePointInfoResource
from .shared.account import Account
from .shared.restore_points import SNAPSHOTS, snapshots_as_restore_points
from .shared.retention import RestorePoint


class SnapshotInfoResource(RestorePointInfoResource):
    """The snapshots of each selected service, and whether the newest one is young enough."""

    kind = SNAPSHOTS

    def read(self, account: Account, service_id: str) -> list[tuple[Backup | Snapshot, RestorePoint]]:
        """Return the snapshots of a service."""
        found = account.snapshots(service_id)
        return list(zip(found, snapshots_as_restore_points(found), strict=True))


SNAPSHOT_INFO = SnapshotInfoResource()
