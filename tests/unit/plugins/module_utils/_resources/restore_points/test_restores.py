# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A restore is over when it was seen to begin and to end, or when nothing changed for long enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points.resources import (
    wait_through,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded
from unit.plugins.fakes import Clock, FakeClient, task_of


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def through(clock: Clock, shown: Callable[[float], str], **options: Any) -> Any:
    """Wait for what is shown so many seconds after the call; ``running`` is under way."""
    begun = clock.now
    task = task_of(SERVICE, FakeClient(), **options)
    return wait_through(
        task,
        lambda: shown(clock.now - begun),
        lambda seen: seen == "running",
        lambda seen: f"it is {seen}",
        "the run",
        before="idle",
        quiet=10.0,
    )


@pytest.mark.parametrize("late", [0.0, 3.0, 9.0])
def test_what_begins_late_is_waited_for_to_its_end(clock: Clock, late: float) -> None:
    begun = clock.now
    passage = through(clock, lambda at: "running" if late <= at < late + 20 else "idle")
    assert passage == (True, True)
    assert late + 20 <= clock.now - begun < late + 25, "no quiet time is spent once the end was seen"


def test_what_was_never_seen_to_begin_is_over_after_the_quiet_time(clock: Clock) -> None:
    begun = clock.now
    passage = through(clock, lambda at: "idle")
    assert passage == (False, False)
    assert clock.now - begun == pytest.approx(10, abs=0.1)
    assert max(clock.pauses) <= 2.0


def test_every_change_begins_the_quiet_time_anew(clock: Clock) -> None:
    begun = clock.now
    passage = through(clock, lambda at: "idle" if at < 8 else "noted" if at < 15 else "noted twice")
    assert passage == (False, True)
    assert clock.now - begun >= 25


def test_what_does_not_end_is_waited_for_no_longer_than_was_said(clock: Clock) -> None:
    with pytest.raises(WaitEnded, match="gave up waiting for the run after 60 seconds; it is running"):
        through(clock, lambda at: "running", wait_timeout=60.0)


def test_a_short_wait_does_not_take_silence_for_an_end(clock: Clock) -> None:
    with pytest.raises(WaitEnded, match="after 5 seconds; it is idle"):
        through(clock, lambda at: "idle", wait_timeout=5.0)
