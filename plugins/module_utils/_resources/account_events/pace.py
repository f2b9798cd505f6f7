# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long to wait until the next poll: short after a change, longer when nothing happens or calls fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

GROWTH = 1.5
"""By what the pause grows with each poll in which nothing changed."""
LONGEST_AFTER_FAILURE = 600.0
LONGEST_ASKED = 3600.0
"""The longest pause that the platform may ask for."""


@dataclass(frozen=True)
class Pace:
    """The pause before the next poll, in seconds."""

    shortest: float
    longest: float
    pause: float
    failures: int = 0

    @classmethod
    def of(cls, shortest: float, longest: float) -> Pace:
        """Return the pace to begin with."""
        return cls(shortest, longest, shortest)

    def after(self, changed: bool, asked: float | None = None) -> Pace:
        """Return the pace after a poll. ``asked`` is the pause that the platform asked for, if any."""
        pause = self.shortest if changed else min(self.pause * GROWTH, self.longest)
        if self.failures:
            pause = self.shortest
        return replace(self, pause=max(pause, bounded(asked)), failures=0)

    def after_failure(self, asked: float | None, fraction: float) -> Pace:
        """Return the pace after a poll that failed: twice as long each time, and random.

        :param fraction: a random number from 0 to 1, so that sources that failed together do not return so.
        """
        failures = self.failures + 1
        longest = min(self.shortest * 2 ** min(failures, 20), max(self.longest, LONGEST_AFTER_FAILURE))
        pause = longest / 2 * (1 + fraction)
        return replace(self, pause=max(pause, bounded(asked)), failures=failures)


def bounded(asked: float | None) -> float:
    """Return a pause that the platform asked for, within reason; 0 for none."""
    return min(asked or 0.0, LONGEST_ASKED)
