# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quotes and orders (section Endpoints / Ordering)."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import Any

from hosted_sandbox.clock import DAY
from hosted_sandbox.domain import events, lifecycle, money, projects, references
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Node, Order, Product, Service

#: Families whose new services are ACTIVE at once; the others pass through PROVISIONING.
BORN_ACTIVE = ("APP", "BUCKET")
MOST_NAME = 80
#: The lifetime of a free service, in milliseconds (30 days).
FREE_LIFE = 30 * DAY
DIMENSIONS = ("cpuCores", "ramGb", "storageGb")


@dataclass
class OrderRequest:
    """An order as the client sends it; `size` or `preset` is required."""

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
class PricedOrder:
    """An order that is possible, with its price in millicents a month by part."""

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
        """The total price, in millicents a month."""
        return sum(self.price.values())

    @property
    def covers(self) -> bool:
        """Whether the balance covers the first twenty-four hours."""
        return self.balance >= self.minimum


def price_order(world: World, account: Account, request: OrderRequest) -> PricedOrder:
    """Check an order and price it, without placing it."""
    product = world.store.get(Product, request.product)
    if product is None:
        raise RefusedError(f"unknown product {request.product}")
    node = world.store.get(Node, request.host)
    if node is None or product.family not in node.families:
        raise RefusedError(f"host {request.host} does not take this product")
    size = _size(world, product, request)
    check_bounds(node, size)
    _check_options(product, request.options)
    price = {} if product.free else money.parts(product, node, size, request.options)
    monthly = sum(price.values())
    cents = money.balance(world, account)
    first_day, days = money.day_cents(monthly), money.days_covered(cents, monthly)
    return PricedOrder(product, node, size, _runtime(product, request), price, cents, first_day, days)


def _size(world: World, product: Product, request: OrderRequest) -> dict[str, int]:
    if request.preset is not None:
        for preset in product.presets:
            if preset["id"] == request.preset:
                return dict(preset["dimensions"])
        raise RefusedError(f"unknown preset {request.preset}")
    if request.size is None:
        raise RefusedError("dimensions are required unless presetId is given")
    return dict(request.size)


def _runtime(product: Product, request: OrderRequest) -> str | None:
    known = [runtime["id"] for runtime in product.runtimes]
    if request.runtime is None:
        return known[0] if known else None
    if request.runtime not in known:
        raise RefusedError(f"unknown runtime {request.runtime}")
    return request.runtime


def _check_options(product: Product, chosen: list[dict[str, str]]) -> None:
    known = {(option["id"], choice["id"]) for option in product.options for choice in option["choices"]}
    for pick in chosen:
        if (pick["optionId"], pick["choiceId"]) not in known:
            raise RefusedError(f"unknown option {pick['optionId']}/{pick['choiceId']}")


def check_bounds(node: Node, size: dict[str, int], rule: str = "") -> None:
    """Refuse a size outside the bounds of a node."""
    for name in DIMENSIONS:
        low, high = node.bounds[name]
        if not low <= size[name] <= high:
            raise RefusedError(f"{name} must be between {low} and {high} on this node", rule)


def order(
    world: World, account: Account, request: OrderRequest, slug: str = ""
) -> tuple[Service, dict[str, str]]:
    """Order a service. Return it with the generated secrets, which are shown only this once.

    An application has a `slug`, by default one derived from its alias.
    """
    if not 1 <= len(request.name) <= MOST_NAME:
        raise RefusedError(f"name must have 1 to {MOST_NAME} characters")
    priced = price_order(world, account, request)
    project = projects.pick(world, account, request.project)
    if not priced.covers:
        raise RefusedError("The balance does not cover the first twenty-four hours")
    product = priced.product
    service = Service(
        world.new_id("svc"), account.id, project.id, priced.node.id, product.id, request.name,
        product.family, alias=alias(world, account.id, project.id, request.name), runtime=priced.runtime,
        size=priced.size, options=request.options, environment={**product.variables, **request.variables},
        free=product.free, created_at=world.now,
        free_until=world.now + FREE_LIFE if product.free else None,
    )  # fmt: skip
    references.check(world, service, service.environment)
    if service.product == "application":
        service.slug = slug or free_slug(world, service.alias)
    if priced.product.public:
        take_port(world, service)
        service.public = True
    given = generate(priced.product, service)
    begin(world, service)
    world.store.put(Order(world.new_id("ord"), account.id, service.id, service.product, service.name,
                          priced.monthly, world.now))  # fmt: skip
    return service, given


def begin(world: World, service: Service) -> None:
    """Create a service, ACTIVE or PROVISIONING by its family."""
    service.sftp = {"username": f"sftp-{secrets.token_hex(5)}"}
    lifecycle.force_state(world, service, "installing")
    events.record(world, service, "CREATED")
    product = world.store.need(Product, service.product)
    if not service.image:
        service.image = source(product, service)
    lifecycle.root(world, service)
    if service.family in BORN_ACTIVE and product.outcome == "ACTIVE":
        lifecycle.enter(world, service)
        return
    lifecycle.set_status(world, service, "PROVISIONING")
    world.after(world.delays.provision, "provisioned", service.id)


def source(product: Product, service: Service) -> dict[str, Any]:
    """Return the source of a service of the catalogue."""
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
    """Generate the secrets of a new service; those of a database can be read again later."""
    if not product.engine:
        return {}
    service.secrets = {
        "user": "owner",
        "password": secrets.token_urlsafe(18),
        "database": re.sub(r"[^a-z0-9_]", "_", service.alias) or "main",
    }
    return {"user": service.secrets["user"], "password": service.secrets["password"]}


def alias(world: World, account_id: str, project_id: str, name: str) -> str:
    """Derive a name for the project's network from a service's name, unique in the project."""
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "service"
    return projects.free_alias(world, account_id, project_id, base)


def free_slug(world: World, base: str) -> str:
    """Derive a slug from an alias that no application of any account has."""
    taken = {service.slug for service in world.store.all(Service) if service.status != "DELETED"}
    base = f"{base[:32].rstrip('-')}-app" if len(base) < 3 else base[:36].rstrip("-")
    return next(name for number in range(1, 10**6) if (name := projects.numbered(base, number)) not in taken)


def take_port(world: World, service: Service, rule: str = "") -> None:
    """Reserve a port on the node's shared IP; refuse if none is left."""
    node = world.store.need(Node, service.node_id)
    if node.ports_left is not None:
        if node.ports_left <= 0:
            raise RefusedError("No port is left on the shared IP of this node", rule)
        node.ports_left -= 1
        world.store.put(node)
    used = {other.port for other in world.store.all(Service) if other.node_id == node.id}
    service.port = next(port for port in range(node.first_port, 65536) if port not in used)
