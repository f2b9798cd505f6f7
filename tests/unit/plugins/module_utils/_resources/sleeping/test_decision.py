# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision on one service: by the clock, its load and its record, and what its sleep saves."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import DaySpend, Usage
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.decision import (
    KIB,
    Load,
    Situation,
    decide,
    load_of,
    read_until,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.memory import (
    Keep,
    Memory,
    Sample,
    Saved,
    SleepRecord,
    count,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.schedule import (
    BusyOptions,
    Period,
)

NOW = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
NIGHT, DAY = Period(False, NOW - HOUR, NOW + HOUR), Period(True, NOW - HOUR, NOW + HOUR)
AWAKE_AT_NIGHT = Situation(NOW, NIGHT, SleepRecord(), suspended=False)
BUSY = replace(AWAKE_AT_NIGHT, load=Load(True, "much CPU"), at_most=2 * HOUR)


def later(case: Situation, hours: float, **changes: object) -> Situation:
    """Return what the next run finds: the record as this one leaves it, and the clock moved on."""
    record = decide(case).after
    return replace(case, now=case.now + hours * HOUR, record=record, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("ticks", [True, False])
def test_a_busy_service_may_wait_again_when_it_is_no_longer_kept_awake(ticks: bool) -> None:
    """Even if it was busy before, and whether or not the plan ran meanwhile."""
    keep = Keep(NOW + 0.1 * HOUR, NOW + 5 * HOUR)
    waiting = later(BUSY, 0.1)
    kept = replace(waiting, record=waiting.record.with_keep(keep), keep=keep)
    ended = later(kept, 5) if ticks else replace(kept, now=NOW + 5.1 * HOUR)
    assert decide(ended).act == "nothing"
    assert decide(later(ended, 2)).act == "suspend"


KEPT = Keep(NOW, NOW + HOUR)


def test_what_is_kept_awake_is_so_until_that_very_moment() -> None:
    """And the wish is forgotten then. Another service's wish is not this one's to forget."""
    case = replace(AWAKE_AT_NIGHT, record=SleepRecord().with_keep(KEPT), keep=KEPT)
    assert decide(replace(case, now=NOW + 0.99 * HOUR)).record.keep == KEPT
    ended = decide(replace(case, now=NOW + HOUR))
    assert (ended.act, ended.record.keep) == ("suspend", None)
    others = replace(case, now=NOW + HOUR, keep=Keep(NOW, NOW + 2 * HOUR))
    assert decide(others).act == "nothing" and decide(others).record.keep is None


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("22:00", "2026-11-23T21:00"),
        ("21:00", "2026-11-24T20:00"),
        ("24:00", "2026-11-23T23:00"),
        ("3h", "2026-11-23T23:00"),
        ("2d", "2026-11-25T20:00"),
        ("2026-12-24T12:00", "2026-12-24T11:00"),
        ("2026-12-24T12:00Z", "2026-12-24T12:00"),
        ("366d", "2027-11-24T20:00"),
    ],
)
def test_until_is_read_in_the_zone_of_the_plan(text: str, until: str) -> None:
    """A time without a date is the next one."""
    expected = datetime.fromisoformat(f"{until}+00:00")
    assert read_until(text, NOW, ZoneInfo("Europe/Paris")) == expected


CPU = BusyOptions(cpu_percent=20, minutes=15)
TRAFFIC = BusyOptions(traffic_kib_per_second=10, minutes=15)


def sample(minutes_ago: float, cpu: float = 0, traffic: int = 0) -> Sample:
    return Sample(NOW - timedelta(minutes=minutes_ago), cpu, traffic)


@pytest.mark.parametrize(
    ("samples", "busy"),
    [
        ([sample(5, traffic=0), sample(0, traffic=11 * 300 * KIB)], True),
        ([sample(5, traffic=0), sample(0, traffic=10 * 300 * KIB)], False),
        ([sample(5, traffic=10**9), sample(0, traffic=11 * 300 * KIB)], True),  # it was restarted between
        ([sample(0, traffic=10**9)], None),
    ],
)
def test_the_traffic(samples: list[Sample], busy: bool | None) -> None:
    """It takes two samples within the minutes that count."""
    assert load_of(samples, NOW, TRAFFIC).busy is busy


def memory(folder: Path, plan: str = "nights", id: str = "svc_1") -> Memory:
    return Memory.of(str(folder), "https://example.com", plan, id)


FULL = Decimal("73.00")  # 2.40 a day


def usage(**days: int) -> Usage:
    lines = [DaySpend(date=f"2026-11-{day[1:]}", total_cents=cents) for day, cents in days.items()]
    return Usage(days=lines)


def counted(saved: Saved | None, now: datetime, **days: int) -> tuple[Saved, list[int]]:
    """Count, and return for how many days the usage was asked for."""
    asked: list[int] = []

    def read(number: int) -> Usage:
        asked.append(number)
        return usage(**days)

    return count(saved, now, FULL, read), asked


def test_each_day_that_is_over_is_counted_once() -> None:
    """The day on which the plan was switched on is not whole, nor is today. What is not shown is left out."""
    saved, asked = counted(None, NOW)
    assert (saved.following, asked) == (date(2026, 11, 24), [])
    assert counted(saved, NOW + timedelta(days=1)) == (saved, [])
    saved, asked = counted(
        Saved(date(2026, 11, 20), date(2026, 11, 20)), NOW, d20=40, d21=240, d22=140, d23=10
    )
    assert (saved.amount, saved.days, asked) == (Decimal("3.00"), 3, [4])
    assert counted(saved, NOW, d22=140) == (saved, [])
    assert counted(Saved(date(2026, 1, 1), date(2026, 1, 1)), NOW)[1] == [60], "that was left for long"
