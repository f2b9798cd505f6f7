# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the times of a clock on the wall lie, in any zone and on the days on which clocks change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache

Interval = tuple[datetime, datetime]
"""From a moment up to another, both in UTC."""
DAY = timedelta(days=1)


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
    """Return the first or the second moment at which clocks show a time."""
    moments = [wall.replace(tzinfo=zone, fold=each).astimezone(UTC) for each in (0, 1)]
    if moments[0] > moments[1]:  # skipped: the offset from before the change says later than that from after
        return change_between(moments[1], moments[0], zone)
    return moments[fold]


def change_between(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    """Return the moment between two at which the offset of a zone changes."""
    old = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)


def midnight(day: date) -> datetime:
    """Return the beginning of a day, on the wall."""
    return datetime(day.year, day.month, day.day)


# --- Intervals --------------------------------------------------------------------------------------


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
