# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A service as it is: its settings, state and rates, as far as a task needs them, and waits for changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

from ..._api.errors import HostedError
from ..._api.models import Dimensions, Metrics, Scale, Service, ServiceSummary, Settings
from ..._api.values import WITH_SETTINGS, ContainerState, Family, ServiceStatus
from ..shared.account import Account
from ..shared.identify import label
from ..shared.money import Cost, format_price, rate_from
from ..shared.options import WaitOptions
from ..shared.plan import Task
from ..shared.task_errors import WaitEnded
from ..shared.waiting import poll_for, wait_until
from .options import MaxMonthlyOptions

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
PER_SIZE = ("monthly_cents", "min_balance_cents", "hourly_label")
"""What a new size changes too, in a way that is not shown."""


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
    being_created: bool = False
    """Whether it becomes ACTIVE by itself."""
    state_unknown: bool = False
    """Whether the step to the wanted state cannot be determined, because the state is not known."""

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
        return label(self.service)


def is_never_deployed(task: Task, service: Service) -> bool:
    """Tell whether a service is an application that waits for its first deploy: it shows no image."""
    if service.family != Family.APP or service.status != ServiceStatus.PROVISIONING:
        return False
    app = task.account.apps_by_id().get(service.id)
    return app is not None and not app.image_ref


def read_settings(task: Task, service: Service) -> Settings | None:
    """Return the settings of a service; ``None`` if its family has none (Settings)."""
    return task.account.settings(service.id) if service.family in WITH_SETTINGS else None


# --- The container ------------------------------------------------------------------------------------


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


# --- Rates --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """The monthly price of a service while it is active and while suspended. ``None`` if unknown."""

    full: Decimal | None
    storage: Decimal | None

    def of(self, status: str | None) -> Decimal | None:
        """Return the rate that is billed in this status; ``None`` if unknown."""
        rates = {ServiceStatus.ACTIVE: self.full, ServiceStatus.SUSPENDED: self.storage}
        return rates.get(status or "")


def billed_rate(service: Service) -> Decimal | None:
    """Return the monthly rate that is billed now; ``None`` if the platform does not show it."""
    return rate_from(service.pricing.billed_monthly_millicents) if service.pricing else None


def rates_of(service: Service) -> Rates:
    """Return the rates of a service at its current size."""
    pricing = service.pricing
    if pricing is None:
        return Rates(None, None)
    return Rates(rate_from(pricing.monthly_millicents), rate_from(pricing.storage_monthly_millicents))


def rates_of_size(service: Service, scale: Scale, target: Mapping[str, int]) -> Rates:
    """Forecast the rates of a size from the rates of the node.

    The storage rate is forecast only if the disk at the node's rate gives the current one, so that it has no
    other part; the full rate likewise, because there may be a discount or a minimum price.
    """
    storage = scale.storage_millicents_per_gb_month
    if storage is None:
        return Rates(None, None)
    now = {"cpu_cores": scale.cpu_cores, "ram_gb": scale.ram_gb, "storage_gb": scale.storage_gb}
    total = scale.monthly_millicents
    discounted = total is not None and millicents_of(scale, now) not in (None, total)
    disk = (service.dimensions or Dimensions()).storage_gb
    explained = disk is not None and rates_of(service).storage == rate_from(disk * storage)
    return Rates(
        None if discounted else rate_from(millicents_of(scale, target)),
        rate_from(target["storage_gb"] * storage) if explained else None,
    )


def millicents_of(scale: Scale, size: Mapping[str, int | None]) -> int | None:
    """Return the price of a size at the rates of its node; ``None`` if a part or rate is unknown."""
    parts = (
        (size["cpu_cores"], scale.cpu_millicents_per_month),
        (size["ram_gb"], scale.ram_millicents_per_gb_month),
        (size["storage_gb"], scale.storage_millicents_per_gb_month),
    )
    amount = scale.options_millicents or 0
    for number, rate in parts:
        if number is None or rate is None:
            return None
        amount += number * rate
    return amount


