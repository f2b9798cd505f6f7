# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups as a calendar: one row for each service, one cell for each of the last days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from ..._api.models import Service, ServiceSummary
from ..._api.values import BackupStatus, ServiceStatus
from ..shared.restore_points import newest_complete, parse_moment
from ..shared.retention import RestorePoint
from ..shared.time_zones import utc_text
from .reading import Facts, Measures

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
FRESH, STALE, FAILED, NONE, BEFORE = "fresh", "stale", "failed", "none", "before"
"""The cells: the last one stands for the days before a service was created."""
NOT_OFFERED, UNKNOWN = "not_offered", "unknown"
"""What may stand in place of a verdict on a service."""


def backups_of(facts: Facts, measures: Measures) -> dict[str, Any]:
    """Return the calendar, the services that offer no backups, and those of which nothing is known."""
    rows, not_offered, unknown = list[dict[str, Any]](), list[str](), list[str]()
    for service in facts.services or ():
        if service.status in ServiceStatus.NOT_CREATED:
            continue
        copies = facts.backups.get(service.id)
        if copies is not None:
            rows.append(row_of(service, facts.details.get(service.id), copies, measures))
        else:
            (not_offered if service.id in facts.backups else unknown).append(service.id)
    return {
        "max_age": measures.max_age.text,
        "days": [day.isoformat() for day in measures.days],
        "services": rows,
        "not_offered_ids": not_offered,
        "unknown_ids": unknown,
    }


def row_of(
    service: ServiceSummary, detail: Service | None, copies: Sequence[RestorePoint], measures: Measures
) -> dict[str, Any]:
    """Return the row of a service: a cell for each day, and what would be lost if it broke now."""
    still = None
    if service.status == ServiceStatus.SUSPENDED and detail is not None and detail.dates is not None:
        still = parse_moment(detail.dates.suspended_at)  # since then nothing changes: its newest is as good
    known = [copy for copy in copies if copy.created_at is None or copy.created_at <= measures.as_of]
    newest = newest_complete(known)
    made = newest.created_at if newest else None
    until = measures.as_of if still is None else min(measures.as_of, still)
    failed = moments_of(known, BackupStatus.FAILED)
    good = moments_of(known, BackupStatus.COMPLETED)
    return {
        "id": service.id,
        "name": service.name,
        "freshness": verdict(made, until, measures),
        "newest": utc_text(made),
        "age_hours": None if made is None else max(0, (until - made) // HOUR),
        "longest_gap_hours": longest_gap(good, until, measures),
        "last_failed": bool(failed) and (made is None or failed[-1] > made),
        "count": sum(copy.status == BackupStatus.COMPLETED for copy in known),
        "cells": cells_of(good, failed, parse_moment(service.created_at), still, measures),
    }


def moments_of(copies: Sequence[RestorePoint], status: str) -> list[datetime]:
    return sorted(copy.created_at for copy in copies if copy.created_at and copy.status == status)


def verdict(made: datetime | None, until: datetime, measures: Measures) -> str:
    if made is None:
        return NONE
    return FRESH if made >= measures.max_age.before(until, UTC) else STALE


def cells_of(
    good: Sequence[datetime],
    failed: Sequence[datetime],
    created: datetime | None,
    still: datetime | None,
    measures: Measures,
) -> list[str]:
    """Return the cell of each day: how things were at its end, by the backups that are still there."""
    bad = {moment.astimezone(UTC).date() for moment in failed}
    fine = {moment.astimezone(UTC).date() for moment in good}
    found, newest, position = [], None, 0
    for day in measures.days:
        end = min(measures.as_of, datetime.combine(day + DAY, time(), UTC))
        while position < len(good) and good[position] < end:
            newest, position = good[position], position + 1
        if created is not None and created >= end:
            found.append(BEFORE)
        elif day in bad and day not in fine:
            found.append(FAILED)
        else:
            found.append(verdict(newest, end if still is None else min(end, still), measures))
    return found


def longest_gap(good: Sequence[datetime], until: datetime, measures: Measures) -> int | None:
    """Return the most hours between two good backups that follow each other and end in the calendar."""
    first = datetime.combine(measures.days[0], time(), UTC)
    ends = [*good[1:], until] if good else []
    gaps = [(end - begin) // HOUR for begin, end in zip(good, ends, strict=True) if end >= first]
    return max(gaps, default=None) if gaps and max(gaps) >= 0 else None
