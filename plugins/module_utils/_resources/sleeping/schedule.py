# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The schedule of a plan: when its services are awake. It follows from the clock and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache, lru_cache
from typing import Any, Literal, TypeVar

from ..._api.bounded_call import run_bounded
from ..._api.libraries import require_for
from ..services.many_services import ManyServicesOptions
from ..services.options import CommitmentOptions
from ..shared.options import FilePath, StateDirOptions, WaitOptions, option, required
from ..shared.task_errors import Invalid
from ..shared.time_zones import zone_named

Interval = tuple[datetime, datetime]
"""From a moment up to another, both in UTC."""
DAY = timedelta(days=1)
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MIDNIGHT = 24 * 60
REACHES = (8, 40, 400)
"""Days before and after a moment in which its boundaries are looked for: the first that holds both."""
LONGEST_EXCEPTION = 3660
Events = Callable[[datetime, datetime], Sequence[Interval]]
"""Returns the events of a calendar that overlap the time between two moments."""


# --- Times of a clock on the wall, in any zone and on the days on which clocks change -----------------


@lru_cache(maxsize=4096)
def first_shown(wall: datetime, zone: tzinfo) -> datetime:
    """Return the moment at which clocks show a time first.

    A time that is skipped, because clocks are put forward, is the moment at which they are.
    """
    return moment_shown(wall, zone, 0)


@lru_cache(maxsize=4096)
def last_shown(wall: datetime, zone: tzinfo) -> datetime:
    """Return the moment at which clocks show a time last, which differs where they are put back."""
    return moment_shown(wall, zone, 1)


def moment_shown(wall: datetime, zone: tzinfo, fold: int) -> datetime:
    moments = [wall.replace(tzinfo=zone, fold=each).astimezone(UTC) for each in (0, 1)]
    if moments[0] > moments[1]:  # skipped: the offset from before the change says later than that from after
        return change_between(moments[1], moments[0], zone)
    return moments[fold]


def change_between(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    old = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


# --- Intervals ----------------------------------------------------------------------------------------


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """Return intervals in their order, with those that touch or overlap made one, and without empty ones."""
    merged: list[Interval] = []
    for begin, end in sorted(interval for interval in intervals if interval[0] < interval[1]):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def subtract(intervals: Sequence[Interval], holes: Sequence[Interval]) -> list[Interval]:
    """Return what is left of merged intervals outside of other merged ones."""
    left: list[Interval] = []
    for begin, end in intervals:
        rest = begin
        for hole_begin, hole_end in holes:
            if hole_end <= rest or hole_begin >= end:
                continue
            if rest < hole_begin:
                left.append((rest, hole_begin))
            rest = hole_end
        if rest < end:
            left.append((rest, end))
    return left


# --- Schedules ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hours:
    """A window of a day, in minutes from its midnight. One that does not end later ends on the next day."""

    begin: int
    end: int

    def on(self, day: date, zone: tzinfo) -> Interval:
        length = self.end if self.end > self.begin else self.end + MIDNIGHT
        start = midnight(day)
        begin, end = start + timedelta(minutes=self.begin), start + timedelta(minutes=length)
        return first_shown(begin, zone), last_shown(end, zone)


@dataclass(frozen=True)
class Period:
    """What a schedule says of a moment, since when, and until when. ``None`` if that is far away."""

    awake: bool
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True)
class Schedule:
    """The windows of each weekday, the days that are exceptions, and the events of a calendar.

    A window belongs to the day on which it begins, and lasts to its end whatever the next day says. An
    exception replaces the windows that begin on its day, and the calendar does not count on that day.
    """

    zone: tzinfo
    weekly: Mapping[int, Sequence[Hours]] = field(default_factory=dict)
    exceptions: Mapping[date, Sequence[Hours]] = field(default_factory=dict)
    events: Events | None = None
    awake_at_events: bool = False

    def awake_between(self, begin: datetime, end: datetime) -> list[Interval]:
        """Return when services are awake between two moments; the outermost intervals may reach further."""
        first, last = (moment.astimezone(self.zone).date() for moment in (begin, end))
        days = [first + number * DAY for number in range(-2, (last - first).days + 3)]
        usual = merge(
            hours.on(day, self.zone)
            for day in days
            if day not in self.exceptions
            for hours in self.weekly.get(day.weekday(), ())
        )
        if self.events is not None:
            named_days = [midnight(day) for day in days if day in self.exceptions]
            special = merge(
                (first_shown(day, self.zone), last_shown(day + DAY, self.zone)) for day in named_days
            )
            events = subtract(merge(self.events(begin - 2 * DAY, end + 2 * DAY)), special)
            usual = merge([*usual, *events]) if self.awake_at_events else subtract(usual, events)
        named = (
            hours.on(day, self.zone)
            for day in days
            if day in self.exceptions
            for hours in self.exceptions[day]
        )
        return [each for each in merge([*usual, *named]) if each[1] > begin and each[0] < end]

    def period(self, now: datetime) -> Period:
        """Return what the schedule says of a moment, and the boundaries around it."""
        awake, since, until = False, None, None
        for reach in REACHES:
            begin, end = now - reach * DAY, now + reach * DAY
            intervals = self.awake_between(begin, end)
            awake = any(first <= now < last for first, last in intervals)
            moments = sorted(moment for each in intervals for moment in each if begin < moment < end)
            since = max((moment for moment in moments if moment <= now), default=None)
            until = min((moment for moment in moments if moment > now), default=None)
            if since is not None and until is not None:
                break
        return Period(awake, since, until)

    def awake_time(self, begin: datetime, end: datetime) -> timedelta:
        intervals = self.awake_between(begin, end)
        return sum((min(last, end) - max(first, begin) for first, last in intervals), timedelta())


