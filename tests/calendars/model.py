# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When services are awake, decided minute by minute: an oracle that knows nothing of the collection's code.

It walks over every minute of a span and asks what the clock on the wall shows. A window begins at the first
minute that shows its beginning and ends at the last one that shows its end; where the clock never shows that
time, at the first minute that shows a later one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
MARGIN = 9
"""Days before and after a span that are walked over too, because windows reach into it."""


@dataclass
class Walk:
    """Every minute of some days in a zone: what the clock shows, and which minutes show a time."""

    first: datetime
    walls: list[datetime] = field(default_factory=list)
    shows: dict[datetime, list[int]] = field(default_factory=lambda: defaultdict(list))

    def begins(self, wall: datetime) -> int:
        """Return the minute at which a window with this beginning begins."""
        return self.shows[wall][0] if wall in self.shows else self.later(wall)

    def ends(self, wall: datetime) -> int:
        """Return the minute at which a window with this end has ended."""
        return self.shows[wall][-1] if wall in self.shows else self.later(wall)

    def later(self, wall: datetime) -> int:
        """Return the first minute that shows a later time; the end of the walk if that lies beyond it."""
        if wall > self.walls[-1]:
            return len(self.walls)
        near = wall
        while near not in self.shows:  # a clock is never put forward by more than a day or so
            near += MINUTE
        return self.shows[near][0]


@lru_cache(maxsize=200)
def walk(zone: str, first: date, days: int) -> Walk:
    """Walk over days in a zone, with a margin on both sides."""
    here = ZoneInfo(zone)
    moment = datetime(first.year, first.month, first.day, tzinfo=UTC) - MARGIN * DAY
    found = Walk(moment)
    for index in range((days + 2 * MARGIN) * 1440):
        wall = moment.astimezone(here).replace(tzinfo=None, fold=0)
        found.walls.append(wall)
        found.shows[wall].append(index)
        moment += MINUTE
    return found


def awake_minutes(plan: Mapping[str, Any], first: date, days: int) -> bytearray:
    """Return a 1 for each minute of a span in which the services of a plan are awake."""
    way = walk(plan["zone"], first, days)
    dates = [first + (offset - MARGIN + 1) * DAY for offset in range(days + 2 * MARGIN - 2)]
    awake = usual_minutes(plan, way, dates)
    special = bytearray(len(way.walls))
    for day in dates:
        if exception_for(plan, day) is not None:
            fill(special, 1, way, day, {"from": "00:00", "to": "24:00"})
    value = 1 if plan["events_mean"] == "awake" else 0
    for begin, end in events_of(plan, way, first, days):
        for index in range(begin, end):
            awake[index] = awake[index] if special[index] else value
    for day in dates:
        for window in exception_for(plan, day) or ():
            fill(awake, 1, way, day, window)
    return awake[MARGIN * 1440 : (MARGIN + days) * 1440]


def usual_minutes(plan: Mapping[str, Any], way: Walk, dates: list[date]) -> bytearray:
    """Return a 1 for each minute in the windows of the weekdays that are no exceptions."""
    awake = bytearray(len(way.walls))
    for day in dates:
        for window in plan["awake"]:
            if day.weekday() in window["days"] and exception_for(plan, day) is None:
                fill(awake, 1, way, day, window)
    return awake


def fill(minutes: bytearray, value: int, way: Walk, day: date, window: Mapping[str, str]) -> None:
    """Mark the minutes of a window that begins on a day."""
    begin, end = way.begins(at(day, window["from"])), way.ends(window_end(day, window))
    for index in range(begin, end):
        minutes[index] = value


def at(day: date, time: str) -> datetime:
    """Return a time of a day. The day has an hour 24."""
    hours, minutes = time.split(":")
    return datetime(day.year, day.month, day.day) + int(hours) * 60 * MINUTE + int(minutes) * MINUTE


def window_end(day: date, window: Mapping[str, str]) -> datetime:
    """Return what the clock shows when a window ends: on the next day if that would be before it begins."""
    begin, end = at(day, window["from"]), at(day, window["to"])
    return end if end > begin else end + DAY


def exception_for(plan: Mapping[str, Any], day: date) -> list[dict[str, str]] | None:
    """Return the windows of the exception that a day is in, if it is in one."""
    for exception in plan["exceptions"]:
        if exception["date"] <= day <= exception["until"]:
            windows: list[dict[str, str]] = exception["awake"]
            return windows
    return None


def events_of(plan: Mapping[str, Any], way: Walk, first: date, days: int) -> Iterator[tuple[int, int]]:
    """Yield the minutes from which and up to which the events of the calendar last."""
    for event in plan["events"]:
        for number in range(event["count"]):
            day = event["first"] + number * event["every"] * DAY
            if not first - (MARGIN - 1) * DAY <= day < first + (days + MARGIN - 1 - event["days"]) * DAY:
                continue
            if event["zone"] is None:
                yield (
                    way.begins(at(day, event["from"])),
                    way.ends(at(day + (event["days"] - 1) * DAY, event["to"])),
                )
            else:
                yield minute_of(way, day, event["from"], event), minute_of(way, day, event["to"], event)


def minute_of(way: Walk, day: date, time: str, event: Mapping[str, Any]) -> int:
    """Return the minute at which a clock in the zone of an event shows a time that it shows only once."""
    moment = at(day, time).replace(tzinfo=ZoneInfo(event["zone"]))
    return (moment.astimezone(UTC) - way.first) // MINUTE
