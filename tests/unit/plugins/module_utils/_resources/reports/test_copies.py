# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The calendar of backups: a cell for each day, and what would be lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.models import Service, ServiceSummary
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.copies import (
    row_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.measures import Measures
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.retention import (
    RestorePoint,
    Span,
)

AS_OF = datetime(2026, 11, 19, 9, 30, tzinfo=UTC)
MEASURES = Measures(AS_OF, Span(hours=26, text="26h"))


def summary(**fields: Any) -> ServiceSummary:
    """Return a service in its list form."""
    given = {"id": "s", "name": "db", "family": "APP", "status": "ACTIVE", **fields}
    return ServiceSummary.model_validate(given)


def copy(days: float, status: str = "COMPLETED") -> RestorePoint:
    """Return a backup that was made at 3 in the morning some days ago."""
    made = AS_OF.replace(hour=3, minute=0) - timedelta(days=days)
    return RestorePoint(f"b{days}", f"n{days}", status, made)


def row(*copies: RestorePoint, detail: Service | None = None, **fields: Any) -> dict[str, Any]:
    """Return the row of a service with these backups."""
    return row_of(summary(**fields), detail, copies, MEASURES)


def test_a_backup_each_night_is_fresh_every_day() -> None:
    found = row(*(copy(days) for days in range(40)))
    assert found["cells"] == ["fresh"] * 30
    assert (found["freshness"], found["age_hours"], found["longest_gap_hours"]) == ("fresh", 6, 24)
    assert (found["count"], found["newest"]) == (40, "2026-11-19T03:00:00Z")


def test_days_without_a_backup_become_stale() -> None:
    found = row(copy(4), copy(3), detail=None)
    assert found["cells"][-6:] == ["none", "fresh", "fresh", "stale", "stale", "stale"]
    assert (found["freshness"], found["age_hours"], found["longest_gap_hours"]) == ("stale", 78, 78)


def test_a_failed_backup_is_told_unless_another_was_made_that_day() -> None:
    found = row(copy(2), copy(1, "FAILED"), copy(0), copy(0, "FAILED"))
    assert found["cells"][-3:] == ["fresh", "failed", "fresh"]
    assert found["last_failed"] is False
    assert row(copy(1), copy(0, "FAILED"))["last_failed"] is True


def test_a_backup_that_is_not_complete_is_none() -> None:
    found = row(copy(0, "PENDING"), RestorePoint("x", "x", "COMPLETED", None))
    assert set(found["cells"]) == {"none"}
    assert (found["freshness"], found["age_hours"], found["longest_gap_hours"]) == ("none", None, None)


def test_days_before_a_service_was_created_are_no_failure() -> None:
    found = row(copy(0), created_at="2026-11-18T12:00:00.000Z")
    assert found["cells"][-3:] == ["before", "none", "fresh"]


def test_the_newest_backup_of_what_is_suspended_does_not_grow_old() -> None:
    suspended = {"suspendedAt": "2026-11-10T04:00:00.000Z"}
    given = {"id": "s", "name": "db", "family": "APP", "status": "SUSPENDED", "dates": suspended}
    detail = Service.model_validate(given)
    found = row(copy(9), detail=detail, status="SUSPENDED")
    assert (found["freshness"], found["age_hours"]) == ("fresh", 1)
    assert found["cells"][-10:] == ["fresh"] * 10
