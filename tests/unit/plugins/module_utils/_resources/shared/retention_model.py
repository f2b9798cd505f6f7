# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a retention policy keeps, said a second time in other words: the planner is measured against it.

It knows nothing of the planner. Every rule is a set of backups; what is kept is their union. That is how the
manual of restic explains its policies, with two things that only its behaviour shows: a rule that has not
found enough periods keeps the oldest backup too, and ``within`` counts from the newest backup. A backup that
is dated in the future stays, and counts for nothing, which is our own rule.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from fnmatch import fnmatchcase
from itertools import groupby, islice
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

FORMATS = {
    "last": "{0}",  # the id: each is a period of its own
    "hourly": "%Y-%m-%d %H",
    "daily": "%Y-%m-%d",
    "weekly": "%G week %V",
    "monthly": "%Y-%m",
    "yearly": "%Y",
}
ZONES = ["UTC", "Europe/Paris", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Beirut"]
UNITS = "ymdh"


class Made(NamedTuple):
    """A backup of a random history."""

    id: str
    name: str
    status: str
    at: datetime


class Story(NamedTuple):
    """A random history and a policy: counts by rule, a duration by unit, pattern, limit, zone and clock."""

    made: list[Made]
    counts: dict[str, int]
    within: dict[str, int]
    pattern: str
    failed: int
    zone: str
    now: datetime


def kept(story: Story) -> set[str]:
    """Return the ids of the backups that must not be deleted."""
    dated = [made for made in story.made if made.at <= story.now + timedelta(minutes=1)]
    owned = [made for made in dated if fnmatchcase(made.name, story.pattern)]
    foreign = {made.id for made in story.made} - {made.id for made in owned}
    busy = {made.id for made in owned if made.status not in ("COMPLETED", "FAILED")}
    failures = newest_first(made for made in owned if made.status == "FAILED")
    good = newest_first(made for made in owned if made.status == "COMPLETED")
    zone = ZoneInfo(story.zone)
    rules = [heads(good, FORMATS[rule], count, zone) for rule, count in story.counts.items()]
    recent = young(good, story.within, zone)
    return set.union(
        foreign,
        busy,
        recent,
        *rules,
        {made.id for made in failures[: story.failed]},
        {m.id for m in good[:1]},
    )


def newest_first(made: Iterable[Made]) -> list[Made]:
    """Sort by time; of those of one moment the greater id counts as the newer one."""
    return sorted(sorted(made, key=lambda one: one.id), key=lambda one: one.at)[::-1]


def heads(good: list[Made], shape: str, count: int, zone: ZoneInfo) -> set[str]:
    """Return the newest backup of each of the last ``count`` periods; the oldest too if there are fewer."""
    labels = [one.at.astimezone(zone).strftime(shape).format(one.id) for one in good]
    periods = groupby(zip(labels, good, strict=True), key=lambda pair: pair[0])
    first = [next(group)[1].id for _label, group in periods]
    return set(first[:count]) | {one.id for one in good[-1:] if len(first) < count}


def young(good: list[Made], within: Mapping[str, int], zone: ZoneInfo) -> set[str]:
    """Return what is younger than the duration, seen from the newest backup."""
    if not good or not any(within.values()):
        return set()
    local = good[0].at.astimezone(zone)
    months = local.year * 12 + local.month - 1 - 12 * within["y"] - within["m"]
    first = date(months // 12, months % 12 + 1, 1).toordinal()
    day = date.fromordinal(first + local.day - 1 - within["d"])
    border = instants(datetime.combine(day, local.time()), zone)[0] - timedelta(hours=within["h"])
    return {one.id for one in good if one.at > border}


def instants(wall: datetime, zone: ZoneInfo) -> list[datetime]:
    """Return the moments that clocks of the zone may mean by ``wall``, the earliest first.

    One as a rule; two where the clock is put back or forward.
    """
    around = (wall.replace(tzinfo=UTC) + timedelta(days=days) for days in (-1, 1))
    offsets = {moment.astimezone(zone).utcoffset() or timedelta() for moment in around}
    both = sorted((wall - offset).replace(tzinfo=UTC) for offset in offsets)
    meant = [moment for moment in both if moment.astimezone(zone).replace(tzinfo=None) == wall]
    return meant or both


# --- Random histories -------------------------------------------------------------------------------

TURNS = [  # a change of the clock in each of the zones, and ends of months and years
    datetime(2026, 3, 29, 1, tzinfo=UTC),
    datetime(2026, 10, 25, 1, tzinfo=UTC),
    datetime(2026, 11, 1, 6, tzinfo=UTC),
    datetime(2010, 11, 7, 2, 31, tzinfo=UTC),
    datetime(2026, 4, 4, 15, tzinfo=UTC),
    datetime(2026, 10, 24, 21, tzinfo=UTC),
    datetime(2024, 2, 29, 12, tzinfo=UTC),
    datetime(2026, 12, 31, 23, tzinfo=UTC),
    datetime(2027, 1, 3, 23, 59, 59, tzinfo=UTC),
]
STEPS: list[
    Callable[[random.Random], int]
] = [  # minutes between two backups: ties, bursts, nights, gaps of months and years
    lambda chance: 0,
    lambda chance: chance.randint(1, 90),
    lambda chance: 60,
    lambda chance: 24 * 60,
    lambda chance: chance.randint(28, 31) * 24 * 60,
    lambda chance: chance.randint(0, 3 * 24 * 60),
    lambda chance: chance.randint(0, 60 * 24 * 60),
    lambda chance: chance.randint(0, 500 * 24 * 60),
]
STATUSES = (*["COMPLETED"] * 12, *["FAILED"] * 3, "PENDING", "RESTORING", "SOMETHING_NEW")


def story(chance: random.Random, statuses: Sequence[str] = STATUSES, foreign: float = 0.1) -> Story:
    """Return a random history that ends near a turn of the clock, in no order, with a policy."""
    at = chance.choice(TURNS) + timedelta(minutes=chance.randint(-120, 120), seconds=chance.randint(0, 59))
    now = at + timedelta(
        minutes=chance.choice([-3000, -30, 1, 30, 3000])
    )  # a clock may be behind the platform's
    made, pace = [], chance.choices(STEPS, k=chance.randint(1, 3))
    for number in chance.sample(range(100), chance.randint(0, 20)):
        name = "by-hand" if chance.random() < foreign else f"nightly-{number}"
        made.append(Made(f"b{number:02}", name, chance.choice(statuses), at))
        at -= timedelta(minutes=chance.choice(pace)(chance))
    chance.shuffle(made)
    rules = chance.sample(list(FORMATS), chance.randint(1, 4))
    counts = {rule: chance.choice([1, 1, 2, 3, 5, 8]) for rule in rules}
    within = dict.fromkeys(UNITS, 0)
    for unit in islice(chance.sample(UNITS, 4), chance.choice([0, 0, 1, 2])):
        within[unit] = chance.choice([1, 2, 7, 30])
    if any(within.values()) and chance.random() < 0.3:
        counts = {}
    return Story(made, counts, within, "nightly-*", chance.randint(0, 3), chance.choice(ZONES), now)


def policy_options(story: Story) -> dict[str, Any]:
    """Return the policy of a story in the words of the options."""
    written = "".join(f"{count}{unit}" for unit, count in story.within.items() if count)
    return {**{f"keep_{rule}": count for rule, count in story.counts.items()}, "keep_within": written or None}
