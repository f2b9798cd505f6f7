# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many calls to have under way, and how close together: as many as the platform takes and as help.

The specification shows no rate limit, and nothing tells in advance how far away a platform is. So the pace is
found while the work goes on. It tries half as many, then twice as many, and keeps what gives more items in a
second: a thread that waits for a server costs nothing, but one that competes for the processor slows the
others. A call that the platform refuses as one too many halves the rate, which then grows in small steps.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ..._api.errors import NotSent

FIRST = 8
"""How many are under way at the beginning, if as many are allowed."""
WINDOW, ROUNDS = 32, 3
"""A rate is that of this many items, and of this many for each that is under way."""
GAIN = 1.1
"""How many times as fast twice as many must be, so that they are worth the platform's while."""
LOSS = 0.98
"""How fast half as many must be in comparison, to spare the platform the others."""
REVIEW_AFTER = 1000
"""After how many items a decision is looked at once more: the platform may be busier now, or less."""
FEWEST = 2
"""Failures do not bring the number below this: a route that always fails must not make minutes hours."""
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
HALF, DOUBLE = 0.5, 2.0


@dataclass(frozen=True)
class Trial:
    """A number of calls at the same time, and how many items a second it gave."""

    limit: int
    rate: float


class Pace:
    """Says how many items are worked on at the same time, and when. Threads may share it.

    Times are in seconds of one clock.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self.limit = min(FIRST, most)
        """How many items to work on at the same time now."""
        self._settled = False
        self._cut_at = float("-inf")
        self._latency = float("inf")
        self._interval = self._refused_at = self._next_turn = 0.0
        self._seen, self._since = 0, 0.0
        self.over = False
        """Whether no other request may be sent, as the task is over."""
        self._skipped = self._window = 0
        self._begin_trials()

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
            if refused:
                self._cut_at = self._next_turn = now + PAUSE
            self._slow_down(refused=refused)

    def note(self, begun: float, ended: float) -> None:
        """Take account of an item that was done: when it began and ended."""
        with self._lock:
            self._count(begun, ended)

    def _count(self, begun: float, ended: float) -> None:
        self._latency = min(self._latency, ended - begun)
        self._seen += 1
        if self._interval:
            far = self._interval * NEAR > self._refused_at
            self._interval /= 1 + (FAST_GROWTH if far else SLOW_GROWTH)
        elif self._settled:
            self._review()
        elif self._seen == self._skipped:
            self._since = ended
        elif self._seen >= self._skipped + self._window and ended > self._since:
            self._decide(Trial(self.limit, (self._seen - self._skipped) / (ended - self._since)))

    # --- Trials -------------------------------------------------------------------------------------

    def _begin_trials(self) -> None:
        """Measure the number at hand, then half of it."""
        self._best: Trial | None = None
        self._factor, self._improved = HALF, False
        self._begin_window(self.limit)

    def _begin_window(self, limit: int) -> None:
        """Measure a number, from when those are done that were under way before."""
        self._seen, self._since = 0, 0.0
        self._skipped, self._window = max(limit, self.limit), max(WINDOW, ROUNDS * limit)
        self.limit = limit

    def _decide(self, trial: Trial) -> None:
        """Keep the better number, and try the next one in the same direction, or in the other one."""
        if self._best is None:
            self._best = trial
        elif trial.rate >= self._best.rate * (GAIN if self._factor == DOUBLE else LOSS):
            self._best, self._improved = trial, True
        elif not self._turn():
            self._settle(self._best)
            return
        limit = self._next_limit(self._best)
        if limit == self._best.limit and self._turn():
            limit = self._next_limit(self._best)
        if limit == self._best.limit:
            self._settle(self._best)
        else:
            self._begin_window(limit)

    def _turn(self) -> bool:
        """Try more, unless fewer were better or more have been tried."""
        if self._improved or self._factor == DOUBLE:
            return False
        self._factor = DOUBLE
        return True

    def _next_limit(self, best: Trial) -> int:
        return max(1, min(int(best.limit * self._factor), self._most))

    def _settle(self, best: Trial) -> None:
        """Stay with a number."""
        self._settled = True
        self._begin_window(best.limit)

    # --- Setbacks and reviews -----------------------------------------------------------------------

    def _slow_down(self, *, refused: bool) -> None:
        """Halve the rate if calls are refused as too many; else how many are under way."""
        if refused:
            times = 2 if self._interval else FIRST_CUT
            latency = ASSUMED_LATENCY if self._latency == float("inf") else self._latency
            self._refused_at = self._interval or latency / self.limit
            self._interval = min(times * self._refused_at, LONGEST_INTERVAL)
        self._settled = True
        fewest = self.limit if refused else min(FEWEST, self._most)
        self._begin_window(max(fewest, self.limit // 2))

    def _review(self) -> None:
        """Look at a decision once more after a while."""
        if self._seen >= REVIEW_AFTER:
            self._settled = False
            self._begin_trials()
