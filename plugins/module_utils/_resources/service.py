# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services: orders, changes, starts, stops, suspends and deletes them (Services)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from .._api.models import Product, Project, Service
from .._api.values import ContainerState, ServiceStatus
from .services import power
from .services.namesakes import check_name_kept, check_namesakes, check_other_projects
from .services.options import ServiceOptions
from .services.order import Ordering, check_quote, differs_from_order, missing_options, quote_of
from .services.pending_changes import warn_of_pending
from .services.rates import compare_rate, cost_of, expected_pricing, has_expected_size, note_billed
from .services.removal import Kept, plan_removal
from .services.settings import ServiceChanges, plan_settings, warn_over_max_monthly
from .services.target import Target, identify
from .services.view import (
    View,
    billed_rate,
    check_not_terminal,
    is_never_deployed,
    managed_settings,
    observe,
    wait_for_status,
)
from .shared.currency import format_price
from .shared.identify import label
from .shared.money import Move, describe_monthly
from .shared.plan import NOTHING_DONE, Expansion, Plan, Resource, Step, Task, after_waiting
from .shared.relocation_record import check_not_stopped, successor_of
from .shared.secret_notes import ORDERED, subject_of, warn_of_lost_secrets
from .shared.task_errors import Invalid, NoSuchItem
from .shared.waiting import QUIET_SECONDS, poll_for

AS_ORDERED = ("host", "product", "runtime", "preset", "dimensions", "options", "variables")
"""What a task says of the service that it ordered, and not of the one that a relocation put in its place."""
ORDERABLE = ("present", "started", "stopped", "suspended")


class ServiceResource(Resource[ServiceOptions]):
    """A service, by id, or by name, project and family."""

    result_key = "service"
    rules: ClassVar[dict[str, Any]] = {
        "required_one_of": [("id", "name")],
        "mutually_exclusive": [("dimensions", "preset")],
    }

    def works_on_host(self, given: Mapping[str, Any]) -> bool:
        """Tell whether the host of the play is meant, which a task deletes only when it names it."""
        return given.get("state") != "absent" and super().works_on_host(given)

    def plan(self, task: Task[ServiceOptions]) -> Plan:
        """Plan the order, changes, power steps or deletion that lead to the desired state."""
        power.check_resume(task)
        check_keep_copy(task)
        target = led(task, identify(task))
        if task.options.state == "absent":
            return plan_removal(task, target, plan_kept)
        if target.id is None and target.destination is not None:
            return nothing_there(task, target.project, target.destination, "to move; nothing was ordered")
        if target.id is None:
            warn_of_lost_secrets(task, subject_of(ORDERED, task.options.wanted_name))
            return plan_order(task, target.project)
        task.adopting(target.id)
        view = observe(task, target.id)
        view.awaits_deploy = task.options.state == "present" and is_never_deployed(task, view.service)
        warn_of_lost_secrets(task, subject_of(ORDERED, view.service.name))
        return plan_after_creation(task, view, lambda now: plan_existing(task, now, target.home))


SERVICE = ServiceResource()


def led(task: Task[ServiceOptions], target: Target) -> Target:
    """Return what a relocation put in the place of the service that the task names, which it left over.

    A task with an id means what it says, and so does one that makes a copy.

    :raises Invalid: with both ids, if the task deletes; if the relocation has just stopped the service.
    """
    if task.options.id or task.options.allow_duplicate_name or task.names_made:
        return target
    check_not_stopped(task.options, target.id)
    project, name = target.project.id if target.project else None, task.options.wanted_name
    found = successor_of(task.options, task.account.stays, target.id, name, project)
    if found is None:
        return target
    if task.options.state == "absent":
        raise found.refusal
    task.warn(
        f"{found.told}, so the task works on that, as it was ordered. Write name: {found.name}, and its host "
        "and size. If another service is meant, name it by its id, or set allow_duplicate_name to order one"
    )
    as_ordered: dict[str, Any] = dict.fromkeys(AS_ORDERED)
    task.options = replace(task.options, **as_ordered)
    return replace(target, id=found.id)


def check_keep_copy(task: Task[ServiceOptions]) -> None:
    """Refuse a last copy of a service that is not deleted.

    :raises Invalid: naming both options.
    """
    if task.options.keep_copy is not None and task.options.state != "absent":
        raise Invalid(
            "keep_copy copies a service before state: absent deletes it, and state is "
            f"{task.options.state}; nothing was done. Set state: absent, or leave keep_copy out"
        )


