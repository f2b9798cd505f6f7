# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A service as it is now: what was read of it, what of that the task manages, and how to wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from ..._api.errors import HostedError, Refused
from ..._api.models import Service, Settings
from ..._api.values import WITH_SETTINGS, ContainerState, ServiceStatus
from ..shared.log_order import oldest_first
from ..shared.money import format_amount, from_millicents
from ..shared.options import WaitOptions
from ..shared.plan import Task
from ..shared.task_errors import NoSuchItem, WaitEnded
from ..shared.waiting import wait_until
from .options import ServiceOptions
from .pending_changes import pending_until_start

LOG_LINES_ON_TIMEOUT = 10
SIGNAL_GRACE_SECONDS = 2.0
"""How long a container may show no sign of a signal before its service is looked at as well."""
STATE_NEEDED = {
    ServiceStatus.ACTIVE: ("started", "stopped", "restarted", "killed"),
    ServiceStatus.SUSPENDED: ("started",),
}
"""For which wanted states the container's own is read, by status."""

T = TypeVar("T")


@dataclass
class View:
    """A service with what was read beside it.

    ``settings`` is ``None`` where the service offers none, or nothing needed them. ``state`` is the
    container's; ``None`` means that it is unknown, or that nothing needed it. ``pending`` are the kinds of
    settings that are written and wait for a start.
    """

    service: Service
    settings: Settings | None = None
    state: str | None = None
    pending: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the service for the result, with the container's state beside its status."""
        return {**self.service.as_dict(), "state": self.state, "pending_restart": list(self.pending)}

    @property
    def label(self) -> str:
        """Name and id, as messages cite them."""
        return f"service {self.service.name!r} ({self.service.id})"


def read_service(task: Task, id: str) -> Service:
    """Return the service in full.

    :raises NoSuchItem: when there is none of this id.
    """
    service = task.client.service(id)
    if service is None or service.status == ServiceStatus.DELETED:
        raise NoSuchItem(f"there is no service of id {id!r}")
    return service


def read_state(task: Task, id: str) -> str | None:
    """Return the container's state, ``None`` where the node cannot be reached."""
    metrics = task.client.metrics([id])[id]
    return None if metrics is None else metrics.state


@dataclass(frozen=True)
class ContainerSample:
    """What the metrics said of a container at a moment: ``state`` is ``None`` where they said nothing."""

    at: float
    state: str | None
    uptime: int | None

    def shows_start_after(self, moment: float) -> bool:
        """Tell whether the container was started since, or is being started or stopped.

        Uptimes are whole seconds, so one that began in the second before counts as well.
        """
        if self.state == ContainerState.RUNNING:
            return self.uptime is not None and self.uptime <= self.at - moment + 1
        return self.state in (
            ContainerState.STOPPED,
            ContainerState.STARTING,
            ContainerState.STOPPING,
            ContainerState.INSTALLING,
        )


def sample_container(task: Task, id: str) -> ContainerSample:
    """Look at a container."""
    metrics = task.client.metrics([id])[id]
    if metrics is None:
        return ContainerSample(time.monotonic(), None, None)
    return ContainerSample(time.monotonic(), metrics.state, metrics.uptime_seconds)


def read_settings(task: Task, service: Service) -> Settings | None:
    """Return the settings, ``None`` where the service offers none (Settings)."""
    if service.family not in WITH_SETTINGS:
        return None
    try:
        return task.client.settings(service.id)
    except Refused as error:
        if not error.may_mean_not_offered:
            raise
        return None


def observe(task: Task[ServiceOptions], id: str) -> View:
    """Read the service and what the wish of the user needs beside it, and nothing more."""
    service = read_service(task, id)
    view = View(service, pending=pending_until_start(task, id))
    options = task.options
    settled = service.status not in (
        ServiceStatus.PROVISIONING,
        ServiceStatus.AWAITING_ADMIN,
        ServiceStatus.FAILED,
        ServiceStatus.DELETING,
    )
    if settled and any(
        wanted is not None for wanted in (options.public, options.command, options.dimensions)
    ):
        view.settings = read_settings(task, service)
    if options.state in STATE_NEEDED.get(service.status, ()):
        view.state = read_state(task, id)
    return view


