# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pace follows what the platform takes: tried on platforms that are models, in a time of their own."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pace import (
    FEWEST,
    RECOVERY,
    Pace,
)

Latency = Callable[[int], float]
"""Returns how long a call takes, by how many are under way."""


@dataclass
class Platform:
    """Answers calls after a latency. A bucket of tokens that fills at a rate limits how many it takes."""

    latency: Latency
    rate_limit: float = 0.0
    burst: float = float("inf")
    limits: list[int] = field(default_factory=list)
    refused: int = 0
    calls: int = 0
    jitter: Random = field(default_factory=lambda: Random(1))

    def run(self, pace: Pace, items: int) -> float:
        """Work on items; return how long that took. A refused call is sent again a second later."""
        now, left, under_way = 0.0, items, 0
        events: list[tuple[float, str, float, float]] = []
        """When, what, when the item began, and when its request was sent."""
        tokens, filled = self.burst, 0.0
        while left or events:
            while left and under_way < pace.limit:
                left, under_way = left - 1, under_way + 1
                heapq.heappush(events, (now, "ready", now, 0.0))
            now, event, begun, sent = heapq.heappop(events)
            if event == "ready":
                heapq.heappush(events, (pace.next_turn(now), "send", begun, 0.0))
            elif event == "send":
                tokens, filled = min(self.burst, tokens + (now - filled) * self.rate_limit), now
                event = "refused" if tokens < 1 else "done"
                tokens -= event == "done"
                self.calls += 1
                self.refused += event == "refused"
                heapq.heappush(events, (now + self.latency(under_way), event, begun, now))
            elif event == "refused":
                pace.note_setback(sent, now, refused=True)
                heapq.heappush(events, (now + 1 + self.jitter.random(), "ready", begun, 0.0))
            else:
                under_way -= 1
                pace.note(begun, now)
                self.limits.append(pace.limit)
        return now


def far_away(_under_way: int) -> float:
    return 0.04


@pytest.mark.parametrize("most", [1, 8, 32])
def test_the_bound_holds_and_is_used(most: int) -> None:
    platform = Platform(far_away)
    seconds = platform.run(Pace(most), 3000)
    assert set(platform.limits) == {most}
    assert seconds < 1.25 * 3000 * 0.04 / most


@pytest.mark.parametrize("rate_limit", [5, 20, 50, 100, 200, 400])
@pytest.mark.parametrize("burst", [1, 10, 100])
def test_a_rate_limit_is_met_once_in_a_hundred_calls_at_most(rate_limit: float, burst: float) -> None:
    """And most of what it allows is used."""
    platform = Platform(far_away, rate_limit, burst)
    seconds = platform.run(Pace(32), 10_000)
    assert platform.refused <= platform.calls / 100
    assert seconds <= 3 * 10_000 / rate_limit


def test_calls_of_the_same_moment_slow_down_once_and_for_a_while() -> None:
    pace = Pace(32)
    for _call in range(5):
        pace.note_setback(0.0, 1.0, refused=False)
    assert pace.limit == 16
    pace.note_setback(1.5, 2.0, refused=False)
    assert pace.limit == 8
    for _item in range(2 * RECOVERY):
        pace.note(3.0, 4.0)
    assert pace.limit == 32


def test_a_route_that_always_fails_does_not_stop_all_others() -> None:
    pace = Pace(32)
    for call in range(100):
        pace.note_setback(call + 0.1, call + 1.0, refused=False)
    assert pace.limit == FEWEST
    assert pace.next_turn(200.0) == pace.next_turn(200.0)