def cost_of(service: Service, after: Decimal | None) -> Cost:
    """Return the cost of a change from the current rate to another."""
    running = billed_rate(service)
    before = rates_of(service).of(service.status) if running is None else running
    return Cost(before, after, service=service.name, service_id=service.id)


def expected_pricing(service: Service, rates: Rates, billed: Decimal | None) -> dict[str, Any] | None:
    """Return the expected pricing, with null for unknown amounts."""
    if service.pricing is None:
        return None
    amounts = {"monthly": rates.full, "storage_monthly": rates.storage, "billed_monthly": billed}
    expected = service.pricing.as_dict()
    if rates != rates_of(service):
        expected.update(dict.fromkeys(PER_SIZE))
    for name, amount in amounts.items():
        expected[f"{name}_millicents"] = None if amount is None else int(amount * 1000)
    return expected


def note_billed(task: Task[Any], service: Service, announced: Cost, status: str | None) -> None:
    """Let ``cost`` say what a service is billed in the status in which the task failed."""
    billed = billed_rate(service) if service.status == status else rates_of(service).of(status)
    if billed is not None:
        task.effects.billed = replace(announced, after=billed)


def compare_rate(
    task: Task[MaxMonthlyOptions], what: str, billed: Decimal | None, announced: Cost, advice: str
) -> None:
    """Warn if the platform bills another rate than announced, and put that rate in ``cost``."""
    before = announced.before
    if billed is None or announced.after == billed:
        return
    if announced.after is None and (before is None or billed <= before):
        return
    instead = (
        f"and {format_price(task, before)} before; its price was not known"
        if announced.after is None
        else f"not {format_price(task, announced.after)} as announced"
    )
    task.effects.billed = replace(announced, after=billed)
    most = task.options.max_monthly
    over = f", over max_monthly {format_price(task, most)}" if most is not None and billed > most else ""
    task.warn(f"{what} is billed {format_price(task, billed)} a month, {instead}{over}. {advice}")


# --- Waits --------------------------------------------------------------------------------------------


def wait_for_status(
    task: Task[WaitOptions], id: str, wanted: str, first: Service | ServiceSummary | None = None
) -> Service:
    """Wait until a service has this status. FAILED and AWAITING_ADMIN end the wait at once."""
    read: list[Any] = [first] if first else []
    return wait_until(
        task,
        lambda: read.pop() if read else task.account.existing_service(id),
        lambda service: check_not_terminal(service).status == wanted,
        lambda service: f"its status is {service.status}",
        f"status {wanted}",
        diagnose=partial(read_diagnostics, task, id),
    )


def wait_for_state(task: Task[WaitOptions], id: str, wanted: str) -> None:
    """Wait until the container has this state. Unknown states are waited out."""
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
    return wait_until(
        task,
        lambda: read_state(task, id),
        done,
        lambda state: f"the container's state is {state or 'unknown: its node cannot be reached'}",
        goal,
        diagnose=partial(read_diagnostics, task, id),
    )


def check_in_service(task: Task, id: str) -> None:
    """Check that a container's service was neither deleted nor suspended during a wait."""
    service = task.account.service(id)
    if service is None:
        raise WaitEnded(f"the service of id {id!r} no longer exists: it was deleted in the meantime")
    if check_not_terminal(service).status == ServiceStatus.SUSPENDED:
        raise WaitEnded(f"{label(service)} was suspended in the meantime", status=ServiceStatus.SUSPENDED)


def check_not_terminal(service: Service) -> Service:
    """Return a service, unless it cannot reach the state that is waited for any more."""
    if service.status not in ENDED:
        return service
    what, reason = label(service), service.failure_reason or "the platform gives no reason"
    why = {
        ServiceStatus.FAILED: f"the creation of {what} failed: {reason}. Remove it with state: absent",
        ServiceStatus.AWAITING_ADMIN: f"{what} awaits an intervention of the platform's operators; nothing "
        "happens until then",
    }
    raise WaitEnded(why.get(service.status, f"{what} is being deleted"), status=service.status)


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
