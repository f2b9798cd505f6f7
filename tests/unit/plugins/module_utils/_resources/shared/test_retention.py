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
    plan_retention,
    read_policy,
    read_span,
)
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
