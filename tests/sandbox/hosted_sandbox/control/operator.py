# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The acts of the platform's operator: statuses, interventions, nodes, balances, verdicts."""

from __future__ import annotations

from typing import Any, get_args

from hosted_sandbox.api.shapes import BackupStatus, Status
from hosted_sandbox.domain import backups, lifecycle, money
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Backup, Entry, Node, Service
from hosted_sandbox.workloads import State

#: The parts of a database's connection: its address, and the login.
ENDPOINT = ("host", "port")
LOGIN = ("user", "password", "database")


def _known(value: str, values: tuple[str, ...], what: str) -> None:
    if value not in values:
        raise ValueError(f"{what} must be one of {', '.join(values)}")


def set_status(world: World, service: Service, status: str, reason: str | None = None) -> None:
    """Set the status of a service, whatever it was doing; `reason` is for FAILED."""
    _known(status, get_args(Status), "status")
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
    """Set the state of a container permanently."""
    _known(state, get_args(State), "state")
    lifecycle.force_state(world, service, state)


FAILURES = ("start_fails", "backup_fails", "restore_fails")


def set_failures(world: World, service: Service, failures: dict[str, Any]) -> None:
    """Make the starts, backups or restores of a service fail from now on, or succeed again."""
    for name in FAILURES:
        if failures.get(name) is not None:
            setattr(service, name, bool(failures[name]))
    world.store.put(service)


def set_connection(world: World, service: Service, parts: dict[str, Any]) -> None:
    """Point a service at a real database that runs elsewhere: its host, port, user, password and name."""
    if not service.secrets.get("database"):
        raise ValueError(f"service {service.name} is no database")
    if unknown := set(parts) - {*ENDPOINT, *LOGIN}:
        raise ValueError(f"a connection has no {', '.join(sorted(unknown))}")
    service.endpoint |= {name: parts[name] for name in ENDPOINT if name in parts}
    service.secrets |= {name: str(parts[name]) for name in LOGIN if name in parts}
    world.store.put(service)


def set_node(world: World, node: Node, reachable: bool | None = None, ports_left: int | None = -1) -> None:
    """Disconnect or reconnect a node; limit its remaining public ports (None: no limit)."""
    if reachable is not None:
        node.reachable = reachable
    if ports_left != -1:
        node.ports_left = ports_left
    world.store.put(node)


def set_balance(world: World, account_id: str, cents: int) -> None:
    """Set a balance by an ADJUSTMENT."""
    account = world.store.need(Account, account_id)
    change = cents - money.balance(world, account)
    account.deposited_cents += change
    world.store.put(account)
    world.store.put(Entry(world.new_id("trx"), account_id, "ADJUSTMENT", change, "Operator", world.now))
    lifecycle.check_balance(world, account)


def add_backup(world: World, service: Service, name: str, status: str, created_at: int) -> Backup:
    """Add a backup of the present files, with any status and date."""
    _known(status, get_args(BackupStatus), "status")
    backup = Backup(world.new_id("bkp"), service.id, name, status, created_at=created_at)
    if status in ("COMPLETED", "RESTORING"):
        backup.size = backups.copy_files(world, service, backup.id)
        backup.completed_at = created_at
    world.store.put(backup)
    return backup
