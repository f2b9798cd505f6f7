# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quotes and orders (section Endpoints / Ordering)."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hosted_sandbox.domain import events, lifecycle, money, projects, references
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Node, Order, Product, Service

#: Families whose services are born ACTIVE; the others pass PROVISIONING.
BORN_ACTIVE = ("APP", "BUCKET")
MOST_NAME = 80
#: What the platform may make of a name.
NAMES: dict[str, Callable[[str], str]] = {
    "as given": str,
    "trimmed": str.strip,
    "single spaces": lambda name: " ".join(name.split()),
}
#: How long a free service lives, in milliseconds (30 days).
FREE_LIFE = 30 * 24 * 3600 * 1000
DIMENSIONS = ("cpuCores", "ramGb", "storageGb")


@dataclass
class Wish:
    """What a client asks to order; `size` or `preset` is required."""

    product: str
    host: str
    size: dict[str, int] | None = None
    preset: str | None = None
    runtime: str | None = None
    project: str | None = None
    name: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    options: list[dict[str, str]] = field(default_factory=list)


@dataclass
class Deal:
    """A wish that can be fulfilled, with its price in millicents a month by part."""

    product: Product
    node: Node
    size: dict[str, int]
    runtime: str | None
    price: dict[str, int]
    balance: int
    minimum: int
    covered_days: int

    @property
    def monthly(self) -> int:
        """The whole price, in millicents a month."""
        return sum(self.price.values())

    @property
    def covers(self) -> bool:
        """Whether the balance covers the first twenty-four hours."""
        return self.balance >= self.minimum


def appraise(world: World, account: Account, wish: Wish) -> Deal:
    """Check a wish and price it; commits nothing."""
    product = world.store.get(Product, wish.product)
    if product is None:
        raise RefusedError("order_values", f"unknown product {wish.product}")
    node = world.store.get(Node, wish.host)
    if node is None or product.family not in node.families:
        raise RefusedError("order_values", f"host {wish.host} does not take this product")
    size = _size(product, wish)
    check_bounds(node, size, "order_values")
    _check_options(product, wish.options)
    price = money.parts(product, node, size, wish.options)
    monthly = sum(price.values())
    covered = monthly
    if world.gaps["quote.cover"] == "all services together":
        covered += money.running_rate(world, account.id)
    cents = money.balance(world, account)
    return Deal(product, node, size, _runtime(product, wish), price, cents,
                money.day_cents(covered), money.days_covered(cents, covered))  # fmt: skip


def _size(product: Product, wish: Wish) -> dict[str, int]:
    if wish.preset is not None:
        for preset in product.presets:
            if preset["id"] == wish.preset:
                return dict(preset["dimensions"])
        raise RefusedError("order_values", f"unknown preset {wish.preset}")
    if wish.size is None:
        raise RefusedError("order_values", "dimensions are required unless presetId is given")
    return dict(wish.size)


def _runtime(product: Product, wish: Wish) -> str | None:
    known = [runtime["id"] for runtime in product.runtimes]
    if wish.runtime is None:
        return known[0] if known else None
    if wish.runtime not in known:
        raise RefusedError("order_values", f"unknown runtime {wish.runtime}")
    return wish.runtime


def _check_options(product: Product, chosen: list[dict[str, str]]) -> None:
    known = {(option["id"], choice["id"]) for option in product.options for choice in option["choices"]}
    for pick in chosen:
        if (pick["optionId"], pick["choiceId"]) not in known:
            raise RefusedError("order_values", f"unknown option {pick['optionId']}/{pick['choiceId']}")


def check_bounds(node: Node, size: dict[str, int], rule: str) -> None:
    """Refuse a size outside the bounds of a node."""
    for name in DIMENSIONS:
        low, high = node.bounds[name]
        if not low <= size[name] <= high:
            raise RefusedError(rule, f"{name} must be between {low} and {high} on this node")


