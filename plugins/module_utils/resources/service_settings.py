# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Size, network, command and project of a service: changed on difference, checked first (Settings)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..api.models import Dimensions, Project, Scale
from .money import Cost, from_millicents, read_amount, shown
from .plan import Step, Task
from .problems import Invalid
from .service_view import SUSPENDED, WITH_SETTINGS, View
from .waiting import act


@dataclass
class Changes:
    """Steps, with what they make of the diff and of the result."""

    steps: list[Step] = field(default_factory=list)
    after: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    cost: Cost | None = None

    def add(self, summary: str, run: Callable[[], Any], **after: Any) -> None:
        """Add a step and what it shows in the diff."""
        self.steps.append(Step(summary, run))
        self.after.update(after)


def plan_settings(task: Task, view: View, project: Project | None, resumes: bool, changes: Changes) -> None:
    """Plan all settings. ``resumes`` says that the service is resumed before them."""
    check_fixed(task, view)
    if project is not None:
        plan_project(task, view, project, changes)
    if task.options["dimensions"] is not None:
        plan_scale(task, view, resumes, changes)
    if task.options["command"] is not None:
        plan_command(task, view, resumes, changes)
    if task.options["public"] is not None:
        plan_network(task, view, resumes, changes)


def check_fixed(task: Task, view: View) -> None:
    """Refuse what no route can change: product, edition, node and family."""
    service = view.service
    facts: dict[str, tuple[str | None, ...]] = {
        "product": (service.product.slug,) if service.product else (),
        "runtime": (service.runtime.id, service.runtime.slug) if service.runtime else (),
        "host": (service.host.id, service.host.label) if service.host else (),
        "family": (service.family,),
    }
    for name, known in facts.items():
        wanted = task.options[name]
        if wanted is not None and any(known) and wanted not in known:
            raise Invalid(
                f"{view.label} has {name} {next(filter(None, known))!r}, not {wanted!r}; the platform cannot "
                "change it. To have another one, order a new service and delete this one"
            )


def plan_project(task: Task, view: View, project: Project, changes: Changes) -> None:
    """Plan the move into another project's network."""
    service = view.service
    if service.project_id == project.id:
        return
    if service.family not in WITH_SETTINGS:
        task.warn(f"whether a {service.family} service can change its project is not documented")
    task.warn(f"{view.label} leaves its project: its neighbours there can no longer reach it")
    changes.result["project_id"] = project.id
    changes.add(
        f"move {view.label} to project {project.name!r}",
        lambda: task.client.set_project(service.id, project.id),
        project=project.name,
    )


def plan_scale(task: Task, view: View, resumes: bool, changes: Changes) -> None:
    """Plan another size, after all that the platform would refuse it for."""
    service = view.service
    current = service.dimensions or Dimensions()
    known = current.model_dump(include={"cpu_cores", "ram_gb", "storage_gb"})
    given = {name: value for name, value in task.options["dimensions"].items() if value is not None}
    target = {**known, **given}
    if target == known:
        return
    if service.pricing and service.pricing.is_free:
        raise Invalid(f"{view.label} is free, and a free service cannot be resized")
    if service.status == SUSPENDED and not resumes:
        raise Invalid(f"{view.label} is suspended, and a suspended service cannot be resized; start it first")
    scale = view.settings.scale if view.settings else None
    if scale is None:
        raise Invalid(f"{view.label} does not offer another size")
    if scale.editable is False and not resumes:  # a suspended service is locked until it is resumed
        raise Invalid(f"the size of {view.label} is locked: {scale.locked_reason or 'no reason was given'}")
    check_scale(view, scale, target)
    size = Dimensions(**target)
    changes.cost = scale_cost(view, scale, target)
    check_budget(task, changes.cost.after, f"the new size of {view.label}")
    changes.result["dimensions"] = size.as_dict()
    changes.add(
        f"scale {view.label} from {describe_size(known)} to {describe_size(target)}",
        lambda: task.client.set_scale(service.id, size),
        dimensions=target,
        monthly=shown(changes.cost.after),
    )


def describe_size(size: dict[str, Any]) -> str:
    """Write a size in words."""
    return f"{size['cpu_cores']} vCPU, {size['ram_gb']} GB memory, {size['storage_gb']} GB disk"


