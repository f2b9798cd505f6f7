# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""iCalendar files: what they mean, and what is refused rather than misread."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping import calendar_file
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.calendar_file import (
    read_calendar,
)

PARIS = ZoneInfo("Europe/Paris")
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
    found = read_calendar(calendar(folder, *lines, outside=outside), PARIS).events(BEGIN, END)
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
        assert list(found.events(month, month)) == [night]


def test_what_is_canceled_does_not_count(tmp_path: Path) -> None:
    """It does not take place."""
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
    monkeypatch.setattr(calendar_file, "MOST_SECONDS", 2)
    monkeypatch.setattr("recurring_ical_events.of", lambda calendar: endless)
    with pytest.raises(Invalid, match="not worked out within 2 seconds; look for rules that"):
        events(tmp_path, "DTSTART:20260106T080000Z")
    released.set()


def test_what_lasts_longer_than_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be worked out: OverflowError"):
        events(tmp_path, "DTSTART:20260106T080000Z", "DURATION:P999999999D")


def test_what_is_no_calendar_is_refused(tmp_path: Path) -> None:
    """Another file, an empty one, and none."""
    path = tmp_path / "b.ics"
    for content in ("hello", "", "BEGIN:VEVENT\r\nUID:1\r\nEND:VEVENT\r\n"):
        path.write_text(content)
        with pytest.raises(Invalid, match="is no iCalendar file"):
            read_calendar(str(path), PARIS)
    with pytest.raises(Invalid, match="cannot be read: No such file"):
        read_calendar(str(tmp_path / "none.ics"), PARIS)
