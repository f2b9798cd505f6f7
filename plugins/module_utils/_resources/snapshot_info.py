# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading snapshots and how fresh they are, of one service or of many (Backups and snapshots)."""

from __future__ import annotations

from .restore_points.resources import RestorePointInfoResource
from .shared.restore_points import SNAPSHOTS


class SnapshotInfoResource(RestorePointInfoResource):
    kind = SNAPSHOTS


SNAPSHOT_INFO = SnapshotInfoResource()
