# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of a service and of its container (section States and transitions)."""

from __future__ import annotations

import shutil
from pathlib import Path

from hosted_sandbox.clock import SECOND
from hosted_sandbox.domain import events, money, references
from hosted_sandbox.domain.capabilities import capabilities, require
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World, action
from hosted_sandbox.store.records import Account, Backup, Node, Product, Service, Snapshot, Task
from hosted_sandbox.workloads import Configuration, State, Workload

SIGNALS = ("start", "stop", "restart", "kill")
RUNNING = ("running", "starting")


def live(world: World, account_id: str) -> list[Service]:
    """The services of an account that are not deleted, oldest first."""
    hidden = ("DELETED", "DELETING") if world.gaps["delete.listed"] == "hidden" else ("DELETED",)
    return [service for service in world.store.of(Service, account_id) if service.status not in hidden]


def root(world: World, service: Service) -> Path:
    """The folder that holds a service's files; the file manager and SFTP both work in it."""
    folder = world.folder / "files" / service.id
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def set_status(world: World, service: Service, status: str) -> None:
    """Enter a status and let the rate that belongs to it run from now."""
    service.status = status
    service.suspended_at = world.now if status == "SUSPENDED" else None
    money.bill(world, service)
    world.store.put(service)


def life(world: World, service: Service) -> Workload:
    """The life of a service's container; what changes it is remembered by `keep`."""
    if service.life:
        return Workload.from_dict(service.life, lambda: world.now)
    return Workload(lambda: world.now)


def keep(world: World, service: Service, workload: Workload) -> None:
    """Remember what was done to a container."""
    service.life = workload.to_dict()
    world.store.put(service)


def state(world: World, service: Service) -> State:
    """The container's state at this moment."""
    return life(world, service).state


def failure(world: World, service: Service) -> str | None:
    """Why the container's last process ended by itself, or None when it did not."""
    workload = life(world, service)
    return workload.failure if workload.state == "stopped" else None


def force_state(world: World, service: Service, forced: str) -> None:
    """Put a container into a state in which it stays until something is asked of it."""
    now = world.now if forced == "running" else None
    service.life = {**life(world, service).to_dict(), "state": forced, "due": None, "running_since": now}
    world.store.put(service)


def configuration(world: World, service: Service) -> Configuration:
    """What a container takes over at its creation: command, environment, image and port as they are now."""
    product = world.store.need(Product, service.product)
    node = world.store.need(Node, service.node_id)
    image = service.image.get("config", {})
    own = node.platform.partition("/")[2]
    gradual = world.gaps["power.states"] == "through starting"
    labels = {
        "sandbox.start_seconds": str(world.delays.start if gradual else 0),
        "sandbox.stop_seconds": str(world.delays.stop if gradual else 0),
        **image.get("labels", {}),
    }
    if service.start_fails:
        labels["sandbox.start"] = "fail"
    environment = {**image.get("environment", {}), **service.environment}
    if service.family == "APP" and service.port is not None:
        environment["PORT"] = str(service.port)
    command = service.command.split() or image.get("command") or (product.command or "init").split()
    return Configuration(tuple(command), image.get("architecture", own), own, environment, labels)


def start(world: World, service: Service) -> None:
    """Recreate the container from the current configuration, then start it."""
    service.restarted = {}
    workload = life(world, service)
    workload.start(configuration(world, service), lambda values: references.resolve(world, service, values))
    keep(world, service, workload)


def halt(world: World, service: Service, why: str) -> None:
    """Stop the container at once."""
    workload = life(world, service)
    workload.write(why)
    workload.kill()
    keep(world, service, workload)


def power(world: World, service: Service, signal: str) -> None:
    """Send a power signal; one that the service does not carry is refused with 409."""
    if signal not in SIGNALS:
        raise RefusedError("malformed", f"signal must be one of {', '.join(SIGNALS)}")
    if "powerSignals" not in capabilities(world, service) or service.status != "ACTIVE":
        raise RefusedError("power_signal", "This resource does not carry power signals")
    events.record(world, service, f"POWER_{signal.upper()}")
    workload = life(world, service)
    service.signalled = {"at": world.now, "state": workload.state, "up": workload.uptime_seconds}
    again = signal == "restart" and workload.state == "running"
    since = world.now - workload.uptime_seconds * SECOND
    service.restarted = {"at": world.now, "since": since} if again else {}
    if signal == "start" or (signal == "restart" and workload.configuration is None):
        start(world, service)
        return
    {"stop": workload.stop, "restart": workload.restart, "kill": workload.kill}[signal]()
    keep(world, service, workload)


