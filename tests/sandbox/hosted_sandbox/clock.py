# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated clock. It follows the machine's until it is frozen, moved, or sped up."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime

SECOND = 1000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
#: A month is 730 hours for every price: 365 days by 24 hours by 12 months.
MONTH = 730 * HOUR
#: The first moment that no timestamp can show, the year 10000.
END = 253402300800 * SECOND


class Clock:
    """Simulated milliseconds since the epoch, `rate` of them for each real one (0 when frozen)."""

    def __init__(self) -> None:
        self.rate = 1.0
        self._real = time.monotonic()
        self._base = time.time() * SECOND

    def now(self) -> int:
        """Return the simulated time."""
        return int(self._base + (time.monotonic() - self._real) * SECOND * self.rate)

    def run(self, rate: float) -> None:
        """Change the rate: 1 is real time, 0 is frozen. Raise ValueError for any that is no such number."""
        if not (math.isfinite(rate) and rate >= 0):
            raise ValueError(f"the clock cannot run at a rate of {rate}; it must be a number of 0 or more")
        self._base = float(self.now())
        self._real = time.monotonic()
        self.rate = rate

    def move(self, to: float) -> None:
        """Jump to a later time. Raise ValueError if it is in the past: billed time cannot be undone."""
        if to < self.now():
            raise ValueError("the clock cannot be moved back; reset the sandbox instead")
        self._jump(to)

    def advance(self, by: float) -> None:
        """Jump ahead by milliseconds, however few. Raise ValueError if they are negative."""
        if by < 0:
            raise ValueError("the clock cannot be moved back; reset the sandbox instead")
        self._jump(self.now() + by)

    def _jump(self, to: float) -> None:
        if not to < END:
            raise ValueError("the clock cannot be moved beyond the year 9999")
        self._base = float(to)
        self._real = time.monotonic()

    def restore(self, now: int, rate: float) -> None:
        """Set a saved time, earlier or later."""
        self._base = float(now)
        self._real = time.monotonic()
        self.rate = rate


def stamp(at: int) -> str:
    """Format a timestamp as the API does: ISO 8601, UTC, with milliseconds."""
    moment = datetime.fromtimestamp(at // SECOND, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at % SECOND:03d}Z"


def maybe_stamp(at: int | None) -> str | None:
    """Format a timestamp that may be unknown."""
    return None if at is None else stamp(at)


def parse(text: str) -> int:
    """Parse an ISO 8601 timestamp (UTC by default) into milliseconds; raise ValueError if it is invalid."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * SECOND)


def day_of(at: int) -> str:
    """Return the UTC day of a time, YYYY-MM-DD."""
    return stamp(at)[:10]


def day_start(at: int) -> int:
    """Return the first millisecond of the UTC day of a time."""
    return at - at % DAY
