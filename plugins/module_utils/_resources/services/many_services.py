# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One task over many services: planned and worked on side by side; one that fails stops no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from ..._api.client import Client
from ..._api.errors import OF_A_CALL, HostedError
from ..._api.models import Project, Service, ServiceSummary
from ..._api.values import FAMILIES, ServiceStatus
from ..shared.options import Options, option
from ..shared.parallel import MAX_PARALLEL, run_parallel
from ..shared.plan import SERVICE_ID, Plan, Step, Task, carry_out_step
from ..shared.task_errors import Invalid, NoSuchItem
from .listing import services_in_project
from .lookup import find_service, in_project, label, the_project, whereabouts
from .on_service import check_offers, service_of_id
from .placeholder import placeholder_service
from .view import read_service


@dataclass(frozen=True, kw_only=True)
class ManyServicesOptions(Options):
    """The options that select services: ids or names, or all of a project and a family."""

    services: list[str] | None = option(
        None, aliases=["service"], selects=True, names_target=True, host_variables=[SERVICE_ID]
    )
    project: str | None = option(None, selects=True, names_target=True)
    family: str | None = option(None, choices=FAMILIES, selects=True, names_target=True)
    at_once: int = MAX_PARALLEL


SELECTION: dict[str, Any] = {
    "services": {"type": "list", "elements": "str", "aliases": ["service"]},
    "project": {"type": "str"},
    "family": {"type": "str", "choices": FAMILIES},
    "at_once": {"type": "int", "default": MAX_PARALLEL},
}
"""The options that select services: ids or names, or all of a project and a family."""
SELECTORS = frozenset({"services", "project", "family"})
SELECTS = ("services", "service", "project", "family")
"""Those of them that select something, an alias among them."""
HOST_IS_SELECTED: Mapping[str, Sequence[str]] = {"services": (SERVICE_ID,)}
"""Which service a task works on that selects none: the one that the host of the play is."""

PlanOne = Callable[[Task, Service], Plan]


@dataclass(frozen=True)
class Purpose:
    """What a task does with each service.

    ``capability`` is what a service must offer, ``what`` its name in messages. ``plan`` plans for one
    service; its result is a dictionary with the keys of ``blank``, which stands for it where nothing came
    of it. With ``all_or_none`` nothing is begun unless it can be done for every service.
    """

    capability: str
    what: str
    plan: PlanOne
    blank: Mapping[str, Any]
    all_or_none: bool = False


@dataclass
class Share:
    """One service's share of a task: what was planned for it, what was done, or what went wrong."""

    wanted: str
    own: Task
    by_name: bool
    project_id: str | None = None
    """The project that brought the service along, if one did."""
    service: ServiceSummary | Service | None = None
    plan: Plan | None = None
    done: list[str] = field(default_factory=list)
    half_way: bool = False
    """Whether a call failed after others of the same step had changed something."""
    result: Mapping[str, Any] = field(default_factory=dict)
    blank: Mapping[str, Any] = field(default_factory=dict)
    error: HostedError | None = None
    skipped: str | None = None

    @property
    def label(self) -> str:
        """Name and id, as messages cite them."""
        if self.service is None:
            return f"service {self.wanted!r}"
        return label(self.service)

    def entry(self, actions: list[str]) -> dict[str, Any]:
        """Return what the task's result says about this service."""
        return {
            "service": self.wanted if self.service is None else self.service.name,
            "service_id": None if self.service is None else self.service.id,
            "changed": bool(actions) or self.half_way,
            "failed": self.error is not None,
            "skipped": self.skipped is not None,
            "msg": self.error.message if self.error else self.skipped,
            "actions": actions,
            **self.result,
        }

    def foresee(self, error: NoSuchItem) -> None:
        """Take it that the play is still to create the service.

        :raises NoSuchItem: outside check mode.
        """
        self.service = placeholder_service(self.own, self.wanted, self.own.options.family, error)

    def planned(self) -> list[str]:
        """Return what is to be done, one sentence each."""
        return [step.summary for step in self.plan.steps] if self.plan else []


# --- Selecting --------------------------------------------------------------------------------------


def select(task: Task) -> list[Share]:
    """Return a share for each service meant, in the order in which they were named.

    A name that cannot be resolved makes a share with an error, so that the others are worked on all the same.
    """
    options = task.options
    if options.at_once < 1:
        raise Invalid(f"at_once is {options.at_once}; it must be 1 or more")
    if options.services is None and options.project is None and options.family is None:
        raise Invalid(
            "no service is selected; set services, project or family, or run the task on a host of the "
            "inventory, which is a service of its own"
        )
    project = the_project(task, options.project) if options.project else None
    everything = task.client.services()
    fitting = [
        service
        for service in everything
        if service.status not in ServiceStatus.DELETING_OR_DELETED
        and options.family in (None, service.family)
    ]
    if project is not None:
        fitting = of_project(task, fitting, project)
    if options.services is None:
        home = project.id if project else None
        return [Share(str(s.name), replace(task), False, home, service=s) for s in fitting]
    shares = [resolve(task, wanted, everything, fitting, project) for wanted in options.services]
    return list({getattr(share.service, "id", None) or share.wanted: share for share in shares}.values())


def of_project(task: Task, services: list[ServiceSummary], project: Project) -> list[ServiceSummary]:
    """Return the services of a project among these, or those of the names that the task gives."""
    if task.options.services is not None:
        names = set(task.options.services)
        return in_project(task.client, [service for service in services if service.name in names], project)
    return services_in_project(task.client, project, services)