def plan_kept(task: Task[ServiceOptions], view: View) -> Kept | None:
    """Return the plan for the last copy of a service that is deleted; ``None`` if the task asks for none."""
    if task.options.keep_copy is None:
        return None
    # It takes a quarter of a second to import what transfers files, which few tasks do.
    from .last_copies.last_copy import plan_last_copy  # noqa: PLC0415

    return plan_last_copy(task, view, task.options.keep_copy)


def nothing_there(
    task: Task[ServiceOptions], project: Project | None, destination: Project | None, purpose: str
) -> Plan:
    """Refuse to order a service that was to be changed; in check mode, assume that the play orders it.

    :raises NoSuchItem: saying where the service was looked for.
    """
    where = f" in project {project.name!r}" if project else ""
    name = str(task.options.name)
    task.expect_created(NoSuchItem(f"there is no service named {name!r}{where} {purpose}"), name)
    return plan_foreseen(task, destination)


def plan_foreseen(task: Task[ServiceOptions], project: Project | None) -> Plan:
    """Plan in check mode for a service that an earlier task of the play orders."""
    options = task.options
    later = later_settings(options)
    if options.dimensions:
        later["dimensions"] = options.dimensions.as_dict()
    if options.new_project:
        later["project"] = options.new_project
    steps = [Step(describe_later(options, later), lambda: None)] if later else []
    return Plan(result=expected_service(task, project), steps=steps, after=later, subject=options.wanted_name)


def later_settings(options: ServiceOptions) -> dict[str, Any]:
    """Return what a task sets once a service is ordered, which runs by then."""
    state = None if options.state in ("present", "started", "resumed") else options.state
    later = {"public": options.public, "command": options.command, "state": state}
    return {name: value for name, value in later.items() if value is not None}


def describe_later(options: ServiceOptions, later: Mapping[str, Any]) -> str:
    """Say what a task sets once a service is ordered."""
    told = ", ".join(f"state: {value}" if name == "state" else name for name, value in later.items())
    return f"set {told} for service {options.wanted_name!r}"


def plan_after_creation(task: Task[ServiceOptions], view: View, then: Callable[[View], Plan]) -> Plan:
    """Return the plan for a service, waiting first if it is still being created."""
    if not view.being_created or not task.options.wait or task.check_mode:
        return then(await_ready(task, view))
    what, until = f"wait until {view.label} is created", Plan(result=view.as_dict())
    return after_waiting(what, lambda: await_ready(task, view), then, until)


def await_ready(task: Task[ServiceOptions], view: View) -> View:
    """Return a service once it is created."""
    service = view.service
    if view.being_created and task.options.wait and not task.check_mode:
        ready = wait_for_status(task, service.id, ServiceStatus.ACTIVE, service)
        return observe(task, service.id, ready)
    if task.options.wait or service.status == ServiceStatus.FAILED:
        check_not_terminal(service)
    return view


def plan_existing(
    task: Task[ServiceOptions], view: View, project: Project | None, just_ordered: bool = False
) -> Plan:
    """Plan the steps from a service's current state to the desired one."""
    power.check_not_suspended(task, view)
    before = managed_settings(view, task.options)
    if project is not None:
        home = view.service.project_id
        before["project"] = project.name if home == project.id else task.account.project_name(home) or home
    changes = ServiceChanges(pending=set(view.pending), just_ordered=just_ordered)
    plan_changes(task, view, project, changes)
    if not just_ordered:
        warn_of_what_stays(task, view, changes)
    rate = {"monthly": changes.cost.after} if changes.cost else {}
    result = {**view.as_dict(), **changes.result, "pending_restart": sorted(changes.pending)}

    def reread() -> dict[str, Any]:
        now = await_changes_shown(task, view, changes)
        if changes.cost and has_expected_size(now.service, result):
            advice = "Check it in the customer web space"
            compare_rate(task, view.label, billed_rate(now.service), changes.cost, advice)
        return now.as_dict()

    return Plan(
        result=result,
        steps=changes.steps,
        reread=reread,
        before=before,
        after={**before, **rate, **changes.after},
        cost=changes.cost,
        subject=view.service.name,
    )


