# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time zones by their names, and moments as text."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .task_errors import Invalid


def zone_named(name: str) -> tzinfo:
    """Return the time zone with this name. UTC needs no time zone database."""
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(f"time_zone {name!r} is not known here; give a name such as Europe/Paris") from None


def current_time() -> datetime:
    """Return the time of this machine, in UTC and to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def utc_text(moment: datetime | None) -> str | None:
    """Format a moment as the platform does, in UTC and to the second; ``None`` for ``None``."""
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
