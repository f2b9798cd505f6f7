# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hours, days, weeks and months of which service_info reads what was billed."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources import service_info


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