def await_changes_shown(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> View:
    """Return the service once it shows what was written; warn of what it does not show.

    The next task would write it again, and a network change that is written twice may restart the service
    twice. Without ``wait`` it is read once, and nothing is said of what may come later.

    :raises Invalid: if it does not show the size, which is billed.
    """
    now = observe(task, view.service.id)
    missing = unconfirmed_settings(now, changes)

    def shown() -> bool:
        nonlocal now, missing
        now = observe(task, view.service.id)
        missing = unconfirmed_settings(now, changes)
        return not missing

    if task.options.wait and missing and not poll_for(shown):
        told = ", ".join(f"{name} ({value})" for name, value in missing.items())
        said = (
            f"the platform accepted {told} of {view.label}, but shows something else after "
            f"{QUIET_SECONDS:g} seconds. Check the service before you run this again"
        )
        if "dimensions" not in missing:
            task.warn(said)
        else:
            if changes.cost is not None:
                note_billed(
                    task, now.service, changes.cost, changes.result.get("status", view.service.status)
                )
            raise Invalid(said)
    return now


def unconfirmed_settings(now: View, changes: ServiceChanges) -> dict[str, Any]:
    """Return what was written and is shown otherwise. What is not shown at all says nothing."""
    wanted = {**changes.after, "project": changes.result.get("project_id")}
    return {
        name: wanted[name]
        for name, value in shown_settings(now).items()
        if wanted.get(name) is not None and value is not None and value != wanted[name]
    }


def shown_settings(view: View) -> dict[str, Any]:
    """Return the settings that can be written, as they are shown; ``None`` for what is not shown."""
    service, settings = view.service, view.settings
    size = service.dimensions.as_size() if service.dimensions else {None: None}
    return {
        "public": settings.network.is_public if settings and settings.network else None,
        "command": settings.deploy.command if settings and settings.deploy else None,
        "dimensions": None if None in size.values() else size,
        "project": service.project_id,
    }


def plan_changes(
    task: Task[ServiceOptions], view: View, project: Project | None, changes: ServiceChanges
) -> None:
    """Plan the steps in order, and their cost."""
    service = view.service
    if view.being_created:
        task.warn(f"{view.label} is still being created; its settings and its state were not looked at")
        return
    if power.stays_suspended(task, view):
        return
    resumes = power.needs_resume(task, view)
    if resumes:
        power.plan_resume(task, view, changes)
    plan_settings(task, view, project, resumes, changes)
    power.plan_power(task, view, changes)
    if changes.rates is None:
        return
    changes.cost = cost_of(service, changes.rates.of(changes.result.get("status", service.status)))
    changes.result["pricing"] = expected_pricing(service, changes.rates, changes.cost.after)
    if resumes:
        power.warn_of_resume_cost(task, view, changes.cost)


def warn_of_what_stays(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> None:
    """Warn of settings that are requested or were written earlier, and are not in effect after the task."""
    differ = [] if task.composed else differs_from_order(task, view.service.id)
    if differ:
        task.warn(
            f"{view.label} exists, so {' and '.join(differ)} had no effect: an order alone uses them, and it "
            "was ordered with others"
        )
    if changes.cost is None:
        warn_over_max_monthly(task, view)
    if view.service.status == ServiceStatus.ACTIVE and task.options.state in (
        "present",
        "started",
        "resumed",
    ):
        kinds = tuple(kind for kind in view.pending if kind in changes.pending and kind not in changes.after)
        warn_of_pending(task, view.service.id, view.label, kinds)


# --- Ordering ---------------------------------------------------------------------------------------


def plan_order(task: Task[ServiceOptions], project: Project | None) -> Plan:
    """Plan an order, with its quote and checks, and the steps after it."""
    if task.options.state not in ORDERABLE:
        return nothing_there(task, project, project, f"that could be {task.options.state}")
    planned = task.options.wanted_name in task.foreseen
    if planned and missing_options(task.options):
        return plan_foreseen(task, project)
    ordering = Ordering(task, project)
    check_namesakes(task, project, task.account.services())
    check_other_projects(task, project)
    quoted = check_quote(task, quote_of(task.account, ordering.body))
    cost = ordering.cost = replace(quoted, project=project.name if project else None)

    # A quote does not tell what the storage alone costs.
    suspension = Move("suspend", None) if task.options.state == "suspended" else None
    final = cost if suspension is None else replace(cost, after=None)

    def reread() -> dict[str, Any]:
        now = observe(task, str(ordering.id))
        if now.service.status == ServiceStatus.FAILED:  # then the quote is not what it costs
            note_billed(task, now.service, cost, now.service.status)
        return now.as_dict()

    plan = Plan(
        result=expected_service(task, project),
        reread=reread,
        after=expected_diff(task, project, final.after),
        cost=final,
        subject=ordering.name,
    )
    plan.steps = order_steps(task, ordering, plan, suspension)
    return plan


def order_steps(
    task: Task[ServiceOptions], ordering: Ordering, plan: Plan, suspension: Move | None
) -> Sequence[Step]:
    """Return the steps of an order. Where the service has appeared by then, ``plan`` becomes that for it."""

    def order() -> Any:
        ordering.place()
        return NOTHING_DONE if ordering.adopted else None

    def go_on() -> Sequence[Step]:
        if not ordering.adopted:
            later = follow_up(task, str(ordering.id), ordering.project)
            if later is None:
                return ()
            waited = later.result
            plan.reread = later.reread if later.changed else lambda: waited
            return later.steps
        later = plan_adopted(task, str(ordering.id), ordering.project)
        plan.become(later)
        return later.steps

    price = describe_monthly(format_price(task, ordering.cost.after))
    summary = f"order {task.options.product} as service {ordering.name!r} {price}"
    later = later_settings(task.options)
    return (
        Step(summary, order, move=Move("order", ordering.cost.after), commitment=ordering.commitment),
        Expansion(describe_later(task.options, later), go_on, changes=bool(later), move=suspension),
    )


def plan_adopted(task: Task[ServiceOptions], id: str, project: Project | None) -> Plan:
    """Return the plan for a service that another task ordered since the plan of this one was made."""
    return plan_existing(task, await_known(task, await_ready(task, observe(task, id))), project)


def await_known(task: Task[ServiceOptions], view: View) -> View:
    """Wait until it is known whether a new service runs, if the task needs that and waits."""
    if not (task.options.wait and power.is_state_unknown(task, view)):
        return view
    power.wait_for_known_state(task, view)
    return observe(task, view.service.id)


def follow_up(task: Task[ServiceOptions], id: str, project: Project | None) -> Plan | None:
    """Wait for a service that was just ordered; return the plan for its settings and state.

    ``None`` if they are not set, because the task does not wait.
    """
    task.created(id)
    view = observe(task, id)
    check_name_kept(task, view.service)
    warn_of_free_end(task, view.service)
    if view.being_created and not task.options.wait:
        task.warn(
            f"{view.label} is still being created, and wait is false: its settings and state were not set"
        )
        return None
    view = await_known(task, await_ready(task, view))
    if power.is_state_unknown(task, view):
        task.warn(
            f"whether {view.label} runs is not known yet, and wait is false: its settings and state were "
            "not set"
        )
        return None
    try:
        return plan_existing(task, view, project, just_ordered=True)
    except Invalid as error:
        error.prepend(f"{view.label} was ordered and is billed, but: ")
        raise


def warn_of_free_end(task: Task[ServiceOptions], service: Service) -> None:
    """Warn of a service that was just ordered and is free until a date; the date is told as it is shown."""
    pricing = service.pricing
    if pricing is None or pricing.is_free is False or not pricing.free_expires_at:
        return
    task.warn(
        f"{label(service)} is shown as free until {pricing.free_expires_at}, and what happens then is not "
        "shown: it may be billed, suspended, or deleted with its backups. Before that date, copy what you "
        "need off the platform, and delete the service if it must not cost anything"
    )


def expected_service(task: Task[ServiceOptions], project: Project | None) -> dict[str, Any]:
    """Return a service as expected after the order, with the keys of an existing one."""
    options = task.options
    expected = Service.model_construct(
        id=None,
        name=options.name,
        family=options.family,
        status=ServiceStatus.SUSPENDED if options.state == "suspended" else ServiceStatus.ACTIVE,
        project_id=project.id if project else None,
        product=Product(slug=options.product),
        dimensions=options.dimensions and options.dimensions.as_dict(),
    )
    states = {"started": ContainerState.RUNNING, "stopped": ContainerState.STOPPED}
    return {**expected.as_dict(), "state": states.get(options.state), "pending_restart": []}


def expected_diff(
    task: Task[ServiceOptions], project: Project | None, monthly: Decimal | None
) -> dict[str, Any]:
    """Return the diff of a service that does not exist yet."""
    options = task.options
    facts: dict[str, Any] = {
        "name": options.name,
        "product": options.product,
        "runtime": options.runtime,
        "host": options.host,
        "dimensions": options.dimensions and options.dimensions.as_dict(),
        "preset": options.preset,
        "public": options.public,
        "command": options.command,
        "project": project.name if project else None,
        "variables": sorted(options.variables) if options.variables else None,
    }
    given = {name: value for name, value in facts.items() if value is not None}
    return {**given, "state": options.state, "monthly": monthly}
