# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records in the form of the API (section Resources and their fields)."""

from __future__ import annotations

from typing import Any

from hosted_sandbox.clock import maybe_stamp, stamp
from hosted_sandbox.domain import files, keys, lifecycle, money, projects, references, settings
from hosted_sandbox.domain.capabilities import capabilities
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import (
    Backup,
    Event,
    Key,
    Node,
    Product,
    Project,
    Service,
    Snapshot,
)

View = dict[str, Any]
WITHOUT_CONTAINER = ("BUCKET", "DEDICATED")


def enriched(world: World, view: View) -> View:
    """Add a field that the specification does not show, if the platform has one."""
    if world.gaps["extra_fields"] == "yes":
        view["_links"] = {"self": view.get("id")}
    return view


def address(world: World, service: Service) -> str | None:
    """Return host:port of an open service, else None."""
    if not service.public or service.port is None or service.status in ("DELETING", "DELETED", "FAILED"):
        return None
    return f"{world.store.need(Node, service.node_id).ip}:{service.port}"


def _product(product: Product) -> View:
    return {"slug": product.id, "name": product.name, "shortName": product.short_name}


def _host(node: Node) -> View:
    return {"id": node.id, "label": node.label, "locationLabel": node.location}


def listed(world: World, service: Service) -> View:
    """Render a service in its list form."""
    service = settings.as_shown(world, service)
    product = world.store.need(Product, service.product)
    node = world.store.need(Node, service.node_id)
    monthly = sum(money.price_of(world, service).values())
    view = {
        "id": service.id,
        "name": service.name,
        "family": service.family,
        "status": service.status,
        "canPower": "powerSignals" in capabilities(world, service),
        "address": address(world, service),
        "product": _product(product),
        "runtime": next((run for run in product.runtimes if run["id"] == service.runtime), None),
        "host": _host(node),
        "dimensions": service.size,
        "monthlyMillicents": monthly,
        "hourlyLabel": money.hourly_label(monthly),
        "isFree": service.free,
        "createdAt": stamp(service.created_at),
    }
    return enriched(world, view)


def full(world: World, service: Service) -> View:
    """Render a service in its full form."""
    brief = listed(world, service)
    service = settings.as_shown(world, service)
    view = {name: brief[name] for name in ("id", "name", "family", "status")}
    view["projectId"] = service.project_id
    view |= {name: brief[name] for name in ("product", "runtime", "host", "dimensions", "address")}
    return enriched(world, view) | {
        "maintenance": None,
        "pricing": _pricing(world, service),
        "dates": {
            "createdAt": stamp(service.created_at),
            "suspendedAt": maybe_stamp(service.suspended_at),
            "deletedAt": maybe_stamp(service.deleted_at),
        },
        "failureReason": service.failure,
        "panelUrl": None,
        "capabilities": capabilities(world, service),
    }


def _pricing(world: World, service: Service) -> View:
    price = money.price_of(world, service)
    monthly = sum(price.values())
    return {
        "monthlyMillicents": monthly,
        "storageMonthlyMillicents": price.get("storageGb", 0),
        "billedMonthlyMillicents": sum(money.billed_parts(world, service).values()),
        "monthlyCents": money.to_cents(monthly),
        "minBalanceCents": money.day_cents(monthly),
        "hourlyLabel": money.hourly_label(monthly),
        "isFree": service.free,
        "freeExpiresAt": maybe_stamp(service.free_until),
    }


def without_container(service: Service) -> bool:
    """Tell whether a service has no container, and so no metrics."""
    return service.family in WITHOUT_CONTAINER


def metrics(world: World, service: Service) -> View | None:
    """Render the live metrics of a service; None if its node is unreachable."""
    if not world.store.need(Node, service.node_id).reachable:
        return None
    state, up = _condition(world, service)
    if service.status == "SUSPENDED":
        state = "stopped"
    return {
        "state": state,
        "cpuAllocationPercent": 12.5 if state == "running" else 0,
        "ramBytes": service.size["ramGb"] * 2**28 if state == "running" else 0,
        "storageBytes": files.size_of(lifecycle.root(world, service)),
        "uptimeSeconds": up,
        "netRxBytes": up * 1200,
        "netTxBytes": up * 800,
    }


