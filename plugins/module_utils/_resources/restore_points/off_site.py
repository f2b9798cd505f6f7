# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which off-site copies of a service stay: those whose backup stays, and those that the policy keeps.

A night whose copying failed leaves a gap among the copies, so the policy looks at them as well as at the
backups. A copy goes only if neither decision keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from ..._api.values import BackupStatus
from ..shared.retention import Decision, Policy, RestorePoint, plan_retention

NAMED_MOMENT = re.compile(r"\d{8}T\d{6}Z$", re.IGNORECASE | re.ASCII)


def plan_off_site(
    names: Iterable[str], backups: Sequence[Decision], policy: Policy, now: datetime | None
) -> list[Decision]:
    """Decide on the off-site copies with these names, by the policy and the decisions on all backups."""
    named = [RestorePoint(name, name, BackupStatus.COMPLETED, moment_in(name)) for name in names]
    copies = plan_retention(named, policy, now)
    for copy in copies:
        if not copy.keep and (reason := reason_of_backup(copy.copy, backups)):
            copy.keep, copy.reasons = True, [reason]
    return copies


def moment_in(name: str) -> datetime | None:
    """Return the moment of its backup, in UTC, at the end of a copy's name; ``None`` if there is none."""
    found = NAMED_MOMENT.search(name)
    try:
        return datetime.strptime(found[0].upper(), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) if found else None
    except ValueError:
        return None


def reason_of_backup(copy: RestorePoint, backups: Sequence[Decision]) -> str | None:
    """Return why a copy stays for the sake of its backup; ``None`` if that goes, or is gone.

    Several backups may have one name. Only good ones are copied, so the copy of one that has failed since is
    better than it.
    """
    same = [each for each in backups if each.copy.name == copy.name]
    if any(each.keep for each in same):
        return "its backup stays"
    if any(each.copy.status == BackupStatus.FAILED for each in same):
        return "its backup has failed since it was copied"
    return None
