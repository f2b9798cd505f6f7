# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lifecycle of a service and of its container (section States and transitions)."""

from __future__ import annotations

import shutil
from pathlib import Path

from hosted_sandbox.clock import HOUR, SECOND
from hosted_sandbox.domain import copy_rules, events, money, references
from hosted_sandbox.domain.capabilities import capabilities, require
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World, action
from hosted_sandbox.store.records import Account, Backup, Node, Product, Service, Snapshot, Task
from hosted_sandbox.workloads import Configuration, State, Workload

SIGNALS = ("start", "stop", "restart", "kill")
RUNNING = ("running", "starting")
#: How long a start that a call waits for may take, in seconds.
LONGEST_START = 60.0
#: How long a balance may be below zero before the services go, in milliseconds.
GRACE = 72 * HOUR


def live(world: World, account_id: str) -> list[Service]:
    """Return the services of an account that are not deleted, oldest first."""
    return [service for service in world.store.of(Service, account_id) if service.status != "DELETED"]


def root(world: World, service: Service) -> Path:
    """Return the folder of a service's files, for the file manager and SFTP."""
    folder = world.place("files", service.id)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def set_status(world: World, service: Service, status: str) -> None:
    """Set the status and bill at its rate from now on."""
    service.status = status
    service.suspended_at = world.now if status == "SUSPENDED" else None
    money.bill(world, service)
    world.store.put(service)


def workload_of(world: World, service: Service) -> Workload:
    """Load a service's container; `save_workload` stores the changes."""
    if service.container:
        return Workload.from_dict(service.container, lambda: world.now)
    return Workload(lambda: world.now)


def save_workload(world: World, service: Service, workload: Workload) -> None:
    """Store the changes to a container."""
    service.container = workload.to_dict()
    world.store.put(service)


def state(world: World, service: Service) -> State:
    """Return the container's present state."""
    return workload_of(world, service).state


def failure(world: World, service: Service) -> str | None:
    """Return why the container's last process ended by itself, or None if it did not."""
    workload = workload_of(world, service)
    return workload.failure if workload.state == "stopped" else None


async def check_start(world: World, service: Service, rule: str) -> None:
    """Wait until a container is started again for a setting; say so if it fails and this platform does.

    The setting is kept.
    """
    await world.until(lambda: state(world, service) != "starting", LONGEST_START)
    reason = failure(world, service)
    if reason and world.gaps[f"refusal.{rule}"] != "not refused":
        raise RefusedError(f"the container does not start: {reason}", rule)


def force_state(world: World, service: Service, forced: str) -> None:
    """Set the state of a container until the next signal."""
    now = world.now if forced == "running" else None
    service.container = {
        **workload_of(world, service).to_dict(),
        "state": forced,
        "due": None,
        "running_since": now,
    }
    world.store.put(service)


def configuration(world: World, service: Service) -> Configuration:
    """Return the configuration of a new container: the present command, environment, image and port."""
    product = world.store.need(Product, service.product)
    node = world.store.need(Node, service.node_id)
    image = service.image.get("config", {})
    own = node.platform.partition("/")[2]
    labels = {
        "sandbox.start_seconds": str(world.delays.start),
        "sandbox.stop_seconds": str(world.delays.stop),
        **image.get("labels", {}),
    }
    if service.start_fails:
        labels["sandbox.start"] = "fail"
    environment = {**image.get("environment", {}), **service.environment}
    if service.family == "APP" and service.port is not None:
        environment["PORT"] = str(service.port)
    command = service.command.split() or image.get("command") or (product.command or "init").split()
    architecture = image.get("architecture", own)
    return Configuration(tuple(command), architecture, own, environment, labels, service.public)


def start(world: World, service: Service) -> None:
    """Recreate the container from the current configuration, then start it."""
    workload = workload_of(world, service)
    workload.start(configuration(world, service), lambda values: references.resolve(world, service, values))
    save_workload(world, service, workload)


def halt(world: World, service: Service, why: str) -> None:
    """Kill the container."""
    workload = workload_of(world, service)
    workload.write(why)
    workload.kill()
    save_workload(world, service, workload)


def power(world: World, service: Service, signal: str) -> None:
    """Send a power signal; refuse one that the service does not support with 409."""
    if signal not in SIGNALS:
        raise RefusedError(f"signal must be one of {', '.join(SIGNALS)}")
    if "powerSignals" not in capabilities(world, service) or service.status != "ACTIVE":
        raise RefusedError("This resource does not carry power signals", "power_signal")
    copy_rules.check_busy(world, service, "service_busy")
    events.record(world, service, f"POWER_{signal.upper()}")
    workload = workload_of(world, service)
    before = (workload.state, workload.uptime_seconds)
    world.keep("container", service.id, lambda: before)
    if signal == "start" or (signal == "restart" and workload.configuration is None):
        start(world, service)
        return
    {"stop": workload.stop, "restart": workload.restart, "kill": workload.kill}[signal]()
    save_workload(world, service, workload)


