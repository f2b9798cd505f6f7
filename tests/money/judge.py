# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of announcements: what they add up to, against what the platform has billed.

It is written from the specification alone (Amount conventions; Service, full form; States and transitions;
Settings, rule 4; Power, rule on deletion). A monthly rate runs from the call that sets it until the next one,
and each moment counts: no hour or day is named that would be billed as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

MONTH = 730 * 3600 * 1000
"""Milliseconds of a month, which the specification does not tell. The sandbox takes a twelfth of a year."""
TOLERANCE = 1
"""The cents by which the bill of a service may differ."""
MILLICENTS = 1000
NOT_YET = ("PROVISIONING", "AWAITING_ADMIN")
"""A service is in service, and billed at its full rate, when it is ACTIVE. Of these nothing is said, so they
are taken to cost nothing yet: some platforms leave an application in them until its first deploy."""


@dataclass(frozen=True)
class Difference:
    """A service that costs something else than what was announced."""

    service: str
    text: str
    cents: Fraction = Fraction(0)

    def __str__(self) -> str:
        return f"{self.service}: {self.text}"


@dataclass
class Bill:
    """What one service should have cost so far: at least and at most, in cents.

    The two differ by what a change of the rate makes between the beginning and the end of its play.
    """

    name: str
    since: int
    rate: Decimal = Decimal(0)
    status: str = "ACTIVE"
    peak: Decimal = Decimal(0)
    """The highest rate that was announced."""
    least: Fraction = Fraction(0)
    most: Fraction = Fraction(0)
    begun_with: int = 0
    """What it had cost before the first play, in cents."""
    first_difference: str = ""

    @property
    def running(self) -> Decimal:
        """The rate that runs now: that of an order does once the service is in service."""
        return Decimal(0) if self.status in NOT_YET else self.rate

    def run(self, until: int, low: Decimal, high: Decimal) -> None:
        """Let it cost between two rates until a moment."""
        length = Fraction(until - self.since, MONTH) * 100
        self.least += Fraction(low) * length
        self.most += Fraction(high) * length
        self.since = until

    def off(self, cents: int) -> Fraction:
        """Return by how many cents a bill, which counts whole cents, is out of what was announced."""
        spent = cents - self.begun_with
        return max(self.least - spent, spent - self.most, Fraction(0))


@dataclass
class Judge:
    """The bills of all services, by their ids."""

    bills: dict[str, Bill] = field(default_factory=dict)
    unpriced: int = 0
    """How often the callback said that a price is not known."""
    announced: int = 0

    def begin(self, ledger: Mapping[str, Any], at: int) -> None:
        """Take over what there is before the first play."""
        for line in ledger["billed"]:
            rate = rate_of(line)
            self.bills[line["service_id"]] = Bill(
                line["name"], at, rate, line["status"], peak=rate, begun_with=line["cents"]
            )

    def hear(
        self, runs: Sequence[Mapping[str, Any]], begun: int, ended: int, ledger: Mapping[str, Any]
    ) -> Iterator[Difference]:
        """Take in what a play announced; yield where the platform now bills another rate."""
        rows = {row["service_id"]: row for run in runs if not run["check_mode"] for row in run["services"]}
        lines = {line["service_id"]: line for line in ledger["billed"]}
        for id, row in rows.items():
            bill = self.bills.setdefault(str(id), Bill(row["service"] or "", begun))
            self.take(bill, row, (begun, ended), lines.get(id))
        for id, line in lines.items():
            bill = self.bills.setdefault(id, Bill(line["name"], begun))
            if bill.status != line["status"]:
                bill.run(ended, bill.running, bill.running)
                bill.status = line["status"]
            billed = rate_of(line)
            if billed != bill.running and not bill.first_difference:
                bill.first_difference = f"{bill.running} a month is announced, and {billed} is billed"
                yield Difference(f"{line['name']} ({id})", bill.first_difference)

    def take(
        self, bill: Bill, row: Mapping[str, Any], window: tuple[int, int], line: Mapping[str, Any] | None
    ) -> None:
        """Let the announcement of a play be the rate from some moment of that play on."""
        self.announced += 1
        before, after = bill.running, row["monthly_after"]
        bill.run(window[0], before, before)
        if after is None:  # it is said to be unknown, so it is no announcement
            self.unpriced += 1
            bill.rate = rate_of(line) if line else Decimal(0)
        else:
            bill.rate = Decimal(after)
        bill.status = line["status"] if line else bill.status
        bill.peak = max(bill.peak, bill.rate, *known(row))
        several = len(row["actions"]) > 1
        low = Decimal(0) if several else min(before, bill.running)
        high = bill.peak if several else max(before, bill.running)
        bill.run(window[1], low, high)
        bill.first_difference = ""

    def end(self, ledger: Mapping[str, Any], at: int) -> Iterator[Difference]:
        """Yield how far each service's bill is from what was announced for it, the largest first."""
        cents = {line["service_id"]: line["cents"] for line in ledger["billed"]}
        found = []
        for id, bill in self.bills.items():
            bill.run(at, bill.running, bill.running)
            off = bill.off(cents.get(id, 0))
            text = f"{float(bill.least):.3f} to {float(bill.most):.3f} cents are announced, and "
            text += f"{cents.get(id, 0) - bill.begun_with} are billed"
            found.append(Difference(f"{bill.name} ({id})", text, off))
        yield from sorted(found, key=lambda difference: -difference.cents)


def rate_of(line: Mapping[str, Any]) -> Decimal:
    """Return the rate of a line of the ledger, in currency units a month."""
    return Decimal(line["monthly_millicents"]) / MILLICENTS


def known(row: Mapping[str, Any]) -> Iterator[Decimal]:
    """Yield the amounts of a row that are known."""
    yield from (Decimal(row[name]) for name in ("monthly_before", "monthly_after") if row[name] is not None)
