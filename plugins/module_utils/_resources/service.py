# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services: orders, changes, starts, stops, suspends and deletes them (Services)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from .._api.models import Dimensions, Product, Project, Service, ServiceSummary
from .._api.values import ContainerState, ServiceStatus
from .services import power
from .services.options import ServiceOptions
from .services.order import (
    Ordering,
    check_namesakes,
    check_other_projects,
    check_quote,
    differs_from_order,
    missing_options,
    quote_of,
    warn_of_slip,
)
from .services.removal import Kept, plan_removal
from .services.settings import (
    NON_DISRUPTIVE_STATES,
    SETTINGS,
    ServiceChanges,
    later_settings,
    not_shown,
    observe,
    plan_settings,
)
from .services.view import (
    ENDED,
    View,
    billed_rate,
    check_not_terminal,
    compare_rate,
    cost_of,
    expected_pricing,
    note_billed,
    wait_for_status,
)
from .shared.identify import check_id_matches, existing, only_service
from .shared.money import NO_PRICE, format_price
from .shared.names import same_name
from .shared.pending import RUN, Pending
from .shared.plan import Expansion, Plan, Resource, Step, Task, after_waiting
from .shared.relocation_record import successor_of
from .shared.run_memory import run_id
from .shared.secrets_file import ORDERED, warn_of_lost_secrets
from .shared.task_errors import Ambiguous, Invalid, NoSuchItem
from .shared.waiting import QUIET_SECONDS, poll_for

AS_ORDERED = ("host", "product", "runtime", "preset", "dimensions", "options", "variables")
"""What a task says of the service that it ordered, and not of the one that a relocation put in its place."""
ORDERABLE = ("present", "started", "stopped", "suspended")
KEEPING_UP = ("present", "started")
"""The states that only order or keep up a service. An order without a project goes to the default one."""


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
        options = task.options
        if options.state == "resumed" and not options.resume:
            raise Invalid("resume: false contradicts state: resumed; nothing was done. Leave one of them out")
        if options.keep_copy is not None and options.state != "absent":
            raise Invalid(
                "keep_copy copies a service before state: absent deletes it, and state is "
                f"{options.state}; nothing was done. Set state: absent, or leave keep_copy out"
            )
        if options.new_project and options.state == "absent":
            raise Invalid("new_project moves a service and state: absent deletes it; leave one of them out")
        id, project, destination = identify(task)  # after which others of the options may be left out
        if task.options.state == "absent":
            return plan_removal(task, id, project, plan_kept)
        if id is None and destination is not None:
            return nothing_there(task, project, destination, "to move; nothing was ordered")
        if id is None:
            warn_of_lost_secrets(task, f"{ORDERED}:{task.options.name}")
            return plan_order(task, project)
        task.composition.adopting(id)
        view, home = observe(task, id), destination or project
        warn_of_lost_secrets(task, f"{ORDERED}:{view.service.name}")
        if not view.being_created or not task.options.wait or task.check_mode:
            return plan_existing(task, await_ready(task, view), home)
        return after_waiting(
            f"wait until {view.label} is created",
            lambda: await_ready(task, view),
            lambda now: plan_existing(task, now, home),
            Plan(result=view.as_dict()),
        )


SERVICE = ServiceResource()


# --- Which service --------------------------------------------------------------------------------------


def identify(task: Task[ServiceOptions]) -> tuple[str | None, Project | None, Project | None]:
    """Return the id of the service that the task selects, if it is there, and the projects that it names.

    The first is the one that it is in or is ordered in, the second the one that ``new_project`` moves it to.
    """
    options, account = task.options, task.account
    find = account.project if options.state == "absent" else account.project_to_come
    try:
        project = find(options.project) if options.project else None
    except NoSuchItem:
        if options.state != "absent" or (options.id and account.service(options.id)):
            raise
        return options.id, None, None  # what was in a project that is gone is gone from it too
    destination = find(options.new_project) if options.new_project else None
    if options.id is None:
        found = find_by_name(task, options.name or "", project, destination)
        return led(task, found.id if found else None, project), project, destination
    service = account.service(options.id) if options.name or options.family or project else None
    if service is not None:  # it may have been moved already
        homes = [each for each in (project, destination) if each] if project else []
        check_id_matches(service, name=options.name, family=options.family, projects=homes)
    return options.id, project, destination


