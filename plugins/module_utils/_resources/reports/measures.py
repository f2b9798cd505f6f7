# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report measures by, and what the controller knows besides the platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ..shared.retention import Span

DAYS = 30
"""The days of the calendar."""


@dataclass(frozen=True)
class Measures:
    """What a report measures by, and what the controller knows besides the platform."""

    as_of: datetime
    """The moment that the report speaks of."""
    max_age: Span
    """How old the newest backup may be."""
    balance_days: int = 30
    """A balance that lasts for fewer days is a matter to act on."""
    free_days: int = 14
    """A free time that ends in fewer days is a matter to act on."""
    disk_percent: int = 80
    known_keys: frozenset[str] | None = None
    """Fingerprints of the SSH keys that somebody knows; ``None`` if the user gave no list."""
    drift: Sequence[Mapping[str, Any]] = ()
    backup_reports: Sequence[Mapping[str, Any]] = ()
    sleep_reports: Sequence[Mapping[str, Any]] = ()
    drill: Mapping[str, Any] | None = None
    project: str | None = None
    unread: Sequence[Mapping[str, Any]] = ()
    """What somebody else could not read, such as files of the controller."""

    @property
    def days(self) -> list[date]:
        """The days of the calendar, in UTC: the last one is that of the report."""
        today = self.as_of.astimezone(UTC).date()
        return [today - timedelta(days=DAYS - 1 - number) for number in range(DAYS)]
