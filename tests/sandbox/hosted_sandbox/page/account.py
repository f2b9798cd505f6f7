# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page shows of the accounts, as rows of its tables.

It is what the records hold, not what the profile's API would show of them. Secrets, environments and the
contents of requests are left out.
"""

from __future__ import annotations

from typing import Any

from hosted_sandbox.domain import apps, lifecycle, money, views
from hosted_sandbox.domain.catalogue import ACCOUNT
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import (
    Account,
    Backup,
    Node,
    Order,
    Product,
    Project,
    Release,
    Service,
    Snapshot,
)

Row = dict[str, Any]
#: How much of a digest is shown.
DIGEST = len("sha256:") + 12


def counted(number: int, noun: str) -> str:
    """Format a number of things: 1 service, 2 services."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def amount(cents: int) -> str:
    """Format cents: 1,234.50."""
    return f"{cents / 100:,.2f}"


def monthly(millicents: int) -> str:
    """Format a price of a month."""
    return amount(money.to_cents(millicents))


def present(world: World) -> list[Service]:
    """Return the services of all accounts that are not deleted, oldest first."""
    return [service for service in world.store.all(Service) if service.status != "DELETED"]


def services(world: World) -> list[Row]:
    """Return every project with its services; one with `notes` is a project."""
    rows: list[Row] = []
    for project in world.store.all(Project):
        members = [service for service in present(world) if service.project_id == project.id]
        if members or project.account_id == ACCOUNT:
            notes = _notes(world, project, members)
            rows.append({"id": f"project-{project.id}", "name": project.name, "notes": notes})
            rows += [_service(world, service) for service in members]
    return rows


def _notes(world: World, project: Project, members: list[Service]) -> list[str]:
    rate = sum(sum(money.billed_parts(world, service).values()) for service in members)
    notes = [counted(len(members), "service"), f"{monthly(rate)} a month"]
    if project.default:
        notes.insert(0, "default project")
    if project.account_id != ACCOUNT:
        notes.insert(0, f"of {project.account_id}")
    return notes


def _service(world: World, service: Service) -> Row:
    return {
        "id": f"service-{service.id}",
        "name": service.name,
        "address": views.address(world, service),
        "product": world.store.need(Product, service.product).name,
        "family": service.family,
        "host": world.store.need(Node, service.node_id).label,
        "status": service.status,
        "state": _state(world, service),
        "size": service.size,
        "free": service.free,
        "price": sum(money.price_of(world, service).values()),
    }


def _state(world: World, service: Service) -> str | None:
    """Return what the container does, or why there is none."""
    if service.status != "ACTIVE" or views.without_container(service):
        return service.failure
    state, failure = lifecycle.state(world, service), lifecycle.failure(world, service)
    return f"{state}: {failure}" if failure else state


def applications(world: World) -> list[Row]:
    """Return every application with its releases and their verdicts; one with a `slug` is an application."""
    rows: list[Row] = []
    for service in present(world):
        if service.slug:
            tagged = service.image.get("tag")
            note = f"version {tagged} in service" if tagged else "nothing deployed"
            rows.append(
                {"id": f"app-{service.id}", "slug": service.slug, "status": service.status, "note": note}
            )
            rows += [_release(world, service, one) for one in world.store.of(Release, service.id)]
    return rows


def _release(world: World, service: Service, release: Release) -> Row:
    scan = apps.verdict(world, service, release.digest)
    return {
        "id": f"release-{release.id}",
        "tag": release.tag,
        "runs": (service.image.get("tag"), service.image.get("digest")) == (release.tag, release.digest),
        "verdict": scan.status,
        "lifted": scan.lifted,
        "flaws": _flaws(scan.report),
        "digest": release.digest[:DIGEST],
        "platform": release.platform,
        "at": release.created_at,
    }


def _flaws(report: dict[str, Any]) -> str:
    """Name the flaws that block with what mends them, else how many there are of each severity."""
    counts = report.get("counts", {}).items()
    found = ", ".join(f"{number} {severity.lower()}" for severity, number in counts if number)
    return apps.blocking(report) or found or ("none" if report else "-")


def copies(world: World) -> list[Row]:
    """Return backups and snapshots, newest first."""
    rows = []
    for service in present(world):
        found: list[Backup | Snapshot] = [*world.store.of(Backup, service.id)]
        found += world.store.of(Snapshot, service.id)
        rows += [
            {
                "id": f"copy-{copy.id}",
                "name": copy.name,
                "service": service.name,
                "kind": "backup" if isinstance(copy, Backup) else "snapshot",
                "status": copy.status if isinstance(copy, Backup) else "COMPLETED",
                "size": copy.size,
                "at": copy.created_at,
            }
            for copy in found
        ]
    return sorted(rows, key=lambda row: row["at"], reverse=True)


def ledger(world: World) -> list[Row]:
    """Return what each service costs now and has cost, deleted ones included, below a row for all of them."""
    orders = {order.service_id: order for order in world.store.of(Order, ACCOUNT)}
    rows = [
        {
            "id": f"cost-{service.id}",
            "name": service.name,
            "product": world.store.need(Product, service.product).name,
            "status": service.status,
            "order": orders.get(service.id),
            "rate": sum(money.billed_parts(world, service).values()),
            "billed": money.spent(service, world.now),
        }
        for service in reversed(world.store.of(Service, ACCOUNT))
    ]
    return [{"id": "ledger"}, *rows] if rows else []


def totals(world: World) -> dict[str, int]:
    """Return the figures of the account: cents, millicents a month for `rate`, and numbers."""
    account = world.store.need(Account, ACCOUNT)
    own = lifecycle.live(world, ACCOUNT)
    balance = money.balance(world, account)
    return {
        "deposited": account.deposited_cents,
        "billed": account.deposited_cents - balance,
        "balance": balance,
        "rate": money.running_rate(world, ACCOUNT),
        "services": len(own),
        "active": sum(service.status == "ACTIVE" for service in own),
        "orders": len(world.store.of(Order, ACCOUNT)),
    }