def find_by_name(
    task: Task[ServiceOptions], name: str, project: Project | None, destination: Project | None
) -> Service | ServiceSummary | None:
    """Return the service with this name: for a move in its project, or where an earlier run moved it to."""
    family, account = task.options.family, task.account
    named = account.named(name, project, family)
    if project is None and task.options.state in KEEPING_UP:
        named = account.in_default_project(named)
    found = only_service(named, name, account.location)
    if destination is None or project is None:
        return found
    moved = only_service(account.named(name, destination, family), name, account.location)
    if found and moved and found.id != moved.id:
        raise Ambiguous(
            f"service {name!r} ({found.id}) cannot be moved by its name: project {destination.name!r} "
            f"has a service named {name!r} too ({moved.id}). Name the one to move by id",
            ids=[found.id, moved.id],
        )
    return found or moved


def led(task: Task[ServiceOptions], id: str | None, project: Project | None) -> str | None:
    """Return what a relocation put in the place of the service that the task names, which it left over.

    A task that makes a copy means what it says, as one with an id does.
    """
    if task.options.allow_duplicate_name or task.composition.copies:
        return id
    home, name = project.id if project else None, task.options.name or ""
    found = successor_of(task.options, task.account.stays, id, name, home, in_use=True)
    if found is None:
        return id
    if task.options.state == "absent":
        raise found.refusal
    task.warn(
        f"{found.told}, so the task works on that, as it was ordered. Write name: {found.name}, and its host "
        "and size. If another service is meant, name it by its id, or set allow_duplicate_name to order one"
    )
    as_ordered: dict[str, Any] = dict.fromkeys(AS_ORDERED)
    task.options = replace(task.options, **as_ordered)
    return found.id


def plan_kept(task: Task[ServiceOptions], view: View) -> Kept:
    """Return the plan for the last copy of a service that is deleted."""
    # It takes a quarter of a second to import what transfers files, which few tasks do.
    from .last_copies.last_copy import plan_last_copy  # noqa: PLC0415

    return plan_last_copy(task, view, task.options.keep_copy or "")


# --- A service that is there ----------------------------------------------------------------------------


def await_ready(task: Task[ServiceOptions], view: View, *, is_new: bool = False) -> View:
    """Return a service once it is created and, if it is new, once it is known whether it runs."""
    waits = task.options.wait and not task.check_mode
    if view.being_created and waits:
        ready = wait_for_status(task, view.service.id, ServiceStatus.ACTIVE, view.service)
        view = observe(task, view.service.id, ready)
    elif view.service.status in ENDED and (task.options.wait or view.service.status == ServiceStatus.FAILED):
        check_not_terminal(view.service)
    if is_new and waits and view.state_unknown:
        power.wait_for_known_state(task, view)
        view = observe(task, view.service.id)
    return view


def plan_existing(
    task: Task[ServiceOptions], view: View, project: Project | None, just_ordered: bool = False
) -> Plan:
    """Plan the steps from a service's current state to the desired one."""
    changes = ServiceChanges(pending=set(view.pending), home=project, just_ordered=just_ordered)
    if view.being_created:
        task.warn(f"{view.label} is still being created; its settings and its state were not looked at")
    elif view.service.status != ServiceStatus.SUSPENDED or power.plan_waking(task, view, changes):
        plan_settings(task, view, changes)
        power.plan_power(task, view, changes)
        if changes.rates is not None:
            rate = changes.rates.of(changes.result.get("status", view.service.status))
            changes.cost = cost_of(view.service, rate)
            changes.result["pricing"] = expected_pricing(view.service, changes.rates, rate)
            if changes.resumes:
                power.warn_of_resume_cost(task, view, changes.cost)
    if not just_ordered:
        warn_of_what_stays(task, view, changes)
    before = {**view.facts(), **changes.before}
    monthly = {"monthly": changes.cost.after} if changes.cost else {}
    result = {**view.as_dict(), **changes.result, "pending_restart": sorted(changes.pending)}
    return Plan(
        result=result,
        steps=changes.steps,
        reread=lambda: read_changed(task, view, changes, result),
        before=before,
        after={**before, **monthly, **changes.after},
        cost=changes.cost,
        subject=view.service.name,
    )


