# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans changes of size, network, command and project, and checks them first (Settings)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..._api.errors import AccessDenied, Refused
from ..._api.models import Dimensions, Metrics, Project, Scale, Service, ServiceSummary
from ..._api.values import WITH_SETTINGS, ContainerState, ServiceStatus
from ..shared.aliases import read_aliases, warn_of_clashes
from ..shared.budget import Commitment, CommitmentKind
from ..shared.controller_state import one_at_a_time, state_key
from ..shared.currency import format_price
from ..shared.money import Cost, Move, format_amount
from ..shared.options import WaitOptions
from ..shared.pending import COMMAND, NETWORK
from ..shared.plan import Step, Task
from ..shared.task_errors import Invalid, WaitEnded
from ..shared.waiting import QUIET_SECONDS, act, poll_for
from .options import MaxMonthlyOptions, ServiceOptions
from .pending_changes import write_recorded
from .rates import Rates, rates_of, rates_of_size, risen_rate
from .view import (
    View,
    await_container,
    billed_rate,
    check_in_service,
    read_settings,
    read_state,
    runs,
    settled_metrics,
    shows_start_since,
)

AT_NEXT_START = (
    "takes effect at its next start; hosted.services.service with state: restarted stops and starts it"
)
SETTLE_SECONDS = 60.0
"""For how long a container that starts, stops or has just started is waited for before a network change."""
NON_DISRUPTIVE_STATES = ("present", "started", "resumed")
"""The wanted states that leave alone what runs."""


@dataclass
class ServiceChanges:
    """The steps of a task on one service, and their effect on the diff and the result."""

    steps: list[Step] = field(default_factory=list)
    after: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    rates: Rates | None = None
    """What the service costs once all steps are done, when one of them moves money."""
    cost: Cost | None = None
    """What that does to the price, known when all steps are."""
    pending: set[str] = field(default_factory=set)
    """What is going to wait for a start from stop when all steps are done."""
    just_ordered: bool = False
    """Whether this very task has ordered the service, so that nothing is used yet."""

    def add(
        self,
        summary: str,
        run: Callable[[], Any],
        move: Move | None = None,
        commitment: Commitment | None = None,
        **after: Any,
    ) -> None:
        """Add a step, its effect on the price, and the values that it changes in the diff."""
        self.steps.append(Step(summary, run, move=move, commitment=commitment))
        self.after.update(after)


def plan_settings(
    task: Task[ServiceOptions], view: View, project: Project | None, resumes: bool, changes: ServiceChanges
) -> None:
    """Plan all settings. ``resumes`` tells whether the service is resumed first."""
    check_immutable(task, view, just_ordered=changes.just_ordered)
    if project is not None:
        plan_project(task, view, project, changes)
    size = wanted_size(task, view, changes)
    if size is not None:
        plan_scale(task, view, size, resumes, changes)
    command, public = task.options.command, task.options.public
    if command is not None:
        plan_command(task, view, command, resumes, changes)
    if public is not None:
        plan_network(task, view, public, resumes, changes)


def check_immutable(task: Task[ServiceOptions], view: View, *, just_ordered: bool) -> None:
    """Check that the task does not change the product, edition, node or family: no route can.

    The family of a product is known only once a service of it exists, so an order is not refused for it.

    :raises Invalid: with both values, and what was done.
    """
    differing = differing_fact(task.options, view.service)
    if differing is None:
        return
    name, actual, wanted = differing
    raise Invalid(
        f"it has {name} {actual!r}, not {wanted!r}. Set {name} to {actual!r} in the task to keep it, "
        "or delete it by its id with state: absent"
        if just_ordered
        else f"{view.label} has {name} {actual!r}, not {wanted!r}; the platform cannot change it, "
        "and nothing was done. Correct the task, or order a new service"
    )


def differing_fact(options: ServiceOptions, service: Service | ServiceSummary) -> tuple[str, str, str] | None:
    """Return the first fact of a service that no route can change and that a task wants otherwise.

    That is its name, the value that the service shows, and the one that is wanted.
    """
    facts: dict[str, tuple[str | None, tuple[str | None, ...]]] = {
        "product": (options.product, (service.product.slug,) if service.product else ()),
        "runtime": (
            options.runtime,
            (service.runtime.id, service.runtime.slug) if service.runtime else (),
        ),
        "host": (options.host, (service.host.id, service.host.label) if service.host else ()),
        "family": (options.family, (service.family,)),
    }
    for name, (wanted, known) in facts.items():
        shown = next(filter(None, known), None)
        if wanted is not None and shown is not None and wanted not in known:
            return name, shown, wanted
    return None


