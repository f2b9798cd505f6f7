# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts of money. The platform uses cents and millicents (1/1000 of a currency unit), results use units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Context, Decimal, Inexact, InvalidOperation, localcontext
from typing import Any, Literal

from ..._api.text import describe_type
from .task_errors import Invalid

MOST_DIGITS = 400
"""How far from the point the first digit of an amount may be: "1e999999" would fill a megabyte."""


UNITS = {"_cents": 100, "_millicents": 1000}
"""What the end of a field's name says of its amount: how many are a currency unit (What the service does)."""


def from_cents(amount: int | Decimal) -> Decimal:
    """Convert cents to currency units: 106 becomes 1.06."""
    return Decimal(amount) / UNITS["_cents"]


def rate_from(millicents: int | Decimal | None) -> Decimal | None:
    """Convert a monthly rate; ``None`` if it is unknown. One below zero is no rate: it would hide others."""
    return None if millicents is None or millicents < 0 else Decimal(millicents) / UNITS["_millicents"]


PRICE_UNKNOWN = "at a price that the quote does not show"


def format_amount(amount: Decimal | None) -> str | None:
    """Format an amount with two decimals, or more if it has more."""
    if amount is None:
        return None
    exact = amount.normalize()
    decimals = -int(exact.as_tuple().exponent)  # an amount is finite
    return f"{exact:.{max(2, decimals)}f}"


def add_currency_units(value: Any) -> Any:
    """Return data with each amount also in currency units, under its name without the unit.

    ``balance: "12.50"`` is added next to ``balance_cents: 1250``. Millicents take precedence over cents.
    """
    if isinstance(value, list):
        return [add_currency_units(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: add_currency_units(item) for name, item in value.items()}
    for suffix, units in UNITS.items():
        for name in value:
            short = name.removesuffix(suffix)
            if short not in value:  # as is the name of what is no amount of this unit
                amount = to_decimal(value[name])
                found[short] = found.get(short) if amount is None else format_amount(amount / units)
    return found


def to_decimal(value: Any) -> Decimal | None:
    """Convert a number of any type without loss of digits; ``None`` if it is not a number."""
    if isinstance(value, bool):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and abs(amount.adjusted()) <= MOST_DIGITS else None


def in_currency(value: Any, unit: str) -> str:
    """Convert an amount in cents or millicents to currency units, exactly.

    :raises Invalid: if the unit is unknown, the amount is not a number, or it has too many digits.
    """
    units = UNITS.get(f"_{unit}")
    if units is None:
        known = " and ".join(repr(name.removeprefix("_")) for name in sorted(UNITS))
        raise Invalid(f"the unit is {unit!r}; the units of the platform are {known}")
    try:
        with localcontext(Context(traps=[Inexact])):
            amount = to_decimal(value)
            text = format_amount(None if amount is None else amount / units)
    except Inexact:
        raise Invalid(f"the amount {value!r} has more digits than can be kept exactly") from None
    if text is None:
        said = repr(value) if value is None or isinstance(value, (str, int, float)) else describe_type(value)
        raise Invalid(f"the amount is {said}; it must be a number of {unit}")
    return text


def read_amount(text: str | Decimal, option: str) -> Decimal:
    """Parse an amount that the user gave in currency units. One that was read already stays as it is.

    :raises Invalid: if it is not a number of 0 or more.
    """
    try:
        amount = Decimal("NaN" if "_" in str(text) else text)  # which Decimal would skip
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise Invalid(f"{option} is {text!r}; it must be an amount in currency units, such as 12.50")
    return amount


@dataclass(frozen=True)
class Move:
    """What a step does to the price: a word for it, and the monthly rate once it is done."""

    what: Literal["order", "create", "resize", "suspend", "resume", "delete"]
    monthly: Decimal | None


BRIEF = ("monthly_before", "monthly_after", "monthly_change", "currency", "moves", "service", "service_id")
"""What tasks over many services tell of a price. The rest is known of orders alone."""


@dataclass(frozen=True)
class Cost:
    """The effect of a change on the monthly price, in currency units. ``None`` if unknown."""

    before: Decimal | None
    after: Decimal | None
    lines: list[dict[str, Any]] = field(default_factory=list)
    service: str | None = None
    service_id: str | None = None
    project: str | None = None
    """The name of the project that a service is ordered in or deleted from, if the task names one."""
    balance: Decimal | None = None
    min_balance: Decimal | None = None
    days_covered: int | None = None
    """What a quote says of the balance."""

    def as_dict(self, currency: str | None = None, moves: Iterable[Move] = ()) -> dict[str, Any]:
        """Return the amounts as strings, so that no digits are lost.

        ``moves`` are those that were made or, in check mode, would be.
        """
        known = self.before is not None and self.after is not None
        change = self.after - self.before if known else None  # type: ignore[operator]
        return {
            "monthly_before": format_amount(self.before),
            "monthly_after": format_amount(self.after),
            "monthly_change": format_amount(change),
            "currency": currency,
            "lines": self.lines,
            "moves": [move.what for move in moves],
            "service": self.service,
            "service_id": self.service_id,
            "project": self.project,
            "balance": format_amount(self.balance),
            "min_balance": format_amount(self.min_balance),
            "days_covered": self.days_covered,
        }

    def brief(self, currency: str | None, moves: Iterable[Move]) -> dict[str, Any]:
        """Return the amounts without what is known of orders alone."""
        whole = self.as_dict(currency, moves)
        return {name: whole[name] for name in BRIEF}
