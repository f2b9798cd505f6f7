# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The current state of a service: reads it, selects what a task manages, and waits for changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from ..._api.errors import HostedError
from ..._api.models import Metrics, Service, ServiceSummary, Settings
from ..._api.values import WITH_SETTINGS, ContainerState, Family, ServiceStatus
from ..shared.account import Account
from ..shared.money import rate_from
from ..shared.options import WaitOptions
from ..shared.plan import Task
from ..shared.task_errors import WaitEnded
from ..shared.waiting import poll_for, wait_until

LOG_LINES_ON_TIMEOUT = 10
ENDED = (ServiceStatus.FAILED, ServiceStatus.AWAITING_ADMIN, *ServiceStatus.DELETING_OR_DELETED)
"""The statuses that a service does not leave by itself, but to be gone."""
SIGNAL_GRACE_SECONDS = 2.0
"""How long a container may show no sign of a signal before its service is looked at as well."""
FRESH_SECONDS = 2
"""The uptime up to which a container cannot be told from one that starts now: uptimes are whole seconds."""
STATE_NEEDED = {
    ServiceStatus.ACTIVE: ("started", "stopped", "restarted", "killed"),
    ServiceStatus.SUSPENDED: ("started",),
}
"""For which wanted states the container's own is read, by status."""

T = TypeVar("T")


@dataclass
class View:
    """A service with its settings, container state and pending changes, as far as the task needs them.

    ``settings`` is ``None`` if the service has none or the task needs none; so is ``state`` if it is unknown
    or not needed. ``pending`` are the kinds of settings that take effect at the next start.
    """

    service: Service
    settings: Settings | None = None
    state: str | None = None
    pending: tuple[str, ...] = ()
    awaits_deploy: bool = False
    """Whether it is an application that may be PROVISIONING until its first deploy."""

    def as_dict(self) -> dict[str, Any]:
        """Return the service for results, including the container's state."""
        return {**self.service.as_dict(), "state": self.state, "pending_restart": list(self.pending)}

    def facts(self) -> dict[str, Any]:
        """Return what a diff shows of it beside its settings."""
        facts = {"name": self.service.name, "status": self.service.status}
        known = {"state": self.state, "monthly": billed_rate(self.service)}
        return {**facts, **{name: value for name, value in known.items() if value is not None}}

    @property
    def label(self) -> str:
        """The name and id, for messages."""
        return f"service {self.service.name!r} ({self.service.id})"

    @property
    def being_created(self) -> bool:
        """Whether it becomes ACTIVE by itself."""
        return self.service.status == ServiceStatus.PROVISIONING and not self.awaits_deploy


def is_never_deployed(task: Task, service: Service) -> bool:
    """Tell whether a service is an application that waits for its first deploy: it shows no image."""
    if service.family != Family.APP or service.status != ServiceStatus.PROVISIONING:
        return False
    app = task.account.apps_by_id().get(service.id)
    return app is not None and not app.image_ref


def read_state(task: Task, id: str) -> str | None:
    """Return the state of a service's container; ``None`` if its node cannot be reached."""
    metrics = task.account.metrics_of(id)
    return None if metrics is None else metrics.state


def shows_start_since(account: Account, id: str, moment: float) -> bool:
    """Tell whether a container started after ``moment``, or is starting or stopping.

    Uptimes are whole seconds, so a start in the second before ``moment`` counts, too.
    """
    metrics = account.metrics_of(id)
    if metrics is None:
        return False
    if metrics.state == ContainerState.RUNNING:
        return metrics.uptime_seconds is not None and metrics.uptime_seconds <= time.monotonic() - moment + 1
    return metrics.state in (*ContainerState.PASSING, ContainerState.STOPPED)


def settled_metrics(task: Task, id: str, seconds: float) -> Metrics | None:
    """Return the metrics of a container. One that starts, stops or has just started is waited for so long."""
    seen: list[Metrics | None] = []

    def settled() -> bool:
        seen.append(task.account.metrics_of(id))
        now = seen[-1]
        return now is None or now.state not in (ContainerState.RUNNING, *ContainerState.PASSING) or runs(now)

    poll_for(settled, seconds)
    return seen[-1]


