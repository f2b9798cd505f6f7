# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of an iCalendar file, such as holidays, as times at which a plan differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from typing import Any, TypeVar

from ..._api.bounded_call import run_bounded
from ..._api.libraries import require_for
from ..shared.task_errors import Invalid
from .schedule import DAY, Events, Interval, first_shown, last_shown, midnight

try:
    import icalendar
    import recurring_ical_events  # type: ignore[import-untyped]
except ImportError:
    icalendar = recurring_ical_events = None  # type: ignore[assignment]

TIMES = ("DTSTART", "DTEND", "RECURRENCE-ID", "EXDATE", "RDATE")
"""The properties of an event that hold times."""
MOST_SECONDS = 60
"""How long it may take to read a calendar, and to unfold a month of it: thousands of events take a tenth."""
T = TypeVar("T")


def read_calendar(path: str, zone: tzinfo) -> Events:
    """Read and check an iCalendar file. Return what tells its events, of which a month is unfolded once.

    :raises Invalid: naming the event and what is wrong with it. So does what is returned.
    :raises ConfigurationError: if the libraries are not installed.
    """
    require_for("an iCalendar file", icalendar, "'icalendar>=6.1.0' 'recurring-ical-events>=3.4.0'")

    def parse() -> Any:
        with open(path, "rb") as file:
            return icalendar.Calendar.from_ical(file.read())

    calendar = worked_out(path, parse, "{!r} is no iCalendar file")
    if not isinstance(calendar, icalendar.Calendar):
        raise Invalid(f"{path!r} is no iCalendar file: it begins with a {calendar.name}")
    for event in calendar.walk("VEVENT"):
        check_event(event, path)
    query = worked_out(path, lambda: recurring_ical_events.of(calendar))

    @cache
    def of_month(number: int) -> Sequence[Interval]:
        begin, end = (datetime(each // 12, each % 12 + 1, 1, tzinfo=UTC) for each in (number, number + 1))

        def unfolded() -> list[Interval]:
            found = query.between(begin - DAY, end + DAY)
            there = [event for event in found if str(event.get("STATUS") or "").upper() != "CANCELLED"]
            return [lasts(event, zone) for event in there]

        return worked_out(path, unfolded)

    def events(begin: datetime, end: datetime) -> Sequence[Interval]:
        first, last = (moment.astimezone(UTC) for moment in (begin, end))
        months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
        return [event for number in months for event in of_month(number)]

    return events


def worked_out(path: str, work: Callable[[], T], doubt: str = "the events of {!r} cannot be worked out") -> T:
    """Return what is worked out of a calendar."""
    try:
        return run_bounded(MOST_SECONDS, work)
    except TimeoutError:
        raise Invalid(
            f"the events of {path!r} are not worked out within {MOST_SECONDS} seconds; look for rules that "
            "repeat too often, or since long ago, or remove what is past"
        ) from None
    except OSError as error:
        raise Invalid(f"the calendar {path!r} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # the libraries raise whatever a file or a rule provokes
        raise Invalid(f"{doubt.format(path)}: {type(error).__name__}: {error}") from None


def check_event(event: Any, path: str) -> None:
    """Check that every time of an event is understood: what is not would silently be left out, or moved."""
    what = f"event {str(event.get('SUMMARY') or event.get('UID') or 'without a name')!r} of {path!r}"
    if event.errors:
        name, reason = event.errors[0]
        raise Invalid(f"{what} has a {name} that cannot be read: {reason}")
    if event.get("DTSTART") is None:
        raise Invalid(f"{what} has no DTSTART, so nobody knows when it begins")
    for name in TIMES:
        values = event.get(name) or []  # an event may have it once, often, or not at all
        for value in values if isinstance(values, list) else [values]:
            check_zone(value, f"{name} of {what}")


def check_zone(value: Any, what: str) -> None:
    """Check that a time which names a zone is in it: an unknown one leaves the time without any."""
    name = value.params.get("TZID") if hasattr(value, "params") else None
    held = [each.dt for each in value.dts] if hasattr(value, "dts") else [value.dt]
    times = [time[0] if isinstance(time, tuple) else time for time in held]  # a period holds its beginning
    if name and any(isinstance(time, datetime) and time.tzinfo is None for time in times):
        raise Invalid(
            f"{what} is in time zone {str(name)!r}, which is not known here, and the calendar does not "
            "describe it. Write a name such as Europe/Paris, or add its VTIMEZONE"
        )


def lasts(event: Any, zone: tzinfo) -> Interval:
    begin = event["DTSTART"].dt
    end = event["DTEND"].dt if event.get("DTEND") is not None else begin
    return moment_of(begin, zone, last=False), moment_of(end, zone, last=True)


def moment_of(time: date | datetime, zone: tzinfo, last: bool) -> datetime:
    """Return the moment of a time in a calendar. A time without a zone is in that of the plan."""
    if isinstance(time, datetime) and time.tzinfo is not None:
        return time.astimezone(UTC)
    wall = time if isinstance(time, datetime) else midnight(time)
    return last_shown(wall, zone) if last else first_shown(wall, zone)
