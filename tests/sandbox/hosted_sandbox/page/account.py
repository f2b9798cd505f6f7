# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections of the page about what the accounts have on the platform.

They show the records themselves, not what the profile's API would show of them. Secrets, environments and
the contents of requests are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from hosted_sandbox.domain import keys, lifecycle, money, scans, views
from hosted_sandbox.domain.catalogue import ACCOUNT
from hosted_sandbox.domain.world import World
from hosted_sandbox.page import markup
from hosted_sandbox.page.markup import Column, Html, Row, badge, joined, moment, table, tag
from hosted_sandbox.store.records import (
    Account,
    Backup,
    Key,
    Node,
    Order,
    Product,
    Project,
    Release,
    Scan,
    Service,
    Snapshot,
)

FIGURE = "figure"
#: How much of a digest is shown.
DIGEST = len("sha256:") + 12


def monthly(millicents: int) -> str:
    """Format a price of a month."""
    return markup.money(money.to_cents(millicents))


def present(world: World) -> list[Service]:
    """Return the services of all accounts that are not deleted, oldest first."""
    return [service for service in world.store.all(Service) if service.status != "DELETED"]


def _product(world: World, key: str) -> str:
    product = world.store.get(Product, key)
    return product.name if product else key


def _status(world: World, service: Service) -> Html:
    """Show the status, and what the container does if that is not what one expects of the status."""
    if service.status == "FAILED":
        return joined(badge("FAILED"), tag("small", service.failure))
    if service.status != "ACTIVE" or views.without_container(service):
        return badge(service.status)
    state = lifecycle.state(world, service)
    failure = lifecycle.failure(world, service)
    return joined(badge("ACTIVE"), tag("small", f"{state}: {failure}" if failure else state))


# projects and services

SERVICES = (
    Column("Service", "bare"),
    Column("Product", "bare full"),
    Column("Status", "bare status"),
    Column("vCPU", FIGURE),
    Column("RAM GB", FIGURE),
    Column("Disk GB", FIGURE),
    Column("Month", FIGURE),
)


def services(world: World) -> Html:
    """Show every project with its services."""
    rows: list[Row] = []
    for project in world.store.all(Project):
        members = [service for service in present(world) if service.project_id == project.id]
        if members or project.account_id == ACCOUNT:
            rows += [_project_row(world, project, members), *(_service_row(world, one) for one in members)]
    return table("Services by project", SERVICES, rows)


def _project_row(world: World, project: Project, members: list[Service]) -> Row:
    rate = sum(sum(money.billed_parts(world, service).values()) for service in members)
    notes = [markup.count(len(members), "service"), f"{monthly(rate)} a month"]
    if project.default:
        notes.insert(0, "default project")
    if project.account_id != ACCOUNT:
        notes.insert(0, f"of {project.account_id}")
    cells = (tag("span", project.name, class_="name"), tag("small", " · ".join(notes)))
    return Row(f"project-{project.id}", cells, "group")


def _service_row(world: World, service: Service) -> Row:
    node = world.store.need(Node, service.node_id)
    where = views.address(world, service)
    cells = (
        joined(tag("span", service.name, class_="name"), tag("small", where or "not public")),
        joined(_product(world, service.product), tag("small", f"{service.family} · {node.label}")),
        _status(world, service),
        *(service.size.get(name, 0) for name in ("cpuCores", "ramGb", "storageGb")),
        "free" if service.free else monthly(sum(money.price_of(world, service).values())),
    )
    return Row(f"service-{service.id}", cells)


# applications

RELEASES = (
    Column("Release", "bare"),
    Column("Verdict", "bare status"),
    Column("Flaws", "full"),
    Column("Image", "full"),
    Column("Declared"),
)


def applications(world: World) -> Html:
    """Show every application with its releases and their verdicts."""
    rows: list[Row] = []
    for service in present(world):
        if service.slug:
            rows.append(_app_row(world, service))
            rows += [_release_row(world, service, one) for one in world.store.of(Release, service.id)]
    return table("Releases by application", RELEASES, rows)


def _app_row(world: World, service: Service) -> Row:
    tagged = service.image.get("tag")
    notes = f"version {tagged} in service" if tagged else "nothing deployed"
    name = tag("span", service.slug, class_="name")
    return Row(f"app-{service.id}", (name, badge(service.status), tag("small", notes)), "group")


def _release_row(world: World, service: Service, release: Release) -> Row:
    scan = world.store.get(Scan, scans.key(world, service, release.digest))
    runs = (service.image.get("tag"), service.image.get("digest")) == (release.tag, release.digest)
    cells = (
        joined(tag("span", release.tag, class_="name"), tag("small", "in service") if runs else ""),
        badge(scan.status, "(lifted)" if scan.lifted else "") if scan else badge("PENDING"),
        _flaws(scan),
        joined(tag("code", release.digest[:DIGEST]), tag("small", release.platform)),
        moment(release.created_at),
    )
    return Row(f"release-{release.id}", cells)


