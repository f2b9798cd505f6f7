# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report measures by, and what the controller knows besides the platform."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ..shared.options import Options, option
from ..shared.retention import Span, read_span

DEFAULT_MAX_AGE = "26h"
DAYS = 30
"""The days of the calendar."""


@dataclass(frozen=True, kw_only=True)
class ReportInfoOptions(Options):
    """What to report on, what to measure by, and what the controller knows besides."""

    project: str | None = option(None, selects=True)
    as_of: str | None = option(None, filled=True)
    max_age: str = option(DEFAULT_MAX_AGE, selects=True)
    balance_days: int = 30
    free_days: int = 14
    disk_percent: int = 80
    known_keys: list[str] | None = option(None, no_log=False)
    drift: list[dict[str, Any]] = option([])
    backup_reports: list[dict[str, Any]] = option([])
    sleep_reports: list[dict[str, Any]] = option([])
    drill_report: dict[str, Any] | None = None
    unread: list[dict[str, Any]] = option([])


@dataclass(frozen=True)
class Measures:
    """The options of a report, and the moment that it speaks of."""

    options: ReportInfoOptions
    as_of: datetime

    @property
    def max_age(self) -> Span:
        """How old the newest backup may be."""
        return read_span(self.options.max_age) or Span()

    @property
    def days(self) -> list[date]:
        """The days of the calendar, in UTC: the last one is that of the report."""
        today = self.as_of.astimezone(UTC).date()
        return [today - timedelta(days=DAYS - 1 - number) for number in range(DAYS)]