def _condition(world: World, service: Service) -> tuple[str, int]:
    """Return state and uptime of a container, as late after a signal as this platform."""
    workload = lifecycle.workload_of(world, service)
    state, up = workload.state, workload.uptime_seconds
    if service.family == "BUCKET" and state == "starting":  # nothing starts in it
        state = "running"
    return world.shown("container", service.id, (state, up))


def settings_of(world: World, service: Service) -> View:
    """Render the settings of a game server or application."""
    settings.require(service)
    service = settings.as_shown(world, service)
    product = world.store.need(Product, service.product)
    image = service.image
    settled = service.status in settings.SETTLED
    return {
        "source": {
            "kind": image["kind"],
            "reference": image["reference"],
            "digest": image["digest"],
            "tag": image["tag"],
            "releasedAt": stamp(image["released_at"]),
            "origin": image["origin"],
        },
        "network": _network(world, service, settled),
        "scale": _scale(world, service),
        "deploy": {
            "command": service.command,
            "defaultCommand": product.command or image.get("command"),
            "editable": settled,
        },
        "deletable": True,
    }


def _network(world: World, service: Service, editable: bool) -> View:
    project = world.store.need(Project, service.project_id)
    return {
        "alias": service.alias,
        "project": project.name,
        "internalPort": references.internal_port(world, service),
        "publicIp": world.store.need(Node, service.node_id).ip if service.port is not None else None,
        "publicPort": service.port,
        "isPublic": service.public,
        "editable": editable,
    }


def _scale(world: World, service: Service) -> View:
    node = world.store.need(Node, service.node_id)
    product = world.store.need(Product, service.product)
    view: View = dict(service.size)
    for name, short in (("cpuCores", "cpu"), ("ramGb", "ram"), ("storageGb", "storage")):
        unit = "" if short == "cpu" else "Gb"
        view[f"{short}Min{unit}"], view[f"{short}Max{unit}"] = node.bounds[name]
    locked = settings.locked_reason(service)
    return view | {
        "cpuMillicentsPerMonth": node.rates["cpuCores"],
        "ramMillicentsPerGbMonth": node.rates["ramGb"],
        "storageMillicentsPerGbMonth": node.rates["storageGb"],
        "optionsMillicents": money.options_price(product, service.options),
        "monthlyMillicents": sum(money.price_of(world, service).values()),
        "editable": locked is None,
        "lockedReason": locked,
    }


def project(world: World, record: Project) -> View:
    """Render a project."""
    return enriched(world, {
        "id": record.id,
        "name": record.name,
        "createdAt": stamp(record.created_at),
        "resourceCount": len(projects.members(world, record)),
    })  # fmt: skip


def key(world: World, record: Key) -> View:
    """Render an SSH key."""
    return enriched(world, {
        "id": record.id,
        "name": record.name,
        "algorithm": record.algorithm,
        "label": record.comment,
        "fingerprint": keys.fingerprint(world, record),
        "createdAt": stamp(record.created_at),
        "lastUsedAt": maybe_stamp(record.used_at),
    })  # fmt: skip


def sftp(world: World, service: Service) -> View:
    """Render the SFTP access of a service."""
    return {
        "host": world.addresses.sftp_host,
        "port": world.addresses.sftp_port,
        "username": service.sftp["username"],
        "passwordSetAt": maybe_stamp(world.shown("password", service.id, service.sftp.get("set_at"))),
    }


def backup(world: World, record: Backup) -> View:
    """Render a backup."""
    return enriched(world, {
        "id": record.id,
        "name": record.name,
        "status": record.status,
        "sizeBytes": record.size,
        "createdAt": stamp(record.created_at),
        "completedAt": maybe_stamp(record.completed_at),
    })  # fmt: skip


def snapshot(world: World, record: Snapshot) -> View:
    """Render a snapshot."""
    return enriched(world, {
        "id": record.id,
        "name": record.name,
        "description": "",
        "parent": record.parent,
        "createdAt": stamp(record.created_at),
        "sizeBytes": record.size,
    })  # fmt: skip


def event(record: Event) -> View:
    """Render an event of the activity journal."""
    return {"id": record.id, "type": record.type, "at": stamp(record.at)}
