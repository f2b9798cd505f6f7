# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a plan: the schedule that they describe."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.options import (
    SleepPlanOptions,
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
