# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a plan is awake: windows, exceptions, boundaries, and what users write."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from calendars.compare import CHANGES, compare

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.schedule import (
    Hours,
    Schedule,
    days_of_exception,
    read_date,
    read_hours,
    read_time,
)
from unit.tiers import sample

CALENDARS = int(os.environ.get("CALENDARS", "48"))
"""How many random calendars are compared with the model."""
PARIS = ZoneInfo("Europe/Paris")


def at(text: str) -> datetime:
    """Return a moment from its text in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize("part", sample(range(len(CHANGES))))
def test_random_calendars_agree_with_a_model_that_walks_over_every_minute(part: int, tmp_path: Path) -> None:
    """In six zones, around both changes of their clocks."""
    seeds = random.Random(part).sample(range(10**6), CALENDARS // len(CHANGES))
    wrong = [line for seed in seeds for line in compare(seed, tmp_path)]
    assert wrong == []


def test_a_window_lasts_beyond_midnight_into_a_day_without_windows() -> None:
    """It belongs to the day on which it begins, whatever the next one says."""
    friday = {4: [Hours(20 * 60, 2 * 60)]}
    saturday = date(2026, 11, 28)
    for schedule in (Schedule(UTC, friday), Schedule(UTC, friday, {saturday: []})):
        assert schedule.period(at("2026-11-28T01:59")).awake
        period = schedule.period(at("2026-11-28T02:00"))
        assert not period.awake
        assert period.since == at("2026-11-28T02:00")


@pytest.mark.parametrize(
    ("hours", "awake"), [([], False), ([Hours(0, 1440)], True), ([Hours(480, 480)], True)]
)
def test_a_plan_without_boundaries_has_none(hours: list[Hours], awake: bool) -> None:
    """A window that ends when it begins lasts a day."""
    period = Schedule(PARIS, {day: hours for day in range(7)}).period(at("2026-10-25T01:00"))
    assert (period.awake, period.since, period.until) == (awake, None, None)


def test_the_time_awake_counts_the_hours_that_there_are() -> None:
    """The night in which clocks are put back is longer by an hour."""
    schedule = Schedule(PARIS, {day: [Hours(0, 6 * 60)] for day in range(7)})
    assert schedule.awake_time(at("2026-10-24T12:00"), at("2026-10-25T12:00")) == timedelta(hours=7)
    assert schedule.awake_time(at("2026-03-28T12:00"), at("2026-03-29T12:00")) == timedelta(hours=5)


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (lambda: read_time("1200", "from"), "from is '1200'.*without quotes"),
        (lambda: read_time("24:01", "to"), "to is '24:01'"),
        (lambda: read_time("8:00", "to"), "to is '8:00'"),
        (lambda: read_hours("24:00", "01:00"), "cannot begin at 24:00"),
        (lambda: read_date("24.12.2026", "date"), "date is '24.12.2026'"),
        (lambda: read_date("9999-12-31", "date"), "date is '9999-12-31'"),
        (lambda: days_of_exception("2026-12-24", "2026-12-23"), "until 2026-12-23"),
        (lambda: days_of_exception("2026-12-24", "2096-12-23"), "within ten years"),
    ],
)
def test_texts_that_make_no_sense_are_refused(read: Callable[[], object], says: str) -> None:
    """The error names the value, and what to write."""
    with pytest.raises(Invalid, match=says):
        read()


def test_texts_that_make_sense_are_read() -> None:
    """Times, days and moments."""
    assert read_hours("08:30", "24:00") == Hours(510, 1440)
    assert len(days_of_exception("2026-12-24", "2026-12-26")) == 3
