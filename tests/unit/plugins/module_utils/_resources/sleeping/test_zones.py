# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The moments at which clocks show a time, on the days on which they change."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.zones import (
    first_shown,
    last_shown,
    merge,
    midnight,
    subtract,
)


@pytest.mark.parametrize(
    ("zone", "wall", "first", "last"),
    [
        ("Europe/Paris", "2026-07-01T08:00", "2026-07-01T06:00", "2026-07-01T06:00"),
        ("Europe/Paris", "2026-03-29T02:30", "2026-03-29T01:00", "2026-03-29T01:00"),  # skipped
        ("Europe/Paris", "2026-10-25T02:30", "2026-10-25T00:30", "2026-10-25T01:30"),  # shown twice
        ("Australia/Lord_Howe", "2026-10-04T02:10", "2026-10-03T15:30", "2026-10-03T15:30"),
        ("America/Santiago", "2026-09-06T00:00", "2026-09-06T04:00", "2026-09-06T04:00"),
        ("UTC", "2026-10-25T02:30", "2026-10-25T02:30", "2026-10-25T02:30"),
    ],
)
def test_a_time_is_shown_at_a_moment(zone: str, wall: str, first: str, last: str) -> None:
    """What clocks skip is the moment at which they do; what they show twice has two moments."""
    time, here = datetime.fromisoformat(wall), ZoneInfo(zone)
    assert first_shown(time, here) == datetime.fromisoformat(f"{first}+00:00")
    assert last_shown(time, here) == datetime.fromisoformat(f"{last}+00:00")


def test_intervals_are_merged_and_subtracted() -> None:
    """Those that touch are one; empty ones are none; a hole may split one, or cover several."""
    hours = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number) for number in range(10)]
    spans = [(hours[4], hours[6]), (hours[0], hours[2]), (hours[2], hours[3]), (hours[7], hours[7])]
    merged = merge(spans)
    assert merged == [(hours[0], hours[3]), (hours[4], hours[6])]
    assert subtract(merged, [(hours[1], hours[2]), (hours[5], hours[9])]) == [
        (hours[0], hours[1]),
        (hours[2], hours[3]),
        (hours[4], hours[5]),
    ]
    assert subtract(merged, [(hours[0], hours[9])]) == []
    assert midnight(date(2026, 1, 1)) == datetime(2026, 1, 1)
