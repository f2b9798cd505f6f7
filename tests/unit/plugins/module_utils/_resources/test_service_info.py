# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of an account, a service and a database beyond a plan."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._resources import service_info
from ansible_collections.hosted.services.plugins.module_utils._resources.account_info import ACCOUNT_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.database_info import DATABASE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.engine import (
    connection_url,
)
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import run


@pytest.mark.parametrize("shape", POINTS["list.shape"].values)
def test_lists_are_read_whole(sandbox_process: Sandbox, shape: str) -> None:
    """No page has more than five entries; the account has a year and 22 days."""
    sandbox_process.reset(profile="plain", values={"list.shape": shape}, clock="2025-01-01T12:00:00.000Z")
    sandbox_process.seed({"services": [{"name": "mc", "product": "minecraft"}], "balance_cents": 1_000_000})
    for number in range(25):
        sandbox_process.operator("accounts/account-main", balance_cents=1_000_100 + 100 * number)
    sandbox_process.clock(freeze=True, advance=(365 + 21) * 86400)
    lengths = {"transactions": 27, "daily_spend": 22, "invoices": 12, "statements": 13}
    account = run(sandbox_process, ACCOUNT_INFO, include=[*lengths])["account"]
    for part, length in lengths.items():
        entries = account[part]
        assert len(entries) == length and all(entries.count(entry) == 1 for entry in entries), part


@pytest.mark.parametrize(
    ("zone", "starts"),
    [
        ("UTC", "11-01T00:00 11-01T00:00 10-26T00:00 11-01T00:00"),
        # 20:30 of the day before, which is in another month
        ("America/New_York", "11-01T00:00 10-31T04:00 10-26T04:00 10-01T04:00"),
        # 06:00, half an hour off the hours of UTC
        ("Asia/Kolkata", "11-01T00:30 10-31T18:30 10-25T18:30 10-31T18:30"),
    ],
)
def test_hour_day_week_and_month_begin_where_the_user_is(
    zone: str, starts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Frozen(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime(2026, 11, 1, 0, 30, 15, 5, UTC).astimezone(tz)

    monkeypatch.setattr(service_info, "datetime", Frozen)
    assert list(service_info.period_starts(zone)) == [f"2026-{each}:00.000Z" for each in starts.split()]


def test_a_month_begins_with_the_clock_that_it_began_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Local time was set forward the night before; the first of the month was in winter."""

    class Frozen(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            moment = datetime(2026, 3, 30, 8, 15, tzinfo=UTC).astimezone(tz)
            return moment if tz else moment.replace(tzinfo=None)

    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    try:
        monkeypatch.setattr(service_info, "datetime", Frozen)
        local = service_info.period_starts(None)
        assert local == service_info.period_starts("Europe/Paris")
        assert local[3] == "2026-02-28T23:00:00.000Z"
    finally:
        monkeypatch.undo()
        time.tzset()


class Account(FakeClient):
    url: str | None = "postgresql://"

    def database_connection(self, id: str) -> m.DatabaseConnection:
        return m.DatabaseConnection.model_validate({"password": "hidden", "url": self.url})


@pytest.fixture
def client() -> Account:
    client = Account()
    client.add_service("svc_db", "db")
    return client


@pytest.mark.parametrize("url", [None, ""])
def test_a_url_that_is_missing_is_no_empty_one(client: Account, url: str | None) -> None:
    client.url = url
    with pytest.raises(UnexpectedAnswer, match="connection: the field 'url' is missing") as refused:
        connection_url(task_of(DATABASE_INFO, client, service="db"))
    assert "hidden" not in str(refused.value)
