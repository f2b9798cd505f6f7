# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading backups and how fresh they are, of one service or of many (Backups and snapshots)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from ..api.models import Backup, Service, Snapshot
from .copies import backup_copies, newest
from .many_services import SELECTION, SELECTION_RULES, Purpose, plan_many
from .plan import Plan, Resource, Task
from .retention import Copy, Span, read_span

FRESH, STALE, MISSING = "fresh", "stale", "missing"

INFO_OPTIONS: dict[str, Any] = {
    **SELECTION,
    "pattern": {"type": "str", "default": "*"},
    "max_age": {"type": "str"},
}


class BackupInfoResource(Resource):
    """The backups of each selected service, and whether the newest good one is young enough."""

    noun = "services"
    options: ClassVar[dict[str, Any]] = INFO_OPTIONS
    rules: ClassVar[dict[str, Any]] = SELECTION_RULES

    def plan(self, task: Task) -> Plan:
        """Read; there is nothing to do."""
        limit = read_span(task.options["max_age"])

        def read(own: Task, service: Service) -> Plan:
            backups = [b for b in own.client.backups(service.id) if fits(own, b)]
            return Plan(result=freshness("backups", backups, backup_copies(backups), limit))

        return plan_many(task, Purpose("backups", "backups", read, blank("backups")))


BACKUP_INFO = BackupInfoResource()


def fits(task: Task, copy: Backup | Snapshot) -> bool:
    """Tell whether the pattern of the task matches a name."""
    return fnmatchcase(copy.name, task.options["pattern"])


def blank(kind: str) -> dict[str, Any]:
    """Return the keys of the result where nothing could be read."""
    return {kind: [], "newest": None, "age_hours": None, "freshness": None}


def freshness(
    kind: str, found: Sequence[Backup | Snapshot], copies: Sequence[Copy], limit: Span | None
) -> dict[str, Any]:
    """Return what there is, the newest good copy, its age in hours, and the verdict on it.

    ``limit`` is the greatest age that is fresh; without one there is no verdict. A copy from the future, as a
    clock that goes wrong makes it, has the age 0.
    """
    now = datetime.now(UTC)
    best = newest(copies)
    chosen = next((f for f, copy in zip(found, copies, strict=True) if copy is best), None)
    made = best.created_at if best else None
    verdict = None
    if limit is not None:
        verdict = MISSING if made is None else FRESH if made >= limit.before(now, UTC) else STALE
    return {
        kind: [copy.as_dict() for copy in found],
        "newest": chosen.as_dict() if chosen else None,
        "age_hours": max(0, (now - made) // timedelta(hours=1)) if made else None,
        "freshness": verdict,
    }
