# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a plan for sleep, and the schedule that they describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from ..services.many_services import ManyServicesOptions
from ..services.options import CommitmentOptions
from ..shared.options import FilePath, StateDirOptions, WaitOptions, option, required
from ..shared.task_errors import Invalid
from ..shared.time_zones import zone_named
from .calendar_file import read_calendar
from .schedule import WEEKDAYS, Hours, Schedule, Weekday, days_of_exception, read_hours

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
    """Days with windows of their own, or none."""

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
    """Return the schedule of a plan."""
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
    """Return the windows of each weekday, by its number, 0 for Monday."""
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
