# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pace follows what the platform takes: tried on platforms that are models, in a time of their own."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from random import Random

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import FIRST_CUT, Pace

LATENCY = 0.04


@dataclass
class Platform:
    """Answers calls after a latency. A bucket of tokens that fills at a rate limits how many it takes."""

    rate_limit: float = 0.0
    burst: float = float("inf")
    refused: int = 0
    calls: int = 0
    jitter: Random = field(default_factory=lambda: Random(1))

    def run(self, most: int, items: int) -> float:
        """Work on items; return how long that took. A refused call is sent again a second later."""
        pace = Pace(most)
        now, left, under_way = 0.0, items, 0
        events: list[tuple[float, str, float, float]] = []
        """When, what, when the item began, and when its request was sent."""
        tokens, filled = self.burst, 0.0
        while left or events:
            while left and under_way < most:
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
                heapq.heappush(events, (now + LATENCY, event, begun, now))
            elif event == "refused":
                pace.note_refusal(sent, now)
                heapq.heappush(events, (now + 1 + self.jitter.random(), "ready", begun, 0.0))
            else:
                under_way -= 1
                pace.note(begun, now)
        return now


def test_a_platform_without_a_limit_is_not_waited_for() -> None:
    assert Platform().run(32, 3200) == pytest.approx(100 * LATENCY)


@pytest.mark.parametrize("rate_limit", [5, 20, 50, 100, 200, 400])
@pytest.mark.parametrize("burst", [1, 10, 100])
def test_a_rate_limit_is_met_once_in_a_hundred_calls_at_most(rate_limit: float, burst: float) -> None:
    """And most of what it allows is used."""
    platform = Platform(rate_limit, burst)
    seconds = platform.run(32, 10_000)
    assert platform.refused <= platform.calls / 100
    assert seconds <= 3 * 10_000 / rate_limit


def test_calls_of_the_same_moment_slow_down_once() -> None:
    pace = Pace(32)
    pace.note(0.0, 0.32)
    for _call in range(5):
        pace.note_refusal(0.5, 1.0)
    first = pace.next_turn(5.0)
    assert pace.next_turn(5.0) - first == pytest.approx(FIRST_CUT * 0.32 / 32)