def _flaws(scan: Scan | None) -> Html:
    """Name the flaws that block with what mends them, else how many there are of each severity."""
    report = scan.report if scan else {}
    blocking = [
        f"{flaw.get('id')} in {flaw.get('package')} {flaw.get('version')}, fixed in {flaw.get('fixVersion')}"
        for flaw in report.get("blocking", ())
    ]
    counts = [
        f"{number} {severity.lower()}" for severity, number in report.get("counts", {}).items() if number
    ]
    return markup.text("; ".join(blocking) or ", ".join(counts) or ("none" if report else "-"))


# backups and snapshots

COPIES = (
    Column("Copy", "bare"),
    Column("Service", "bare"),
    Column("Kind", "bare"),
    Column("Status", "bare status"),
    Column("Size", FIGURE),
    Column("Created"),
)


def copies(world: World) -> Html:
    """Show backups and snapshots, newest first."""
    found: list[Backup | Snapshot] = []
    for service in present(world):
        found += world.store.of(Backup, service.id)
        found += world.store.of(Snapshot, service.id)
    found.sort(key=lambda copy: copy.created_at, reverse=True)
    return table("Backups and snapshots", COPIES, [_copy_row(world, copy) for copy in found])


def _copy_row(world: World, copy: Backup | Snapshot) -> Row:
    service = world.store.need(Service, copy.service_id)
    if isinstance(copy, Backup):
        kind, status = "backup", copy.status
    else:
        kind, status = "snapshot", "COMPLETED"
    name = tag("span", copy.name, class_="name")
    cells = (name, service.name, kind, badge(status), markup.size(copy.size), moment(copy.created_at))
    return Row(f"copy-{copy.id}", cells)


# keys

KEYS = (
    Column("Key", "bare"),
    Column("Type", "bare"),
    Column("Fingerprint", "bare full"),
    Column("Added"),
    Column("Used"),
)


def ssh_keys(world: World) -> Html:
    """Show the SSH keys of all accounts."""
    rows = [
        Row(
            f"key-{key.id}",
            (
                tag("span", key.name, class_="name"),
                key.algorithm,
                tag("code", keys.fingerprint(world, key)),
                moment(key.created_at),
                moment(key.used_at),
            ),
        )
        for key in world.store.all(Key)
    ]
    return table("SSH keys", KEYS, rows)


# orders and money

LEDGER = (
    Column("Service", "bare"),
    Column("Product", "bare"),
    Column("Status", "bare status"),
    Column("Ordered"),
    Column("Price", FIGURE),
    Column("Rate now", FIGURE),
    Column("Billed", FIGURE),
)


def ledger(world: World) -> Html:
    """Show what was ordered, what each service costs now, and what it has cost, deleted ones included."""
    account = world.store.need(Account, ACCOUNT)
    found = list(reversed(world.store.of(Service, ACCOUNT)))
    orders = {order.service_id: order for order in world.store.of(Order, ACCOUNT)}
    rows = [_ledger_row(world, service, orders.get(service.id)) for service in found]
    billed = sum(money.spent(service, world.now) for service in found)
    if rows:
        rate = monthly(money.running_rate(world, ACCOUNT))
        rows.insert(0, Row("ledger", ("All", "", "", "", "", rate, markup.money(billed)), "total"))
    sums = (
        f"{markup.money(account.deposited_cents)} deposited, {markup.money(billed)} billed,"
        f" {markup.money(account.deposited_cents - billed)} {money.CURRENCY} left"
    )
    return joined(tag("p", sums, class_="sums"), table("Orders and costs", LEDGER, rows))


def _ledger_row(world: World, service: Service, order: Order | None) -> Row:
    cells = (
        tag("span", service.name, class_="name"),
        _product(world, service.product),
        badge(service.status),
        moment(order.at) if order else "by a seed",
        monthly(order.monthly_millicents) if order else "-",
        monthly(sum(money.billed_parts(world, service).values())),
        markup.money(money.spent(service, world.now)),
    )
    return Row(f"cost-{service.id}", cells)


def figures(world: World, requests: int, faults: int) -> Html:
    """Show the figures of the account, each under its name."""
    account = world.store.need(Account, ACCOUNT)
    return tag("dl", *(
        tag("div", tag("dt", name), tag("dd", value), id=f"figure-{index}")
        for index, (name, value) in enumerate(_figures(world, account, requests, faults))
    ), class_="figures")  # fmt: skip


def _figures(world: World, account: Account, requests: int, faults: int) -> Iterator[tuple[str, Html]]:
    found = world.store.of(Service, ACCOUNT)
    own = [service for service in found if service.status != "DELETED"]
    active = sum(service.status == "ACTIVE" for service in own)
    billed = sum(money.spent(service, world.now) for service in found)
    unit = money.CURRENCY
    for name, value, note in (
        ("Balance", markup.money(money.balance(world, account)), unit),
        ("Running rate", monthly(money.running_rate(world, ACCOUNT)), f"{unit} a month"),
        ("Billed", markup.money(billed), unit),
        ("Services", f"{len(own):,}", f"{active} active"),
        ("Orders", f"{len(world.store.of(Order, ACCOUNT)):,}", ""),
        ("Requests", f"{requests:,}", ""),
        ("Faults", f"{faults:,}", "active" if faults else ""),
    ):
        yield name, joined(value, " " if note else "", tag("small", note) if note else "")
