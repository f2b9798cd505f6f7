# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rates of a service: current, expected, and whether the platform bills as announced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ..._api.models import Dimensions, Scale, Service
from ..._api.values import ServiceStatus
from ..shared.money import Cost, format_price, rate_from
from ..shared.plan import Task
from .options import MaxMonthlyOptions
from .view import billed_rate

PER_SIZE = ("monthly_cents", "min_balance_cents", "hourly_label")
"""What a new size changes too, in a way that is not shown."""


@dataclass(frozen=True)
class Rates:
    """The monthly price of a service while it is active and while suspended. ``None`` if unknown."""

    full: Decimal | None
    storage: Decimal | None

    def of(self, status: str | None) -> Decimal | None:
        """Return the rate that is billed in this status; ``None`` if unknown."""
        rates: dict[str | None, Decimal | None] = {
            ServiceStatus.ACTIVE: self.full,
            ServiceStatus.SUSPENDED: self.storage,
        }
        return rates.get(status)


def rates_of(service: Service) -> Rates:
    """Return the rates of a service at its current size."""
    pricing = service.pricing
    if pricing is None:
        return Rates(None, None)
    return Rates(rate_from(pricing.monthly_millicents), rate_from(pricing.storage_monthly_millicents))


def rates_of_size(service: Service, scale: Scale, target: Mapping[str, int]) -> Rates:
    """Forecast the rates of a size from the rates of the node.

    The storage rate is forecast only if the disk at the node's rate gives the current one, so that it has no
    other part; the full rate likewise, because there may be a discount or a minimum price.
    """
    storage = scale.storage_millicents_per_gb_month
    if storage is None:
        return Rates(None, None)
    now = {"cpu_cores": scale.cpu_cores, "ram_gb": scale.ram_gb, "storage_gb": scale.storage_gb}
    total = scale.monthly_millicents
    amount = millicents_of(scale, target)
    if total is not None and millicents_of(scale, now) not in (None, total):
        amount = None
    full = rate_from(amount)
    disk = (service.dimensions or Dimensions()).storage_gb
    explained = disk is not None and rates_of(service).storage == rate_from(disk * storage)
    return Rates(full, rate_from(target["storage_gb"] * storage) if explained else None)


def millicents_of(scale: Scale, size: Mapping[str, int | None]) -> int | None:
    """Return the price of a size at the rates of its node; ``None`` if a part or rate is unknown."""
    parts = (
        (size["cpu_cores"], scale.cpu_millicents_per_month),
        (size["ram_gb"], scale.ram_millicents_per_gb_month),
        (size["storage_gb"], scale.storage_millicents_per_gb_month),
    )
    amount = scale.options_millicents or 0
    for number, rate in parts:
        if number is None or rate is None:
            return None
        amount += number * rate
    return amount


def risen_rate(scale: Scale, size: Mapping[str, int], before: Decimal | None) -> Decimal | None:
    """Return the price of a size at the rates of its node if that is above the present one; else ``None``.

    Where these rates do not explain the present price, that may be a discount, which stays, or a price of
    earlier rates, which ends with a new size (Settings, rule 4).
    """
    rate = rate_from(millicents_of(scale, size))
    return None if rate is None or before is None or rate <= before else rate


def cost_of(service: Service, after: Decimal | None) -> Cost:
    """Return the cost of a change from the current rate to another."""
    running = billed_rate(service)
    before = rates_of(service).of(service.status) if running is None else running
    return Cost(before, after, service=service.name, service_id=service.id)


def price_change(task: Task[Any], cost: Cost) -> str:
    """Describe how a change affects the price."""
    before, after = (
        format_price(task, cost.before) or "an unknown rate",
        format_price(task, cost.after) or "an unknown one",
    )
    return f"its price goes from {before} to {after} a month"


def expected_pricing(service: Service, rates: Rates, billed: Decimal | None) -> dict[str, Any] | None:
    """Return the expected pricing, with null for unknown amounts."""
    if service.pricing is None:
        return None
    amounts = {"monthly": rates.full, "storage_monthly": rates.storage, "billed_monthly": billed}
    expected = service.pricing.as_dict()
    if rates != rates_of(service):
        expected.update(dict.fromkeys(PER_SIZE))
    for name, amount in amounts.items():
        expected[f"{name}_millicents"] = None if amount is None else int(amount * 1000)
    return expected


def has_expected_size(service: Service, expected: Mapping[str, Any]) -> bool:
    """Tell whether a service has the status and size that a price was announced for."""
    size, wanted = (service.dimensions or Dimensions()).as_dict(), expected["dimensions"] or {}
    return service.status == expected["status"] and all(size.get(name) == wanted[name] for name in wanted)


def note_billed(task: Task[Any], service: Service, announced: Cost, status: str | None) -> None:
    """Let ``cost`` say what a service is billed in a status where the task failed and that is not as planned.

    Without a price that is shown, the announced one stays.
    """
    billed = billed_rate(service) if service.status == status else rates_of(service).of(status)
    if billed is not None:
        task.effects.billed = replace(announced, after=billed)


def compare_rate(
    task: Task[MaxMonthlyOptions], what: str, billed: Decimal | None, announced: Cost, advice: str
) -> None:
    """Warn if the platform bills another rate than announced, and put that rate in ``cost``.

    If none was announced, as it was not known, warn of one that is higher than before.
    """
    before = announced.before
    if billed is None or announced.after == billed:
        return
    if announced.after is None and (before is None or billed <= before):
        return
    instead = (
        f"and {format_price(task, before)} before; its price was not known"
        if announced.after is None
        else f"not {format_price(task, announced.after)} as announced"
    )
    task.effects.billed = replace(announced, after=billed)
    most = task.options.max_monthly
    over = f", over max_monthly {format_price(task, most)}" if most is not None and billed > most else ""
    task.warn(f"{what} is billed {format_price(task, billed)} a month, {instead}{over}. {advice}")