# --- What the user wrote ------------------------------------------------------------------------------


def read_hours(begin: str, end: str) -> Hours:
    first = read_time(begin, "from")
    if first == MIDNIGHT:
        raise Invalid("a window cannot begin at 24:00; write 00:00, and the next day among its days")
    return Hours(first, read_time(end, "to"))


def read_time(text: str, option: str) -> int:
    """Return the minute of a day from a time such as 08:00. The end of a day is 24:00."""
    match = re.fullmatch(r"([01][0-9]|2[0-3]):([0-5][0-9])|24:00", text.strip())
    if match is None:
        quotes = ' YAML makes a number of a time without quotes: write "20:00".' if text.isdigit() else ""
        raise Invalid(f"{option} is {text!r}; write a time from 00:00 to 24:00, such as 08:00.{quotes}")
    return MIDNIGHT if match[1] is None else int(match[1]) * 60 + int(match[2])


def read_date(text: str, option: str) -> date:
    """Return a day from its date such as 2026-12-24; ``option`` is for the error."""
    try:
        found = date.fromisoformat(text.strip())
    except ValueError:
        found = date.min
    if not 1970 <= found.year < date.max.year:
        raise Invalid(f"{option} is {text!r}; write a date such as 2026-12-24")
    return found


def days_of_exception(first: str, last: str | None) -> list[date]:
    begin = read_date(first, "date of an exception")
    end = begin if last is None else read_date(last, "until of an exception")
    if not begin <= end <= begin + LONGEST_EXCEPTION * DAY:
        raise Invalid(
            f"an exception lasts from {begin} until {end}; it must end on its first day or later, and within "
            "ten years"
        )
    return [begin + number * DAY for number in range((end - begin).days + 1)]


# --- The events of an iCalendar file, such as holidays, as times at which a plan differs --------------


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
            return [
                (
                    moment_of(event["DTSTART"].dt, zone, last=False),
                    moment_of((event.get("DTEND") or event["DTSTART"]).dt, zone, last=True),
                )
                for event in there
            ]

        return worked_out(path, unfolded)

    def events(begin: datetime, end: datetime) -> Sequence[Interval]:
        first, last = (moment.astimezone(UTC) for moment in (begin, end))
        months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
        return [event for number in months for event in of_month(number)]

    return events


def worked_out(path: str, work: Callable[[], T], doubt: str = "the events of {!r} cannot be worked out") -> T:
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


def moment_of(time: date | datetime, zone: tzinfo, last: bool) -> datetime:
    """Return the moment of a time in a calendar. A time without a zone is in that of the plan."""
    if isinstance(time, datetime) and time.tzinfo is not None:
        return time.astimezone(UTC)
    wall = time if isinstance(time, datetime) else midnight(time)
    return last_shown(wall, zone) if last else first_shown(wall, zone)


# --- The options of a plan, and the schedule that they describe ---------------------------------------


LONGEST_FORECAST = 366
LONGEST_BUSY = 7 * 24 * 60


@dataclass(frozen=True, kw_only=True)
class HoursOptions:
    begins: str = option("00:00", aliases=["from"])
    ends: str = option("24:00", aliases=["to"])


