# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading snapshots and how fresh they are, of one service or of many (Backups and snapshots)."""

from __future__ import annotations

from typing import Any, ClassVar

from ..api.models import Service
from .backup_info import INFO_OPTIONS, blank, fits, freshness
from .copies import snapshot_copies
from .many_services import SELECTION_RULES, Purpose, plan_many
from .plan import Plan, Resource, Task
from .retention import read_span


class SnapshotInfoResource(Resource):
    """The snapshots of each selected service, and whether the newest one is young enough."""

    noun = "services"
    options: ClassVar[dict[str, Any]] = INFO_OPTIONS
    rules: ClassVar[dict[str, Any]] = SELECTION_RULES

    def plan(self, task: Task) -> Plan:
        """Read; there is nothing to do."""
        limit = read_span(task.options["max_age"])

        def read(own: Task, service: Service) -> Plan:
            snapshots = [s for s in own.client.snapshots(service.id) if fits(own, s)]
            return Plan(result=freshness("snapshots", snapshots, snapshot_copies(snapshots), limit))

        return plan_many(task, Purpose("snapshots", "snapshots", read, blank("snapshots")))


SNAPSHOT_INFO = SnapshotInfoResource()