def runs(metrics: Metrics | None) -> bool:
    """Tell whether a container has run for so long that its uptime would show another start."""
    if metrics is None or metrics.state != ContainerState.RUNNING:
        return False
    return metrics.uptime_seconds is not None and metrics.uptime_seconds >= FRESH_SECONDS


def read_settings(task: Task, service: Service) -> Settings | None:
    """Return the settings of a service; ``None`` if its family has none (Settings)."""
    return task.account.settings(service.id) if service.family in WITH_SETTINGS else None


def billed_rate(service: Service) -> Decimal | None:
    """Return the monthly rate that is billed now; ``None`` if the platform does not show it."""
    return rate_from(service.pricing.billed_monthly_millicents) if service.pricing else None


def wait_for_status(
    task: Task[WaitOptions], id: str, wanted: str, first: Service | ServiceSummary | None = None
) -> Service:
    """Wait until a service has this status. FAILED and AWAITING_ADMIN end the wait at once.

    :param first: the service as it was just read, for the first look; as a list shows it, in another status.
    :raises WaitEnded: if it ends in another one, or does not come in time.
    """
    read: list[Any] = [first] if first else []

    def done(service: Service) -> bool:
        check_not_terminal(service)
        return service.status == wanted

    return with_diagnostics(
        task,
        id,
        lambda: wait_until(
            task,
            lambda: read.pop() if read else task.account.existing_service(id),
            done,
            lambda s: f"its status is {s.status}",
            f"status {wanted}",
        ),
    )


def wait_for_state(task: Task[WaitOptions], id: str, wanted: str) -> None:
    """Wait until the container has this state. Unknown states are waited out.

    :raises WaitEnded: if the service was deleted or suspended meanwhile, or time is up.
    """
    begun = time.monotonic()

    def there(state: str | None) -> bool:
        idle = state not in ContainerState.PASSING
        if state != wanted and idle and time.monotonic() - begun >= SIGNAL_GRACE_SECONDS:
            check_in_service(task, id)
        return state == wanted

    await_container(task, id, there, f"state {wanted}")


def await_container(
    task: Task[WaitOptions], id: str, done: Callable[[str | None], bool], goal: str
) -> str | None:
    """Wait until the state of a container is one that is waited for, and return it."""

    def describe(state: str | None) -> str:
        return f"the container's state is {state or 'unknown: its node cannot be reached'}"

    return with_diagnostics(
        task, id, lambda: wait_until(task, lambda: read_state(task, id), done, describe, goal)
    )


def check_in_service(task: Task, id: str) -> None:
    """Check that a container's service was neither deleted nor suspended during a wait.

    :raises WaitEnded: saying which of the two happened.
    """
    service = task.account.service(id)
    if service is None:
        raise WaitEnded(f"the service of id {id!r} no longer exists: it was deleted in the meantime")
    check_not_terminal(service)
    if service.status == ServiceStatus.SUSPENDED:
        raise WaitEnded(
            f"service {service.name!r} ({id}) was suspended in the meantime", status=ServiceStatus.SUSPENDED
        )


def check_not_terminal(service: Service) -> None:
    """Check that a service can still reach the state that is waited for.

    :raises WaitEnded: if its creation failed, needs an operator of the platform, or it is being deleted.
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
    """Run a wait. On a timeout, add the last status, state and log lines to the error."""
    try:
        return wait()
    except WaitEnded as error:
        error.details.update(read_diagnostics(task, id))
        raise


def read_diagnostics(task: Task, id: str) -> dict[str, Any]:
    """Return the status, state and log of a service for an error, without what cannot be read."""
    words: dict[str, Any] = {"service_id": id}
    reads: dict[str, Callable[[], Any]] = {
        "last_status": lambda: task.account.existing_service(id).status,
        "last_state": lambda: read_state(task, id),
        "last_log_lines": lambda: task.client.logs(id, LOG_LINES_ON_TIMEOUT),
    }
    for name, read in reads.items():
        try:
            words[name] = read()
        except HostedError:
            words[name] = None
    return words
