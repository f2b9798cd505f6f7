# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sleep saves: announced from the platform's rates, and counted from the platform's usage."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from ..._api.models import DaySpend, Usage
from ..services.view import Rates
from ..shared.money import format_amount, from_cents
from .memory import Saved
from .schedule import DAY

HOURS_A_MONTH = Decimal(730)
"""The hours of an average month: 365 days by 24 hours by 12 months."""
CENT = Decimal("0.01")
LONGEST_USAGE = 60
"""Days of usage that are asked for at most; how many there are is not shown (Limits)."""


@dataclass(frozen=True)
class Forecast:
    """How long a service sleeps within some days, and what that saves. ``None`` without its rates."""

    days: int
    asleep: timedelta
    rates: Rates

    @property
    def asleep_hours(self) -> Decimal:
        return Decimal(int(self.asleep.total_seconds())) / 3600

    @property
    def difference(self) -> Decimal | None:
        full, storage = self.rates.full, self.rates.storage
        return None if full is None or storage is None else full - storage

    @property
    def saves(self) -> Decimal | None:
        return None if self.difference is None else self.difference * self.asleep_hours / HOURS_A_MONTH

    @property
    def saves_monthly(self) -> Decimal | None:
        return None if self.difference is None else self.difference * self.asleep_hours / (self.days * 24)

    def as_dict(self) -> dict[str, Any]:
        return {
            "days": self.days,
            "asleep_hours": float(round(self.asleep_hours, 2)),
            "monthly_awake": format_amount(self.rates.full),
            "monthly_asleep": format_amount(self.rates.storage),
            "saves": in_cents(self.saves),
            "saves_monthly": in_cents(self.saves_monthly),
        }


def to_cents(amount: Decimal) -> Decimal:
    """Return an amount rounded to cents, however large it is: a platform may name any number."""
    return amount.quantize(CENT, ROUND_HALF_EVEN, Context(prec=max(len(amount.as_tuple().digits), 1) + 5000))


def in_cents(amount: Decimal | None) -> str | None:
    """Format an amount, rounded to cents. There is no minus zero."""
    return None if amount is None else format_amount(to_cents(amount) or Decimal(0))


# --- Counting ---------------------------------------------------------------------------------------


def count(saved: Saved | None, now: datetime, full: Decimal | None, usage: Callable[[int], Usage]) -> Saved:
    """Add what the days that are over have saved. Without ``saved``, the first day that counts is the next.

    :param usage: reads the usage of so many days, if there is a day to count.
    """
    today = now.astimezone(UTC).date()
    if saved is None:
        return Saved(today + DAY, today + DAY)
    oldest = max(saved.following, today - (LONGEST_USAGE - 1) * DAY)
    days = [oldest + number * DAY for number in range((today - oldest).days)]
    if not days or full is None:
        return saved
    spent = spent_by_day(usage((today - oldest).days + 1).days)
    told = [day for day in days if day in spent]
    a_day = full * 24 / HOURS_A_MONTH
    more = sum((a_day - spent[day] for day in told), Decimal(0))
    return replace(saved, following=today, amount=saved.amount + more, days=saved.days + len(told))


def spent_by_day(days: Iterable[DaySpend] | None) -> dict[date, Decimal]:
    found: dict[date, Decimal] = {}
    for line in days or ():
        with suppress(ValueError):
            if line.total_cents is not None:
                found[date.fromisoformat(str(line.date)[:10])] = from_cents(line.total_cents)
    return found


def saved_as_dict(saved: Saved | None) -> dict[str, Any] | None:
    """Return savings for results, with the amount in cents; ``None`` if there are none."""
    if saved is None:
        return None
    return {"since": saved.since.isoformat(), "days": saved.days, "amount": in_cents(saved.amount)}
