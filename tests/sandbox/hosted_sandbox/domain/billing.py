# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The account's money: overview, months, statements and invoices (section Endpoints / Billing)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hosted_sandbox.clock import DAY, HOUR, MONTH, SECOND, day_start, stamp
from hosted_sandbox.domain import money
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Service


@dataclass
class Month:
    """A calendar month (UTC); `period` is YYYY-MM, and `end` is at most now."""

    period: str
    start: int
    end: int
    over: bool


def month_start(at: int) -> int:
    """Return the first millisecond of the UTC month of a time."""
    first = datetime.fromtimestamp(at // SECOND, UTC).replace(day=1, hour=0, minute=0, second=0)
    return int(first.timestamp()) * SECOND


def month_end(start: int) -> int:
    """Return the first millisecond of the month after one that starts there."""
    later = datetime.fromtimestamp(start // SECOND, UTC) + timedelta(days=32)
    return int(later.replace(day=1).timestamp()) * SECOND


def months(world: World, account: Account) -> list[Month]:
    """Return every month from the account's first to the present one."""
    services = world.store.of(Service, account.id)
    start = month_start(min([account.created_at, *(service.created_at for service in services)]))
    found = []
    while start <= world.now:
        end = month_end(start)
        found.append(Month(stamp(start)[:7], start, min(end, world.now), end <= world.now))
        start = end
    return found


def overview(world: World, account: Account) -> dict[str, float]:
    """Return the balance, the spend so far, the forecast and how long the balance lasts."""
    services = world.store.of(Service, account.id)
    start = month_start(world.now)
    so_far = money.spent_between(services, start, world.now)
    rate = money.running_rate(world, account.id)
    balance = money.balance(world, account)
    elapsed = (day_start(world.now) - start) // DAY + 1
    return {
        "balanceCents": balance,
        "monthToDateCents": so_far,
        "projectedMonthCents": so_far + rate * (month_end(start) - world.now) // (10 * MONTH),
        "dailyAvgCents": so_far // elapsed,
        "daysLeftEstimate": money.days_covered(balance, rate),
        "currentHourlyBurnCents": round(rate * HOUR / (10 * MONTH), 4),
        "currentDailyBurnCents": round(rate * DAY / (10 * MONTH), 4),
    }
