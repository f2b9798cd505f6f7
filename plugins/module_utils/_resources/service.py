# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services: orders, changes, starts, stops, suspends and deletes them (Services)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, cast

from .._api.models import Product, Project, Service, ServiceSummary
from .._api.values import ContainerState, ServiceStatus
from .services import power
from .services.namesakes import check_namesakes, check_other_projects
from .services.options import ServiceOptions
from .services.order import Ordering, check_quote, differs_from_order, missing_options, quote_of
from .services.rates import (
    Rates,
    compare_rate,
    cost_of,
    expected_pricing,
    has_expected_size,
    note_billed,
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
from .services.view import ENDED, View, billed_rate, check_not_terminal, is_never_deployed, wait_for_status
from .shared.identify import check_id_matches, only_service
from .shared.money import NO_PRICE, format_price
from .shared.pending import RUN, Pending
from .shared.plan import NOTHING_DONE, Expansion, Plan, Resource, Step, Task, after_waiting
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


@dataclass(frozen=True)
class Target:
    """The service that a task selects, or ``None`` as its id if it does not exist, and the named projects.

    ``project`` is the one that the service is in or is ordered in; ``new_project`` moves it to
    ``destination``.
    """

    id: str | None
    project: Project | None = None
    destination: Project | None = None


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
        check_options(task.options)
        target = led(task, identify(task))
        if task.options.state == "absent":
            return plan_removal(task, target.id, target.project, plan_kept)
        if target.id is None and target.destination is not None:
            return nothing_there(task, target.project, target.destination, "to move; nothing was ordered")
        if target.id is None:
            warn_of_lost_secrets(task, f"{ORDERED}:{task.options.wanted_name}")
            return plan_order(task, target.project)
        task.composition.adopting(target.id)
        view, home = observe(task, target.id), target.destination or target.project
        view.awaits_deploy = task.options.state == "present" and is_never_deployed(task, view.service)
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


def identify(task: Task[ServiceOptions]) -> Target:
    """Find the service that the task selects, and the projects that it names, or that the play makes.

    :raises Invalid: if its id contradicts the name, family or project.
    :raises NoSuchItem: if a project does not exist.
    :raises Ambiguous: if several have the name, with their ids.
    """
    options, account = task.options, task.account
    find = account.project if options.state == "absent" else account.project_to_come
    try:
        project = find(options.project) if options.project else None
    except NoSuchItem:
        if options.state != "absent" or (options.id and account.service(options.id)):
            raise
        return Target(options.id)  # what was in a project that is gone is gone from it too
    target = Target(options.id, project, find(options.new_project) if options.new_project else None)
    if options.id is None:
        found = find_by_name(task, target)
        return replace(target, id=found.id if found else None)
    service = account.service(options.id) if options.name or options.family or project else None
    if service is not None:  # it may have been moved already
        homes = [each for each in (project, target.destination) if each] if project else []
        check_id_matches(service, name=options.name, family=options.family, projects=homes)
    return target


def find_by_name(task: Task[ServiceOptions], target: Target) -> Service | ServiceSummary | None:
    """Return the service with this name; ``None`` if there is none.

    For a move, this looks in the current project, then in the one that an earlier run moved it to.
    """
    name, family, account = task.options.wanted_name, task.options.family, task.account
    named = account.named(name, target.project, family)
    if target.project is None and task.options.state in KEEPING_UP:
        named = account.in_default_project(named)
    found = only_service(named, name, account.location)
    if target.destination is None or target.project is None:
        return found
    moved = only_service(account.named(name, target.destination, family), name, account.location)
    if found and moved and found.id != moved.id:
        raise Ambiguous(
            f"service {name!r} ({found.id}) cannot be moved by its name: project {target.destination.name!r} "
            f"has a service named {name!r} too ({moved.id}). Name the one to move by id",
            ids=[found.id, moved.id],
        )
    return found or moved


def led(task: Task[ServiceOptions], target: Target) -> Target:
    """Return what a relocation put in the place of the service that the task names, which it left over.

    A task with an id means what it says, and so does one that makes a copy.

    :raises Invalid: with both ids, if the task deletes; if the relocation has just stopped the service.
    """
    if task.options.id or task.options.allow_duplicate_name or task.composition.copies:
        return target
    project, name = target.project.id if target.project else None, task.options.wanted_name
    found = successor_of(task.options, task.account.stays, target.id, name, project, in_use=True)
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


def check_options(options: ServiceOptions) -> None:
    """Refuse options that contradict each other.

    :raises Invalid: naming both.
    """
    if options.state == "resumed" and not options.resume:
        raise Invalid("resume: false contradicts state: resumed; nothing was done. Leave one of them out")
    if options.keep_copy is not None and options.state != "absent":
        raise Invalid(
            "keep_copy copies a service before state: absent deletes it, and state is "
            f"{options.state}; nothing was done. Set state: absent, or leave keep_copy out"
        )
    if options.new_project and options.state == "absent":
        raise Invalid("new_project moves a service and state: absent deletes it; leave one of them out")


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
    later = set_later(options)
    if options.dimensions:
        later["dimensions"] = options.dimensions.as_dict()
    if options.new_project:
        later["project"] = options.new_project
    steps = [Step(describe_later(options, later), lambda: None)] if later else []
    return Plan(result=expected_service(task, project), steps=steps, after=later, subject=options.wanted_name)


def set_later(options: ServiceOptions) -> dict[str, Any]:
    """Return what a task sets once a service is ordered, which runs by then."""
    running = options.state in ("present", "started", "resumed")
    return {**later_settings(options), **({} if running else {"state": options.state})}


def describe_later(options: ServiceOptions, later: Mapping[str, Any]) -> str:
    """Say what a task sets once a service is ordered."""
    told = ", ".join(f"state: {value}" if name == "state" else name for name, value in later.items())
    return f"set {told} for service {options.wanted_name!r}"


def await_ready(task: Task[ServiceOptions], view: View, *, is_new: bool = False) -> View:
    """Return a service once it is created and, if it is new, once it is known whether it runs.

    Without ``wait``, it is returned as it is.

    :raises WaitEnded: if its creation failed, needs an operator of the platform, or does not end in time.
    """
    waits = task.options.wait and not task.check_mode
    if view.being_created and waits:
        ready = wait_for_status(task, view.service.id, ServiceStatus.ACTIVE, view.service)
        view = observe(task, view.service.id, ready)
    elif view.service.status in ENDED and (task.options.wait or view.service.status == ServiceStatus.FAILED):
        check_not_terminal(view.service)
    if is_new and waits and power.is_state_unknown(task, view):
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
            price_changes(task, view, changes)
    if not just_ordered:
        warn_of_what_stays(task, view, changes)
    before = {**view.facts(), **changes.before}
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


def price_changes(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> None:
    """Tell what all changes do to the price."""
    rates = cast(Rates, changes.rates)
    changes.cost = cost_of(view.service, rates.of(changes.result.get("status", view.service.status)))
    changes.result["pricing"] = expected_pricing(view.service, rates, changes.cost.after)
    if changes.resumes:
        power.warn_of_resume_cost(task, view, changes.cost)


def await_changes_shown(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> View:
    """Return the service once it shows what was written; warn of what it does not show.

    The next task would write it again, and a network change that is written twice may restart the service
    twice. Without ``wait`` it is read once, and nothing is said of what may come later.

    :raises Invalid: if it does not show the size, which is billed.
    """
    seen = [observe(task, view.service.id)]

    def shown() -> bool:
        seen.append(observe(task, view.service.id))
        return not not_shown(seen[-1], changes)

    if not (task.options.wait and not_shown(seen[-1], changes)) or poll_for(shown):
        return seen[-1]
    missing, now = not_shown(seen[-1], changes), seen[-1]
    told = ", ".join(f"{name} ({value})" for name, value in missing.items())
    said = (
        f"the platform accepted {told} of {view.label}, but shows something else after "
        f"{QUIET_SECONDS:g} seconds. Check the service before you run this again"
    )
    if not any(setting.billed and setting.name in missing for setting in SETTINGS):
        task.warn(said)
        return now
    if changes.cost is not None:
        note_billed(task, now.service, changes.cost, changes.result.get("status", view.service.status))
    raise Invalid(said)


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


# --- Ordering ---------------------------------------------------------------------------------------


def plan_order(task: Task[ServiceOptions], project: Project | None) -> Plan:
    """Plan an order, with its quote and checks, and the steps after it.

    :raises Invalid: if a service of its name stands in the way, or the balance or ``max_monthly`` forbids it.
    """
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
    final = replace(cost, after=None) if task.options.state == "suspended" else cost

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
    plan.steps = order_steps(task, ordering, plan)
    return plan


def order_steps(task: Task[ServiceOptions], ordering: Ordering, plan: Plan) -> Sequence[Step]:
    """Return the steps of an order. Where the service has appeared by then, ``plan`` becomes that for it."""

    def order() -> Any:
        ordering.place()
        return NOTHING_DONE if ordering.adopted else None

    def go_on() -> Sequence[Step]:
        if not ordering.adopted:
            try:
                later = follow_up(task, ordering)
            except Invalid as error:
                error.prepend(f"{ordering.what} ({ordering.id}) was ordered and is billed, but: ")
                raise
            if later is None:
                return ()
            waited = later.result
            plan.reread = later.reread if later.changed else lambda: waited
            return later.steps
        view = await_ready(task, observe(task, str(ordering.id)), is_new=True)
        later = plan_existing(task, view, ordering.project)
        plan.become(later)
        return later.steps

    price = format_price(task, ordering.cost.after)
    price = f"for {price} a month" if price else NO_PRICE
    summary = f"order {task.options.product} as service {ordering.name!r} {price}"
    later, made = set_later(task.options), ordering.commitment
    asleep = [replace(made, kind="suspension", monthly=None)] if task.options.state == "suspended" else []
    return (
        Step(summary, order, commitment=made),
        Expansion(describe_later(task.options, later), go_on, changes=bool(later), expects=asleep),
    )


def follow_up(task: Task[ServiceOptions], ordering: Ordering) -> Plan | None:
    """Wait for a service that was just ordered; return the plan for its settings and state.

    ``None`` if they are not set, because the task does not wait.

    :raises Invalid: if it has another name than ordered, so that the next run would not find it.
    """
    id, placed = str(ordering.id), ordering.placed
    task.composition.created(id)
    if placed is not None and placed.status == ServiceStatus.PROVISIONING and task.options.wait:
        ordering.confirm(placed)
        view = observe(task, id, wait_for_status(task, id, ServiceStatus.ACTIVE, placed))
    else:
        view = observe(task, id)
        ordering.confirm(view.service)
    pricing = view.service.pricing
    if pricing and pricing.is_free is not False and pricing.free_expires_at:
        task.warn(
            f"{view.label} is shown as free until {pricing.free_expires_at}, and what happens then is not "
            "shown: it may be billed, suspended, or deleted with its backups. Before that date, copy what "
            "you need off the platform, and delete the service if it must not cost anything"
        )
    view = await_ready(task, view, is_new=True)
    if view.being_created or power.is_state_unknown(task, view):
        doubt = f"whether {view.label} runs is not known yet"
        doubt = f"{view.label} is still being created" if view.being_created else doubt
        task.warn(f"{doubt}, and wait is false: its settings and state were not set")
        return None
    return plan_existing(task, view, ordering.project, just_ordered=True)


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
        **later_settings(options),
        "project": project.name if project else None,
        "variables": sorted(options.variables) if options.variables else None,
    }
    given = {name: value for name, value in facts.items() if value is not None}
    return {**given, "state": options.state, "monthly": monthly}
