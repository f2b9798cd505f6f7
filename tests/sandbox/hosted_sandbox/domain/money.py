# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prices, spend and balance. All amounts are integers: millicents a month, and cents.

The cost of a service up to a time is a whole number of cents, rounded down; the cost of any window
is the difference of two such numbers. Hours, days, services and totals therefore always add up.
"""

from __future__ import annotations

from collections.abc import Iterable

from hosted_sandbox.clock import DAY, MONTH, day_of, day_start
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Node, Product, Service

#: Labels of the parts of a price by dimension, in display order.
PARTS = {"cpuCores": "CPU", "ramGb": "Memory", "storageGb": "Storage", "options": "Options"}
CURRENCY = "EUR"
#: Stop counting covered days after ten years.
MOST_DAYS = 3650


def options_price(product: Product, chosen: list[dict[str, str]]) -> int:
    """Return the price of the chosen options, in millicents a month."""
    picked = {option["optionId"]: option["choiceId"] for option in chosen}
    return sum(
        choice["millicents"]
        for option in product.options
        for choice in option["choices"]
        if picked.get(option["id"]) == choice["id"]
    )


def parts(product: Product, node: Node, size: dict[str, int], chosen: list[dict[str, str]]) -> dict[str, int]:
    """Return the price of a size on a node by part, in millicents a month, of what is not free."""
    price = {name: size[name] * node.rates[name] for name in ("cpuCores", "ramGb", "storageGb")}
    price["options"] = options_price(product, chosen)
    return {name: amount for name, amount in price.items() if amount}


def price_of(world: World, service: Service) -> dict[str, int]:
    """Return the full price of a service at its present size, by part."""
    if service.free:
        return {}
    product = world.store.need(Product, service.product)
    node = world.store.need(Node, service.node_id)
    return parts(product, node, service.size, service.options)


def billed_parts(world: World, service: Service) -> dict[str, int]:
    """Return the present rate: the full price if ACTIVE, storage only if SUSPENDED, else nothing."""
    price = price_of(world, service)
    if service.status == "ACTIVE":
        return price
    if service.status == "SUSPENDED":
        return {name: amount for name, amount in price.items() if name == "storageGb"}
    return {}


def bill(world: World, service: Service) -> None:
    """Close the present rate and open the new one (without saving the record)."""
    rate = billed_parts(world, service)
    running = service.rates[-1]["parts"] if service.rates else {}
    if rate != running:
        service.rates.append({"from": world.now, "parts": rate})


def _cost(service: Service, until: int, part: str | None = None, since: int = 0) -> int:
    """Return millicent-months times milliseconds between two times, of one part or of all."""
    total = 0
    for index, rate in enumerate(service.rates):
        following = service.rates[index + 1]["from"] if index + 1 < len(service.rates) else until
        length = min(following, until) - max(rate["from"], since)
        if length > 0:
            total += length * (rate["parts"].get(part, 0) if part else sum(rate["parts"].values()))
    return total


def spent(service: Service, until: int) -> int:
    """Return the cost of a service up to a time, in cents, rounded down."""
    return _cost(service, until) // (10 * MONTH)


def spent_between(services: Iterable[Service], since: int, until: int) -> int:
    """Return the cost of services within a window, in cents."""
    return sum(spent(service, until) - spent(service, since) for service in services)


def spent_parts(service: Service, since: int, until: int) -> list[tuple[str, int]]:
    """Return the cost of a service within a window by part; the last part takes the rounding."""
    total = spent_between([service], since, until)
    if not total:
        return []
    cents = {part: _cost(service, until, part, since) for part in PARTS}
    named = [(PARTS[part], cost // (10 * MONTH)) for part, cost in cents.items() if cost]
    rest = total - sum(amount for __, amount in named[:-1])
    return [*named[:-1], (named[-1][0], rest)]


def days(services: list[Service], first: int, until: int) -> list[tuple[str, int]]:
    """Return the cost of each UTC day from `first` to `until`, in cents, days without spend included."""
    starts = range(day_start(first), until + 1, DAY)
    return [(day_of(start), spent_between(services, start, min(start + DAY, until))) for start in starts]


def window(world: World, length: int) -> int:
    """Return the start of a window of whole UTC days that ends today."""
    return day_start(world.now) - (length - 1) * DAY


def balance(world: World, account: Account) -> int:
    """Return the balance in cents: deposits minus the cost of every service, deleted ones included."""
    services = world.store.of(Service, account.id)
    return account.deposited_cents - sum(spent(service, world.now) for service in services)


def running_rate(world: World, account_id: str) -> int:
    """Return the present cost of all services of an account, in millicents a month."""
    services = world.store.of(Service, account_id)
    return sum(sum(billed_parts(world, service).values()) for service in services)


def to_cents(millicents: int) -> int:
    """Convert millicents to cents, half a cent upwards."""
    return (millicents + 5) // 10


def day_cents(monthly_millicents: int) -> int:
    """Return the cost of twenty-four hours at a monthly price, in cents, rounded up."""
    return -(-monthly_millicents * DAY // (10 * MONTH))


def days_covered(cents: int, monthly_millicents: int) -> int:
    """Return how many whole days a balance lasts at a monthly price."""
    if monthly_millicents <= 0:
        return MOST_DAYS
    return max(0, min(MOST_DAYS, cents * 10 * MONTH // (monthly_millicents * DAY)))


def hourly_label(monthly_millicents: int) -> str:
    """Format the price of an hour."""
    return f"{monthly_millicents / 1000 / 730:.5f} {CURRENCY}/h"
