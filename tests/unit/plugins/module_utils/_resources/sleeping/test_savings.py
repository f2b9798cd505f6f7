# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sleep saves: announced by the rates, counted by the usage."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import DaySpend, Usage
from ansible_collections.hosted.services.plugins.module_utils._resources.services.rates import Rates
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.memory import Saved
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.savings import (
    Forecast,
    begin_counting,
    count,
    days_to_count,
    in_cents,
    saved_as_dict,
    spent_by_day,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.schedule import (
    Hours,
    Schedule,
)

NOW = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)
FULL = Decimal("73.00")  # 2.40 a day


def usage(**days: int) -> Usage:
    """Return a usage by the day of November."""
    lines = [DaySpend(date=f"2026-11-{day[1:]}", total_cents=cents) for day, cents in days.items()]
    return Usage(days=lines)


def test_a_forecast_is_the_difference_of_the_rates_for_the_hours_of_sleep() -> None:
    """In exact numbers, rounded at the very end."""
    schedule = Schedule(UTC, {day: [Hours(8 * 60, 20 * 60)] for day in range(7)})
    asleep = timedelta(days=30) - schedule.awake_time(NOW, NOW + timedelta(days=30))
    assert asleep == timedelta(hours=360)
    told = Forecast(30, asleep, Rates(FULL, Decimal("7.30"))).as_dict()
    assert told == {
        "days": 30,
        "asleep_hours": 360.0,
        "monthly_awake": "73.00",
        "monthly_asleep": "7.30",
        "saves": "32.40",
        "saves_monthly": "32.85",
    }
    assert Forecast(30, asleep, Rates(None, FULL)).saves_monthly is None
    unknown = Forecast(30, asleep, Rates(FULL, None)).as_dict()
    assert (unknown["saves"], unknown["saves_monthly"], unknown["monthly_asleep"]) == (None, None, None)


def test_each_day_that_is_over_is_counted_once() -> None:
    """The day on which the plan was switched on is not whole, nor is today."""
    saved = begin_counting(NOW)
    assert saved.following == date(2026, 11, 24)
    assert days_to_count(saved, NOW + timedelta(days=1)) == []
    saved = Saved(date(2026, 11, 20), date(2026, 11, 20))
    days = days_to_count(saved, NOW)
    assert days == [date(2026, 11, day) for day in (20, 21, 22)]
    counted = count(saved, days, usage(d20=40, d21=240, d22=140, d23=10), FULL, NOW)
    assert (counted.amount, counted.days) == (Decimal("3.00"), 3)
    assert days_to_count(counted, NOW) == []


def test_a_count_that_was_left_for_long_goes_on() -> None:
    """With the days that can still be asked for."""
    days = days_to_count(Saved(date(2026, 1, 1), date(2026, 1, 1)), NOW)
    assert (days[0], days[-1], len(days)) == (date(2026, 9, 25), date(2026, 11, 22), 59)


def test_days_that_cannot_be_read_are_missing() -> None:
    """So are those without an amount."""
    lines = [
        DaySpend(date="soon", total_cents=1),
        DaySpend(date=None, total_cents=1),
        DaySpend(date="2026-11-01T00:00:00.000Z", total_cents=12),
        DaySpend(date="2026-11-02", total_cents=None),
    ]
    assert spent_by_day(lines) == {date(2026, 11, 1): Decimal("0.12")}
    assert spent_by_day(None) == {}


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("-0.004", "0.00"),
        ("-0", "0.00"),
        ("0.005", "0.00"),
        ("-0.01", "-0.01"),
        ("1.239", "1.24"),
        (None, None),
    ],
)
def test_amounts_are_rounded_to_cents_without_a_minus_zero(amount: str | None, text: str | None) -> None:
    """As they are read by people and by Prometheus."""
    assert in_cents(None if amount is None else Decimal(amount)) == text


def test_savings_are_told() -> None:
    saved = Saved(date(2026, 11, 20), date(2026, 11, 1), Decimal("-0.001"), 2)
    assert saved_as_dict(saved) == {"since": "2026-11-01", "days": 2, "amount": "0.00"}
    assert saved_as_dict(None) is None