def resolve(
    task: Task,
    wanted: str,
    everything: list[ServiceSummary],
    fitting: list[ServiceSummary],
    project: Project | None,
) -> Share:
    """Return the share of one service, by its id or by a name that the other options narrow."""
    share = Share(wanted, replace(task), by_name=True)
    try:
        if any(service.id == wanted for service in everything):
            share.service = service_of_id(task, wanted, project)
        else:
            where = partial(whereabouts, task.client)
            share.service = find_service(everything, fitting, wanted, where)
    except NoSuchItem as error:
        attempt(share, partial(share.foresee, error))
    except HostedError as error:
        share.error = error
    return share


# --- Planning and working ---------------------------------------------------------------------------


def plan_many(task: Task, purpose: Purpose) -> Plan:
    """Plan for every service that was selected, and return the plans as one.

    :raises SomeFailed: when some failed and there is nothing to do for the others, or nothing may be done.
    """
    shares = select(task)
    if not shares:
        task.warn("no service answers to the selection")

    def prepare(client: Client, share: Share) -> None:
        if share.service is not None and share.service.id:
            share.own.client = client
        share.result = share.blank = purpose.blank
        if share.service is not None:
            attempt(share, lambda: plan_share(share, getattr(share.service, "id", None), purpose))

    run_parallel(task.client, shares, prepare, task.options.at_once)
    warn_of_skipped(task, purpose, [share for share in shares if share.skipped])
    summaries = [summary for share in shares for summary in share.planned()]
    if any(share.error for share in shares):
        if purpose.all_or_none:
            raise refusal(shares)
        if task.check_mode or not summaries:
            raise failure(shares, planned=True)
    return Plan(
        result=[share.entry(share.planned()) for share in shares],
        steps=as_steps(task, shares, summaries),
        reread=lambda: [share.entry(share.done) for share in shares],
        before={share.label: share.plan.before for share in shares if share.plan},
        after={share.label: share.plan.after for share in shares if share.plan},
    )


def warn_of_skipped(task: Task, purpose: Purpose, skipped: list[Share]) -> None:
    """Say once which services are left out; the result tells of each why."""
    if len(skipped) == 1:
        task.warn(str(skipped[0].skipped))
    elif skipped:
        task.warn(
            f"skipped {len(skipped)} services that have no {purpose.what}, as they do not offer "
            f"{purpose.capability!r} in their present status: {', '.join(share.label for share in skipped)}"
        )


def plan_share(share: Share, id: str | None, purpose: Purpose) -> None:
    """Read a service in full, as capabilities change with its status, and plan for it.

    One that was named must offer what the task is about. One that a project or a family brought along is
    skipped if it does not.
    """
    service = read_service(share.own, id) if id else cast(Service, share.service)  # without one, foreseen
    share.service = service
    if share.project_id is not None and service.project_id not in (None, share.project_id):
        share.skipped = f"skipped: {share.label} is in another project by now"
        return
    try:
        check_offers(service, purpose.capability, purpose.what)
    except Invalid as error:
        if share.by_name:
            raise
        share.skipped = f"skipped: {error.message}"
        return
    share.plan = purpose.plan(share.own, service)
    share.result = share.plan.result


def attempt(share: Share, work: Callable[[], None]) -> None:
    """Do something for one service and note the error, if there is one."""
    try:
        work()
    except HostedError as error:
        share.error = error


def as_steps(task: Task, shares: list[Share], summaries: list[str]) -> list[Step]:
    """Return the steps of all services. The first carries out everything; the others are to be shown."""

    def work() -> None:
        todo = [share for share in shares if share.planned()]
        run_parallel(task.client, todo, carry_out, task.options.at_once)
        if any(share.error for share in shares):
            raise failure(shares, planned=False)

    acts = [work, *[lambda: None] * (len(summaries) - 1)]
    return [Step(summary, act) for summary, act in zip(summaries, acts, strict=True)] if summaries else []


def carry_out(client: Client, share: Share) -> None:
    """Make the calls of one service's plan and read it again."""
    share.own.client = client
    before = client.carried_out

    def work() -> None:
        for step in share.plan.steps if share.plan else ():
            carry_out_step(step, share.done, client)
        if share.plan and share.plan.reread:
            share.result = share.plan.reread()

    attempt(share, work)
    if share.error:
        share.result = share.blank  # what was planned did not come about
    share.half_way = isinstance(share.error, OF_A_CALL) and client.carried_out > before


class SomeFailed(HostedError):
    """Some services failed; the details tell what became of every one."""


def refusal(shares: list[Share]) -> HostedError:
    """Return the error for a task that is not begun for any service, as it cannot be done for each."""
    error = failure(shares, planned=False)
    if not all(share.error for share in shares):
        error.prepend("nothing was done: ")
        error.append(". Set allow_partial: true to go on with the other services")
    return error


def failure(shares: list[Share], planned: bool) -> HostedError:
    """Return the error for the whole task: of a single service its own, of several a line for each."""
    failed = [share for share in shares if share.error]
    actions = [action for share in shares for action in (share.planned() if planned else share.done)]
    details = {
        "services": [share.entry(share.planned() if planned else share.done) for share in shares],
        "changed": bool(actions) or any(share.half_way for share in shares),
        "actions": actions,
    }
    reasons = [(share, share.error) for share in failed if share.error]
    if len(shares) == 1:
        return SomeFailed(reasons[0][1].message, **{**reasons[0][1].details, **details})
    lines = "; ".join(f"{share.label}: {error.message}" for share, error in reasons)
    return SomeFailed(f"{len(failed)} of {len(shares)} services failed. {lines}", **details)