def read_changed(
    task: Task[ServiceOptions], view: View, changes: ServiceChanges, expected: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the service once it shows what was written; warn of what it does not show, and of its rate.

    The next task would write it again, and a network change that is written twice may restart the service
    twice. Without ``wait`` it is read once, and nothing is said of what may come later. A size that is not
    shown is an error, as it is billed.
    """
    seen = [observe(task, view.service.id)]

    def shown() -> bool:
        seen.append(observe(task, view.service.id))
        return not not_shown(seen[-1], changes)

    missing = not_shown(seen[-1], changes)
    if task.options.wait and missing and not poll_for(shown):
        missing, now = not_shown(seen[-1], changes), seen[-1].service
        told = ", ".join(f"{name} ({value})" for name, value in missing.items())
        said = (
            f"the platform accepted {told} of {view.label}, but shows something else after "
            f"{QUIET_SECONDS:g} seconds. Check the service before you run this again"
        )
        if any(setting.billed and setting.name in missing for setting in SETTINGS):
            if changes.cost is not None:
                note_billed(task, now, changes.cost, expected["status"])
            raise Invalid(said)
        task.warn(said)
    service = seen[-1].service
    size, wanted = (service.dimensions or Dimensions()).as_dict(), expected["dimensions"] or {}
    has_size = all(size.get(name) == wanted[name] for name in wanted)
    if changes.cost and has_size and service.status == expected["status"]:
        advice = "Check it in the customer web space"
        compare_rate(task, view.label, billed_rate(service), changes.cost, advice)
    return seen[-1].as_dict()


def warn_of_what_stays(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> None:
    """Warn of settings that are requested or were written earlier, and are not in effect after the task."""
    options = task.options
    given = not task.composition.part and (options.variables or options.options)
    if given and (differ := differs_from_order(task, view.service.id)):
        task.warn(
            f"{view.label} exists, so {' and '.join(differ)} had no effect: an order alone uses them, and it "
            "was ordered with others"
        )
    most, running = options.max_monthly, billed_rate(view.service)
    if changes.cost is None and most is not None and running is not None and running > most:
        task.warn(
            f"{view.label} costs {format_price(task, running)} a month, over max_monthly "
            f"{format_price(task, most)}, "
            "and was not changed: max_monthly limits orders, new sizes and resumptions only"
        )
    if view.service.status == ServiceStatus.ACTIVE and options.state in NON_DISRUPTIVE_STATES:
        waiting = changes.pending.intersection(view.pending)
        if waiting:
            warn_of_pending(task, view, waiting, changes)


def warn_of_pending(
    task: Task[ServiceOptions], view: View, waiting: Set[str], changes: ServiceChanges
) -> None:
    """Warn of settings that an earlier run wrote and that are not in effect. This one may have a handler."""
    noted = Pending.of(task, view.service.id).outstanding()
    for setting in SETTINGS:
        kind = setting.kind or setting.name
        waits = kind in waiting and setting.name not in changes.written
        if waits and noted.get(kind, {}).get(RUN) != (run_id() or ""):
            task.warn(
                f"the {setting.label} of {view.label} was changed earlier and is not in effect, as far as "
                "this controller knows: it takes effect at the next start from stop; "
                "hosted.services.service with state: restarted sees to that"
            )


# --- One that is to come --------------------------------------------------------------------------------


def nothing_there(
    task: Task[ServiceOptions], project: Project | None, destination: Project | None, purpose: str
) -> Plan:
    """Refuse to order a service that was to be changed; in check mode, assume that the play orders it."""
    where = f" in project {project.name!r}" if project else ""
    name = str(task.options.name)
    task.expect_created(NoSuchItem(f"there is no service named {name!r}{where} {purpose}"), name)
    return plan_foreseen(task, destination)


def plan_foreseen(task: Task[ServiceOptions], project: Project | None) -> Plan:
    """Plan in check mode for a service that an earlier task of the play orders."""
    options = task.options
    size = options.dimensions and options.dimensions.as_dict()
    later, said = set_later(options, dimensions=size, project=options.new_project)
    steps = [Step(said, lambda: None)] if later else []
    return Plan(result=expected(task, project)[0], steps=steps, after=later, subject=options.name or "")


def set_later(options: ServiceOptions, **more: Any) -> tuple[dict[str, Any], str]:
    """Return what a task sets once a service is ordered, which runs by then, and a sentence for that."""
    state = None if options.state in ("present", "started", "resumed") else options.state
    asked = {**later_settings(options), "state": state, **more}
    later = {name: value for name, value in asked.items() if value is not None}
    told = ", ".join(f"state: {value}" if name == "state" else name for name, value in later.items())
    return later, f"set {told} for service {options.name!r}"


def expected(
    task: Task[ServiceOptions], project: Project | None, monthly: Decimal | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a service as expected after its order, with the keys of an existing one, and its diff."""
    options = task.options
    size = dict(vars(options.dimensions)) if options.dimensions else None
    service = Service.model_construct(
        id=None,
        name=options.name,
        family=options.family,
        status=ServiceStatus.SUSPENDED if options.state == "suspended" else ServiceStatus.ACTIVE,
        project_id=project.id if project else None,
        product=Product(slug=options.product),
        dimensions=size,
    )
    states = {"started": ContainerState.RUNNING, "stopped": ContainerState.STOPPED}
    facts: dict[str, Any] = {
        "name": options.name,
        "product": options.product,
        "runtime": options.runtime,
        "host": options.host,
        "dimensions": size,
        "preset": options.preset,
        **later_settings(options),
        "project": project.name if project else None,
        "variables": sorted(options.variables) if options.variables else None,
    }
    given = {name: value for name, value in facts.items() if value is not None}
    result = {**service.as_dict(), "state": states.get(options.state), "pending_restart": []}
    return result, {**given, "state": options.state, "monthly": monthly}


def plan_order(task: Task[ServiceOptions], project: Project | None) -> Plan:
    """Plan an order, with its quote and checks, and the steps after it."""
    options = task.options
    if options.state not in ORDERABLE:
        return nothing_there(task, project, project, f"that could be {options.state}")
    if missing_options(options) and options.name in task.foreseen:
        return plan_foreseen(task, project)
    ordering, services = Ordering(task, project), task.account.services()
    alike = check_namesakes(task, project, services)
    if task.check_mode:
        warn_of_slip(task, existing(services), ", so one would be ordered")
    if project is not None and alike and not options.allow_duplicate_name:
        check_other_projects(task, project, alike)
    ordering.body, quote = quote_of(task.account, options)
    cost = replace(check_quote(task, quote), project=project.name if project else None)
    ordering.cost = cost
    made = ordering.commitment = replace(ordering.commitment, monthly=cost.after)
    is_asleep, (later, said) = options.state == "suspended", set_later(options)
    # A quote does not tell what the storage alone costs.
    final = replace(cost, after=None) if is_asleep else cost
    result, after = expected(task, project, final.after)
    plan = Plan(result=result, after=after, cost=final, subject=ordering.name)
    plan.reread = lambda: read_ordered(task, ordering)
    price = format_price(task, cost.after)
    price = f"for {price} a month" if price else NO_PRICE
    asleep = [replace(made, kind="suspension", monthly=None)] if is_asleep else []
    plan.steps = (
        Step(f"order {options.product} as {ordering.what} {price}", ordering.place, commitment=made),
        Expansion(said, lambda: go_on(task, ordering, plan), changes=bool(later), expects=asleep),
    )
    return plan


def read_ordered(task: Task[ServiceOptions], ordering: Ordering) -> dict[str, Any]:
    """Return a service that was ordered. If it failed, the quote is not what it costs."""
    now = observe(task, str(ordering.id))
    if now.service.status == ServiceStatus.FAILED:
        note_billed(task, now.service, ordering.cost, now.service.status)
    return now.as_dict()


def go_on(task: Task[ServiceOptions], ordering: Ordering, plan: Plan) -> Sequence[Step]:
    """Return the steps after an order. Where the service had appeared, ``plan`` becomes that for it."""
    if ordering.adopted:
        view = await_ready(task, observe(task, str(ordering.id)), is_new=True)
        later = plan_existing(task, view, ordering.project)
        plan.become(later)
        return later.steps
    try:
        view = await_ordered(task, ordering)
        if view.being_created or view.state_unknown:
            doubt = f"whether {view.label} runs is not known yet"
            doubt = f"{view.label} is still being created" if view.being_created else doubt
            task.warn(f"{doubt}, and wait is false: its settings and state were not set")
            return ()
        later = plan_existing(task, view, ordering.project, just_ordered=True)
    except Invalid as error:
        raise error.prepend(f"{ordering.what} ({ordering.id}) was ordered and is billed, but: ") from None
    plan.reread = later.reread if later.actions else lambda: later.result
    return later.steps


def await_ordered(task: Task[ServiceOptions], ordering: Ordering) -> View:
    """Return a service that was just ordered once it is ready, as far as the task waits.

    One of another name than ordered is an error, as the next run would not find it. Then its entry stays, so
    that none is ordered again.
    """
    id, placed = str(ordering.id), ordering.placed
    task.composition.created(id)
    is_early = placed is not None and placed.status == ServiceStatus.PROVISIONING and task.options.wait
    view = None if is_early else observe(task, id)
    named = view.service.name if view else placed and placed.name
    if not same_name(named or "", ordering.name):
        raise Invalid(
            f"the platform named the new service {named!r}, not {ordering.name!r}. Use that name or "
            f"its id, {id}, from now on: tasks that use the other name will not find it. This "
            "controller does not order it again, but another controller would"
        )
    if ordering.kept is not None:
        ordering.kept.close()
    view = view or observe(task, id, wait_for_status(task, id, ServiceStatus.ACTIVE, placed))
    pricing = view.service.pricing
    if pricing and pricing.is_free is not False and pricing.free_expires_at:
        task.warn(
            f"{view.label} is shown as free until {pricing.free_expires_at}, and what happens then is not "
            "shown: it may be billed, suspended, or deleted with its backups. Before that date, copy what "
            "you need off the platform, and delete the service if it must not cost anything"
        )
    return await_ready(task, view, is_new=True)
