# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The retention planner against a model written in other words, and its promises one by one."""

from __future__ import annotations

import os
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.retention import (
    Decision,
    RestorePoint,
    check_max_delete,
    plan_retention,
    read_policy,
    read_span,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.shared import retention_model as model
from unit.tiers import sample

HISTORIES = int(os.environ.get("RETENTION_HISTORIES", "20000"))
PARTS = 20
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def decide(story: model.Story) -> list[Decision]:
    """Let the planner decide on a history of the model."""
    options = {**model.policy_options(story), "keep_failed": story.failed}
    policy = read_policy(options, story.pattern, ZoneInfo(story.zone))
    return plan_retention([RestorePoint(*made) for made in story.made], policy, story.now)


@pytest.mark.parametrize("part", sample(range(PARTS)))
def test_random_histories_are_kept_as_the_model_keeps_them(part: int) -> None:
    """Both keep the same backups, and the histories are varied enough for that to mean something."""
    seen: Counter[str] = Counter()
    for seed in range(part, HISTORIES, PARTS):
        story = model.story(random.Random(seed))
        decisions = decide(story)
        assert {d.copy.id for d in decisions if d.keep} == model.kept(story), f"seed {seed}: {story}"
        assert len(decisions) == len(story.made)
        assert all(decision.reasons for decision in decisions), f"seed {seed}"
        left = {decision.copy.id for decision in decisions if decision.keep}
        again = decide(story._replace(made=[made for made in story.made if made.id in left]))
        assert all(decision.keep for decision in again), f"seed {seed}: a second run deletes more"
        seen.update(features(story, decisions))
    fewest = HISTORIES // PARTS // 100
    assert {name: count for name, count in seen.items() if count < fewest} == {}
    assert set(seen) == {"deletes", "ties", "future", "within", "oldest", "foreign", "failed", "busy", "turn"}


def features(story: model.Story, decisions: list[Decision]) -> set[str]:
    """Name what is special in a history."""
    zone = ZoneInfo(story.zone)
    moments = [made.at for made in story.made]
    reasons = [reason for decision in decisions for reason in decision.reasons]
    found = {
        "deletes": not all(decision.keep for decision in decisions),
        "ties": len(set(moments)) < len(moments),
        "future": any(moment > story.now for moment in moments),
        "within": any(reason.startswith("within") for reason in reasons),
        "oldest": any("the oldest" in reason for reason in reasons),
        "foreign": not all(decision.managed for decision in decisions),
        "failed": any(made.status == "FAILED" for made in story.made),
        "busy": any(reason.startswith("untouchable") for reason in reasons),
        "turn": len({moment.astimezone(zone).utcoffset() for moment in moments}) > 1,
    }
    return {name for name, there in found.items() if there}


def nightly(days: int, **options: Any) -> list[Decision]:
    """Plan for one backup a night over so many days, the newest first."""
    made = [
        RestorePoint(f"b{day}", f"nightly-{day}", "COMPLETED", NOW - timedelta(days=day, hours=9))
        for day in range(days)
    ]
    return plan_retention(made, read_policy(options, "nightly-*", UTC), NOW)


def test_every_reason_is_given() -> None:
    """A backup that several rules keep names all of them; one that none keeps says so."""
    plan = nightly(9, keep_last=1, keep_daily=2, keep_weekly=1, keep_within="1d")
    assert plan[0].reasons == [
        "newest good one",
        "within 1d",
        "last 1",
        "daily 2026-11-21",
        "weekly 2026-W47",
    ]
    assert plan[1].reasons == ["daily 2026-11-20"]
    assert [decision.keep for decision in plan] == [True, True] + [False] * 7
    assert plan[2].reasons == ["no rule keeps it"]


def test_the_oldest_stays_while_counts_are_left() -> None:
    """A history that is shorter than the policy keeps its oldest backup, as restic does."""
    plan = nightly(9, keep_monthly=3)
    assert [decision.copy.id for decision in plan if decision.keep] == ["b0", "b8"]
    assert plan[8].reasons == ["monthly: the oldest, as 2 of 3 are left"]


@pytest.mark.parametrize("status", ["PENDING", "RESTORING", "PURGING"])
def test_only_what_is_done_is_touched(status: str) -> None:
    """A backup in motion, or in a status that nobody knows, stays and does not use up a count."""
    moving = RestorePoint("b9", "nightly-9", status, NOW)
    good = [RestorePoint(f"b{n}", f"nightly-{n}", "COMPLETED", NOW - timedelta(days=n)) for n in (1, 2)]
    plan = plan_retention([*good, moving], read_policy({"keep_last": 1}, "nightly-*", UTC), NOW)
    assert [(d.copy.id, d.keep) for d in plan] == [("b9", True), ("b1", True), ("b2", False)]
    assert plan[0].reasons == [f"untouchable: its status is {status}"]


def test_failed_ones_have_a_limit_of_their_own() -> None:
    """They use up no count of the good ones, and the newest of them stay for somebody to look at."""
    made = [
        RestorePoint(
            f"b{day}", f"nightly-{day}", "FAILED" if day < 3 else "COMPLETED", NOW - timedelta(days=day)
        )
        for day in range(6)
    ]
    plan = plan_retention(made, read_policy({"keep_last": 2, "keep_failed": 1}, "nightly-*", UTC), NOW)
    assert [d.copy.id for d in plan if d.keep] == ["b0", "b3", "b4"]
    assert plan[1].reasons == ["failed: keep_failed is 1"]


def test_one_whose_restore_failed_stays_as_if_it_had_not() -> None:
    """It may be the only copy of its day, so it goes by the rules; yet no good one goes in its place."""

    def copy(day: int, status: str = "COMPLETED", was_complete: bool = True) -> RestorePoint:
        return RestorePoint(f"b{day}", f"nightly-{day}", status, NOW - timedelta(days=day), was_complete)

    made = [
        copy(0, "FAILED", was_complete=False),
        copy(1, "FAILED"),
        *map(copy, (2, 3, 4)),
        copy(5, "FAILED"),
    ]
    plan = plan_retention(made, read_policy({"keep_last": 2, "keep_failed": 0}, "nightly-*", UTC), NOW)
    assert [d.copy.id for d in plan if d.keep] == ["b1", "b2", "b3"]
    assert plan[1].reasons == [
        "failed: keep_failed is 0",
        "may hold data, as it was complete before it failed: last 1",
    ]
    assert plan[5].reasons == ["failed: keep_failed is 0"], "a complete one of its age would go, too"


def test_a_period_is_one_of_the_local_calendar() -> None:
    """Two backups on both sides of midnight in Paris are of one day in UTC."""
    made = [
        RestorePoint(f"b{hour}", f"nightly-{hour}", "COMPLETED", datetime(2026, 7, 1, hour, 30, tzinfo=UTC))
        for hour in (21, 22, 23)
    ]
    for zone, kept in (("UTC", ["b23", "b21"]), ("Europe/Paris", ["b23", "b21"])):
        policy = read_policy({"keep_daily": 2}, "nightly-*", ZoneInfo(zone))
        plan = plan_retention(made, policy, NOW)
        assert [d.copy.id for d in plan if d.keep] == kept
        assert ("the oldest" in plan[2].reasons[0]) == (zone == "UTC")


@pytest.mark.parametrize("status", ["FAILED", "COMPLETED"])
@pytest.mark.parametrize(
    ("name", "made", "reason"),
    [
        ("nightly-1", None, "untouchable: the platform does not say when it was made"),
        ("by-hand", NOW - timedelta(days=400), "unmanaged: its name does not match 'nightly-*'"),
    ],
)
def test_what_is_not_owned_or_has_no_date_is_not_deleted(
    status: str, name: str, made: datetime | None, reason: str
) -> None:
    others = [RestorePoint(f"n{day}", "nightly-n", status, NOW - timedelta(days=day)) for day in range(2)]
    policy = read_policy({"keep_last": 1, "keep_failed": 0}, "nightly-*", UTC)
    plan = plan_retention([*others, RestorePoint("b", name, status, made)], policy, NOW)
    (decision,) = (decision for decision in plan if decision.copy.id == "b")
    assert decision.keep and decision.reasons == [reason]
    assert not all(other.keep for other in plan), "others go by the rules"


@pytest.mark.parametrize(
    ("options", "pattern", "says"),
    [
        ({}, "nightly-*", "the policy is empty"),
        ({"keep_last": 0, "keep_within": " "}, "nightly-*", "the policy is empty"),
        ({"keep_failed": 3}, "nightly-*", "the policy is empty"),
        ({"keep_daily": -1}, "nightly-*", "keep_daily is -1; it must be 0 or more"),
        ({"keep_last": 1, "keep_failed": -2}, "nightly-*", "keep_failed is -2"),
        ({"keep_within": "7"}, "nightly-*", "'7' is not a duration"),
        ({"keep_within": "1d2d"}, "nightly-*", "is not a duration"),
        ({"keep_within": "0d"}, "nightly-*", "is not a duration"),
        ({"keep_within": "-1d"}, "nightly-*", "is not a duration"),
        ({"keep_within": "1w"}, "nightly-*", "is not a duration"),
        ({"keep_within": "99999y"}, "nightly-*", "is too long"),
        ({"keep_last": 1}, "*", "would match every copy"),
        ({"keep_last": 1}, "?*", "would match every copy"),
        ({"keep_last": 1}, "[!~]*", "would match every copy"),
        ({"keep_last": 1}, "", "would match every copy"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(options: dict[str, Any], pattern: str, says: str) -> None:
    """The message names the option, its value and what to do."""
    with pytest.raises(Invalid, match=says.replace("*", r"\*")):
        read_policy(options, pattern, UTC)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("1m", datetime(2026, 3, 3, 12, tzinfo=UTC)),  # there is no 31 February
        ("1y2m3d4h", datetime(2025, 1, 28, 8, tzinfo=UTC)),
        ("3d1y", datetime(2025, 3, 28, 12, tzinfo=UTC)),
        ("13m", datetime(2025, 3, 3, 12, tzinfo=UTC)),
    ],
)
def test_a_duration_goes_by_the_calendar(text: str, begins: datetime) -> None:
    """Days that a month does not have run over into the next."""
    span = read_span(text)
    assert span is not None
    assert span.before(datetime(2026, 3, 31, 12, tzinfo=UTC), UTC) == begins


def test_a_day_is_as_long_as_the_clock_says() -> None:
    """The day on which clocks are put back has 25 hours."""
    span = read_span("1d")
    assert span is not None
    zone = ZoneInfo("Europe/Paris")
    after = datetime(2026, 10, 25, 12, tzinfo=zone)
    assert after.astimezone(UTC) - span.before(after, zone) == timedelta(hours=25)


@pytest.mark.parametrize(
    ("wall", "earlier"),
    [
        (datetime(2026, 10, 25, 2, 30), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),  # comes twice
        (datetime(2026, 3, 29, 2, 30), datetime(2026, 3, 29, 0, 30, tzinfo=UTC)),  # is skipped
    ],
)
def test_a_time_that_is_not_unique_keeps_more(wall: datetime, earlier: datetime) -> None:
    """A duration that begins while clocks are changed begins at the earlier of both moments."""
    span = read_span("1d")
    assert span is not None
    zone = ZoneInfo("Europe/Paris")
    assert span.before((wall + timedelta(days=1)).replace(tzinfo=zone), zone) == earlier


def test_the_brake() -> None:
    """One more deletion than was foreseen, and nothing is deleted; the message has both numbers."""
    plan = nightly(6, keep_last=2)
    check_max_delete(plan, 4)
    check_max_delete(plan, None)
    with pytest.raises(Invalid, match="would delete 4 copies, and max_delete is 3") as caught:
        check_max_delete(plan, 3)
    assert caught.value.details["would_delete"] == ["nightly-2", "nightly-3", "nightly-4", "nightly-5"]