def check_scale(view: View, scale: Scale, target: dict[str, Any]) -> None:
    """Hold the rules of a resize: inside the node's bounds, no smaller disk (Settings, rule 4)."""
    unknown = sorted(name for name, value in target.items() if value is None)
    if unknown:
        raise Invalid(
            f"the platform does not tell {', '.join(unknown)} of {view.label}; set it in dimensions"
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
                f"{name} {target[name]} is outside what the node of {view.label} offers: {low} to {high}"
            )


def scale_cost(view: View, scale: Scale, target: dict[str, Any]) -> Cost:
    """Forecast the price of a size from the node's rates."""
    before = view.service.pricing.billed_monthly_millicents if view.service.pricing else None
    rates = (
        scale.cpu_millicents_per_month,
        scale.ram_millicents_per_gb_month,
        scale.storage_millicents_per_gb_month,
    )
    after: Decimal | None = None
    if None not in rates:
        amounts = (target["cpu_cores"], target["ram_gb"], target["storage_gb"])
        total = sum(amount * (rate or 0) for amount, rate in zip(amounts, rates, strict=True))
        after = from_millicents(total + (scale.options_millicents or 0))
    return Cost(None if before is None else from_millicents(before), after)


def check_budget(task: Task, monthly: Decimal | None, what: str) -> None:
    """Refuse what would cost more than ``max_monthly``.

    :raises Invalid: also when the price is not known, since the limit could not be kept then.
    """
    limit = task.options["max_monthly"]
    if limit is None:
        return
    most = read_amount(limit, "max_monthly")
    if monthly is None:
        raise Invalid(f"the price of {what} is not known, so max_monthly {shown(most)} cannot be kept")
    if monthly > most:
        raise Invalid(
            f"{what} would cost {shown(monthly)} a month, over max_monthly {shown(most)}; nothing changed",
            monthly=shown(monthly),
            max_monthly=shown(most),
        )


def plan_command(task: Task, view: View, resumes: bool, changes: Changes) -> None:
    """Plan another launch command. It counts from the next start on."""
    deploy = view.settings.deploy if view.settings else None
    if deploy is None:
        raise Invalid(f"{view.label} does not offer a launch command")
    wanted = task.options["command"]
    if (deploy.command or "") == wanted:
        return
    if deploy.editable is False and not resumes:
        raise Invalid(f"the launch command of {view.label} cannot be changed")
    if not starts_anew(task, view):
        task.warn(f"the new command of {view.label} takes effect at its next start")
    changes.add(
        f"set the command of {view.label}" if wanted else f"restore the original command of {view.label}",
        lambda: task.client.set_command(view.service.id, wanted),
        command=wanted,
    )


def starts_anew(task: Task, view: View) -> bool:
    """Whether the wished state has a start in it, which is when a container takes up a command."""
    wanted = task.options["state"]
    return wanted == "restarted" or (wanted == "started" and view.state in (None, "stopped", "stopping"))


def plan_network(task: Task, view: View, resumes: bool, changes: Changes) -> None:
    """Plan opening to the Internet, or closing. The platform recreates the container for it."""
    network = view.settings.network if view.settings else None
    if network is None:
        raise Invalid(f"{view.label} does not offer network settings")
    wanted = task.options["public"]
    if network.is_public == wanted:
        return
    if network.editable is False and not resumes:
        raise Invalid(f"the network of {view.label} cannot be changed")
    task.warn(f"a network change recreates the container of {view.label}: if it runs, it is restarted")
    what = f"{'open' if wanted else 'close'} {view.label} {'to' if wanted else 'from'} the Internet"
    changes.add(what, lambda: set_network(task, view, wanted, what), public=wanted)


def set_network(task: Task, view: View, wanted: bool, what: str) -> None:
    """Open or close a service. What the same wish does twice is not shown, so it is looked at before."""
    id = view.service.id

    def reached() -> bool:
        network = task.client.settings(id).network
        return network is not None and network.is_public == wanted

    act(task, lambda: task.client.set_network(id, wanted), reached, f"the change to {what}")
