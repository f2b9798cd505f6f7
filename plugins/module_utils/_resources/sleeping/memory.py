# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan remembers of a service between its runs, in a small file on the controller, and what it saves.

The clock alone says how a service should be. The record tells changes by hand apart from those that are due:
``settled`` is what the clock wanted when the service was last seen that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from ..._api.models import DaySpend, Usage
from ..services.power import ASLEEP
from ..services.view import Rates
from ..shared.money import format_amount, from_cents
from ..shared.store import Kind, Record
from .schedule import DAY


@dataclass(frozen=True)
class Sample:
    """The load of a container at a moment: its processors, and the bytes since its start."""

    at: datetime
    cpu: float
    traffic: int


@dataclass(frozen=True)
class Due:
    """What a service should be, and the boundary since which it should: one period of its plan."""

    awake: bool
    since: str


@dataclass(frozen=True)
class Keep:
    """That someone asked for a service to stay awake: since when, and until when."""

    since: datetime
    until: datetime


@dataclass(frozen=True)
class Saved:
    """What sleep has saved, day by day (UTC): ``following`` is the first day that was not looked at."""

    following: date
    since: date
    amount: Decimal = Decimal(0)
    days: int = 0


@dataclass(frozen=True)
class SleepRecord:
    settled: Due | None = None
    keep: Keep | None = None
    delayed: tuple[Due, datetime] | None = None
    """The suspension that waits because the service is busy, and since when."""
    held: tuple[str, datetime] | None = None
    """The id of the backup that a suspension waits for, or did in vain, and since when."""
    ran: bool | None = None
    """Whether the container ran when the plan suspended the service, which sleeps since. Unknown if nothing
    was told, or if somebody else suspended it."""
    samples: tuple[Sample, ...] = field(default=())
    saved: Saved | None = None
    plan: str = ""
    service: str = ""
    """The id of the service. A start by hand tells of its plan by both."""

    @property
    def is_asleep_by_plan(self) -> bool:
        """Whether the plan suspended the service, or saw it asleep in time, if it is suspended now."""
        return self.ran is not None or (self.settled is not None and not self.settled.awake)

    def with_keep(self, keep: Keep | None) -> SleepRecord:
        """Return the record with another wish to keep the service awake: the next period begins now."""
        return replace(self, keep=keep, settled=None, delayed=None)

    def with_changes(self, before: SleepRecord, after: SleepRecord) -> SleepRecord:
        """Return the record with what a run changed in it that read it as ``before``.

        Another run may have written it since. A wish or a release that came in meanwhile stays.
        """
        parts = {each.name: getattr(after, each.name) for each in fields(SleepRecord)}
        changed = {name: part for name, part in parts.items() if part != getattr(before, name)}
        if self.keep != before.keep:
            changed.pop("keep", None)
        return replace(self, **changed)


SLEEP = Kind(ASLEEP.folder, SleepRecord, "what the plan remembers")


@dataclass(frozen=True)
class Memory:
    record: Record[SleepRecord]
    plan: str
    id: str

    @classmethod
    def of(cls, state_dir: str | None, base_url: str | None, plan: str, id: str) -> Memory:
        subject = f"{plan}{chr(10)}{id}"
        return cls(SLEEP.of(base_url, subject, state_dir), plan, id)

    def read(self) -> SleepRecord:
        return self.record.read()

    def update(self, change: Callable[[SleepRecord], SleepRecord]) -> None:
        """Replace the record by what ``change`` makes of it as it is by now."""
        self.record.edit(lambda found: replace(change(found), plan=self.plan, service=self.id))


# --- What sleep saves: announced from the platform's rates, and counted from its usage ----------------


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

    def _saves(self, hours: Decimal) -> Decimal | None:
        full, storage = self.rates.full, self.rates.storage
        return None if full is None or storage is None else (full - storage) * self.asleep_hours / hours

    @property
    def saves(self) -> Decimal | None:
        return self._saves(HOURS_A_MONTH)

    @property
    def saves_monthly(self) -> Decimal | None:
        return self._saves(Decimal(self.days * 24))

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
    if saved is None:
        return None
    return {"since": saved.since.isoformat(), "days": saved.days, "amount": in_cents(saved.amount)}
