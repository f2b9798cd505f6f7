# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of a page: what is in a report made harmless, amounts, times and ages."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from ...module_utils._api.text import counted, printable
from ...module_utils._resources.shared.money import format_amount
from ...module_utils._resources.shared.task_errors import Invalid

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
UNKNOWN = "unknown"
DASH = "\u2013"
"""Stands where there is nothing to say."""


def check_report(report: Any) -> Mapping[str, Any]:
    """Return a report, if it is one that module report_info returns."""
    if not isinstance(report, Mapping) or "answers" not in report:
        raise Invalid("this is no report; give the filter what module report_info returns as `report`")
    return report


def harmless(value: Any) -> Any:
    """Return data in which no text steers a browser: line breaks become blanks, controls are escaped.

    Each text becomes plain text, which a template escapes whatever it was before.
    """
    if isinstance(value, str):
        text = str.__str__(value)
        return text if text.isprintable() else printable("".join(" " if c in "\n\r\t" else c for c in text))
    if isinstance(value, Mapping):
        return {key: harmless(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [harmless(item) for item in value]
    return value


def shortened(text: str, width: int) -> str:
    """Return text that takes at most so many columns, where letters of East Asia and emoji take two."""
    if columns(text) <= width:
        return text
    kept, taken = "", 1
    for char in text:
        taken += columns(char)
        if taken > width:
            break
        kept += char
    return kept.rstrip("\u200d ") + "…"


def columns(text: str) -> int:
    """Return how many columns text takes."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def money(amount: str | Decimal | None, currency: str | None) -> str:
    """Format an amount in currency units, not rounded. A narrow column breaks before the currency."""
    if amount is None:
        return UNKNOWN
    exact = f"{Decimal(format_amount(Decimal(amount)) or 0):,}"
    return f"{exact} {currency}" if currency else exact


def day_text(day: str | date) -> str:
    """Format a day, such as ``19 Nov``."""
    found = date.fromisoformat(day) if isinstance(day, str) else day
    return f"{found.day}\u00a0{MONTHS[found.month - 1][:3]}"


def moment_text(text: str | None) -> str:
    """Format a timestamp, such as ``19 Nov 2026, 09:30 UTC``; as it is if it is none."""
    if not text:
        return UNKNOWN
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{day_text(moment.date())}\u00a0{moment.year}, {moment:%H:%M}\u00a0UTC"


def ago_text(days: int | None) -> str:
    """Format an age in days."""
    if days is None:
        return UNKNOWN
    return "today" if days == 0 else f"{counted(days, 'day')} ago"


def hours_text(hours: int | None) -> str:
    """Format a number of hours, from two days on in days."""
    if hours is None:
        return DASH
    return f"{hours}\u00a0h" if hours < 48 else f"{hours // 24}\u00a0days"
