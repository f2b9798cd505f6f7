# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision on one service, from the clock, its record and its load."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.decision import (
    Situation,
    decide,
    read_until,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.load import Load
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.memory import (
    Keep,
    SleepRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.schedule import Period

NOW = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
NIGHT, DAY = Period(False, NOW - HOUR, NOW + HOUR), Period(True, NOW - HOUR, NOW + HOUR)
AWAKE_AT_NIGHT = Situation(NOW, NIGHT, SleepRecord(), suspended=False)
ASLEEP_BY_DAY = Situation(NOW, DAY, SleepRecord(), suspended=True)
BUSY = replace(AWAKE_AT_NIGHT, load=Load(True, "much CPU"), at_most=2 * HOUR)


def later(case: Situation, hours: float, **changes: object) -> Situation:
    """Return what the next run finds: the record as this one leaves it, and the clock moved on."""
    record = decide(case).after
    return replace(case, now=case.now + hours * HOUR, record=record, **changes)  # type: ignore[arg-type]


def test_a_busy_service_is_suspended_once_at_most_is_over() -> None:
    """Counted from when it first had to wait."""
    verdict = decide(BUSY)
    assert (verdict.act, verdict.delayed, verdict.awake) == ("nothing", True, True)
    assert decide(later(BUSY, 1.9)).act == "nothing"
    assert decide(later(BUSY, 2)).act == "suspend"
    assert decide(later(BUSY, 0.1, load=Load(False, "idle"))).act == "suspend"


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


@pytest.mark.parametrize(
    "text",
    [
        "9999d",
        "100000d",
        "1000y",
        "367d",
        "10m",  # ten months, and meant as minutes
        "9999-12-31T23:59",
        "0001-01-01",
        "2026-11-23T20:00Z",
        "soon",
        "",
        "25:00",
    ],
)
def test_until_is_within_a_year(text: str) -> None:
    """Whatever is written, the error says so."""
    with pytest.raises(Invalid, match="until of keep_awake is"):
        read_until(text, NOW, ZoneInfo("Europe/Paris"))
