# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many calls to have under way, and how close together: as many as the platform takes.

The specification shows no rate limit. So a call that fails halves how many are under way, and one that the
platform refuses as one too many halves the rate, which then grows in small steps.
"""

from __future__ import annotations

import threading

from ..._api.errors import NotSent

FEWEST = 2
"""Failures do not bring the number below this: a route that always fails must not make minutes hours."""
RECOVERY = 100
"""After so many items without a failure twice as many are under way again."""
LONGEST_INTERVAL = 1.0
"""The most seconds between two calls, however many are refused."""
ASSUMED_LATENCY = 0.05
"""In seconds, for a platform that has refused the first calls."""
FAST_GROWTH, SLOW_GROWTH, NEAR = 0.003, 0.0001, 0.55
"""A rate that was cut grows by these parts with each item: fast until it is near the one that was too much,
then slowly, so that one call in hundreds is refused."""
FIRST_CUT = 4
"""The first refusal cuts the rate to this part: up to then nothing was known about the limit."""
PAUSE = 1.0
"""For so many seconds after a refusal nothing is sent."""


class Pace:
    """Says how many items are worked on at the same time, and when. Threads may share it.

    Times are in seconds of one clock.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self.limit = most
        """How many items to work on at the same time now."""
        self._cut_at = float("-inf")
        self._latency = float("inf")
        self._interval = self._refused_at = self._next_turn = 0.0
        self._seen = 0
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

    def note_setback(self, sent: float, now: float, *, refused: bool) -> None:
        """Slow down: the platform has refused a request as one too many (429), or failed at it (5xx, 408)."""
        with self._lock:
            if sent <= self._cut_at:  # it was sent before slowing down could help it
                return
            self._cut_at = now
            if not refused:
                self.limit, self._seen = max(min(FEWEST, self._most), self.limit // 2), 0
                return
            self._cut_at = self._next_turn = now + PAUSE
            times = 2 if self._interval else FIRST_CUT
            latency = ASSUMED_LATENCY if self._latency == float("inf") else self._latency
            self._refused_at = self._interval or latency / self.limit
            self._interval = min(times * self._refused_at, LONGEST_INTERVAL)

    def note(self, begun: float, ended: float) -> None:
        """Take account of an item that was done: when it began and ended."""
        with self._lock:
            self._latency = min(self._latency, ended - begun)
            self._seen += 1
            if self._seen % RECOVERY == 0:
                self.limit = min(2 * self.limit, self._most)
            if self._interval:
                far = self._interval * NEAR > self._refused_at
                self._interval /= 1 + (FAST_GROWTH if far else SLOW_GROWTH)
