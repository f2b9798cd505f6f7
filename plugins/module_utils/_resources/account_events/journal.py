# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What entries of the activity journal say of power and deploys.

The specification shows two types, ``POWER_START`` and ``PROVISIONED``. Others are read by their words.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from ..._api.models import Event
from ..shared.restore_points import parse_moment

START, STOP = "start", "stop"
STARTS = frozenset({"start", "restart", "provisioned", "deployed"})
STOPS = frozenset({"stop", "kill", "suspended"})
"""A service that was suspended, and resumed without being started, does not run by order either."""
RESTORES = frozenset({"restore", "restored", "rollback"})
"""What may stop a container for a while, and start it again."""
FAILED_DEPLOY = frozenset({"deploy", "failed"})
START_GRACE = timedelta(seconds=30)
"""For so long after an order to start, a container that is shown as stopped may be on its way.

Metrics need not be of the same moment as the activity journal. With clocks that are further apart, a start
that is shown late is told as a stop.
"""


def words_of(entry: Event) -> frozenset[str]:
    """Return the words of the type of an entry, in lower case."""
    return frozenset((entry.type or "").lower().split("_"))


def last_order(entries: Iterable[Event]) -> tuple[str | None, str | None]:
    """Return the last power order among entries, oldest first, and when it was given, if that is shown."""
    found: tuple[str | None, str | None] = None, None
    for entry in entries:
        words = words_of(entry)
        if words & STARTS:
            found = START, entry.at
        elif words & STOPS:
            found = STOP, entry.at
    return found


def is_starting(ordered: str | None, now: datetime) -> bool:
    """Tell whether a start was ordered so recently that metrics may still show what was before."""
    moment = parse_moment(ordered)
    return moment is not None and abs(now - moment) < START_GRACE
