# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report measures by."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

from ansible_collections.hosted.services.plugins.module_utils._resources.reports.measures import Measures
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.retention import Span


def test_the_calendar_ends_with_the_day_of_the_report_in_utc() -> None:
    moment = datetime(2026, 11, 20, 1, tzinfo=timezone(timedelta(hours=2)))
    days = Measures(moment, Span(hours=26)).days
    assert (days[0], days[-1], len(days)) == (date(2026, 10, 21), date(2026, 11, 19), 30)
    assert moment.astimezone(UTC).date() == days[-1]
