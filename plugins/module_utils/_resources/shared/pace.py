# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How close together calls may come: as close as the platform takes them.

The specification shows no rate limit. So a call that the platform refuses as one too many cuts the rate,
which then grows in small steps.
"""

from __future__ import annotations

import threading

from ..._api.errors import NotSent

LONGEST_INTERVAL = 1.0
"""The most seconds between two calls, however many are refused."""
ASSUMED_LATENCY = 0.05
"""In seconds, for a platform that has refused the first calls."""
FAST_GROWTH, SLOW_GROWTH, NEAR = 0.003, 0.0001, 0.65
"""A rate that was cut grows by these parts with each item: fast until it is near the one that was too much,
then slowly, so that one call in hundreds is refused."""
FIRST_CUT = 8
"""The first refusal cuts the rate to this part: up to then nothing was known about the limit."""
PAUSE = 1.0
"""For so many seconds after a refusal nothing is sent."""


class Pace:
    """Says when the next request may be sent. Threads may share it. Times are in seconds of one clock.

    :param most: how many calls are under way at most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._cut_at = float("-inf")
        self._latency = float("inf")
        self._interval = self._refused_at = self._next_turn = 0.0
        self.over = False
        """Whether no other request may be sent, as the task is over."""

    def next_turn(self, now: float) -> float:
        """Return when the next request may be sent. It is then taken to be."""
        if self.over:
            raise NotSent("the task is over")
        with self._lock:
            if not self._interval:
                return now
            turn = max(now, self._next_turn)
            self._next_turn = turn + self._interval
            return turn

    def note_refusal(self, sent: float, now: float) -> None:
        """Slow down: the platform has refused a request as one too many (429)."""
        with self._lock:
            if sent <= self._cut_at:  # it was sent before slowing down could help it
                return
            self._cut_at = now + PAUSE
            self._next_turn = max(self._next_turn, self._cut_at)
            latency = ASSUMED_LATENCY if self._latency == float("inf") else self._latency
            times = 2 if self._interval else FIRST_CUT
            self._refused_at = self._interval or latency / self._most
            self._interval = min(times * self._refused_at, LONGEST_INTERVAL)

    def note(self, begun: float, ended: float) -> None:
        """Take account of an item that was done: when it began and ended."""
        with self._lock:
            self._latency = min(self._latency, ended - begun)
            if self._interval:
                far = self._interval * NEAR > self._refused_at
                self._interval /= 1 + (FAST_GROWTH if far else SLOW_GROWTH)
