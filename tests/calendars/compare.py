# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random plans with calendars, and the comparison of what the collection says of them with the model.

``python -m calendars.compare --calendars 10000`` runs as many as asked for and prints what differs.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from calendars.model import MINUTE, awake_minutes

from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.schedule import (
    WEEKDAYS,
    Schedule,
    schedule_of,
)

CHANGES = {
    "Europe/Paris": (date(2026, 3, 29), date(2026, 10, 25)),
    "America/New_York": (date(2026, 3, 8), date(2026, 11, 1)),
    "Australia/Lord_Howe": (date(2026, 4, 5), date(2026, 10, 4)),  # by half an hour
    "America/Santiago": (date(2026, 4, 5), date(2026, 9, 6)),  # at midnight, so that a day begins at 01:00
    "Africa/Casablanca": (date(2026, 2, 15), date(2026, 3, 22)),  # for Ramadan, in the other order
    "Pacific/Chatham": (date(2026, 4, 5), date(2026, 9, 27)),  # three quarters of an hour off
}
"""Six zones, each with the two days of a year on which its clocks change."""
DAYS = 7
"""Days that are compared around each change."""
SAMPLES = 6
"""Moments of each span for which the whole decision is compared, with its boundaries."""


def random_plan(chance: random.Random, zone: str) -> dict[str, Any]:
    """Return a plan in the words of the model. Its times are often close to a change."""
    first = min(CHANGES[zone]) - timedelta(days=DAYS)
    return {
        "zone": zone,
        "awake": [
            {"days": sorted(chance.sample(range(7), chance.randint(1, 7))), **random_window(chance)}
            for __ in range(chance.choice((0, 1, 1, 2, 3)))
        ],
        "exceptions": list(random_exceptions(chance, zone)),
        "events": [random_event(chance, first) for __ in range(chance.choice((0, 0, 1, 2)))],
        "events_mean": chance.choice(("awake", "asleep")),
    }


def random_window(chance: random.Random) -> dict[str, str]:
    """Return a window; half of all times are those that a change skips or repeats."""

    def one(latest: int) -> str:
        if chance.random() < 0.5:
            return f"0{chance.randint(0, 3)}:{chance.choice(('00', '15', '30', '59'))}"
        minute = chance.randint(0, latest)
        return f"{minute // 60:02}:{minute % 60:02}"

    return {"from": one(24 * 60 - 1), "to": one(24 * 60)}


def random_exceptions(chance: random.Random, zone: str) -> Iterator[dict[str, Any]]:
    """Yield exceptions on days close to the changes, none of which overlap."""
    for change in CHANGES[zone]:
        if chance.random() < 0.5:
            first = change + timedelta(days=chance.randint(-3, 1))
            last = first + timedelta(days=chance.choice((0, 0, 1, 2)))
            windows = [random_window(chance) for __ in range(chance.choice((0, 1, 1, 2)))]
            yield {"date": first, "until": last, "awake": windows}


def random_event(chance: random.Random, first: date) -> dict[str, Any]:
    """Return an event that repeats: whole days, times without a zone, or times in another zone.

    Times in another zone are those of a day, which its clocks show once.
    """
    day = first + timedelta(days=chance.randint(0, 20))
    rhythm: dict[str, Any] = {
        "first": day,
        "every": chance.choice((1, 2, 7)),
        "count": chance.randint(1, 250),
    }
    kind = chance.choice(("days", "floating", "zoned"))
    if kind == "days":
        length = chance.randint(1, rhythm["every"])
        return {**rhythm, "zone": None, "kind": kind, "from": "00:00", "to": "24:00", "days": length}
    begin = chance.randint(6 * 60, 20 * 60)
    end = chance.randint(begin + 1, 22 * 60)
    times = {"from": f"{begin // 60:02}:{begin % 60:02}", "to": f"{end // 60:02}:{end % 60:02}"}
    zone = chance.choice(list(CHANGES)) if kind == "zoned" else None
    return {**rhythm, "zone": zone, "kind": kind, "days": 1, **times}


# --- In the words of the collection -------------------------------------------------------------------