def suspend(world: World, service: Service) -> None:
    """ACTIVE to SUSPENDED: the service stops and only its storage is billed."""
    require(world, service, "suspension")
    if service.status == "SUSPENDED":
        if world.gaps["suspend.again"] == "refused":
            raise RefusedError("suspend_status", "This resource is suspended already")
        return
    if service.status != "ACTIVE":
        raise RefusedError("suspend_status", "This resource is not in service")
    halt(world, service, "suspended")
    set_status(world, service, "SUSPENDED")
    events.record(world, service, "SUSPENDED")


def resume(world: World, service: Service) -> None:
    """SUSPENDED to whatever the platform passes on the way back to ACTIVE."""
    if service.status != "SUSPENDED" and "suspension" in capabilities(world, service):
        raise RefusedError("resume_status", "This resource is not suspended")
    require(world, service, "suspension")
    events.record(world, service, "RESUMED")
    match world.gaps["resume.to"]:
        case "ACTIVE later":
            if not world.pending(service.id, "resumed"):
                world.after(world.delays.resume, "resumed", service.id)
        case "PROVISIONING, then ACTIVE":
            set_status(world, service, "PROVISIONING")
            world.after(world.delays.resume, "resumed", service.id)
        case _:
            _resumed(world, Task("", world.now, "resumed", service.id))


@action("resumed")
def _resumed(world: World, task: Task) -> None:
    service = world.store.need(Service, task.target)
    if service.status in ("SUSPENDED", "PROVISIONING"):
        set_status(world, service, "ACTIVE")
        if world.gaps["resume.state"] == "started":
            start(world, service)


@action("provisioned")
def _provisioned(world: World, task: Task) -> None:
    service = world.store.need(Service, task.target)
    if service.status != "PROVISIONING":
        return
    match world.store.need(Product, service.product).fate:
        case "FAILED":
            fail(world, service, "the node could not create the container")
        case "AWAITING_ADMIN":
            set_status(world, service, "AWAITING_ADMIN")
        case _:
            enter(world, service)


def enter(world: World, service: Service) -> None:
    """Creation succeeded: the service is ACTIVE, is billed from now, and starts."""
    set_status(world, service, "ACTIVE")
    events.record(world, service, "PROVISIONED")
    if service.product == "application" and not service.image.get("config"):
        force_state(world, service, "stopped")
    else:
        start(world, service)


def fail(world: World, service: Service, reason: str) -> None:
    """Creation failed; `failureReason` says why."""
    world.forget(service.id)
    service.failure = reason
    set_status(world, service, "FAILED")
    force_state(world, service, "stopped")
    events.record(world, service, "CREATION_FAILED")


def check_deletable(world: World, service: Service) -> None:
    """Refuse to delete twice, where this platform does."""
    if service.status == "DELETING" and world.gaps["refusal.delete_again"] != "not refused":
        raise RefusedError("delete_again", "This resource is being deleted already")


def delete(world: World, service: Service) -> None:
    """DELETING, then DELETED: container, disk and backups go, and billing stops at this instant."""
    if service.status == "DELETING":
        return
    world.forget(service.id)
    halt(world, service, "deleted")
    set_status(world, service, "DELETING")
    events.record(world, service, "DELETED")
    world.after(world.delays.delete if world.gaps["delete.pace"] == "after DELETING" else 0,
                "deleted", service.id)  # fmt: skip


@action("deleted")
def _deleted(world: World, task: Task) -> None:
    service = world.store.need(Service, task.target)
    for kind in (Backup, Snapshot):
        for copy in world.store.of(kind, service.id):
            shutil.rmtree(world.folder / "copies" / copy.id, ignore_errors=True)
            world.store.drop(copy)
    shutil.rmtree(world.folder / "files" / service.id, ignore_errors=True)
    service.deleted_at = world.now
    service.port = None
    set_status(world, service, "DELETED")


@action("hourly")
def hourly(world: World, task: Task) -> None:
    """Look at every balance; after the grace the services of an overdrawn account are deleted."""
    world.after(3600, "hourly", task.target)
    for account in world.store.all(Account):
        check_balance(world, account)


def check_balance(world: World, account: Account) -> None:
    """Start, end or carry out the grace of an account whose balance may be below zero."""
    overdrawn = money.balance(world, account) < 0
    if overdrawn and account.overdrawn_at is None:
        account.overdrawn_at = world.now
        world.store.put(account)
    elif not overdrawn and account.overdrawn_at is not None:
        account.overdrawn_at = None
        world.store.put(account)
    if account.overdrawn_at is not None and world.now - account.overdrawn_at >= world.grace():
        for service in live(world, account.id):
            delete(world, service)
