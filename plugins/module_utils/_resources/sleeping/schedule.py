# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The schedule of a plan: when its services are awake. It follows from the clock and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Literal

from ..shared.task_errors import Invalid

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