def order(world: World, account: Account, wish: Wish, slug: str = "") -> tuple[Service, dict[str, str]]:
    """Order a service. Returns it with the secrets generated, which are given only this once.

    An application has a `slug`; one that is ordered without gets one made from its alias.
    """
    wish.name = NAMES[world.gaps["service.name"]](wish.name)
    if not 1 <= len(wish.name) <= MOST_NAME:
        raise RefusedError("name", f"name must have 1 to {MOST_NAME} characters")
    deal = appraise(world, account, wish)
    project = projects.pick(world, account, wish.project)
    if not deal.covers:
        raise RefusedError("cover", "The balance does not cover the first twenty-four hours")
    service = Service(
        world.new_id("svc"), account.id, project.id, deal.node.id, deal.product.id, wish.name,
        deal.product.family, alias=alias(world, account.id, project.id, wish.name), runtime=deal.runtime,
        size=deal.size, options=wish.options, environment={**deal.product.variables, **wish.variables},
        free=deal.product.free, created_at=world.now,
        free_until=world.now + FREE_LIFE if deal.product.free else None,
    )  # fmt: skip
    references.check(world, service, service.environment)
    if service.product == "application":
        service.slug = slug or free_slug(world, service.alias)
    if deal.product.public:
        take_port(world, service, "order_port")
        service.public = True
    given = generate(deal.product, service)
    service.shown_from = world.now + projects.page_delay(world)
    begin(world, service)
    world.store.put(Order(world.new_id("ord"), account.id, service.id, service.product, service.name,
                          deal.monthly, world.now))  # fmt: skip
    return service, given


def begin(world: World, service: Service) -> None:
    """Let a new service come into the world, ACTIVE or PROVISIONING as its family has it."""
    service.sftp = {"username": f"sftp-{secrets.token_hex(5)}"}
    lifecycle.force_state(world, service, world.gaps["provisioning.state"])
    events.record(world, service, "CREATED")
    product = world.store.need(Product, service.product)
    if not service.image:
        service.image = source(product, service)
    lifecycle.root(world, service)
    if service.family in BORN_ACTIVE and product.fate == "ACTIVE":
        lifecycle.enter(world, service)
        return
    lifecycle.set_status(world, service, "PROVISIONING")
    world.after(world.delays.provision, "provisioned", service.id)


def source(product: Product, service: Service) -> dict[str, Any]:
    """Where a service of the catalogue comes from."""
    edition = next((run["slug"] for run in product.runtimes if run["id"] == service.runtime), "stable")
    seed = re.sub(r"[^0-9a-f]", "", f"{product.id}{edition}".encode().hex())
    return {
        "kind": "runtime" if product.runtimes else "image",
        "reference": product.image or f"house/{product.id}",
        "digest": f"sha256:{(seed * 64)[:64]}",
        "tag": edition,
        "origin": "catalogue",
        "released_at": service.created_at,
    }


def generate(product: Product, service: Service) -> dict[str, str]:
    """The secrets of a new service; those of a database can be read again on its connection route."""
    if not product.engine:
        return {}
    service.secrets = {
        "user": "owner",
        "password": secrets.token_urlsafe(18),
        "database": re.sub(r"[^a-z0-9_]", "_", service.alias) or "main",
    }
    return {"user": service.secrets["user"], "password": service.secrets["password"]}


def alias(world: World, account_id: str, project_id: str, name: str) -> str:
    """A name for the project's network, made from a service's name and unique in the project."""
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "service"
    taken = {
        service.alias for service in lifecycle.live(world, account_id) if service.project_id == project_id
    }
    return next(name for number in range(1, 10**6) if (name := _numbered(base, number)) not in taken)


def free_slug(world: World, base: str) -> str:
    """A slug made from an alias that no application of any account has."""
    taken = {service.slug for service in world.store.all(Service) if service.status != "DELETED"}
    base = f"{base[:32].rstrip('-')}-app" if len(base) < 3 else base[:36].rstrip("-")
    return next(name for number in range(1, 10**6) if (name := _numbered(base, number)) not in taken)


def _numbered(base: str, number: int) -> str:
    return base if number == 1 else f"{base}-{number}"


def take_port(world: World, service: Service, rule: str) -> None:
    """Reserve a port on the node's shared IP; refused when none is left."""
    node = world.store.need(Node, service.node_id)
    if node.ports_left is not None:
        if node.ports_left <= 0:
            raise RefusedError(rule, "No port is left on the shared IP of this node")
        node.ports_left -= 1
        world.store.put(node)
    used = {other.port for other in world.store.all(Service) if other.node_id == node.id}
    service.port = next(port for port in range(node.first_port, 65536) if port not in used)
