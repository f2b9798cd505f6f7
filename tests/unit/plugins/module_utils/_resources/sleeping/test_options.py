# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a plan: the schedule that they describe, and what contradicts itself."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.options import (
    SleepPlanOptions,
    check_limits,
    schedule_of,
)

MONDAY, SUNDAY = datetime(2026, 11, 23, 12, tzinfo=UTC), datetime(2026, 11, 22, 12, tzinfo=UTC)


def options(**given: Any) -> SleepPlanOptions:
    """Return the options of a plan."""
    return SLEEP_PLAN.read_options({"name": "a", **given})


def test_windows_are_those_of_their_weekdays() -> None:
    """A window without days is one of every day, one without times lasts all day."""
    week = schedule_of(options(awake=[{"days": ["mon"], "begins": "11:00", "ends": "13:00"}]))
    assert (week.period(MONDAY).awake, week.period(SUNDAY).awake) == (True, False)
    assert schedule_of(options(awake=[{}])).period(SUNDAY).awake
    assert not schedule_of(options(awake=[])).period(SUNDAY).awake


def test_a_plan_of_exceptions_alone_is_awake_on_all_other_days() -> None:
    """As one whose calendar names the days of sleep."""
    schedule = schedule_of(options(exceptions=[{"date": "2026-11-22", "awake": []}]))
    assert (schedule.period(MONDAY).awake, schedule.period(SUNDAY).awake) == (True, False)


@pytest.mark.parametrize("events", ["asleep", "awake"])
def test_a_plan_of_a_calendar_alone_is_the_other_way_at_all_other_times(tmp_path: Path, events: str) -> None:
    event = ["BEGIN:VEVENT", "UID:1", "DTSTAMP:20261101T000000Z", "DTSTART;VALUE=DATE:20261122", "END:VEVENT"]
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//y//EN", *event, "END:VCALENDAR", ""]
    (tmp_path / "a.ics").write_text("\r\n".join(lines))
    schedule = schedule_of(options(calendar=str(tmp_path / "a.ics"), events=events))
    awake = events == "awake"
    assert (schedule.period(SUNDAY).awake, schedule.period(MONDAY).awake) == (awake, not awake)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "does not say when its services are awake"),
        ({"awake": [{"days": []}]}, "days of a window in awake is an empty list"),
        ({"awake": [{"begins": ""}]}, "awake: from is ''; write a time from 00:00 to 24:00"),
        (
            {"exceptions": [{"date": "2026-12-24", "awake": [{"ends": "25:00"}]}]},
            "awake of an exception: to is '25:00'",
        ),
        ({"awake": [], "time_zone": "Mars/Crater"}, "time_zone 'Mars/Crater' is not known"),
        (
            {
                "exceptions": [
                    {"date": "2026-12-24", "until": "2026-12-26", "awake": []},
                    {"date": "2026-12-26", "awake": []},
                ]
            },
            "2026-12-26 is in two exceptions",
        ),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(given: dict[str, Any], says: str) -> None:
    """Before anything is read."""
    with pytest.raises(Invalid, match=says):
        schedule_of(options(**given))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"forecast_days": 0}, "forecast_days is 0"),
        ({"forecast_days": 367}, "forecast_days is 367"),
        ({"not_while_busy": {}}, "does not say what is busy"),
        ({"not_while_busy": {"cpu_percent": -1}}, "cpu_percent of not_while_busy is -1"),
        ({"not_while_busy": {"cpu_percent": float("nan")}}, "cpu_percent of not_while_busy is nan"),
        ({"not_while_busy": {"cpu_percent": 1, "minutes": 0}}, "minutes of not_while_busy is 0"),
        ({"not_while_busy": {"cpu_percent": 1, "at_most": 99999}}, "at_most of not_while_busy is 99999"),
    ],
)
def test_numbers_have_limits(given: dict[str, Any], says: str) -> None:
    """The error names the option and its value."""
    with pytest.raises(Invalid, match=says):
        check_limits(options(**given))
    check_limits(options())