def unread_setting(view: View, what: str) -> Invalid:
    """Return the error for a setting that a service does not have."""
    return Invalid(f"{view.label} does not offer {what}")


def plan_project(task: Task, view: View, project: Project, changes: ServiceChanges) -> None:
    """Plan the move to another project's network."""
    service = view.service
    if service.project_id == project.id:
        return
    if service.family not in WITH_SETTINGS:
        task.warn(f"whether a {service.family} service can change its project is not documented")
    task.warn(f"{view.label} leaves its project: its neighbors there can no longer reach it")
    warn_of_alias(task, service, project)
    changes.result["project_id"] = project.id
    commitment = commitment_of(view, "move", billed_rate(service), project=project)
    changes.add(
        f"move {view.label} to project {project.name!r}",
        lambda: task.client.set_project(service.id, project.id, commitment),
        commitment=commitment,
        project=project.name,
    )


def warn_of_alias(task: Task, service: Service, project: Project) -> None:
    """Warn if another service in the project to join has the same alias."""
    own = read_aliases(task.account, service.project_id).get(service.id)
    if own is not None:
        there = read_aliases(task.account, project.id)
        warn_of_clashes(task, {service.id: own}, there, f"project {project.name!r}")


def wanted_size(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> dict[str, Any] | None:
    """Return the size that the task asks for, by its parts or by a preset."""
    if task.options.dimensions is not None:
        return task.options.dimensions.as_dict()
    preset = task.options.preset
    return None if preset is None or changes.just_ordered else size_of_preset(task, view, preset)


def size_of_preset(task: Task[ServiceOptions], view: View, preset: str) -> dict[str, Any]:
    """Return the size of a preset, which only a quote shows (Order fields).

    :raises Invalid: if the quote does not show it, because the size then cannot be compared.
    """
    service = view.service
    body = {
        "productSlug": service.product.slug if service.product else task.options.product,
        "hostId": service.host.id if service.host else task.options.host,
        "presetId": preset,
    }
    try:
        size = task.client.quote({key: value for key, value in body.items() if value}).dimensions
    except AccessDenied:
        raise
    except Refused as error:
        raise unknown_preset(view, preset, error.message) from None
    if size is None:
        raise unknown_preset(view, preset, "the quote names no dimensions")
    return size.as_size()


def unknown_preset(view: View, preset: str, why: str) -> Invalid:
    """Return the error for a preset whose size cannot be compared with the service's."""
    return Invalid(
        f"the size of preset {preset!r} for {view.label} is not known: {why}. Set dimensions instead, or "
        "neither to keep the size; nothing was changed"
    )


def plan_scale(
    task: Task[MaxMonthlyOptions], view: View, size: dict[str, Any], resumes: bool, changes: ServiceChanges
) -> None:
    """Plan a new size, after checking every rule that the platform would refuse it for."""
    service = view.service
    current = service.dimensions or Dimensions()
    known = current.as_size()
    target = {**known, **{name: value for name, value in size.items() if value is not None}}
    if target == known:
        return
    if service.pricing and service.pricing.is_free:
        raise Invalid(f"{view.label} is free, and a free service cannot be resized")
    if service.status == ServiceStatus.SUSPENDED and not resumes:
        raise Invalid(f"{view.label} is suspended, and a suspended service cannot be resized; start it first")
    view.settings = view.settings or read_settings(task, service)
    scale = view.settings.scale if view.settings else None
    if scale is None:
        raise unread_setting(view, "another size")
    if scale.editable is False and not resumes:  # a suspended service is locked until it is resumed
        raise Invalid(f"the size of {view.label} is locked: {scale.locked_reason or 'no reason was given'}")
    check_scale(view, scale, target)
    changed, before = Dimensions(**target), rates_of(service).full
    changes.rates = rates_of_size(service, scale, target)
    check_max_monthly(task, changes.rates.full, f"the new size of {view.label}")
    changes.result["dimensions"] = changed.as_dict()
    shrinks = all(known[name] is not None and target[name] <= known[name] for name in known)
    most = risen_rate(scale, target, before) if shrinks and changes.rates.full is None else changes.rates.full
    commitment = commitment_of(
        view, "new size", most, before, changes.result.get("project_id"), shrinks=shrinks
    )
    changes.add(
        f"scale {view.label} from {describe_size(known)} to {describe_size(target)}",
        lambda: set_scale(task, view, changed, commitment),
        Move("resize", changes.rates.full),
        commitment,
        dimensions=target,
    )


def commitment_of(
    view: View,
    kind: CommitmentKind,
    monthly: Decimal | None,
    before: Decimal | None = None,
    project_id: str | None = None,
    *,
    project: Project | None = None,
    shrinks: bool = False,
) -> Commitment:
    """Return what a step on an existing service does to the running rate."""
    service = view.service
    return Commitment(
        kind,
        view.label,
        monthly,
        id=service.id,
        name=service.name,
        project=(project.id if project else project_id) or service.project_id,
        project_name=project.name if project else None,
        before=before,
        shrinks=shrinks,
    )


def set_scale(task: Task, view: View, size: Dimensions, commitment: Commitment) -> None:
    """Set a size, unless the size has changed since the plan.

    :raises Invalid: if another task or user has changed it.
    """
    id, planned = view.service.id, view.service.dimensions
    with one_at_a_time(f"size:{state_key(task.options.base_url, id)}", f"changing the size of {view.label}"):
        now = task.account.service(id)
        if now is not None and now.dimensions != planned:
            other = describe_size(now.dimensions.as_dict()) if now.dimensions else "one that is not shown"
            raise Invalid(
                f"the size of {view.label} was changed to {other} while this task ran, so this "
                "task did not change it. Run this again to start from that size"
            )
        task.client.set_scale(id, size, commitment)


def describe_size(size: dict[str, Any]) -> str:
    """Describe a size in words."""
    return f"{size['cpu_cores']} vCPU, {size['ram_gb']} GB memory, {size['storage_gb']} GB disk"


def check_scale(view: View, scale: Scale, target: dict[str, Any]) -> None:
    """Check the rules of a resize: within the node's bounds, and no smaller disk (Settings, rule 4).

    :raises Invalid: with the value and the bounds.
    """
    unknown = sorted(name for name, value in target.items() if value is None)
    if unknown:
        raise Invalid(
            f"the platform does not show {', '.join(unknown)} of {view.label}; set it in dimensions"
        )
    if scale.storage_gb is not None and target["storage_gb"] < scale.storage_gb:
        raise Invalid(
            f"storage_gb {target['storage_gb']} is less than the {scale.storage_gb} GB of {view.label}; "
            "a disk cannot shrink"
        )
    bounds = {
        "cpu_cores": (scale.cpu_min, scale.cpu_max),
        "ram_gb": (scale.ram_min_gb, scale.ram_max_gb),
        "storage_gb": (scale.storage_min_gb, scale.storage_max_gb),
    }
    for name, (low, high) in bounds.items():
        if (low is not None and target[name] < low) or (high is not None and target[name] > high):
            raise Invalid(
                f"{name} {target[name]} is outside the bounds of the node of {view.label}: {low} to {high}"
            )


def warn_over_max_monthly(task: Task[MaxMonthlyOptions], view: View) -> None:
    """Warn if an unchanged service costs more than ``max_monthly`` (Service, full form)."""
    most, running = task.options.monthly_limit(), billed_rate(view.service)
    if most is not None and running is not None and running > most:
        task.warn(
            f"{view.label} costs {format_price(task, running)} a month, over max_monthly "
            f"{format_price(task, most)}, "
            "and was not changed: max_monthly limits orders, new sizes and resumptions only"
        )


def check_max_monthly(task: Task[MaxMonthlyOptions], monthly: Decimal | None, what: str) -> None:
    """Check a monthly price against ``max_monthly``.

    :raises Invalid: if it is higher or unknown.
    """
    most = task.options.monthly_limit()
    if most is None:
        return
    if monthly is None:
        raise Invalid(
            f"the price of {what} is not known, so max_monthly {format_price(task, most)} cannot be checked"
        )
    if monthly > most:
        raise Invalid(
            f"{what} would cost {format_price(task, monthly)} a month, over max_monthly "
            f"{format_price(task, most)}; "
            "nothing changed",
            monthly=format_amount(monthly),
            max_monthly=format_amount(most),
        )


def plan_command(
    task: Task[ServiceOptions], view: View, wanted: str, resumes: bool, changes: ServiceChanges
) -> None:
    """Plan a new launch command. It takes effect at the next start."""
    deploy = view.settings.deploy if view.settings else None
    if deploy is None:
        raise unread_setting(view, "a launch command")
    if (deploy.command or "") == wanted:
        return
    if deploy.editable is False and not resumes:
        raise Invalid(f"the launch command of {view.label} cannot be changed")
    id, waits = view.service.id, read_state_for_setting(task, view) != ContainerState.STOPPED
    if waits:
        changes.pending.add(COMMAND)

    def write() -> None:
        if waits:
            write_recorded(task, id, COMMAND, lambda: task.client.set_command(id, wanted))
        else:
            task.client.set_command(id, wanted)

    what = "set the command" if wanted else "restore the original command"
    changes.add(f"{what} of {view.label}", write, command=wanted)


def read_state_for_setting(task: Task, view: View) -> str | None:
    """Return the container's state for a setting that a stopped container takes at its next start."""
    if view.service.status != ServiceStatus.ACTIVE or view.state is not None:
        return view.state if view.service.status == ServiceStatus.ACTIVE else None
    return read_state(task, view.service.id)


def plan_network(
    task: Task[ServiceOptions], view: View, wanted: bool, resumes: bool, changes: ServiceChanges
) -> None:
    """Plan to open a service to the Internet or close it. The platform recreates the container."""
    network = view.settings.network if view.settings else None
    if network is None:
        raise unread_setting(view, "network settings")
    if network.is_public == wanted:
        return
    if network.editable is False and not resumes:
        raise Invalid(f"the network of {view.label} cannot be changed")
    task.warn(f"a network change recreates the container of {view.label}: if it runs, it is restarted")
    what = f"{'open' if wanted else 'close'} {view.label} to the Internet"
    if task.options.state == "restarted":  # a restart does not read ports again, a start from stop does
        changes.pending.add(NETWORK)
    changes.add(what, lambda: set_network(task, view, wanted, what), public=wanted)


def set_network(task: Task[ServiceOptions], view: View, wanted: bool, what: str) -> None:
    """Open or close a service. The effect of a repeated change is unknown, so look before a retry.

    The platform recreates a running container, and a stopped one has the change from its next start on. In
    all other cases, and if a running one is not seen to be recreated, the change is pending until then.
    """
    id, waits = view.service.id, task.options.wait and task.options.state != "restarted"
    first = settled_metrics(task, id, min(task.options.wait_timeout, SETTLE_SECONDS) if waits else 0)
    at = time.monotonic()

    def reached() -> bool:
        network = task.account.settings(id).network
        return network is not None and network.is_public == wanted

    def change() -> None:
        try:
            act(task, lambda: task.client.set_network(id, wanted), reached, f"the change to {what}")
        except Refused as error:
            if not reached():
                raise
            task.effects.wrote()
            task.warn(f"the platform made the change, but returned an error: {error.message}")

    if first is not None and first.state == ContainerState.STOPPED:
        change()
        return
    in_effect = write_recorded(task, id, NETWORK, change)
    if task.options.state == "restarted" or not was_recreated(task, id, first, at):
        return
    in_effect()
    if task.options.wait and task.options.state in NON_DISRUPTIVE_STATES:
        wait_for_recreation(task, view)


def wait_for_recreation(task: Task[WaitOptions], view: View) -> None:
    """Wait until a container runs again after a network change.

    :raises WaitEnded: if it stays stopped: it did not come back, whatever the platform responded.
    """
    up = time.monotonic()

    def is_up(state: str | None) -> bool:
        nonlocal up
        if state != ContainerState.STOPPED:
            up = time.monotonic()
        elif time.monotonic() - up >= QUIET_SECONDS:
            check_in_service(task, view.service.id)
            raise WaitEnded(
                f"the network of {view.label} is changed, but its container was recreated for that and has "
                "not run since. Its log may show why; hosted.services.service with state: started starts it"
            )
        return state == ContainerState.RUNNING

    await_container(task, view.service.id, is_up, f"{view.label} to run again")


def was_recreated(task: Task[WaitOptions], id: str, before: Metrics | None, at: float) -> bool:
    """Tell whether the container was seen to be recreated, and warn if it was not.

    The specification says both that the change recreates the container and that it needs a start from stop
    (Settings, rule 3; Power).
    """
    seconds = QUIET_SECONDS if task.options.wait else 0
    if runs(before) and poll_for(lambda: shows_start_since(task, id, at), seconds):
        return True
    task.warn(
        "the network change was accepted, but nothing showed that the container was recreated for it. The "
        f"change {AT_NEXT_START}"
    )
    return False