def as_ical(events: list[dict[str, Any]]) -> str:
    """Return events as an iCalendar file."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//hosted.services//tests//EN"]
    for number, event in enumerate(events):
        lines += ["BEGIN:VEVENT", f"UID:{number}@example.com", "DTSTAMP:20260101T000000Z"]
        lines += [time_line(event, "DTSTART", event["from"]), time_line(event, "DTEND", event["to"])]
        lines += [f"RRULE:FREQ=DAILY;INTERVAL={event['every']};COUNT={event['count']}", "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def time_line(event: Mapping[str, Any], name: str, time: str) -> str:
    """Return the line of the beginning or the end of an event."""
    day = event["first"]
    if event["kind"] == "days":
        day += timedelta(days=event["days"] if name == "DTEND" else 0)
        return f"{name};VALUE=DATE:{day:%Y%m%d}"
    zone = f";TZID={event['zone']}" if event["zone"] else ""
    return f"{name}{zone}:{day:%Y%m%d}T{time.replace(':', '')}00"


def as_schedule(plan: Mapping[str, Any], folder: Path) -> Schedule:
    """Return the schedule that the collection reads from a plan."""
    calendar = folder / "calendar.ics"
    calendar.write_text(as_ical(plan["events"]), encoding="utf-8", newline="")
    arguments = {
        "name": "random",
        "awake": [
            {"days": [WEEKDAYS[day] for day in window["days"]], **hours(window)} for window in plan["awake"]
        ],
        "exceptions": [
            {
                "date": str(exception["date"]),
                "until": str(exception["until"]),
                "awake": [hours(window) for window in exception["awake"]],
            }
            for exception in plan["exceptions"]
        ],
        "calendar": str(calendar) if plan["events"] else None,
        "events": plan["events_mean"],
        "time_zone": plan["zone"],
    }
    return schedule_of(SLEEP_PLAN.read_options(arguments))


def hours(window: Mapping[str, str]) -> dict[str, str]:
    """Return a window in the collection's words."""
    return {"begins": window["from"], "ends": window["to"]}


# --- The comparison -----------------------------------------------------------------------------------


def compare(seed: int, folder: Path) -> list[str]:
    """Compare one random plan, around both changes of its zone. Returns what differs."""
    chance = random.Random(seed)
    plan = random_plan(chance, list(CHANGES)[seed % len(CHANGES)])
    schedule = as_schedule(plan, folder)
    wrong: list[str] = []
    for change in CHANGES[plan["zone"]]:
        first = change - timedelta(days=DAYS // 2)
        wrong += compare_span(schedule, plan, first, chance)
    return [f"seed {seed}: {line}" for line in wrong]


def compare_span(
    schedule: Schedule, plan: Mapping[str, Any], first: date, chance: random.Random
) -> list[str]:
    """Compare every minute of a span, and the whole decision for some of them and for those at boundaries."""
    begin = datetime(first.year, first.month, first.day, tzinfo=UTC)
    expected = awake_minutes(plan, first, DAYS)
    told = bytearray(len(expected))
    for start, end in schedule.awake_between(begin, begin + DAYS * 24 * 60 * MINUTE):
        from_, to = max(0, (start - begin) // MINUTE), min(len(told), (end - begin) // MINUTE)
        told[from_:to] = b"\1" * max(0, to - from_)
    wrong = [f"{begin + i * MINUTE}: {told[i]}, not {expected[i]}" for i in differing(told, expected)]
    boundaries = [i for i in range(1, len(expected)) if expected[i] != expected[i - 1]]
    moments = chance.sample(range(len(expected)), SAMPLES) + chance.sample(
        boundaries, min(4, len(boundaries))
    )
    for index in moments:
        wrong += compare_moment(schedule, begin, index, expected, boundaries)
    return wrong


def differing(told: bytearray, expected: bytearray) -> list[int]:
    """Return the first minutes that differ."""
    if told == expected:
        return []
    return [index for index in range(len(told)) if told[index] != expected[index]][:3]


def compare_moment(
    schedule: Schedule, begin: datetime, index: int, expected: bytearray, boundaries: list[int]
) -> list[str]:
    """Compare the decision for a moment within a minute; boundaries beyond the span only by their side."""
    now = begin + index * MINUTE + timedelta(seconds=index % 60)
    period = schedule.period(now)
    since = max((each for each in boundaries if each <= index), default=None)
    until = min((each for each in boundaries if each > index), default=None)
    fits = (
        period.awake == bool(expected[index])
        and agrees(period.since, begin, since, lambda moment: moment <= begin)
        and agrees(period.until, begin, until, lambda moment: moment >= begin + len(expected) * MINUTE)
    )
    return [] if fits else [f"{now}: {period}, not {expected[index]} from {since} to {until}"]


def agrees(moment: datetime | None, begin: datetime, index: int | None, outside: Any) -> bool:
    """Tell whether a boundary is the one of the model, or outside of the span if that has none."""
    if index is None:
        return moment is None or bool(outside(moment))
    return moment == begin + index * MINUTE


def main() -> int:
    """Compare as many calendars as asked for; return 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calendars", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begun, wrong = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.calendars):
            found = compare(seed, Path(folder))
            wrong += bool(found)
            print(*found, sep="\n", end="\n" if found else "")
    seconds = time.monotonic() - begun
    print(f"{options.calendars} calendars in {len(CHANGES)} zones, {wrong} of them wrong, {seconds:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