@dataclass(frozen=True, kw_only=True)
class WindowOptions(HoursOptions):
    days: list[Weekday] = option(list(WEEKDAYS))


@dataclass(frozen=True, kw_only=True)
class ExceptionOptions:
    date: str
    until: str | None = None
    awake: list[HoursOptions]


@dataclass(frozen=True, kw_only=True)
class BusyOptions:
    """When a service counts as busy, and for how long that delays its suspension."""

    cpu_percent: float | None = None
    traffic_kib_per_second: float | None = None
    minutes: int = 15
    at_most: int = 240


@dataclass(frozen=True, kw_only=True)
class KeepAwakeOptions:
    services: list[str]
    until: str


@dataclass(frozen=True, kw_only=True)
class SleepPlanOptions(ManyServicesOptions, CommitmentOptions, WaitOptions, StateDirOptions):
    name: str = required(selects=True)
    awake: list[WindowOptions] | None = None
    exceptions: list[ExceptionOptions] = option([])
    calendar: FilePath | None = option(None, reads_file=True, selects=True)
    events: Literal["asleep", "awake"] = "asleep"
    time_zone: str = option("UTC", selects=True)
    resume: bool = True
    start_after: dict[str, Any] = option({})
    not_while_busy: BusyOptions | None = None
    keep_awake: KeepAwakeOptions | None = None
    release: list[str] | None = option(None, selects=True)
    forecast_days: int = 30


def schedule_of(options: SleepPlanOptions) -> Schedule:
    zone = zone_named(options.time_zone)
    if options.awake is None and options.calendar is None and not options.exceptions:
        raise Invalid(
            "the plan does not say when its services are awake; set awake, exceptions or calendar. "
            "awake: [] with nothing else keeps them asleep for good"
        )
    events = read_calendar(options.calendar, zone) if options.calendar is not None else None
    weekly = weekly_hours(options.awake or ())
    if options.awake is None and (events is None or options.events == "asleep"):
        # A plan that only says when its services sleep, by events or exceptions, has them awake otherwise.
        weekly = weekly_hours([WindowOptions(begins="00:00", ends="24:00", days=list(WEEKDAYS))])
    return Schedule(zone, weekly, exceptions_of(options.exceptions), events, options.events == "awake")


def weekly_hours(windows: Sequence[WindowOptions]) -> dict[int, list[Hours]]:
    weekly: dict[int, list[Hours]] = {}
    for window in windows:
        if not window.days:
            raise Invalid(
                "days of a window in awake is an empty list; name weekdays, or leave it out for all"
            )
        for day in window.days:
            weekly.setdefault(WEEKDAYS.index(day), []).append(read_window(window, "awake"))
    return weekly


def read_window(window: HoursOptions, option: str) -> Hours:
    """Return the hours of a window, of an option that errors are to name."""
    try:
        return read_hours(window.begins, window.ends)
    except Invalid as error:
        raise Invalid(f"{option}: {error.message}") from None


def exceptions_of(exceptions: Sequence[ExceptionOptions]) -> Mapping[date, Sequence[Hours]]:
    found: dict[date, Sequence[Hours]] = {}
    for exception in exceptions:
        hours = [read_window(window, "awake of an exception") for window in exception.awake]
        for day in days_of_exception(exception.date, exception.until):
            if day in found:
                raise Invalid(f"{day} is in two exceptions; merge them, so that it is clear which one holds")
            found[day] = hours
    return found


def check_limits(options: SleepPlanOptions) -> None:
    if not 1 <= options.forecast_days <= LONGEST_FORECAST:
        raise Invalid(f"forecast_days is {options.forecast_days}; it must be 1 to {LONGEST_FORECAST}")
    busy = options.not_while_busy
    if busy is None:
        return
    if busy.cpu_percent is None and busy.traffic_kib_per_second is None:
        raise Invalid(
            "not_while_busy does not say what is busy; set cpu_percent, traffic_kib_per_second or both"
        )
    for name in ("cpu_percent", "traffic_kib_per_second"):
        value = getattr(busy, name)
        if value is not None and not 0 <= value < float("inf"):
            raise Invalid(f"{name} of not_while_busy is {value}; it must be 0 or more")
    for name, minutes in {"minutes": busy.minutes, "at_most": busy.at_most}.items():
        if not 1 <= minutes <= LONGEST_BUSY:
            raise Invalid(f"{name} of not_while_busy is {minutes}; it must be 1 to {LONGEST_BUSY} minutes")