def suspend(world: World, service: Service) -> None:
    """Suspend a service: from ACTIVE to SUSPENDED, where only its storage is billed."""
    require(world, service, "suspension")
    if service.status == "SUSPENDED":
        return
    if service.status != "ACTIVE":
        raise RefusedError("This resource is not in service")
    if world.pending(service.id, "suspended"):
        return
    world.after(world.late(), "suspended", service.id)


@action("suspended")
def _suspended(world: World, task: Task) -> None:
    service = world.store.need(Service, task.target)
    if service.status == "ACTIVE":
        copy_rules.cut_off(world, service)
        halt(world, service, "suspended")
        set_status(world, service, "SUSPENDED")
        events.record(world, service, "SUSPENDED")


def resume(world: World, service: Service) -> None:
    """Resume a service: from SUSPENDED to ACTIVE, at once or late."""
    if service.status != "SUSPENDED" and "suspension" in capabilities(world, service):
        raise RefusedError("This resource is not suspended")
    require(world, service, "suspension")
    events.record(world, service, "RESUMED")
    if not world.pending(service.id, "resumed"):
        world.after(world.late(world.delays.resume), "resumed", service.id)


@action("resumed")
def _resumed(world: World, task: Task) -> None:
    service = world.store.need(Service, task.target)
    if service.status == "SUSPENDED":
        set_status(world, service, "ACTIVE")
        if world.gaps["resume.state"] == "started":
            start(world, service)


@action("provisioned")
def _provisioned(world: World, task: Task) -> None:
    service = world.store.need(Service, task.target)
    if service.status != "PROVISIONING":
        return
    match world.store.need(Product, service.product).outcome:
        case "FAILED":
            fail(world, service, "the node could not create the container")
        case "AWAITING_ADMIN":
            set_status(world, service, "AWAITING_ADMIN")
        case _:
            enter(world, service)


def enter(world: World, service: Service) -> None:
    """Complete a creation: the service becomes ACTIVE, is billed from now on, and starts."""
    service.sftp_from = world.now + round(world.delays.sftp * SECOND)
    set_status(world, service, "ACTIVE")
    events.record(world, service, "PROVISIONED")
    if service.product == "application" and not service.image.get("config"):
        force_state(world, service, "stopped")
    else:
        start(world, service)


def fail(world: World, service: Service, reason: str) -> None:
    """Fail a creation; `failureReason` says why."""
    world.forget(service.id)
    service.failure = reason
    set_status(world, service, "FAILED")
    force_state(world, service, "stopped")
    events.record(world, service, "CREATION_FAILED")


def delete(world: World, service: Service) -> None:
    """Delete a service: DELETING, then DELETED. Container, disk and backups go, and billing stops now."""
    if service.status == "DELETING":
        return
    world.forget(service.id)
    halt(world, service, "deleted")
    set_status(world, service, "DELETING")
    events.record(world, service, "DELETED")
    world.after(world.late(world.delays.delete), "deleted", service.id)


@action("deleted")
def _deleted(world: World, task: Task) -> None:
    service = world.store.need(Service, task.target)
    for kind in (Backup, Snapshot):
        for copy in world.store.of(kind, service.id):
            shutil.rmtree(world.place("copies", copy.id), ignore_errors=True)
            world.store.drop(copy)
    shutil.rmtree(world.place("files", service.id), ignore_errors=True)
    service.deleted_at = world.now
    service.port = None
    set_status(world, service, "DELETED")


@action("hourly")
def hourly(world: World, task: Task) -> None:
    """Check every balance; delete the services of an account whose grace period is over."""
    world.after(3600, "hourly", task.target)
    for account in world.store.all(Account):
        check_balance(world, account)


def check_balance(world: World, account: Account) -> None:
    """Start, end or enforce the grace period of an account that may be overdrawn."""
    overdrawn = money.balance(world, account) < 0
    if overdrawn and account.overdrawn_at is None:
        account.overdrawn_at = world.now
        world.store.put(account)
    elif not overdrawn and account.overdrawn_at is not None:
        account.overdrawn_at = None
        world.store.put(account)
    if account.overdrawn_at is not None and world.now - account.overdrawn_at >= GRACE:
        for service in live(world, account.id):
            delete(world, service)
