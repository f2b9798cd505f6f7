# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For the same times and the same policy the planner keeps what ``restic forget`` keeps."""

from __future__ import annotations

import os
import random
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.retention import (
    Decision,
    RestorePoint,
    plan_retention,
    read_policy,
)
from unit.plugins.module_utils._resources.shared import retention_model as model
from unit.plugins.module_utils._resources.shared.restic import Restic

HISTORIES = (10, pytest.param(int(os.environ.get("RESTIC_HISTORIES", "200")), marks=pytest.mark.night))
pytestmark = pytest.mark.skipif(shutil.which("restic") is None, reason="restic is not installed")


def begins_at_one_moment(story: model.Story) -> bool:
    """Tell whether clocks show the begin of the duration once: if not, restic promises nothing."""
    zone = ZoneInfo(story.zone)
    if not story.made or not any(story.within.values()):
        return True
    local = max(made.at for made in story.made).astimezone(zone)
    policy = read_policy(model.policy_options(story), "nightly-*", zone)
    assert policy.within is not None
    wall = policy.within.before(local, zone) + timedelta(hours=policy.within.hours)
    return len(model.instants(wall.astimezone(zone).replace(tzinfo=None), zone)) == 1


def keeps(decision: Decision, oldest: bool) -> bool:
    """Tell whether a backup is kept; without ``oldest``, by more than being the oldest."""
    return decision.keep and (oldest or any("the oldest" not in reason for reason in decision.reasons))


@pytest.mark.parametrize("histories", HISTORIES)
def test_restic_keeps_the_same(histories: int, tmp_path: Path) -> None:
    """Random histories with ties, gaps and moved clocks.

    Before 0.16 restic did not keep the oldest snapshot where a count is not used up; so that is left out.
    """
    restic, compared, seed = Restic(tmp_path), 0, 0
    now = datetime.now(UTC)
    while compared < histories:
        seed += 1
        story = model.story(random.Random(seed), statuses=["COMPLETED"], foreign=0)
        story = story._replace(now=now, made=[made for made in story.made if made.at < now])
        if not story.made or not begins_at_one_moment(story):
            continue
        zone = ZoneInfo(story.zone)
        restic.have([made.at.astimezone(zone) for made in story.made])
        options = model.policy_options(story)
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value]
        theirs = sorted(story.made[number].at for number in restic.keeps(flags, story.zone))
        plan = plan_retention(
            [RestorePoint(*m) for m in story.made], read_policy(options, "nightly-*", zone), now
        )
        ours = sorted(d.copy.created_at for d in plan if d.copy.created_at and keeps(d, restic.keeps_oldest))
        assert ours == theirs, f"seed {seed}: {options} in {story.zone}"
        compared += 1