def managed_settings(view: View, options: ServiceOptions) -> dict[str, Any]:
    """Return what the task manages of a service, for the diff."""
    service, settings = view.service, view.settings
    shown_state: dict[str, Any] = {"name": service.name, "status": service.status}
    if view.state is not None:
        shown_state["state"] = view.state
    if (options.dimensions is not None or options.preset is not None) and service.dimensions is not None:
        shown_state["dimensions"] = service.dimensions.model_dump(
            include={"cpu_cores", "ram_gb", "storage_gb"}
        )
    if options.public is not None and settings and settings.network:
        shown_state["public"] = settings.network.is_public
    if options.command is not None and settings and settings.deploy:
        shown_state["command"] = settings.deploy.command
    rate = billed_rate(service)
    if rate is not None:
        shown_state["monthly"] = format_amount(rate)
    return shown_state


def billed_rate(service: Service) -> Decimal | None:
    """Return what a service costs in a month as it is now; ``None`` where the platform does not show."""
    millicents = service.pricing.billed_monthly_millicents if service.pricing else None
    return None if millicents is None else from_millicents(millicents)


def wait_for_status(task: Task[WaitOptions], id: str, wanted: str) -> Service:
    """Wait until the service has this status; FAILED and AWAITING_ADMIN end the wait at once."""

    def done(service: Service) -> bool:
        check_not_terminal(service)
        return service.status == wanted

    return with_diagnostics(
        task,
        id,
        lambda: wait_until(
            task,
            lambda: read_service(task, id),
            done,
            lambda s: f"its status is {s.status}",
            f"status {wanted}",
        ),
    )


def wait_for_state(task: Task[WaitOptions], id: str, wanted: str) -> None:
    """Wait until the container has this state. An unknown one is waited out like any other."""
    begun = time.monotonic()

    def there(state: str | None) -> bool:
        idle = state not in (ContainerState.STARTING, ContainerState.STOPPING, ContainerState.INSTALLING)
        if state != wanted and idle and time.monotonic() - begun >= SIGNAL_GRACE_SECONDS:
            check_in_service(task, id)
        return state == wanted

    with_diagnostics(
        task,
        id,
        lambda: wait_until(
            task,
            lambda: read_state(task, id),
            there,
            lambda state: f"the container's state is {state or 'unknown: its node cannot be reached'}",
            f"state {wanted}",
        ),
    )


def check_in_service(task: Task, id: str) -> None:
    """End the wait for a container whose service the owner, the platform or its operators took away.

    :raises WaitEnded: saying what became of the service.
    """
    service = task.client.service(id)
    if service is None:
        raise WaitEnded(f"the service of id {id!r} no longer exists: it was deleted in the meantime")
    check_not_terminal(service)
    if service.status == ServiceStatus.SUSPENDED:
        raise WaitEnded(
            f"service {service.name!r} ({id}) was suspended in the meantime", status=ServiceStatus.SUSPENDED
        )


def check_not_terminal(service: Service) -> None:
    """End a wait that cannot succeed any more, with the platform's reason.

    :raises WaitEnded: for a service whose creation failed, that waits for a person, or that is going away.
    """
    label = f"service {service.name!r} ({service.id})"
    if service.status == ServiceStatus.FAILED:
        reason = service.failure_reason or "the platform gives no reason"
        raise WaitEnded(
            f"the creation of {label} failed: {reason}. Remove it with state: absent",
            status=ServiceStatus.FAILED,
        )
    if service.status == ServiceStatus.AWAITING_ADMIN:
        raise WaitEnded(
            f"{label} awaits an intervention of the platform's operators; nothing happens until then",
            status=ServiceStatus.AWAITING_ADMIN,
        )
    if service.status in (ServiceStatus.DELETING, ServiceStatus.DELETED):
        raise WaitEnded(f"{label} is being deleted", status=service.status)


def with_diagnostics(task: Task, id: str, wait: Callable[[], T]) -> T:
    """Run a wait; when it times out, add the last status, the last state and the last log lines."""
    try:
        return wait()
    except WaitEnded as error:
        error.details.update(read_diagnostics(task, id))
        raise


def read_diagnostics(task: Task, id: str) -> dict[str, Any]:
    """Return what can still be learnt about a service for an error; what cannot is left out."""
    words: dict[str, Any] = {"service_id": id}
    reads: dict[str, Callable[[], Any]] = {
        "last_status": lambda: read_service(task, id).status,
        "last_state": lambda: read_state(task, id),
        "last_log_lines": lambda: oldest_first(task.client.logs(id, LOG_LINES_ON_TIMEOUT)),
    }
    for name, read in reads.items():
        try:
            words[name] = read()
        except HostedError:
            words[name] = None
    return words
