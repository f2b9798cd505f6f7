# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts of money. The platform uses cents and millicents (1/1000 of a currency unit), results use units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal, Inexact, InvalidOperation, localcontext
from typing import TYPE_CHECKING, Any, Literal

from ..._api.text import describe_type
from .names import same_name
from .run_memory import first_said
from .task_errors import Invalid

if TYPE_CHECKING:
    from ..._api.models import Wallet
    from .plan import Task

MOST_DIGITS = 400
"""How far from the point the first digit of an amount may be: "1e999999" would fill a megabyte."""
WALLET_SECONDS = 5.0
"""Seconds for reading the currency. A price without it is no reason to wait for longer, or to fail."""
NO_PRICE = "at a price that the quote does not show"
LONGEST_CURRENCY = 8
UNITS = {"_cents": 100, "_millicents": 1000}
"""What the end of a field's name says of its amount: how many are a currency unit (What the service does)."""


def from_cents(amount: int | Decimal) -> Decimal:
    """Convert cents to currency units: 106 becomes 1.06."""
    return Decimal(amount) / UNITS["_cents"]


def rate_from(millicents: int | Decimal | None) -> Decimal | None:
    """Convert a monthly rate; ``None`` if it is unknown. One below zero is no rate: it would hide others."""
    return None if millicents is None or millicents < 0 else Decimal(millicents) / UNITS["_millicents"]


def format_amount(amount: Decimal | None) -> str | None:
    """Format an amount with two decimals, or more if it has more."""
    if amount is None:
        return None
    exact = amount.normalize()
    decimals = -int(exact.as_tuple().exponent)  # an amount is finite
    return f"{exact:.{max(2, decimals)}f}"


def format_price(task: Task[Any], amount: Decimal | None) -> str | None:
    """Write an amount for people: with its currency, where the platform names it to this token."""
    text, currency = format_amount(amount), None if amount is None else currency_of(task)
    return f"{text} {currency}" if text and currency else text


def currency_of(task: Task[Any]) -> str | None:
    """Return the currency of the account, read once a run; ``None`` where this token is not told."""
    client = task.client
    if "currency" not in task.memory and client:
        task.memory["currency"] = first_said(
            f"currency.{client.account_key}", lambda: currency_in(client.wallet(seconds=WALLET_SECONDS))
        )
    return task.memory.get("currency")


def currency_in(wallet: Wallet) -> str | None:
    """Return the currency of a wallet, if it can stand behind an amount."""
    text = (wallet.currency or "").strip()
    fits = 0 < len(text) <= LONGEST_CURRENCY and text.isprintable()
    return text if fits and not any(each.isdigit() or each == " " for each in text) else None


def sum_of(amounts: Iterable[Decimal | None]) -> Decimal:
    """Return the sum of those amounts that are known."""
    return sum((amount for amount in amounts if amount is not None), Decimal(0))


def add_currency_units(value: Any) -> Any:
    """Return data with ``balance: "12.50"`` next to ``balance_cents: 1250``. Millicents win over cents."""
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
    """Convert an amount in cents or millicents to currency units, exactly."""
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
    """Return an amount of 0 or more that a user gave in currency units, or that was read already."""
    try:
        amount = Decimal("NaN" if "_" in str(text) else text)  # which Decimal would skip
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise Invalid(f"{option} is {text!r}; it must be an amount in currency units, such as 12.50")
    return amount


CommitmentKind = Literal["order", "creation", "new size", "resumption", "move", "suspension", "deletion"]
NEW: tuple[CommitmentKind, ...] = ("order", "creation")
"""What makes something that is not there yet."""
LOWERING: tuple[CommitmentKind, ...] = ("suspension", "deletion")
PRICED: Mapping[CommitmentKind, str] = {
    "order": "order",
    "creation": "create",
    "new size": "resize",
    "resumption": "resume",
    "suspension": "suspend",
    "deletion": "delete",
}
"""What changes the price, with the word for it in results. To be in another project costs the same."""


@dataclass(frozen=True)
class Commitment:
    """What a step does to the running rate: to what, and what that costs a month afterwards."""

    kind: CommitmentKind
    what: str
    """The service or application, for messages."""
    monthly: Decimal | None
    """The rate once it is done; ``None`` if unknown. A move leaves it."""
    id: str | None = None
    name: str | None = None
    """The name or slug."""
    project: str | None = None
    """The id of the project that it is in afterwards. One that is created without it joins the default."""
    project_name: str | None = None
    before: Decimal | None = None
    """The rate before, as the plan saw it."""
    shrinks: bool = False
    """Whether every part of its size stays or decreases."""
    is_ceiling: bool = False
    """Whether the rate is only the most that it may come to."""

    @property
    def key(self) -> str:
        """The id, or what is the same for each attempt to make it, also where its project has no id yet."""
        return self.id or f"new {self.name} in {self.project_name or self.project or 'the default'}"

    @property
    def attempt(self) -> tuple[Any, ...]:
        """What is the same for each attempt at it whose outcome is open."""
        return self.kind, self.key, self.before

    @property
    def forecast(self) -> Decimal | None:
        """The rate once it is done, as a result tells it; ``None`` if unknown."""
        return None if self.is_ceiling else self.monthly

    @property
    def home(self) -> str:
        """The project that it is in afterwards, by its id, or by its name if it has none yet, or neither."""
        return self.project or self.project_name or ""

    @property
    def lowers(self) -> bool:
        """Whether it adds nothing, as far as can be told, so that no budget has a say.

        A smaller size counts as cheaper only if its price is not known, and that at the node's rates is not
        above the present one: they may be higher than those that the service was ordered at.
        """
        if self.kind in LOWERING:
            return True
        if self.monthly is None or self.before is None:
            return self.shrinks
        return self.kind != "move" and self.monthly <= self.before

    def ends(self, earlier: Commitment) -> bool:
        """Tell whether what lowers the price of a service ends what was committed to it before."""
        if earlier.id is not None:
            return earlier.id == self.id and earlier.kind != "move"
        there = self.kind in LOWERING and earlier.home in ("", self.home)
        return there and same_name(earlier.name or "", self.name or "")


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

    def as_dict(self, currency: str | None = None, moves: Iterable[Commitment] = ()) -> dict[str, Any]:
        """Return the amounts as strings, so that no digits are lost, and what was or would be done."""
        known = self.before is not None and self.after is not None
        change = self.after - self.before if known else None  # type: ignore[operator]
        return {
            "monthly_before": format_amount(self.before),
            "monthly_after": format_amount(self.after),
            "monthly_change": format_amount(change),
            "currency": currency,
            "lines": self.lines,
            "moves": [PRICED[made.kind] for made in moves],
            "service": self.service,
            "service_id": self.service_id,
            "project": self.project,
            "balance": format_amount(self.balance),
            "min_balance": format_amount(self.min_balance),
            "days_covered": self.days_covered,
        }

    def brief(self, currency: str | None, moves: Iterable[Commitment]) -> dict[str, Any]:
        """Return the amounts without what is known of orders alone."""
        whole = self.as_dict(currency, moves)
        return {name: whole[name] for name in BRIEF}
