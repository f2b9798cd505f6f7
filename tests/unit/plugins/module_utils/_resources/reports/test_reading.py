# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading: what ends the task, and what bounds it where an account is large."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConnectionFailed
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.figures import app_of
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import (
    MAX_SCANS,
    Facts,
    Job,
    read_releases,
    run_jobs,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from unit.plugins.fakes import FakeClient


def test_what_would_fail_everywhere_ends_the_task() -> None:
    def fail(client: Any) -> None:
        raise ConnectionFailed("refused")

    client: Any = FakeClient()
    with pytest.raises(ConnectionFailed):
        run_jobs(Account(client), Facts(), [Job("backups", "db", "1", fail, {}, "1")])


def test_the_newest_releases_are_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {
        f"v{number:02}": m.Release(tag=f"v{number:02}", digest="sha256:1", created_at=f"2026-11-{number:02}")
        for number in range(1, 21)
    }
    asked: list[str] = []

    def scan(account: Account, release: m.Release, slug: str) -> m.ScanReport:
        asked.append(release.tag)
        return m.ScanReport.model_validate({"tag": release.tag, "scanStatus": "PASSED"})

    monkeypatch.setattr(Account, "releases", lambda account, slug: listed)
    monkeypatch.setattr(Account, "scan", scan)
    app = m.App.model_validate({"id": "a", "slug": "web", "status": "ACTIVE"})
    client: Any = FakeClient()
    found = read_releases(Account(client), app)
    assert asked == [f"v{number:02}" for number in range(20, 20 - MAX_SCANS, -1)]
    assert found.not_scanned == 20 - MAX_SCANS
    told = app_of(Facts(apps=[app], releases={"web": found}), app, datetime(2026, 11, 30, tzinfo=UTC))
    assert told["note"] == "8 older releases were not read"
