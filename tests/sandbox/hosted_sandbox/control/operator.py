# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person at the platform would do: statuses, interventions, nodes, balances, verdicts."""

from __future__ import annotations

from typing import Any

from hosted_sandbox.domain import backups, events, lifecycle, money
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Backup, Entry, Node, Service

STATUSES = ("PROVISIONING", "AWAITING_ADMIN", "ACTIVE", "SUSPENDED", "DELETING", "DELETED", "FAILED")
STATES = ("running", "stopped", "starting", "stopping", "installing", "unknown")
BACKUP_STATUSES = ("PENDING", "COMPLETED", "FAILED", "RESTORING")
#: What a database's connection is made of: where it is, and who opens what there.
ENDPOINT = ("host", "port")
LOGIN = ("user", "password", "database")


def _known(value: str, values: tuple[str, ...], what: str) -> None:
    if value not in values:
        raise ValueError(f"{what} must be one of {', '.join(values)}")


def set_status(world: World, service: Service, status: str, reason: str | None = None) -> None:
    """Put a service into a status, whatever it was doing; a `reason` belongs to FAILED."""
    _known(status, STATUSES, "status")
    world.forget(service.id)
    if status == "FAILED":
        lifecycle.fail(world, service, reason or "set by the operator")
        return
    if status == "DELETED":
        lifecycle.delete(world, service)
        return
    service.failure = None
    if status == "ACTIVE" and service.status in ("PROVISIONING", "AWAITING_ADMIN"):
        lifecycle.enter(world, service)
        return
    if status == "SUSPENDED":
        lifecycle.force_state(world, service, "stopped")
    lifecycle.set_status(world, service, status)


def set_state(world: World, service: Service, state: str) -> None:
    """Put a container into a state, where it stays."""
    _known(state, STATES, "state")
    lifecycle.force_state(world, service, state)


FATES = ("start_fails", "backup_fails", "restore_fails")


def set_fate(world: World, service: Service, fates: dict[str, Any]) -> None:
    """Let the starts, backups or restores of a service fail from now on, or succeed again."""
    for name in FATES:
        if fates.get(name) is not None:
            setattr(service, name, bool(fates[name]))
    world.store.put(service)


def set_connection(world: World, service: Service, parts: dict[str, Any]) -> None:
    """Let a database be a real one that runs elsewhere: its host, port, user, password and name."""
    if not service.secrets.get("database"):
        raise ValueError(f"service {service.name} is no database")
    if unknown := set(parts) - {*ENDPOINT, *LOGIN}:
        raise ValueError(f"a connection has no {', '.join(sorted(unknown))}")
    service.endpoint |= {name: parts[name] for name in ENDPOINT if name in parts}
    service.secrets |= {name: str(parts[name]) for name in LOGIN if name in parts}
    world.store.put(service)


def set_node(world: World, node: Node, reachable: bool | None = None, ports_left: int | None = -1) -> None:
    """Cut a node off or bring it back; limit the public ports that it may still hand out (None: no limit)."""
    if reachable is not None:
        node.reachable = reachable
    if ports_left != -1:
        node.ports_left = ports_left
    world.store.put(node)


def set_balance(world: World, account_id: str, cents: int) -> None:
    """Make a balance what it is to be, by an ADJUSTMENT."""
    account = world.store.need(Account, account_id)
    change = cents - money.balance(world, account)
    account.deposited_cents += change
    world.store.put(account)
    world.store.put(Entry(world.new_id("trx"), account_id, "ADJUSTMENT", change, "Operator", world.now))
    lifecycle.check_balance(world, account)


def intervene(world: World, service: Service, kind: str) -> None:
    """Write an intervention of the operator team into a service's journal."""
    events.record(world, service, kind)


def add_backup(world: World, service: Service, name: str, status: str, created_at: int) -> Backup:
    """Add a backup of the files as they are, with any status and date."""
    _known(status, BACKUP_STATUSES, "status")
    backup = Backup(world.new_id("bkp"), service.id, name, status, created_at=created_at)
    if status in ("COMPLETED", "RESTORING"):
        backup.size = backups.copy_files(world, service, backup.id)
        backup.completed_at = created_at
    world.store.put(backup)
    return backup
