# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading backups and how fresh they are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Service
from ansible_collections.hosted.services.plugins.module_utils._resources.backup_info import BACKUP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points.resources import (
    fresh_until,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import SEED, add, id_of, run


@pytest.mark.parametrize(
    ("days", "status", "verdict"),
    [
        (0.5, "COMPLETED", "fresh"),
        (2, "COMPLETED", "stale"),
        (0.5, "FAILED", "missing"),
        (0.5, "PENDING", "missing"),
        (-1, "COMPLETED", "fresh"),
    ],
)
def test_freshness(sandbox: Sandbox, days: float, status: str, verdict: str) -> None:
    """Only a completed backup counts; one from the future is new."""
    add(sandbox, "one", "nightly-1", days, status)
    add(sandbox, "one", "by-hand", 0)
    entry = run(sandbox, BACKUP_INFO, services=["one"], pattern="nightly-*", max_age="1d6h")["services"][0]
    assert entry["freshness"] == verdict
    assert [backup["name"] for backup in entry["backups"]] == ["nightly-1"]
    assert (entry["newest"] is None) == (verdict == "missing")


def test_one_service_that_cannot_be_read_does_not_hide_the_others(sandbox: Sandbox) -> None:
    """The task fails, and its result has what could be read."""
    add(sandbox, "one", "n", 0.5)
    result = run(sandbox, BACKUP_INFO, services=["one", "metal"], max_age="1d")
    assert result["failed"] and not result["changed"]
    assert [entry["freshness"] for entry in result["services"]] == ["fresh", None]


def test_the_backups_of_a_suspended_service_do_not_age(sandbox: Sandbox) -> None:
    """Their age counts up to the suspension; once the service is resumed, up to now again."""
    past = datetime.now(UTC) - timedelta(days=5)
    sandbox.reset(clock=past.isoformat(), seed=SEED)
    add(sandbox, "one", "nightly-1", 5.2)
    service = f"/api/resources/{id_of(sandbox, 'one')}"
    sandbox.api("POST", f"{service}/suspend")
    entry = run(sandbox, BACKUP_INFO, services=["one"], max_age="1d")["services"][0]
    assert (entry["freshness"], entry["age_hours"]) == ("fresh", 4)
    assert run(sandbox, BACKUP_INFO, services=["one"], max_age="4h")["services"][0]["freshness"] == "stale"
    sandbox.api("POST", f"{service}/resume")
    sandbox.clock(advance=5 * 86400)
    entry = run(sandbox, BACKUP_INFO, services=["one"], max_age="1d")["services"][0]
    assert (entry["freshness"], entry["age_hours"]) == ("stale", 124)


@pytest.mark.parametrize(
    ("fields", "still"),
    [
        ({"status": "SUSPENDED", "dates": {"suspendedAt": "2026-01-01T00:00:00Z"}}, True),
        ({"status": "SUSPENDED", "dates": {"suspendedAt": None}}, False),
        ({"status": "SUSPENDED", "dates": None}, False),
        ({"status": "ACTIVE", "dates": {"suspendedAt": "2026-01-01T00:00:00Z"}}, False),
    ],
)
def test_only_what_is_known_to_be_suspended_does_not_age(fields: dict[str, Any], still: bool) -> None:
    """A platform may go on showing when a service was suspended last."""
    now = datetime(2026, 2, 1, tzinfo=UTC)
    until = fresh_until(Service.model_validate({"id": "s", "name": "web", "family": "APP", **fields}), now)
    assert until == (datetime(2026, 1, 1, tzinfo=UTC) if still else now)
