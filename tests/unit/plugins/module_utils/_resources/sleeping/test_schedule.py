# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a plan is awake: windows, exceptions, clocks that change, and calendars as files."""

from __future__ import annotations

import os
import random
import threading
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest
from calendars.compare import CHANGES, compare

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.schedule import (
    Hours,
    Schedule,
    first_shown,
    last_shown,
    read_calendar,
)
from unit.tiers import sample

CALENDARS = int(os.environ.get("CALENDARS", "48"))
"""How many random calendars are compared with the model."""
PARIS = ZoneInfo("Europe/Paris")


def at(text: str) -> datetime:
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


def test_the_time_awake_counts_the_hours_that_there_are() -> None:
    """The night in which clocks are put back is longer by an hour."""
    schedule = Schedule(PARIS, {day: [Hours(0, 6 * 60)] for day in range(7)})
    assert schedule.awake_time(at("2026-10-24T12:00"), at("2026-10-25T12:00")) == timedelta(hours=7)
    assert schedule.awake_time(at("2026-03-28T12:00"), at("2026-03-29T12:00")) == timedelta(hours=5)


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


BEGIN, END = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 12, tzinfo=UTC)


def calendar(folder: Path, *lines: str, outside: str = "") -> str:
    """Write a calendar with one event; return its path."""
    path = folder / "a.ics"
    event = ["BEGIN:VEVENT", "UID:1@example.com", "DTSTAMP:20260101T000000Z", "SUMMARY:Fair", *lines]
    whole = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//y//EN", *outside.split("|"), *event]
    path.write_text("\r\n".join([line for line in whole if line] + ["END:VEVENT", "END:VCALENDAR", ""]))
    return str(path)


def events(folder: Path, *lines: str, outside: str = "") -> list[tuple[str, str]]:
    """Return the events of a week, by the hour."""
    found = read_calendar(calendar(folder, *lines, outside=outside), PARIS)(BEGIN, END)
    return [(f"{begin:%d %H:%M}", f"{end:%d %H:%M}") for begin, end in sorted(found)]


def test_times_are_in_their_zone_or_in_that_of_the_plan(tmp_path: Path) -> None:
    """Whole days, times without a zone, in UTC, in a zone, and with a length."""
    assert events(tmp_path, "DTSTART;VALUE=DATE:20260106") == [("05 23:00", "06 23:00")]
    assert events(tmp_path, "DTSTART:20260106T080000", "DURATION:PT2H") == [("06 07:00", "06 09:00")]
    assert events(tmp_path, "DTSTART:20260106T080000Z", "DTEND:20260106T090000Z") == [
        ("06 08:00", "06 09:00")
    ]
    new_york = "TZID=America/New_York"
    told = events(tmp_path, f"DTSTART;{new_york}:20260106T080000", f"DTEND;{new_york}:20260106T090000")
    assert told == [("06 13:00", "06 14:00")]


def test_a_zone_that_the_calendar_describes_is_known(tmp_path: Path) -> None:
    """Office programs give zones names of their own."""
    zone = (
        "BEGIN:VTIMEZONE|TZID:Office|BEGIN:STANDARD|DTSTART:19700101T000000|TZOFFSETFROM:+0500"
        "|TZOFFSETTO:+0500|TZNAME:O|END:STANDARD|END:VTIMEZONE"
    )
    told = events(
        tmp_path, "DTSTART;TZID=Office:20260106T080000", "DTEND;TZID=Office:20260106T090000", outside=zone
    )
    assert told == [("06 03:00", "06 04:00")]


def test_an_endless_recurrence_is_unfolded_for_the_time_asked_for_alone(tmp_path: Path) -> None:
    """One that began decades ago as well; dates that are left out are left out."""
    told = events(
        tmp_path,
        "DTSTART:19900101T080000Z",
        "DTEND:19900101T090000Z",
        "RRULE:FREQ=DAILY",
        "EXDATE:20260107T080000Z",
    )
    assert 25 < len(told) < 40
    assert ("07 08:00", "07 09:00") not in told


def test_the_last_month_of_a_year_ends_with_the_first_of_the_next(tmp_path: Path) -> None:
    path = calendar(tmp_path, "DTSTART:20261231T200000Z", "DTEND:20270101T040000Z")
    found = read_calendar(path, PARIS)
    night = (datetime(2026, 12, 31, 20, tzinfo=UTC), datetime(2027, 1, 1, 4, tzinfo=UTC))
    for month in (datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)):
        assert list(found(month, month)) == [night]


def test_what_is_canceled_does_not_count(tmp_path: Path) -> None:
    assert events(tmp_path, "DTSTART;VALUE=DATE:20260106", "STATUS:CANCELLED") == []


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            ["DTSTART;TZID=Mars/Crater:20260106T080000"],
            "DTSTART of event 'Fair' of .* is in time zone 'Mars/Crater'",
        ),
        (
            ["DTSTART:20260106T080000Z", "RRULE:FREQ=DAILY", "EXDATE;TZID=Mars/Crater:20260106T080000"],
            "EXDATE of event 'Fair' .* 'Mars/Crater'",
        ),
        (
            ["DTSTART:20260106T080000Z", "RDATE;VALUE=PERIOD;TZID=Mars/Crater:20260107T080000/PT2H"],
            "RDATE of event 'Fair' .* 'Mars/Crater'",
        ),
        (["DTSTART:2026010T"], "'Fair' of .* has a DTSTART that cannot be read"),
        ([], "'Fair' .* has no DTSTART"),
    ],
)
def test_what_cannot_be_understood_is_refused(tmp_path: Path, lines: list[str], says: str) -> None:
    """A zone that nobody knows is not taken for that of the plan."""
    with pytest.raises(Invalid, match=says):
        read_calendar(calendar(tmp_path, *lines), PARIS)


def test_what_is_not_worked_out_in_time_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As each second of each day, or each hour of two thousand years."""
    released = threading.Event()
    endless = SimpleNamespace(between=lambda begin, end: released.wait(60))
    monkeypatch.setattr(f"{Schedule.__module__}.MOST_SECONDS", 2)
    monkeypatch.setattr("recurring_ical_events.of", lambda calendar: endless)
    with pytest.raises(Invalid, match="not worked out within 2 seconds; look for rules that"):
        events(tmp_path, "DTSTART:20260106T080000Z")
    released.set()


def test_what_lasts_longer_than_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be worked out: OverflowError"):
        events(tmp_path, "DTSTART:20260106T080000Z", "DURATION:P999999999D")


def test_what_is_no_calendar_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.ics"
    for content in ("hello", "", "BEGIN:VEVENT\r\nUID:1\r\nEND:VEVENT\r\n"):
        path.write_text(content)
        with pytest.raises(Invalid, match="is no iCalendar file"):
            read_calendar(str(path), PARIS)
    with pytest.raises(Invalid, match="cannot be read: No such file"):
        read_calendar(str(tmp_path / "none.ics"), PARIS)
