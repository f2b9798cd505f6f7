# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform's time, which its timestamps can be compared with. This machine's clock may be wrong."""

from __future__ import annotations

import email.utils
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

CLOCKS_DIFFER = timedelta(minutes=1)
"""How far the times of two machines may differ that are set alike."""


@dataclass
class PlatformClock:
    """The platform's clock, as far as its responses show it. Threads may share one."""

    last: tuple[str, float] | None = None
    """The ``Date`` of the last response that had one, and when that arrived, by the monotonic clock."""

    def shown(self) -> datetime | None:
        """Return the platform's time, in UTC; ``None`` until a response shows it."""
        date, at = self.last or ("", 0.0)
        moment = parse_http_date(date)
        try:
            return moment and moment + timedelta(seconds=time.monotonic() - at)
        except OverflowError:  # the year 10000
            return moment

    def now(self) -> datetime:
        """Return :meth:`shown`, or this machine's time until then."""
        return self.shown() or datetime.now(UTC)


def parse_http_date(value: str) -> datetime | None:
    """Return the moment in a header such as ``Date``, in UTC; ``None`` if it holds no date."""
    try:
        moment = email.utils.parsedate_to_datetime(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
